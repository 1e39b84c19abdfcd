//! The changes of a write transaction before it commits, and the store as they leave it.

use std::collections::BTreeMap;

use crate::document::{Key, KeyRef};
use crate::error::{Error, Result};
use crate::index::{Documents, Entry, PrimaryIndex, check_name};
use crate::log::{Action, Batch, Replaces};
use crate::sync::{Arc, read};

use super::read::Located;
use super::shared::Shared;
use super::write::check_key;
use super::write::{Bodies, Expect};
use super::writer::Writer;

mod catalog;
pub(super) mod walk;

//= spec/transactions.md#t-2-4-nothing-shows-before-the-end
//# No reader outside a transaction MUST see any of its changes before it has committed.
/// A write transaction: a batch that nobody else sees, and over it what its own reads need. Whoever has one holds the turn to write,
/// so the index does not change beneath it.
#[derive(Debug)]
pub(crate) struct Draft {
    shared: Arc<Shared>,
    batch: Batch,
    /// The last change of each key, by its number.
    keys: BTreeMap<(u32, Key), usize>,
    /// For each change, the one before it of the same key.
    earlier: Vec<Option<usize>>,
    overlay: Overlay,
    /// The overlay as it was at each savepoint, and how many changes there were.
    savepoints: Vec<(Savepoint, Overlay, usize)>,
    last_savepoint: u64,
    /// What tells its savepoints from those of other transactions.
    number: u64,
    /// How often commits had been taken back when it began: if that has changed, it may have read one of them.
    take_backs: u64,
}

/// A position in the changes of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Savepoint {
    transaction: u64,
    number: u64,
}

/// Where the transaction's catalog, counters and counts differ from the newest commit's.
#[derive(Debug, Clone, Default)]
struct Overlay {
    /// Names that mean something else, or nothing any more.
    names: BTreeMap<String, Option<Arc<Documents>>>,
    /// The largest ids, by collection.
    ids: BTreeMap<u32, i64>,
    /// How many documents were added, less those taken away, by collection.
    added: BTreeMap<u32, i64>,
    /// The last collection id given, if any was.
    last_id: Option<u32>,
}

/// Where a document of the transaction's state stands.
#[derive(Debug, Clone, Copy)]
enum Place {
    Log(Entry),
    /// In the batch: the change that puts it.
    Change(usize),
}

impl Draft {
    pub(crate) fn new(shared: Arc<Shared>, number: u64) -> Self {
        let take_backs = shared.take_backs();
        Draft {
            shared,
            batch: Batch::default(),
            keys: BTreeMap::new(),
            earlier: Vec::new(),
            overlay: Overlay::default(),
            savepoints: Vec::new(),
            last_savepoint: 0,
            number,
            take_backs,
        }
    }

    /// Bytes of memory that its changes take.
    pub(crate) fn memory_bytes(&self) -> usize {
        let a_key = size_of::<(u32, Key)>() + size_of::<usize>() + size_of::<Option<usize>>();
        self.batch.memory_bytes() + self.earlier.len() * a_key * 3 / 2
    }

    /// Moves the changes to the writer, who commits them. Whether there are any.
    pub(crate) fn hand_to(mut self, writer: &mut Writer) -> Result<bool> {
        self.check_ground()?;
        writer.batch = std::mem::take(&mut self.batch);
        Ok(!writer.batch.is_empty())
    }

    //= spec/transactions.md#t-4-8-no-room
    //# A transaction that began on top of them MUST fail at its commit.
    /// Refuses to go on where a commit that this rests on was taken back for want of room (spec: T-4.8).
    fn check_ground(&self) -> Result<()> {
        if self.shared.take_backs() == self.take_backs {
            return Ok(());
        }
        Err(Error::StorageFull { operation: "commit that this transaction began on top of".to_owned() })
    }

    /// The documents of `name` as the transaction leaves it.
    pub(crate) fn documents(&self, name: &str) -> Result<Arc<Documents>> {
        self.check_ground()?;
        let found = match self.overlay.names.get(name) {
            Some(changed) => changed.clone(),
            None => self.shared.newest_naming(name).map(|naming| Arc::clone(&naming.documents)),
        };
        found.ok_or_else(|| Error::UnknownCollection { name: name.to_owned() })
    }

