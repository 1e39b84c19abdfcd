//! The documents of a collection, or the entries of an index, as memory has them; and the indexes that writers keep up for a collection.
//!
//! The entries of an index stand in an index of their own, as keys that are byte strings (spec: I-7.1), each under the address of the record
//! that it came with. So a snapshot finds the entries of its state as it finds documents.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Bound;

use crate::document::{Document, Key, KeyRef};
use crate::error::{Corruption, Error, Result};
use crate::format::LogAddress;
use crate::format::checkpoint::{Branch, IndexSource, LeafBytes, Trees};
use crate::format::definition::StoredDefinition;
use crate::seeded::{self, Bug};
use crate::sync::race::{Race, weakened};
use crate::sync::{Arc, AtomicBool, AtomicU64, Mutex, OnceLock, Ordering, RwLock, lock, read, write};

use super::unread::Unread;
use super::{Contents, Entries, Entry, KeyRange, Layout, MixedIndex, Origin, PrimaryIndex, Wanted};

/// The documents of one collection id.
#[derive(Debug)]
pub(crate) struct Documents {
    pub(crate) id: u32,
    pub(crate) index: MixedIndex,
    /// What a checkpoint has, and nobody has asked for yet.
    unread: Unread,
    /// Live documents in the visible state, and the end of the commit since which there are so many. Both change under the lock of
    /// visibility, the second one first: who sees a count sees a commit no older than the one that it comes from.
    len: AtomicU64,
    len_since: AtomicU64,
    /// Live documents after the newest commit, visible or not; only the writer changes it.
    newest_len: AtomicU64,
    /// The largest int key ever put there, or 0; only the writer changes it.
    largest_id: AtomicU64,
    /// What a newer version has written about the collection (spec: F-7.3).
    pub(crate) kept: Document,
    /// The indexes that a change of a document changes; `has_targets` spares most writers the lock.
    targets: RwLock<Arc<[Target]>>,
    has_targets: AtomicBool,
    /// Of the entries of an index: why they cannot be told, if they cannot (spec: I-8.2).
    damage: OnceLock<Corruption>,
    /// Of the entries of an index: opening makes them from the documents, whatever its checkpoint has.
    is_made_anew: AtomicBool,
    /// Of the entries of an index: how often they were walked through.
    uses: Uses,
}

/// A count that is no part of the state: `Debug` shows nothing of it.
struct Uses(AtomicU64);

impl fmt::Debug for Uses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("uses")
    }
}

impl Documents {
    pub(crate) fn new(id: u32, layout: Layout) -> Self {
        Documents {
            id,
            index: MixedIndex::new(layout.page_shift),
            unread: Unread::new(layout.gives_up),
            len: AtomicU64::new(0),
            len_since: AtomicU64::new(0),
            newest_len: AtomicU64::new(0),
            largest_id: AtomicU64::new(0),
            kept: Document::new(),
            targets: RwLock::default(),
            has_targets: AtomicBool::new(false),
            damage: OnceLock::new(),
            is_made_anew: AtomicBool::new(false),
            uses: Uses(AtomicU64::new(0)),
        }
    }

    /// The indexes that a change of a document changes. Only the writer may rely on the answer.
    #[inline]
    pub(crate) fn targets(&self) -> Option<Arc<[Target]>> {
        self.has_targets.load(Ordering::Relaxed).then(|| Arc::clone(&read(&self.targets)))
    }

    /// What goes on under this id where the collection is cleared: its indexes without entries, under the ids behind it
    /// (spec: F-7.1).
    pub(crate) fn cleared(&self, id: u32, layout: Layout) -> Self {
        let cleared = Documents::new(id, layout);
        let targets = self.targets().unwrap_or_default();
        let mut whole: Vec<_> = targets.iter().filter(|target| target.building.is_none()).collect();
        whole.sort_by_key(|target| target.entries.id);
        let ids = (1..).map(|place| id.saturating_add(place));
        let again = whole.into_iter().zip(ids).map(|(target, id)| Target {
            entries: match seeded::is_on(Bug::ClearKeepsEntries) {
                true => Arc::clone(&target.entries),
                false => Arc::new(Documents::new(id, layout)),
            },
            ..target.clone()
        });
        cleared.set_targets(again.collect());
        cleared
    }

