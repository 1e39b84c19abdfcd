//! A write transaction: a batch, and the store as the batch leaves it.

use std::collections::{BTreeMap, HashMap};

use crate::document::KeyRef;
use crate::error::{Error, Result};
use crate::index::{Documents, Entry, Naming};
use crate::log::{Action, Batch, Replaces, Superseded};
use crate::seeded::{self, Bug};
use crate::sync::Arc;

use super::super::read::Located;
use super::super::shared::Shared;
use super::entry_overlay::{BeforeAndAfter, EntryOverlay};
use super::overlay::Overlay;
use super::savepoint::Savepoint;

//= spec/transactions.md#t-2-4-nothing-shows-before-the-end
//# No reader outside a transaction MUST see any of its changes before it has committed.
/// A write transaction: a batch that nobody else sees, and over it what its own reads need. Whoever has one holds the turn to write,
/// or the writer itself, so the index does not change beneath it.
#[derive(Debug)]
pub(crate) struct WriteTxn {
    pub(crate) shared: Arc<Shared>,
    pub(crate) batch: Batch,
    pub(super) overlay: Overlay,
    pub(super) entry_overlay: EntryOverlay,
    pub(super) names: Names,
    pub(super) lists: BeforeAndAfter,
    /// How many changes there were at each.
    savepoints: Vec<(Savepoint, usize)>,
    /// Its changes may take so many bytes of memory.
    pub(super) bytes_max: usize,
    /// How often commits had been taken back when it began: if that has changed, it may have read one of them.
    take_backs: u64,
}

/// Where a document of the transaction's state is.
#[derive(Debug, Clone, Copy)]
pub(super) enum DocumentAt {
    Log(Entry),
    /// In the batch: the change that puts it.
    Change(usize),
}

/// The newest version of a key, as a write finds it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Newest {
    /// The last change of the key in the batch.
    pub(super) change: Option<usize>,
    /// The document, unless the last change is a delete.
    pub(super) place: Option<DocumentAt>,
    /// The hash of the key, if changes were looked for.
    pub(super) hash: Option<u64>,
}

impl WriteTxn {
    /// One whose changes may take so many bytes. Calls that are commits of their own use one after the other.
    pub(crate) fn new(shared: Arc<Shared>, bytes_max: usize) -> Self {
        let take_backs = shared.visibility.take_backs();
        WriteTxn {
            batch: Batch::default(),
            overlay: Overlay::default(),
            entry_overlay: EntryOverlay::default(),
            names: Names::default(),
            lists: BeforeAndAfter::default(),
            savepoints: Vec::new(),
            bytes_max,
            take_backs,
            shared,
        }
    }

    /// Begins anew, after the newest commit.
    pub(in crate::core) fn begin(&mut self) {
        self.batch.clear();
        self.overlay.clear();
        self.entry_overlay.clear();
        self.names.clear();
        self.take_backs = self.shared.visibility.take_backs();
    }

    /// Bytes of memory that its changes take.
    #[inline]
    pub(crate) fn memory_bytes(&self) -> usize {
        self.batch.memory_bytes() + self.overlay.memory_bytes() + self.entry_overlay.memory_bytes()
    }

    /// Moves the changes to where the writer commits them from. Whether there are any.
    pub(crate) fn hand_to(mut self, writer: &mut WriteTxn) -> Result<bool> {
        self.check_ground()?;
        writer.batch = std::mem::take(&mut self.batch);
        Ok(!writer.batch.is_empty())
    }

    //= spec/transactions.md#t-4-8-no-room
    //# A transaction that began on top of them MUST fail at its commit.
    /// Refuses to go on where a commit that this rests on was taken back for want of room (spec: T-4.8).
    #[inline]
    pub(super) fn check_ground(&self) -> Result<()> {
        if self.shared.visibility.take_backs() == self.take_backs {
            return Ok(());
        }
        Err(Error::StorageFull { operation: "commit that this transaction began on top of".to_owned() })
    }

    /// Refuses changes that take more than `max` bytes (spec: T-2.8).
    #[inline]
    pub(super) fn check_size(&self, max: usize) -> Result<()> {
        let len = self.memory_bytes();
        if len > max { Err(Error::TransactionTooLarge { len, max }) } else { Ok(()) }
    }

    /// Holds the changes so far to the limit of a transaction, also those of a single call, which has none of its own.
    pub(crate) fn check_transaction_size(&self) -> Result<()> {
        self.check_size(self.shared.options.transaction_bytes)
    }

    /// How many documents a collection has.
    pub(crate) fn len(&self, documents: &Documents) -> Result<u64> {
        let touched = self.batch.number_of(documents).map(|number| &self.batch.collections[number as usize]);
        let len = documents.newest_len().saturating_add_signed(touched.map_or(0, |touched| touched.added));
        self.check_ground()?;
        Ok(len)
    }

