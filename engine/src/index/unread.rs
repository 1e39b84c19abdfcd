//! What of a checkpoint's tree was not read when the store opened (spec: ): items by their first key, each a directory page or a leaf.
//!
//! A key of an item that is unread stands in the index only if it was put since the checkpoint before; what stands there is
//! the newest. An item is taken in: a page gives its leaves, a leaf gives its entries to the index where that has none for
//! their keys. A leaf for which there is no room stays unread instead: it is read beside the index, and its bytes may be kept.
//! Unless leaves are given up again, how many items there are falls to 0 once. Who has found 0 there sees in the index all
//! that was taken in.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Bound;

use crate::document::{Key, KeyRef};
use crate::error::{Error, Result};
use crate::format::checkpoint::{
    Branch, IndexSource, LeafBytes, LeafOf, Limits, Stretch, TreeOf, TreePlace, Trees, UnreadLeaf,
};
use crate::format::definition::StoredDefinition;
#[cfg(test)]
use crate::format::index_record::Reference;
use crate::format::superblock::CheckpointRef;
use crate::format::{LogAddress, Lsn};
use crate::secondary::EntryLimits;
use crate::seeded::{self, Bug};
use crate::sync::race::{Race, weakened};
use crate::sync::{Arc, AtomicU64, Mutex, MutexGuard, Ordering, lock};

use super::page::BESIDE_A_KEY;
use super::{Entries, Entry, KeyRange, MixedIndex, PrimaryIndex, since_ever};

#[derive(Debug)]
pub(super) struct Unread {
    /// How many items there are.
    count: AtomicU64,
    inner: Mutex<Inner>,
    /// Whether what is read may be given up again.
    gives_up: bool,
}

#[derive(Debug, Default, Clone)]
struct Inner {
    items: BTreeMap<Key, Item>,
    /// Keys that were deleted while the item of each was unread, or may be given up again; and when.
    deleted: BTreeMap<Key, LogAddress>,
}

/// A directory page or a leaf, whose keys lie from its first key on and before `end`, or have no end.
#[derive(Debug, Clone)]
struct Item {
    branch: Branch,
    end: Option<Key>,
    /// The first key of the leaf, where only those behind it are still unread.
    cut: Option<Box<Key>>,
    /// The bytes of the leaf, where they are kept for look-ups of single keys.
    bytes: Option<Arc<LeafBytes>>,
    origin: Arc<Origin>,
}

/// What is the same for all records of one tree in one checkpoint.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) checkpoint: CheckpointRef,
    pub(crate) place: TreePlace,
    /// The id of the collection or the index.
    pub(crate) id: u32,
    /// No int key is this or above it; none where it is of an index.
    pub(crate) next: Option<u64>,
    pub(crate) limits: Limits,
    /// Of an index, and how long its entries may be.
    pub(crate) definition: Option<(Arc<StoredDefinition>, EntryLimits)>,
}

impl Origin {
    pub(crate) fn new(
        tree: TreeOf<'_>,
        checkpoint: CheckpointRef,
        place: TreePlace,
        page_shift: u32,
    ) -> Self {
        let geometry = place.geometry();
        let of_entries = EntryLimits::new(geometry.checkpoint_entry_len_max());
        let definition = tree.definition.map(|definition| (Arc::clone(definition), of_entries));
        let limits = Limits::new(checkpoint.end(geometry), page_shift);
        Origin { checkpoint, place, id: tree.id, next: tree.next, limits, definition }
    }
}

#[cfg(test)]
impl Origin {
    /// Of a checkpoint in no file, at which the log ended there.
    pub(crate) fn nowhere(end: LogAddress, definition: Option<(Arc<StoredDefinition>, EntryLimits)>) -> Self {
        let root = Reference { physical: 0, offset: 0, len: 0, crc: 0 };
        let (lsn, replay_lsn) = (Lsn(1), Lsn(1));
        let checkpoint =
            CheckpointRef { lsn, root, replay_physical: 0, replay_sequence: 0, replay_offset: 0, replay_lsn };
        let (place, next) = (TreePlace::nowhere(), definition.is_none().then_some(1));
        Origin { checkpoint, place, id: 1, next, limits: Limits::new(end, 4), definition }
    }
}