    /// The highest id that it has, or an index of it; none where there are no more ids than those.
    pub(crate) fn last_id(&self) -> Option<u32> {
        let targets = self.targets().unwrap_or_default();
        let last = targets.iter().map(|target| target.entries.id).max().unwrap_or(self.id).max(self.id);
        (targets.is_empty() || last < u32::MAX).then_some(last)
    }

    /// A checkpoint has up to `count` entries here, in these directory pages, which are read when they are asked for. Called before there
    /// are readers.
    pub(crate) fn begin_unread(&self, origin: Origin, pages: Vec<(Key, Branch)>, count: u64) {
        self.index.ints.expect(count);
        self.unread.begin(origin, pages);
    }

    /// Reads all that is unread by `trees`, those of its checkpoint. Called before there are readers.
    pub(crate) fn read_whole<S: IndexSource>(&self, trees: &mut Trees<'_, S>) -> Result<()> {
        trees.begin();
        while let Some(wanted) = self.unread_in(&KeyRange::all(), false) {
            let contents = wanted.read_by(trees)?;
            self.take_in(&wanted, contents, || {});
        }
        Ok(())
    }

    /// Whether the index has everything. Asked before a look into it.
    #[inline]
    pub(crate) fn is_all_read(&self) -> bool {
        self.unread.is_empty()
    }

    /// What is to be read before the index tells of `key`, if anything.
    pub(crate) fn unread_of(&self, key: KeyRef<'_>) -> Option<Wanted> {
        if self.index.get(key).is_some() { None } else { self.unread.of(key) }
    }

    /// What is to be read first before the index tells of `range`, if anything.
    pub(crate) fn unread_in(&self, range: &KeyRange, reverse: bool) -> Option<Wanted> {
        self.unread.first_in(range, reverse)
    }

    /// The item is read: its contents take its place, after `first`; unless somebody else has read it meanwhile. Whether they do.
    pub(crate) fn take_in(&self, wanted: &Wanted, contents: Contents, first: impl FnOnce()) -> bool {
        self.unread.take_in(&self.index, wanted, contents, first)
    }

    /// Whether nobody has read the item yet, and nothing in its range of keys was put or deleted since the
    /// checkpoint that it is of.
    pub(crate) fn is_unchanged(&self, wanted: &Wanted) -> bool {
        self.unread.is_unchanged(&self.index, wanted)
    }

    /// Whether nobody has read the item yet.
    pub(crate) fn is_still_unread(&self, wanted: &Wanted) -> bool {
        self.unread.has(wanted)
    }

    /// Appends what an unread leaf, which has these entries, and the index have in a part of its range, in key order, or in reverse. Not where
    /// somebody has taken the leaf in. Whether it does.
    pub(crate) fn page_beside(
        &self,
        leaf: (&Wanted, &Entries),
        part: (&KeyRange, bool),
        out: &mut Entries,
    ) -> bool {
        self.unread.page_beside(&self.index, leaf, part, out)
    }

    /// Keeps the bytes of a leaf that is still unread, for look-ups of single keys. Whether they are the first.
    pub(crate) fn keep_bytes(&self, leaf: &Wanted, bytes: Arc<LeafBytes>) -> bool {
        self.unread.keep_bytes(leaf, bytes)
    }

    /// How much memory it gives back to [give up](Self::give_up) this leaf.
    pub(crate) fn memory_of(&self, leaf: &Wanted, since: LogAddress) -> u64 {
        self.unread.memory_of(&self.index, leaf, since)
    }

    /// Gives up a leaf that was read, but for what came at `since` or later: it is unread again; or the bytes of one that is unread. Whether
    /// there was anything to give up. Nobody looks into the index meanwhile, or changes it.
    pub(crate) fn give_up(&self, leaf: &Wanted, since: LogAddress) -> bool {
        self.damage().is_none() && self.unread.give_up(&self.index, leaf, since)
    }