    /// The names of all collections, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let catalog = read(&self.shared.catalog);
        let kept = catalog.current().map(|naming| &naming.name);
        let kept = kept.filter(|name| !self.overlay.names.contains_key(*name));
        let changed = self.overlay.names.iter().filter(|(_, documents)| documents.is_some());
        let mut names: Vec<_> = kept.chain(changed.map(|(name, _)| name)).cloned().collect();
        names.sort();
        names
    }

    fn largest_id(&self, documents: &Documents) -> i64 {
        self.overlay.ids.get(&documents.id).copied().unwrap_or_else(|| documents.largest_id())
    }

    /// How many documents a collection has.
    pub(crate) fn len(&self, documents: &Documents) -> Result<u64> {
        let added = self.overlay.added.get(&documents.id).copied().unwrap_or(0);
        let len = documents.newest_len().saturating_add_signed(added);
        self.check_ground()?;
        Ok(len)
    }

    /// Where the document of `key` stands.
    fn place(&self, documents: &Documents, key: KeyRef<'_>) -> Option<Place> {
        if let Some(&number) = self.last_change(documents, key) {
            return self.is_put(number).then_some(Place::Change(number));
        }
        documents.index.get(key).map(Place::Log)
    }

    fn last_change(&self, documents: &Documents, key: KeyRef<'_>) -> Option<&usize> {
        if self.keys.is_empty() { None } else { self.keys.get(&(documents.id, key.to_key())) }
    }

    fn is_put(&self, number: usize) -> bool {
        matches!(self.batch.changes[number].action, Action::Put)
    }

    fn has(&self, documents: &Documents, key: KeyRef<'_>) -> bool {
        self.place(documents, key).is_some()
    }

    /// Whether `key` has a document.
    pub(crate) fn contains(&self, documents: &Documents, key: KeyRef<'_>) -> Result<bool> {
        let found = self.has(documents, key);
        // Asked after the look, here and below: it may have met the state that a commit left which is taken back, or the one before.
        self.check_ground()?;
        Ok(found)
    }

    /// The document of `key`.
    pub(crate) fn get(&self, documents: &Documents, key: KeyRef<'_>) -> Result<Option<Located>> {
        let place = self.place(documents, key);
        self.check_ground()?;
        place.map(|place| self.locate(documents, key, place)).transpose()
    }

    //= spec/transactions.md#t-2-3-read-your-writes
    //# A read in a transaction MUST answer from the state after the last commit placed before it began,
    //# changed by the changes that the transaction has made so far.
    fn locate(&self, documents: &Documents, key: KeyRef<'_>, place: Place) -> Result<Located> {
        match place {
            Place::Change(number) => {
                let change = &self.batch.changes[number];
                Ok(Located::uncommitted(self.batch.key_bytes(change), self.batch.body(change)))
            }
            Place::Log(entry) => self.shared.locate(documents.id, key, entry).map_err(|error| {
                // What was taken back may be overwritten by now, which is no damage.
                self.check_ground().err().unwrap_or(error)
            }),
        }
    }

    /// Puts one document, given in its encoded form. Whether anything was put.
    pub(crate) fn put(&mut self, name: &str, key: KeyRef<'_>, expect: Expect, body: &[u8]) -> Result<bool> {
        check_key(key)?;
        self.check_size(body.len())?;
        let documents = match self.documents(name) {
            Ok(documents) => documents,
            Err(Error::UnknownCollection { .. }) if matches!(expect, Expect::Anything | Expect::Vacant) => {
                self.create(name)?
            }
            Err(error) => return Err(error),
        };
        // Most puts do not ask.
        let place = if expect == Expect::Anything { None } else { self.place(&documents, key) };
        match expect {
            Expect::Vacant if place.is_some() => return Err(Error::KeyExists { key: key.to_key() }),
            Expect::Occupied if place.is_none() => return Ok(false),
            Expect::Version(version) => self.check_version(&documents, key, place, version)?,
            _ => {}
        }
        self.push(Action::Put, &documents, key, body)?;
        Ok(true)
    }

    /// Puts a document, given in its encoded form, under the next id.
    pub(crate) fn insert(&mut self, name: &str, body: &[u8]) -> Result<Key> {
        self.check_size(body.len())?;
        let documents = match self.documents(name) {
            Err(Error::UnknownCollection { .. }) => self.create(name)?,
            found => found?,
        };
        let id = self.largest_id(&documents).checked_add(1).ok_or(Error::IdsExhausted)?;
        self.push(Action::Put, &documents, KeyRef::Int(id), body)?;
        Ok(Key::Int(id))
    }

    /// Puts any number of documents under the next ids: all of them, or none.
    pub(crate) fn insert_many(&mut self, name: &str, bodies: &Bodies) -> Result<Vec<Key>> {
        if bodies.len() == 0 {
            return check_name(name).map(|()| Vec::new());
        }
        self.all_or_nothing(|draft| bodies.iter().map(|body| draft.insert(name, body)).collect())
    }

    /// Puts any number of documents, `keys[i]` with the i-th body: all of them, or none.
    pub(crate) fn put_many(&mut self, name: &str, keys: &[Key], bodies: &Bodies) -> Result<u64> {
        if keys.is_empty() {
            return check_name(name).map(|()| 0);
        }
        self.all_or_nothing(|draft| {
            let mut entries = keys.iter().zip(bodies.iter());
            entries
                .try_for_each(|(key, body)| draft.put(name, key.as_ref(), Expect::Anything, body).map(|_| ()))
        })?;
        Ok(keys.len() as u64)
    }

    /// Deletes the document of `key`, of this version if one is given. Whether there was one.
    pub(crate) fn delete(&mut self, name: &str, key: KeyRef<'_>, version: Option<u64>) -> Result<bool> {
        check_key(key)?;
        let documents = self.documents(name)?;
        let place = self.place(&documents, key);
        if let Some(version) = version {
            self.check_version(&documents, key, place, version)?;
        }
        if place.is_none() {
            return Ok(false);
        }
        self.check_size(0)?;
        self.push(Action::Delete, &documents, key, &[])?;
        Ok(true)
    }

    fn check_version(
        &self,
        documents: &Documents,
        key: KeyRef<'_>,
        place: Option<Place>,
        expected: u64,
    ) -> Result<()> {
        match place {
            // Nobody can have seen it in a commit.
            Some(Place::Change(_)) => Err(Error::VersionMismatch { expected, found: Some(0) }),
            Some(Place::Log(entry)) => self.shared.check_version(documents, key, Some(entry), expected),
            None => self.shared.check_version(documents, key, None, expected),
        }
    }

    /// Appends the change of one key. What it makes needless among the changes before it is not placed.
    fn push(
        &mut self,
        action: Action,
        documents: &Arc<Documents>,
        key: KeyRef<'_>,
        body: &[u8],
    ) -> Result<()> {
        let is_put = matches!(action, Action::Put);
        let before = self.last_change(documents, key).copied();
        let newest = if before.is_none() { documents.index.get(key) } else { None };
        let had = before.map_or(newest.is_some(), |number| self.is_put(number));
        let replaces = match before {
            None => self.shared.replaces(newest)?,
            // A put says all that the change before it said. A delete does not: what it deletes may have raised the largest id.
            Some(number) if is_put => {
                self.batch.changes[number].is_moot = true;
                self.batch.changes[number].replaces
            }
            Some(number) => Replaces::Change(number),
        };
        let number = self.batch.changes.len();
        self.batch.push(action, documents, key, replaces, body);
        self.keys.insert((documents.id, key.to_key()), number);
        self.earlier.push(before);
        let added = i64::from(is_put) - i64::from(had);
        if added != 0 {
            *self.overlay.added.entry(documents.id).or_default() += added;
        }
        if let (true, KeyRef::Int(id)) = (is_put, key)
            && id > self.largest_id(documents)
        {
            self.overlay.ids.insert(documents.id, id);
        }
        Ok(())
    }

    //= spec/transactions.md#t-2-8-size
    //# A transaction whose changes take more memory than the limit set for it MUST be refused as
    //# `TransactionTooLarge` at the operation that passes the limit.
    /// Refuses a change with a body of this length where there is no more room for it (spec: T-2.8).
    fn check_size(&self, body_len: usize) -> Result<()> {
        let (len, max) = (self.memory_bytes() + body_len, self.shared.options.transaction_bytes);
        if len > max { Err(Error::TransactionTooLarge { len, max }) } else { Ok(()) }
    }

    //= spec/semantics.md#s-2-1-nothing-changes
    //# A call that is refused, or that reports that it failed, MUST leave the state as it was.
    //= spec/transactions.md#t-2-7-refusals
    //# A refused operation in a transaction MUST leave the transaction as it was before the operation; the
    //# transaction goes on.
    /// Carries out `work`, and takes back what it has done where it fails (spec: T-2.7).
    pub(crate) fn all_or_nothing<R>(&mut self, work: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let (overlay, changes) = (self.overlay.clone(), self.batch.changes.len());
        work(self).inspect_err(|_| self.undo_to(overlay, changes))
    }

    fn undo_to(&mut self, overlay: Overlay, changes: usize) {
        for number in (changes..self.batch.changes.len()).rev() {
            let change = &self.batch.changes[number];
            let Some(documents) = self.batch.documents(change) else { continue };
            let key = self.batch.key(change).expect("a document has a key that was encoded here");
            let key = (documents.id, key.to_key());
            match self.earlier[number] {
                Some(before) => {
                    self.batch.changes[before].is_moot = false;
                    self.keys.insert(key, before);
                }
                None => {
                    self.keys.remove(&key);
                }
            }
        }
        self.batch.truncate(changes);
        self.earlier.truncate(changes);
        self.overlay = overlay;
    }

    /// Notes where the transaction stands.
    pub(crate) fn savepoint(&mut self) -> Savepoint {
        self.last_savepoint += 1;
        let savepoint = Savepoint { transaction: self.number, number: self.last_savepoint };
        self.savepoints.push((savepoint, self.overlay.clone(), self.batch.changes.len()));
        savepoint
    }

    //= spec/transactions.md#t-2-6-savepoints
    //# Going back to it MUST undo exactly the changes made after it; the savepoints made after it are gone,
    //# and it stays itself.
    /// Undoes everything since `savepoint`, which stays; those after it are gone. Whether it is there.
    pub(crate) fn rollback_to(&mut self, savepoint: Savepoint) -> bool {
        let found = self.savepoints.iter().rposition(|(known, ..)| *known == savepoint);
        let Some(position) = found else { return false };
        self.savepoints.truncate(position + 1);
        let (_, overlay, changes) = &self.savepoints[position];
        let (overlay, changes) = (overlay.clone(), *changes);
        self.undo_to(overlay, changes);
        true
    }

    /// A copy over a copy of the store.
    #[cfg(feature = "testing")]
    pub(crate) fn fork(
        &self,
        shared: Arc<Shared>,
        copy_of: &mut dyn FnMut(&Arc<Documents>) -> Arc<Documents>,
    ) -> Self {
        let mut fork_overlay = |overlay: &Overlay| {
            let mut copy = overlay.clone();
            copy.names.values_mut().flatten().for_each(|documents| *documents = copy_of(documents));
            copy
        };
        let overlay = fork_overlay(&self.overlay);
        let savepoints = self.savepoints.iter();
        let savepoints =
            savepoints.map(|(id, overlay, changes)| (*id, fork_overlay(overlay), *changes)).collect();
        Draft {
            shared,
            batch: self.batch.fork(copy_of),
            keys: self.keys.clone(),
            earlier: self.earlier.clone(),
            overlay,
            savepoints,
            last_savepoint: self.last_savepoint,
            number: self.number,
            take_backs: self.take_backs,
        }
    }
}