/// An item that is to be read, or was.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    first: Key,
    item: Item,
}

/// What an item has.
#[derive(Debug)]
pub(crate) enum Contents {
    Leaves(Vec<(Key, Branch)>),
    Entries(Entries),
}

impl Unread {
    pub(super) fn new(gives_up: bool) -> Self {
        Unread { count: AtomicU64::new(0), inner: Mutex::default(), gives_up }
    }

    /// Whether there are no items. What was taken in is seen by who finds none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count.load(weakened(Race::UnreadRelaxed, Ordering::Acquire)) == 0
    }

    /// The pages of a tree, of which nothing was read. Called before there are readers.
    pub(super) fn begin(&self, origin: Origin, pages: Vec<(Key, Branch)>) {
        let mut inner = lock(&self.inner);
        inner.add(pages, None, &Arc::new(origin));
        self.count(&inner);
    }

    /// Keeps items from being taken in; none where no item is unread, and none is ever given up.
    pub(super) fn hold(&self) -> Option<UnreadGuard<'_>> {
        let held = || UnreadGuard { inner: lock(&self.inner), gives_up: self.gives_up };
        (self.gives_up || !self.is_empty()).then(held)
    }

    /// The item that a key is of.
    pub(super) fn of(&self, key: KeyRef<'_>) -> Option<Wanted> {
        let (inner, key) = (lock(&self.inner), key.to_key());
        inner.may_have(&key).map(Wanted::new)
    }

    /// The first item that has a part of `range`, or, in reverse, the last.
    pub(super) fn first_in(&self, range: &KeyRange, reverse: bool) -> Option<Wanted> {
        let inner = lock(&self.inner);
        if reverse { inner.last_in(range) } else { inner.first_in(range) }.map(Wanted::new)
    }

    /// Whether the item is still to be read.
    pub(super) fn has(&self, wanted: &Wanted) -> bool {
        lock(&self.inner).has(wanted)
    }

    /// The item is read: its contents take its place, after `first`; unless somebody else has read it meanwhile.
    /// Whether they do.
    pub(super) fn take_in(
        &self,
        index: &MixedIndex,
        wanted: &Wanted,
        contents: Contents,
        first: impl FnOnce(),
    ) -> bool {
        let mut inner = lock(&self.inner);
        if !inner.has(wanted) {
            return false;
        }
        first();
        inner.items.remove(&wanted.first);
        match contents {
            Contents::Leaves(leaves) => inner.add(leaves, wanted.item.end.clone(), &wanted.item.origin),
            Contents::Entries(entries) => {
                index.merge(&entries, &inner.deleted);
                if !self.gives_up {
                    inner.forget_deletes(&wanted.range(), LogAddress::MAX);
                }
            }
        }
        self.count(&inner);
        true
    }

    /// Appends to `out` what this leaf and the index have in `part` of its range, in key order, or in reverse; `entries` are those
    /// of the leaf. Not where somebody has taken it in. Whether it does.
    pub(super) fn page_beside(
        &self,
        index: &MixedIndex,
        (leaf, entries): (&Wanted, &Entries),
        (part, reverse): (&KeyRange, bool),
        out: &mut Entries,
    ) -> bool {
        let inner = lock(&self.inner);
        if !inner.has(leaf) {
            return false;
        }
        let start = out.len();
        let leaf_first = seeded::is_on(Bug::LeafOverwrites);
        if !leaf_first {
            index.page(part, reverse, usize::MAX, out);
        }
        let is_mixed = out.len() > start || leaf_first;
        let KeyRange { from, to } = leaf.range();
        let has_deleted = inner.deleted.range((from, to)).next().is_some();
        let is_there = |key: KeyRef<'_>| !has_deleted || !inner.deleted.contains_key(&key.to_key());
        let push = |item: &super::Item<Entry>| {
            let key = entries.key(item);
            if is_there(key) {
                out.push(key, item.value);
            }
        };
        let items = entries.within(part).iter();
        if reverse {
            items.rev().for_each(push);
        } else {
            items.for_each(push);
        }
        if leaf_first {
            index.page(part, reverse, usize::MAX, out);
        }
        if is_mixed {
            // Of two under one key, that of the index comes first, and stays.
            out.put_in_order(start, reverse);
        }
        true
    }

    /// Whether the item is still to be read, and nothing in its range of keys was put or deleted since the checkpoint
    /// that it is of.
    pub(super) fn is_unchanged(&self, index: &MixedIndex, wanted: &Wanted) -> bool {
        let inner = lock(&self.inner);
        if seeded::is_on(Bug::ChangedLeafTakenOver) {
            return inner.has(wanted);
        }
        let (range, mut put) = (wanted.range(), Entries::default());
        index.page(&range, false, 1, &mut put);
        let deleted = inner.deleted.range((range.from, range.to)).next();
        inner.has(wanted) && put.len() == 0 && deleted.is_none()
    }

    /// Keeps the bytes of a leaf that is still unread. Whether they are the first.
    pub(super) fn keep_bytes(&self, leaf: &Wanted, bytes: Arc<LeafBytes>) -> bool {
        let mut inner = lock(&self.inner);
        inner.item_of(leaf).is_some_and(|item| item.bytes.replace(bytes).is_none())
    }

    /// How much memory it gives back to give up this leaf, but for what came at `since` or later; nothing where it is none that can be
    /// given up.
    pub(super) fn memory_of(&self, index: &MixedIndex, leaf: &Wanted, since: LogAddress) -> u64 {
        if let Some(item) = lock(&self.inner).item_of(leaf) {
            return item.bytes.as_ref().map_or(0, |bytes| bytes.memory_bytes() as u64);
        }
        let mut entries = Entries::default();
        if leaf.can_be_given_up() {
            index.page(&leaf.range(), false, usize::MAX, &mut entries);
        }
        entries.bytes_in_map(|entry| entry.address() < since)
    }

    /// Gives up a leaf that was read, but for what came at `since` or later: it is unread again; or the bytes of one that is unread.
    /// Whether there was anything to give up. Nobody else looks into the index meanwhile, or changes it.
    pub(super) fn give_up(&self, index: &MixedIndex, leaf: &Wanted, since: LogAddress) -> bool {
        let mut inner = lock(&self.inner);
        if let Some(item) = inner.item_of(leaf) {
            return item.bytes.take().is_some();
        }
        if inner.first_in(&leaf.range()).is_some() {
            return false;
        }
        inner.items.insert(leaf.first.clone(), leaf.item.clone());
        self.count(&inner);
        index.forget(&leaf.range(), since);
        true
    }

    /// A newer checkpoint has this leaf in `range`, or nothing. If any of it is unread, all of it is from now on, and of that
    /// checkpoint; but for what came at `since` or later. Nobody else looks into the index meanwhile, or changes it.
    pub(super) fn renew(
        &self,
        index: &MixedIndex,
        range: &KeyRange,
        leaf: Option<&Wanted>,
        since: LogAddress,
    ) {
        let mut inner = lock(&self.inner);
        inner.forget_deletes(range, since);
        if inner.first_in(range).is_none() {
            return;
        }
        if let Bound::Excluded(end) = &range.to {
            inner.cut(end);
        }
        let bounds = (range.from.clone(), range.to.clone());
        let old: Vec<_> = inner.items.range(bounds).map(|(first, _)| first.clone()).collect();
        old.iter().for_each(|first| _ = inner.items.remove(first));
        inner.items.extend(leaf.map(|leaf| (leaf.first.clone(), leaf.item.clone())));
        self.count(&inner);
        index.forget(range, since);
    }

    /// Forgets all that is unread.
    pub(super) fn clear(&self) {
        let mut inner = lock(&self.inner);
        *inner = Inner::default();
        self.count(&inner);
    }

    fn count(&self, inner: &Inner) {
        // Not before the index has it: who finds none looks there alone.
        self.count.store(inner.items.len() as u64, Ordering::Release);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let inner = lock(&self.inner);
        let key = |key: &Key| size_of::<Key>() + key.as_ref().payload_len();
        let items = inner.items.iter().map(|(first, item)| {
            let bytes = item.bytes.as_ref().map_or(0, |bytes| bytes.memory_bytes());
            key(first)
                + size_of::<Item>()
                + item.end.as_ref().map_or(0, |end| end.as_ref().payload_len())
                + bytes
        });
        items.sum::<usize>() + inner.deleted.keys().map(key).sum::<usize>()
    }

    #[cfg(feature = "testing")]
    pub(super) fn fork(&self) -> Self {
        let inner = lock(&self.inner).clone();
        let count = AtomicU64::new(inner.items.len() as u64);
        Unread { count, inner: Mutex::new(inner), gives_up: self.gives_up }
    }
}