    /// A newer checkpoint has this leaf in `range`, or nothing. If any of it is unread, all of it is from now on, and of that checkpoint, but
    /// for what came at `since` or later. Nobody looks into the index meanwhile, or changes it.
    pub(crate) fn renew(&self, range: &KeyRange, leaf: Option<&Wanted>, since: LogAddress) {
        self.unread.renew(&self.index, range, leaf, since);
    }

    /// What is unread is gone, as the collection is.
    pub(crate) fn forget_unread(&self) {
        self.unread.clear();
    }

    /// Puts `entry` in the place of what the index has, and returns that; what an unread leaf has counts no longer. Only the writer calls it.
    pub(crate) fn set(&self, key: KeyRef<'_>, entry: Entry) -> Option<Entry> {
        let mut held = self.unread.hold();
        if let Some(held) = &mut held {
            held.put(key);
        }
        self.index.set(key, entry)
    }

    /// Puts entries, which come in order, at `place` into an index that nobody sees yet.
    pub(crate) fn enter_all<'e>(&self, entries: impl Iterator<Item = &'e [u8]>, place: Entry) {
        let mut held = self.unread.hold();
        let put = |entry| {
            held.iter_mut().for_each(|held| held.put(KeyRef::Bytes(entry)));
            (entry, place)
        };
        let entries: Vec<_> = entries.map(put).collect();
        let added = self.index.merge_byte_strings(&entries);
        self.set_newest_len(self.newest_len() + added as u64);
    }

    /// Removes entries, which come in order, from an index that nobody sees yet: the log up to `at` deletes them.
    pub(crate) fn remove_all<'e>(&self, entries: impl Iterator<Item = &'e [u8]>, at: LogAddress) {
        let mut held = self.unread.hold();
        let (mut keys, mut count) = (Vec::new(), 0);
        for key in entries.map(KeyRef::Bytes) {
            let may_be_unread = held.as_ref().is_some_and(|held| held.may_have(key));
            // A count that is too low comes out when the leaves are read.
            count += u64::from(self.index.remove(key).is_some() || may_be_unread);
            keys.push(key.to_key());
        }
        if let Some(held) = held.as_mut().filter(|_| self.damage().is_none()) {
            held.delete_all(keys, at);
        }
        self.set_newest_len(self.newest_len().saturating_sub(count));
    }

    /// Removes `key`, which the record at `at` deletes. Only the writer calls it.
    pub(crate) fn remove(&self, key: KeyRef<'_>, at: LogAddress) -> Option<Entry> {
        let mut held = self.unread.hold();
        if let Some(held) = held.as_mut().filter(|_| self.damage().is_none()) {
            held.delete(key, at);
        }
        self.index.remove(key)
    }

    /// Whether the index does not tell what `key` has: a leaf that is unread may.
    pub(crate) fn is_unknown(&self, key: KeyRef<'_>) -> bool {
        self.index.get(key).is_none() && self.is_unread(key)
    }

    /// Whether an unread leaf may have `key`, unless it was put since.
    pub(crate) fn is_unread(&self, key: KeyRef<'_>) -> bool {
        self.unread.hold().is_some_and(|held| held.may_have(key))
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.index.memory_bytes() + self.unread.memory_bytes()
    }

    /// Takes over the entries of an index that was built, which has none then.
    pub(crate) fn take_entries(&self, built: &Documents) {
        self.unread.clear();
        self.index.take_rest(&built.index);
        self.set_newest_len(built.newest_len());
        built.set_newest_len(0);
    }

    /// Only the writer calls it.
    pub(crate) fn set_targets(&self, targets: Vec<Target>) {
        self.has_targets.store(!targets.is_empty(), Ordering::Relaxed);
        *write(&self.targets) = targets.into();
    }

    /// Of the entries of an index: where something is damaged, they cannot be told, for this reason.
    pub(crate) fn note_damage(&self, error: Error) -> Result<()> {
        // The first reason is as good as any.
        let _ = self.damage.set(error.into_damage()?);
        Ok(())
    }

    /// Of the entries of an index: opening makes them from the documents, whatever its checkpoint has.
    pub(crate) fn is_made_anew(&self) -> bool {
        self.is_made_anew.load(Ordering::Relaxed)
    }

    pub(crate) fn set_made_anew(&self, is_made_anew: bool) {
        self.is_made_anew.store(is_made_anew, Ordering::Relaxed);
    }

    /// Of the entries of an index: they are walked through once more.
    pub(crate) fn count_use(&self) {
        self.uses.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn uses(&self) -> u64 {
        self.uses.0.load(Ordering::Relaxed)
    }

    /// Why the entries of an index cannot be told.
    pub(crate) fn damage(&self) -> Option<&Corruption> {
        self.damage.get()
    }

    /// The same, of which a newer version has written this.
    pub(crate) fn with_kept(self, kept: Document) -> Self {
        Documents { kept, ..self }
    }

    /// How many documents there are in the visible state.
    pub(crate) fn len(&self) -> u64 {
        self.len.load(Ordering::Acquire)
    }

    /// As [`len`](Self::len), and since when.
    pub(crate) fn len_since(&self) -> (u64, LogAddress) {
        (self.len(), LogAddress(self.len_since.load(Ordering::Relaxed)))
    }

    pub(crate) fn set_len(&self, len: u64, since: LogAddress) {
        self.len_since.store(since.0, Ordering::Relaxed);
        self.len.store(len, weakened(Race::LenRelaxed, Ordering::Release));
    }

    /// How many documents there are after the newest commit.
    pub(crate) fn newest_len(&self) -> u64 {
        self.newest_len.load(Ordering::Relaxed)
    }

    pub(crate) fn set_newest_len(&self, len: u64) {
        self.newest_len.store(len, Ordering::Relaxed);
    }

    pub(crate) fn largest_id(&self) -> i64 {
        self.largest_id.load(Ordering::Relaxed) as i64
    }

    //= spec/semantics.md#s-4-2-largest-id
    //# A put under an int key above the largest id MUST make that key the largest id, whichever call puts.
    //= spec/semantics.md#s-4-2-largest-id
    //# A store MUST NOT lower the largest id of a collection: not by a delete, a clear, a rename, cleaning, a
    //# crash or reopening.
    /// Takes note that `key` was put.
    pub(crate) fn note_key(&self, key: i64) {
        if key > self.largest_id() {
            self.largest_id.store(key.unsigned_abs(), Ordering::Relaxed);
        }
    }

    /// Sets the largest int key back to what it was.
    pub(crate) fn set_largest_id(&self, id: i64) {
        self.largest_id.store(id.unsigned_abs(), Ordering::Relaxed);
    }

    /// The seeded bug of a counter that is not part of the state.
    pub(crate) fn forget_deleted_ids(&self) {
        let mut last = Entries::default();
        let ints = KeyRange { from: Bound::Unbounded, to: Bound::Included(Key::Int(i64::MAX)) };
        self.index.page(&ints, true, 1, &mut last);
        let largest = last.last_key().map_or(0, |key| if let KeyRef::Int(id) = key { id } else { 0 });
        self.set_largest_id(largest.max(0));
    }

    /// A copy, with the entries of its indexes as `copy_of` gives them.
    #[cfg(feature = "testing")]
    pub(crate) fn fork(&self, copy_of: &mut dyn FnMut(&Arc<Documents>) -> Arc<Documents>) -> Self {
        let copy = |target: &Target| Target { entries: copy_of(&target.entries), ..target.clone() };
        let targets: Arc<[Target]> = read(&self.targets).iter().map(copy).collect();
        let damage = OnceLock::new();
        self.damage.get().cloned().map(|known| damage.set(known));
        Documents {
            id: self.id,
            index: self.index.fork(),
            unread: self.unread.fork(),
            len: AtomicU64::new(self.len()),
            len_since: AtomicU64::new(self.len_since.load(Ordering::Relaxed)),
            newest_len: AtomicU64::new(self.newest_len()),
            largest_id: AtomicU64::new(self.largest_id.load(Ordering::Relaxed)),
            kept: self.kept.clone(),
            has_targets: AtomicBool::new(!targets.is_empty()),
            targets: RwLock::new(targets),
            damage,
            is_made_anew: AtomicBool::new(self.is_made_anew()),
            uses: Uses(AtomicU64::new(self.uses())),
        }
    }
}