    /// The newest version of a key in the batch's collection of this number.
    #[inline(always)]
    pub(super) fn newest(&mut self, collection: u32, key: KeyRef<'_>) -> Result<Newest> {
        let touched = &self.batch.collections[collection as usize];
        if let KeyRef::Int(id) = key
            && id > touched.largest_id
        {
            // spec: S-4.2. Nothing was ever put there.
            return Ok(Newest { change: None, place: None, hash: None });
        }
        let (change, hash) = match self.batch.is_empty() {
            true => (None, None),
            false => {
                let (change, hash) = self.overlay.find(&self.batch, collection, key);
                (change, Some(hash))
            }
        };
        let place = self.place_after(change, &touched.documents, key)?;
        Ok(Newest { change, place, hash })
    }

    /// Where the document of `key` is after this change of it; in the log if the transaction did not change it.
    #[inline(always)]
    pub(super) fn place_after(
        &self,
        change: Option<usize>,
        documents: &Documents,
        key: KeyRef<'_>,
    ) -> Result<Option<DocumentAt>> {
        match change {
            Some(number) => Ok(self.batch.is_put(number).then_some(DocumentAt::Change(number))),
            None => {
                let ready = self.shared.ready(documents, key)?;
                Ok(ready.entry(documents, key).map(DocumentAt::Log))
            }
        }
    }

    /// Where the document of `key` is.
    fn place(&mut self, documents: &Documents, key: KeyRef<'_>) -> Result<Option<DocumentAt>> {
        match self.batch.number_of(documents) {
            Some(collection) => Ok(self.newest(collection, key)?.place),
            None => self.place_after(None, documents, key),
        }
    }

    /// Whether `key` has a document.
    pub(crate) fn contains(&mut self, documents: &Documents, key: KeyRef<'_>) -> Result<bool> {
        let found = self.place(documents, key)?.is_some();
        // Asked after the look, here and below: it may have met the state that a commit left which is taken back, or the one before.
        self.check_ground()?;
        Ok(found)
    }

    /// The document of `key`.
    pub(crate) fn get(&mut self, documents: &Documents, key: KeyRef<'_>) -> Result<Option<Located>> {
        let place = self.place(documents, key)?;
        self.check_ground()?;
        place.map(|place| self.locate(documents, key, place)).transpose()
    }

    //= spec/transactions.md#t-2-3-read-your-writes
    //# A read in a transaction MUST answer from the state after the last commit placed before it began,
    //# changed by the changes that the transaction has made so far.
    pub(super) fn locate(
        &self,
        documents: &Documents,
        key: KeyRef<'_>,
        place: DocumentAt,
    ) -> Result<Located> {
        match place {
            DocumentAt::Change(number) => {
                let change = &self.batch.changes[number];
                Ok(Located::uncommitted(self.batch.key_bytes(change), self.batch.body(change)))
            }
            DocumentAt::Log(entry) => self.shared.locate(documents.id, key, entry).map_err(|error| {
                // What was taken back may be overwritten by now, which is no damage.
                self.check_ground().err().unwrap_or(error)
            }),
        }
    }

    /// Adds a change of `key`, whose document the call has `found` where it has read it.
    #[inline]
    pub(super) fn push(
        &mut self,
        action: Action,
        collection: u32,
        key: KeyRef<'_>,
        newest: Newest,
        found: Option<&[u8]>,
        body: &[u8],
    ) -> Result<()> {
        let replaces = match (newest.change, newest.place) {
            (None, Some(DocumentAt::Log(entry))) => self.shared.replaces(entry)?,
            (None, _) => Replaces::Nothing,
            // A put stands for the change before it as well.
            (Some(before), _) if matches!(action, Action::Put) => self.batch.changes[before].replaces,
            (Some(before), _) => Replaces::Change(before),
        };
        let put = matches!(action, Action::Put).then_some(body);
        let (changes, entries) = (self.batch.changes.len(), self.batch.entries.len());
        if self.batch.collections[collection as usize].targets.is_some() {
            self.note_entries(collection, key, (newest.place, found), put)?;
        }
        let superseded = Superseded { before: newest.change, replaces };
        self.batch.push(action, collection, key, superseded, body);
        if let Some(hash) = newest.hash {
            self.overlay.enter(&self.batch, newest.change, hash);
        }
        if seeded::is_on(Bug::UniqueWithinCall) {
            self.check_unique(entries).inspect_err(|_| self.undo_to(changes))?;
        }
        Ok(())
    }

    /// Undoes all but the first so many changes. What that takes does not depend on how many these are.
    pub(super) fn undo_to(&mut self, changes: usize) {
        if !seeded::is_on(Bug::RollbackForgetsEntries) {
            self.entry_overlay.truncate(&self.batch, self.batch.entries.count_before(changes));
        }
        self.overlay.truncate(&self.batch, changes);
        self.batch.truncate(changes);
        self.names.truncate(changes);
    }

    /// Notes where the transaction stands.
    pub(crate) fn savepoint(&mut self) -> Savepoint {
        let savepoint = Savepoint::default();
        self.savepoints.push((savepoint.clone(), self.batch.changes.len()));
        savepoint
    }