/// Nothing is taken in meanwhile.
pub(super) struct UnreadGuard<'a> {
    inner: MutexGuard<'a, Inner>,
    gives_up: bool,
}

impl UnreadGuard<'_> {
    /// Whether the index does not tell of a key that is not in it.
    pub(super) fn may_have(&self, key: KeyRef<'_>) -> bool {
        self.inner.may_have(&key.to_key()).is_some()
    }

    /// The record at `at` deletes the key, whatever its item has.
    pub(super) fn delete(&mut self, key: KeyRef<'_>, at: LogAddress) {
        let key = key.to_key();
        if self.keeps_delete_of(&key) {
            self.inner.deleted.insert(key, at);
        }
    }

    /// The same of keys that come in order.
    pub(super) fn delete_all(&mut self, keys: Vec<Key>, at: LogAddress) {
        let kept = keys.into_iter().filter(|key| self.keeps_delete_of(key));
        let mut deleted = kept.map(|key| (key, at)).collect();
        self.inner.deleted.append(&mut deleted);
    }

    fn keeps_delete_of(&self, key: &Key) -> bool {
        let may_be_unread = self.gives_up && !seeded::is_on(Bug::DeleteNotKept);
        (may_be_unread || self.inner.of(key).is_some()) && !seeded::is_on(Bug::DeletedComesBack)
    }

    /// The key is put: the index has it.
    pub(super) fn put(&mut self, key: KeyRef<'_>) {
        if !self.inner.deleted.is_empty() && !seeded::is_on(Bug::DeleteOutlivesUndo) {
            self.inner.deleted.remove(&key.to_key());
        }
    }
}