/// An index as the writers of its collection know it.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) definition: Arc<StoredDefinition>,
    pub(crate) entries: Arc<Documents>,
    /// How far it is built, where it is no part of the state yet.
    pub(crate) building: Option<Arc<Building>>,
}

impl Target {
    //= spec/index.md#i-5-1-beside-others
    //# What is committed meanwhile MUST be in the index once it is there.
    /// Whether a change of the document of `key` changes the index now: what is still to be built takes it from the document later.
    pub(crate) fn covers(&self, key: KeyRef<'_>) -> bool {
        self.building.as_ref().is_none_or(|building| building.covers(key))
    }

    /// Ends the build of an index that is being built, which then begins anew. Whether it is one.
    pub(crate) fn ends_build(&self) -> bool {
        self.building.as_ref().map(|building| building.end()).is_some()
    }

    //= spec/index.md#i-5-1-beside-others
    //# Until the commit that makes it part of the state, an index MUST NOT be seen, used, or refuse a write.
    /// Whether a write is held to it.
    pub(crate) fn refuses(&self) -> bool {
        let is_whole = self.building.is_none() || seeded::is_on(Bug::BuildRefusesWrites);
        is_whole && self.definition.definition.is_unique()
    }
}

/// How far an index is built. Only who has the writer changes it.
#[derive(Debug, Default)]
pub(crate) struct Building {
    built: Mutex<Built>,
}