    //= spec/transactions.md#t-2-6-savepoints
    //# Going back to it MUST undo exactly the changes made after it; the savepoints made after it are gone,
    //# and it stays itself.
    /// Undoes everything since `savepoint`, which stays; those after it are gone. Whether it is there.
    pub(crate) fn rollback_to(&mut self, savepoint: &Savepoint) -> bool {
        let found = self.savepoints.iter().rposition(|(known, _)| known == savepoint);
        let Some(position) = found else { return false };
        self.savepoints.truncate(position + 1);
        self.undo_to(self.savepoints[position].1);
        true
    }

    /// A copy over a copy of the store.
    #[cfg(feature = "testing")]
    pub(crate) fn fork(
        &self,
        shared: Arc<Shared>,
        copy_of: &mut dyn FnMut(&Arc<Documents>) -> Arc<Documents>,
    ) -> Self {
        WriteTxn {
            shared,
            batch: self.batch.fork(copy_of),
            overlay: self.overlay.clone(),
            entry_overlay: self.entry_overlay.clone(),
            names: self.names.fork(copy_of),
            lists: BeforeAndAfter::default(),
            savepoints: self.savepoints.clone(),
            bytes_max: self.bytes_max,
            take_backs: self.take_backs,
        }
    }
}

/// Where the transaction's catalog differs from that of the newest commit.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Names that mean something else, or nothing any more.
    pub(super) changed: BTreeMap<String, Option<Arc<Documents>>>,
    /// The last collection id given, if any was.
    pub(super) last_id: Option<u32>,
    /// What was there before each change of these, to be put back.
    undo: Vec<Undo>,
    /// The name that was written to last, and the number of its collection in the batch.
    pub(super) last: String,
    pub(super) last_number: Option<u32>,
    /// The numbers of all names that were written to since names changed, once there are two.
    numbers: HashMap<String, u32>,
    /// What `last` meant in the newest commit, if that was asked: the next transaction mostly writes to the same.
    pub(super) last_naming: Option<Arc<Naming>>,
}

/// What change `change` of the batch found.
#[derive(Debug, Clone)]
struct Undo {
    change: usize,
    name: String,
    meant: Option<Option<Arc<Documents>>>,
    last_id: Option<u32>,
}

impl Names {
    pub(super) fn clear(&mut self) {
        if !self.undo.is_empty() {
            self.changed.clear();
            self.undo.clear();
        }
        self.last_id = None;
        self.forget_numbers();
    }

    /// `name` is written to, for the first time since names changed.
    pub(super) fn remember(&mut self, name: &str, number: u32) {
        if let Some(last) = self.last_number {
            if self.numbers.is_empty() {
                self.numbers.insert(self.last.clone(), last);
            }
            self.numbers.insert(name.to_owned(), number);
        }
        name.clone_into(&mut self.last);
        self.last_number = Some(number);
    }

    /// The number of a name that was written to before the last one.
    pub(super) fn again(&mut self, name: &str) -> Option<u32> {
        let number = *self.numbers.get(name)?;
        name.clone_into(&mut self.last);
        (self.last_number, self.last_naming) = (Some(number), None);
        Some(number)
    }

    /// Names may mean something else from now on.
    fn forget_numbers(&mut self) {
        self.last_number = None;
        if !self.numbers.is_empty() {
            self.numbers.clear();
        }
    }

    /// From change `change` of the batch on, `name` means this.
    pub(super) fn set(&mut self, change: usize, name: &str, means: Option<Arc<Documents>>) {
        let meant = self.changed.insert(name.to_owned(), means);
        self.undo.push(Undo { change, name: name.to_owned(), meant, last_id: self.last_id });
        self.forget_numbers();
    }

    /// Undoes what the changes from number `changes` on did.
    pub(super) fn truncate(&mut self, changes: usize) {
        while let Some(undo) = self.undo.pop_if(|undo| undo.change >= changes) {
            self.last_id = undo.last_id;
            match undo.meant {
                Some(meant) => _ = self.changed.insert(undo.name, meant),
                None => _ = self.changed.remove(&undo.name),
            }
        }
        self.forget_numbers();
    }

    /// A copy that speaks of the documents that `copy_of` gives for each.
    #[cfg(feature = "testing")]
    pub(super) fn fork(&self, copy_of: &mut dyn FnMut(&Arc<Documents>) -> Arc<Documents>) -> Self {
        let mut copy = |documents: &Option<Arc<Documents>>| documents.as_ref().map(&mut *copy_of);
        let changed = self.changed.iter().map(|(name, meant)| (name.clone(), copy(meant))).collect();
        let undo =
            self.undo.iter().map(|undo| Undo { meant: undo.meant.as_ref().map(&mut copy), ..undo.clone() });
        Names { changed, undo: undo.collect(), last_id: self.last_id, ..Names::default() }
    }
}