impl Inner {
    /// What stands behind these ends at `end`.
    fn add(&mut self, items: Vec<(Key, Branch)>, end: Option<Key>, origin: &Arc<Origin>) {
        let are_most = items.len() > self.items.len();
        let items = in_order(items, end, origin).map(|Wanted { first, item }| (first, item));
        if are_most {
            // All are put in order at once, which takes less than to seek a place for each.
            self.items.append(&mut items.collect());
        } else {
            self.items.extend(items);
        }
    }

    /// Of an item that has keys on both sides of `key`, makes two.
    fn cut(&mut self, key: &Key) {
        let Some((first, item)) = self.of(key).filter(|(first, _)| *first != key) else { return };
        assert!(item.branch.is_leaf(), "who wrote the newer checkpoint has read all pages");
        let cut = Some(item.cut.clone().unwrap_or_else(|| Box::new(first.clone())));
        let behind = Item { cut, bytes: None, ..item.clone() };
        self.items.insert(key.clone(), behind);
    }

    /// Forgets what was deleted in `range` before `since`.
    fn forget_deletes(&mut self, range: &KeyRange, since: LogAddress) {
        let deleted = self.deleted.range((range.from.clone(), range.to.clone()));
        let old: Vec<_> = deleted.filter(|(_, at)| **at < since).map(|(key, _)| key.clone()).collect();
        old.iter().for_each(|key| _ = self.deleted.remove(key));
    }

    /// Whether the item is still to be read.
    fn has(&self, wanted: &Wanted) -> bool {
        self.items.get(&wanted.first).is_some_and(|item| item.branch == wanted.item.branch)
    }