/// The documents that were gone through, in the order of keys.
#[derive(Debug, Default)]
struct Built {
    to: Option<Key>,
    is_whole: bool,
    is_given_up: bool,
    /// The tuples of which a unique index had two at some time.
    suspects: BTreeSet<Box<[u8]>>,
    /// Entries that writers have taken away, and that may be among those gathered before.
    withdrawn: BTreeSet<Box<[u8]>>,
}

impl Building {
    fn covers(&self, key: KeyRef<'_>) -> bool {
        let built = lock(&self.built);
        !built.is_given_up && (built.is_whole || built.to.as_ref().is_some_and(|to| key <= to.as_ref()))
    }

    /// It is not built any more.
    pub(crate) fn end(&self) {
        lock(&self.built).is_given_up = true;
    }

    pub(crate) fn has_ended(&self) -> bool {
        lock(&self.built).is_given_up
    }

    /// Everything up to `key` was gone through.
    pub(crate) fn built_to(&self, key: Key) {
        lock(&self.built).to = Some(key);
    }

    /// All was gone through.
    pub(crate) fn is_whole(&self) {
        lock(&self.built).is_whole = true;
    }

    /// A writer has put an entry, or taken it away.
    pub(crate) fn note(&self, entry: &[u8], is_there: bool) {
        let mut built = lock(&self.built);
        if is_there {
            built.withdrawn.remove(entry);
        } else {
            built.withdrawn.insert(entry.into());
        }
    }

    /// Whether an entry that was gathered is none any more.
    pub(crate) fn is_withdrawn(&self, entry: &[u8]) -> bool {
        lock(&self.built).withdrawn.contains(entry) && !seeded::is_on(Bug::WithdrawnEntryBuilt)
    }

    /// All that was gathered is entered.
    pub(crate) fn forget_withdrawn(&self) {
        lock(&self.built).withdrawn.clear();
    }

    pub(crate) fn suspect(&self, tuple: &[u8]) {
        lock(&self.built).suspects.insert(tuple.into());
    }

    pub(crate) fn suspects(&self) -> usize {
        lock(&self.built).suspects.len()
    }

    pub(crate) fn take_suspects(&self) -> BTreeSet<Box<[u8]>> {
        std::mem::take(&mut lock(&self.built).suspects)
    }
}