    /// The item, while it is still to be read.
    fn item_of(&mut self, wanted: &Wanted) -> Option<&mut Item> {
        self.items.get_mut(&wanted.first).filter(|item| item.branch == wanted.item.branch)
    }

    fn of(&self, key: &Key) -> Option<(&Key, &Item)> {
        let (first, item) =
            self.items.range::<Key, _>((Bound::Unbounded, Bound::Included(key))).next_back()?;
        item.end.as_ref().is_none_or(|end| key < end).then_some((first, item))
    }

    /// The item that a key is of which was not deleted.
    fn may_have(&self, key: &Key) -> Option<(&Key, &Item)> {
        self.of(key).filter(|_| !self.deleted.contains_key(key))
    }

    fn first_in(&self, range: &KeyRange) -> Option<(&Key, &Item)> {
        let (Bound::Included(from) | Bound::Excluded(from)) = &range.from else {
            return self.items.iter().next().filter(|(first, item)| item.is_in(first, range));
        };
        let behind = || self.items.range((Bound::Excluded(from), Bound::Unbounded)).next();
        self.of(from).or_else(behind).filter(|(first, item)| item.is_in(first, range))
    }

    fn last_in(&self, range: &KeyRange) -> Option<(&Key, &Item)> {
        let to = range.to.as_ref();
        self.items.range((Bound::Unbounded, to)).next_back().filter(|(first, item)| item.is_in(first, range))
    }
}

impl Item {
    /// Whether a key of it may lie in `range`.
    fn is_in(&self, first: &Key, range: &KeyRange) -> bool {
        let begins = match &range.to {
            Bound::Unbounded => true,
            Bound::Included(to) => first <= to,
            Bound::Excluded(to) => first < to,
        };
        let ends = match (&range.from, &self.end) {
            (Bound::Unbounded, _) | (_, None) => true,
            (Bound::Included(from) | Bound::Excluded(from), Some(end)) => from < end,
        };
        begins && ends
    }
}

/// The items of these pages or leaves, which follow each other in one tree. The next one behind them begins at `end`.
fn in_order(
    items: Vec<(Key, Branch)>,
    end: Option<Key>,
    origin: &Arc<Origin>,
) -> impl Iterator<Item = Wanted> + use<> {
    let ends: Vec<_> = items.iter().skip(1).map(|(first, _)| Some(first.clone())).chain([end]).collect();
    let origin = Arc::clone(origin);
    let item = move |((first, branch), end)| {
        let item = Item { branch, end, cut: None, bytes: None, origin: Arc::clone(&origin) };
        Wanted { first, item }
    };
    items.into_iter().zip(ends).map(item)
}

impl Wanted {
    /// The pages of a tree.
    pub(crate) fn all_of(origin: Origin, pages: Vec<(Key, Branch)>) -> impl Iterator<Item = Wanted> {
        in_order(pages, None, &Arc::new(origin))
    }

    /// The leaves of a page; or of a leaf, itself.
    pub(crate) fn leaves(self, source: &impl IndexSource) -> Result<Vec<Wanted>> {
        if self.item.branch.is_leaf() {
            return Ok(vec![self]);
        }
        let Contents::Leaves(leaves) = self.read(source)? else { return Ok(Vec::new()) };
        Ok(in_order(leaves, self.item.end.clone(), &self.item.origin).collect())
    }

    fn new((first, item): (&Key, &Item)) -> Self {
        Wanted { first: first.clone(), item: item.clone() }
    }

    /// Whether it is a leaf whose entries can be given up: those of ints cannot, since the pages of ints never go away.
    pub(crate) fn can_be_given_up(&self) -> bool {
        self.item.branch.is_leaf() && !matches!(self.first, Key::Int(_))
    }

    /// The same without the bytes that are kept.
    pub(crate) fn without_bytes(self) -> Self {
        Wanted { item: Item { bytes: None, ..self.item }, ..self }
    }

    /// How much memory the entries of a leaf take in the map, about.
    pub(crate) fn bytes_in_map(&self) -> u64 {
        let each = self.first.as_ref().payload_len() + BESIDE_A_KEY;
        // Nothing vouches for the count before the leaf is read.
        self.item.branch.count().saturating_mul(each as u64)
    }

    /// A number that tells it from most others.
    pub(crate) fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.item.origin.id, &self.first).hash(&mut hasher);
        hasher.finish()
    }

    pub(crate) fn checkpoint(&self) -> CheckpointRef {
        self.item.origin.checkpoint
    }

    /// The part of `range` that comes before the item.
    pub(crate) fn before(&self, range: &KeyRange, reverse: bool) -> Option<KeyRange> {
        self.range().outside(reverse).map(|before| range.within(&before))
    }

    /// All keys that may be in it.
    pub(crate) fn range(&self) -> KeyRange {
        let to = self.item.end.clone().map_or(Bound::Unbounded, Bound::Excluded);
        KeyRange { from: Bound::Included(self.first.clone()), to }
    }

    /// Whether all keys of its record are unread.
    pub(crate) fn is_whole(&self) -> bool {
        self.item.cut.is_none()
    }

    /// The leaf, if it is one, and the LSN of the checkpoint that wrote it.
    pub(crate) fn leaf(&self) -> Option<(UnreadLeaf<'_>, Lsn)> {
        let Item { branch, end, .. } = &self.item;
        let leaf = UnreadLeaf { first: &self.first, end: end.as_ref(), count: branch.count() };
        branch.is_leaf().then_some((leaf, branch.lsn()))
    }

    /// Whether it has entries of an index.
    pub(crate) fn is_of_index(&self) -> bool {
        self.item.origin.definition.is_some()
    }

    /// The id of its tree.
    pub(crate) fn id(&self) -> u32 {
        self.item.origin.id
    }

    /// Reads and verifies it.
    pub(crate) fn read(&self, source: &impl IndexSource) -> Result<Contents> {
        self.read_by(&mut self.item.origin.place.trees(source))
    }

    /// As [`read`](Self::read), by the trees of its checkpoint.
    pub(crate) fn read_by<S: IndexSource>(&self, trees: &mut Trees<'_, S>) -> Result<Contents> {
        let Wanted { first, item } = self;
        let (origin, begins) = (&*item.origin, item.cut.as_deref().unwrap_or(first));
        let last = |last: Option<KeyRef<'_>>| {
            let is_below = |end: &Key| last.is_none_or(|last| last < end.as_ref());
            if item.end.as_ref().is_none_or(is_below) {
                Ok(())
            } else {
                Err(self.damaged("keys out of order"))
            }
        };
        if !item.branch.is_leaf() {
            let leaves = trees.page(origin.id, begins, &item.branch)?;
            last(leaves.last().map(|(first, _)| first.as_ref()))?;
            return Ok(Contents::Leaves(leaves));
        }
        let mut leaf = LeafEntries { entries: Entries::default(), origin, fault: None };
        trees.leaf(self.leaf_of(begins), &mut leaf)?;
        let LeafEntries { mut entries, fault, .. } = leaf;
        if let Some(what) = fault {
            return Err(self.damaged(what));
        }
        last(entries.last_key())?;
        if item.cut.is_some() {
            let in_front = entries.items().partition_point(|item| entries.key(item) < first.as_ref());
            entries.remove(0..in_front);
        }
        Ok(Contents::Entries(entries))
    }

    /// The bytes of an unread leaf that are kept.
    pub(crate) fn kept_bytes(&self) -> Option<&Arc<LeafBytes>> {
        self.item.bytes.as_ref()
    }

    /// Reads the bytes of a leaf, and verifies them.
    pub(crate) fn read_bytes(&self, source: &impl IndexSource) -> Result<LeafBytes> {
        self.item.origin.place.trees(source).leaf_bytes(self.leaf_of(&self.first))
    }

    /// Its record, which begins with `first`.
    fn leaf_of<'a>(&'a self, first: &'a Key) -> LeafOf<'a> {
        let Origin { id, next, limits, .. } = *self.item.origin;
        LeafOf { id, next, first, branch: &self.item.branch, limits }
    }

    /// What these bytes of the leaf have under a key of its range; none where that cannot be told without all of the leaf.
    pub(crate) fn find(&self, bytes: &LeafBytes, key: KeyRef<'_>) -> Option<Option<Entry>> {
        Some(bytes.find(key, self.item.origin.limits)?.map(entry))
    }

    pub(crate) fn damaged(&self, what: &'static str) -> Error {
        self.item.branch.damaged(what).into()
    }
}

/// The entries of a leaf in the making.
struct LeafEntries<'a> {
    entries: Entries,
    origin: &'a Origin,
    fault: Option<&'static str>,
}

impl crate::format::checkpoint::Entries for LeafEntries<'_> {
    fn ints(&mut self, bytes: &[u8], stretches: &[Stretch]) {
        if self.origin.definition.is_some() {
            self.fault = Some("an int among the entries of an index");
            return;
        }
        for stretch in stretches {
            stretch.each(bytes, |key, value| self.entries.push_int(key, entry(value)));
        }
    }

    //= spec/format.md#f-8-10-indexes
    //# The value of each entry MUST be 4.
    //= spec/index.md#i-7-2-entries-from-bytes
    //# A reader MUST refuse bytes that are not those of an entry of the definition: a component that is no order
    //# key, a key that is none (E-5.6), a mark above 2, a mark of a number that it does not fit, more marks than
    //# numbers, a zero that ends them.
    fn key(&mut self, key: KeyRef<'_>, value: u64) {
        if let Some((definition, limits)) = &self.origin.definition {
            let fault = match key {
                KeyRef::Bytes(_) if value != since_ever().value() => {
                    Some("an entry of an index with an address")
                }
                KeyRef::Bytes(bytes) => definition.definition.parse(bytes, *limits).err(),
                KeyRef::Int(_) | KeyRef::Text(_) => Some("a text among the entries of an index"),
            };
            self.fault = self.fault.or(fault);
        }
        self.entries.push(key, entry(value));
    }
}

/// The entry that a leaf has as `value`.
fn entry(value: u64) -> Entry {
    Entry::from_value(value).expect("a leaf's values are checked before they are handed out")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::RawDocument;
    use crate::format::LogAddress;
    use crate::format::checkpoint::Entries as _;
    use crate::secondary::{EntryList, IndexDefinition};

    //= spec/format.md#f-8-10-indexes
    //= type=test
    //# The value of each entry MUST be 4.
    //= spec/format.md#f-8-10-indexes
    //= type=test
    //# A reader MUST take a checkpoint for damaged when `of` is no id of a collection in it, when an id is that
    //# of a collection, that of another index, or above `last` of the root, when two indexes of a collection
    //# have one name, when a collection has more than 64, when an entry is none of its definition (I-7.2), or
    //# when it has another number of entries than `count`.
    #[test]
    fn a_leaf_of_an_index_has_entries_of_the_definition_alone() {
        let definition = IndexDefinition::new("n", ["$.n"]).expect("a definition");
        let limits = EntryLimits::new(4000);
        let mut list = EntryList::default();
        let document = crate::doc! { "n": 7 }.encode();
        definition
            .entries(RawDocument::from_verified(&document), KeyRef::Int(3), limits, &mut list)
            .expect("one entry");
        let whole = list.iter().next().expect("one").to_vec();
        let stored = StoredDefinition::new(definition);
        let origin = Origin::nowhere(LogAddress::MAX, Some((Arc::new(stored), limits)));
        let cut = &whole[..whole.len() - 1];
        for (key, value, is_sound) in [
            (KeyRef::Bytes(&whole), 4, true),
            (KeyRef::Bytes(&whole), 8, false),
            (KeyRef::Bytes(&whole), 5, false),
            (KeyRef::Bytes(cut), 4, false),
            (KeyRef::Text("n"), 4, false),
        ] {
            let mut leaf = LeafEntries { entries: Entries::default(), origin: &origin, fault: None };
            leaf.key(key, value);
            assert_eq!(leaf.fault.is_none(), is_sound, "{key:?} {value}");
        }
        let mut leaf = LeafEntries { entries: Entries::default(), origin: &origin, fault: None };
        leaf.ints(&[], &[]);
        assert!(leaf.fault.is_some());
    }
}
