//! Reads the directory pages and leaves that opening left unread, when a call first needs them (spec: ).
//!
//! Each call first asks how many are unread. At 0 it goes on at once. Else it reads those that its key or its
//! range rests
//! on, and holds no lock meanwhile. What cannot be read is taken from a second recovery, through the other
//! checkpoint.

use crate::cache::SegmentTable;
use crate::document::KeyRef;
use crate::error::{Error, Result};
use crate::format::superblock::CheckpointRef;
use crate::index::{
    Catalog, Contents, Documents, Entries, Entry, KeyRange, Layout, Origin, PrimaryIndex, Wanted,
};
use crate::recovery::{self, Extent, File, Plan};
use crate::seeded::{self, Bug};
use crate::sync::{Arc, read, write};

use super::leaves::Ready;
use super::open::assemble;
use super::opening::Opening;
use super::shared::Shared;

#[cfg(test)]
mod tests;

/// Keys looked at at a time.
const AT_ONCE: usize = 1024;

impl Shared {
    //= spec/recovery.md#r-5-7-leaves-on-demand
    //# A reader MUST read and verify an unread record before it answers what rests on a key that the record
    //# leads to.
    /// Sees to it that the newest entry of `key` can be asked for. Called before the look.
    #[inline(always)]
    pub(crate) fn ready(&self, documents: &Documents, key: KeyRef<'_>) -> Result<Ready> {
        let is_kept = self.leaves.is_none();
        if documents.is_all_read() && is_kept { Ok(Ready::ALL_READ) } else { self.read_for(documents, key) }
    }

    #[cold]
    #[inline(never)]
    fn read_for(&self, documents: &Documents, key: KeyRef<'_>) -> Result<Ready> {
        let kept = self.keep();
        while let Some(wanted) = documents.unread_of(key) {
            if let Some(unread) = self.look_into(documents, &wanted, key) {
                return Ok(Ready::new(kept, unread));
            }
            self.read_unread(documents, &wanted)?;
        }
        Ok(Ready::new(kept, None))
    }

    /// Seeks a key in the bytes of an unread leaf. None where the leaf is to be taken in, or cannot be read so.
    fn look_into(&self, documents: &Documents, leaf: &Wanted, key: KeyRef<'_>) -> Option<Option<Entry>> {
        if let Some(bytes) = leaf.kept_bytes() {
            return leaf.find(bytes, key);
        }
        let leaves = self.leaves.as_ref().filter(|leaves| leaves.stays_unread(leaf))?;
        let bytes = leaf.read_bytes(&self.file_of_any_len()).ok()?;
        let found = leaf.find(&bytes, key)?;
        if leaves.note_look(leaf) && documents.keep_bytes(leaf, Arc::new(bytes)) {
            self.note_read(documents, leaf, 0);
        }
        Some(found)
    }

    /// The entries of an unread leaf. None where the leaf is to be taken in, or cannot be read so.
    fn read_beside(&self, leaf: &Wanted) -> Option<Entries> {
        self.leaves.as_ref().filter(|leaves| leaves.stays_unread(leaf))?;
        let Ok(Contents::Entries(entries)) = leaf.read(&self.file_of_any_len()) else { return None };
        Some(entries)
    }

    /// The file, without a question for its length: a read past its end comes short, and is refused.
    fn file_of_any_len(&self) -> File<'_> {
        File { storage: &self.log.storage, slot: &self.opening.slot, len: u64::MAX }
    }

    /// Reads what the index does not tell of `key`.
    pub(super) fn read_key(&self, documents: &Documents, key: KeyRef<'_>) -> Result<()> {
        while let Some(wanted) = documents.unread_of(key) {
            self.read_unread(documents, &wanted)?;
        }
        Ok(())
    }

    /// Appends `limit` entries of `range` to `out`, in key order, or in reverse; fewer only where the range ends, and more only
    /// where an unread leaf has more.
    pub(crate) fn page(
        &self,
        documents: &Documents,
        range: &KeyRange,
        reverse: bool,
        limit: usize,
        out: &mut Entries,
    ) -> Result<()> {
        let _kept = self.keep();
        if documents.is_all_read() || seeded::is_on(Bug::UnreadPassedOver) {
            documents.index.page(range, reverse, limit, out);
            return Ok(());
        }
        let (enough, mut rest) = (out.len().saturating_add(limit), range.clone());
        while out.len() < enough && !rest.is_empty() {
            let left = enough - out.len();
            let Some(unread) = documents.unread_in(&rest, reverse) else {
                documents.index.page(&rest, reverse, left, out);
                break;
            };
            let len = out.len();
            if let Some(before) = unread.before(&rest, reverse) {
                documents.index.page(&before, reverse, left, out);
                if out.len() == enough {
                    break;
                }
            }
            let (entries, own) = (self.read_beside(&unread), unread.range());
            let part = (&rest.within(&own), reverse);
            if entries.is_some_and(|entries| documents.page_beside((&unread, &entries), part, out)) {
                let Some(behind) = own.outside(!reverse) else { break };
                rest = rest.within(&behind);
            } else {
                out.truncate(len);
                self.read_unread(documents, &unread)?;
            }
        }
        Ok(())
    }

    /// How many keys of `range` the index has after the newest commit, `most` of them at most; about as many
    /// while keys are put. For a range of all keys it reads no leaf, and so finds no damage.
    pub(crate) fn count_keys(&self, documents: &Documents, range: &KeyRange, most: u64) -> Result<u64> {
        if range.is_all() {
            return Ok(documents.newest_len().min(most));
        }
        if documents.is_all_read() && self.leaves.is_none() {
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            return Ok(documents.index.count(range, most) as u64);
        }
        let (mut range, mut count, mut page) = (range.clone(), 0, Entries::default());
        while count < most && !range.is_empty() {
            page.clear();
            let limit = usize::try_from(most - count).map_or(AT_ONCE, |most| most.min(AT_ONCE));
            self.page(documents, &range, false, limit, &mut page)?;
            count += page.len() as u64;
            match page.last_key() {
                Some(last) if page.len() >= limit => range = range.beyond(&last.to_key(), false),
                _ => break,
            }
        }
        Ok(count.min(most))
    }

    /// Reads all that is unread of the documents of a collection, or of the entries of an index. It stays in memory
    /// as long as the caller keeps the index.
    pub(crate) fn read_all(&self, documents: &Documents) -> Result<()> {
        let mut rest = KeyRange::all();
        while !documents.is_all_read() {
            let Some(wanted) = documents.unread_in(&rest, false) else { break };
            self.read_unread(documents, &wanted)?;
            drop(self.keep());
            if wanted.leaf().is_some() {
                let Some(behind) = wanted.range().beyond_end() else { break };
                rest = behind;
            }
        }
        Ok(())
    }

    /// Reads all that is unread, also of collections that have ended and that a snapshot holds.
    pub(super) fn read_everything(&self) -> Result<()> {
        self.read_all_but(|_| false)
    }

    //= spec/recovery.md#r-5-7-leaves-on-demand
    //# A writer MUST NOT name a checkpoint in a slot before it has read all that was unread, but for leaves in whose
    //# place the checkpoint takes over leaves of its base (P-2.8), and for the entries of an index that the
    //# checkpoint has with `anew` (F-8.10).
    /// As [`read_everything`](Self::read_everything), but for the collections and indexes that are left out.
    pub(in crate::core) fn read_all_but(&self, is_left_out: impl Fn(u32) -> bool) -> Result<()> {
        let all: Vec<_> = if seeded::is_on(Bug::EndedLeftUnread) {
            read(&self.catalog).current().map(|naming| Arc::clone(&naming.documents)).collect()
        } else {
            read(&self.catalog).documents().cloned().collect()
        };
        all.iter().filter(|documents| !is_left_out(documents.id)).try_for_each(|documents| {
            let read = if documents.damage().is_some() { Ok(()) } else { self.read_all(documents) };
            documents.unless_damaged(read)
        })
    }

    //= spec/recovery.md#r-5-7-leaves-on-demand
    //# When an unread record is damaged or cannot be read, the reader MUST take the keys that it leads to from
    //# what would start from in the place of this checkpoint, and the log from there to the end that
    //# opening found.
    //= spec/recovery.md#r-5-7-leaves-on-demand
    //# When that cannot be read either, the reader MUST report corruption in each call that rests on one of these
    //# keys, and in no other.
    pub(in crate::core) fn read_unread(&self, documents: &Documents, wanted: &Wanted) -> Result<()> {
        let file = File::new(&self.log.storage, &self.opening.slot)?;
        let error = match wanted.read(&file).or_else(|_| wanted.read(&file)) {
            Ok(contents) => {
                let leaves = if let Contents::Leaves(leaves) = &contents { leaves.len() } else { 0 };
                if documents.take_in(wanted, contents, || {}) {
                    self.note_read(documents, wanted, leaves);
                }
                return Ok(());
            }
            Err(error) => error,
        };
        match self.read_instead(wanted, error) {
            // Before it counts as read: then nobody names this checkpoint again.
            Ok((entries, since)) => {
                documents.take_in(wanted, Contents::Entries(entries), || self.opening.note_damage(since));
            }
            // Another thread has read it, and its place may have been given out since.
            Err(_) if !documents.is_still_unread(wanted) => {}
            Err(_) if seeded::is_on(Bug::UnreadableIsNothing) => documents.forget_unread(),
            // The collection has ended, no snapshot has it, and the checkpoint is gone.
            Err(_) if !read(&self.catalog).documents().any(|known| known.id == documents.id) => {
                documents.forget_unread();
            }
            Err(error) => {
                if wanted.is_of_index() {
                    // spec: I-8.2. The documents have it all: the index is made of them at the next opening.
                    documents.note_damage(error.clone())?;
                }
                return Err(error);
            }
        }
        Ok(())
    }

    //= spec/recovery.md#r-5-7-leaves-on-demand
    //# Once both slots name a checkpoint that was written since the store was opened, the reader MUST take these
    //# keys from the newest one that the slots name and that has them in records which can be read.
    /// The keys of an item that could not be read, because of `error`; and the checkpoint that has them, if the slots
    /// name one that was written since the store was opened.
    fn read_instead(&self, wanted: &Wanted, mut error: Error) -> Result<(Entries, Option<CheckpointRef>)> {
        if !matches!(error, Error::Corrupt(_) | Error::Io { .. }) {
            return Err(error);
        }
        loop {
            // spec: M-4.5. What the disk refuses now may be read by a later call, so this one does not tell of damage.
            let mut sought = |found: Result<Entries>| match found {
                Ok(entries) => Some(entries),
                Err(other) => {
                    if !matches!(other, Error::Corrupt(_)) {
                        error = other;
                    }
                    None
                }
            };
            let named = match seeded::is_on(Bug::GoneCheckpointAsked) {
                true => Vec::new(),
                false => self.opening.named_since(),
            };
            let found = if named.is_empty() {
                let instead = self.opening.instead(|| self.recover_instead());
                sought(instead.and_then(|instead| entries_in(&instead, wanted)))
                    .map(|entries| (entries, None))
            } else {
                let mut entries_of = |named: &CheckpointRef| {
                    sought(self.entries_since(named, wanted)).map(|entries| (entries, Some(*named)))
                };
                named.iter().find_map(&mut entries_of)
            };
            match found {
                Some(found) => return Ok(found),
                // What it was sought in may have been given up meanwhile.
                None if named != self.opening.named_since() && !seeded::is_on(Bug::GoneCheckpointAsked) => {}
                None => return Err(error),
            }
        }
    }

    /// The keys of an unread item, as a checkpoint has them that the slots name now.
    fn entries_since(&self, reference: &CheckpointRef, wanted: &Wanted) -> Result<Entries> {
        let file = File::new(&self.log.storage, &self.opening.slot)?;
        let mut checkpoint = file.checkpoint(reference)?;
        let (place, layout) = (checkpoint.tree_place(), Layout::new(self.options.check.page_shift));
        let (root, trees) = checkpoint.parts();
        let tree = root.trees().find(|tree| tree.id == wanted.id() && !tree.anew);
        let tree = tree.ok_or_else(|| wanted.damaged("its tree has ended"))?;
        let documents = Documents::new(tree.id, layout);
        let origin = Origin::new(tree, *reference, place, layout.page_shift);
        documents.begin_unread(origin, trees.pages(tree)?, 0);
        while let Some(unread) = documents.unread_in(&wanted.range(), false) {
            documents.take_in(&unread, unread.read(&file)?, || {});
        }
        Ok(entries_within(&documents, &wanted.range()))
    }

    /// What opening found, by the other checkpoint.
    fn recover_instead(&self) -> Result<Catalog> {
        let Opening { slot, lsn, position, .. } = &self.opening;
        let position = position.expect("something was left unread of a checkpoint");
        let storage = self.log.storage.to_read();
        let segments = SegmentTable::new(slot.geometry);
        let mut options = self.options.clone().read_only(true).cache_bytes(0);
        (options.max_file_bytes, options.index_bytes) = (None, None);
        let (read_unit, layout) = (options.check.read_unit, options.layout());
        let plan = Plan { read_unit, layout, extent: Extent::Whole };
        let file = File::new(&storage, slot)?;
        let mut recovered = recovery::recover_instead(file, &segments, plan, (position, *lsn))?;
        let (changed, last_id) = (std::mem::take(&mut recovered.replay.changed), recovered.replay.last_id);
        let core = assemble(storage, segments, slot.clone(), recovered, &options)?;
        core.shared.catch_up(&changed, last_id)?;
        Ok(std::mem::take(&mut *write(&core.shared.catalog)))
    }
}

/// What a catalog, whose documents and entries were read whole, has for an item of another.
fn entries_in(catalog: &Catalog, wanted: &Wanted) -> Result<Entries> {
    let Some(documents) = catalog.documents().find(|documents| documents.id == wanted.id()) else {
        return Ok(Entries::default());
    };
    documents.check_known()?;
    Ok(entries_within(documents, &wanted.range()))
}

/// What is in a range of keys of which everything was read. Nobody changes the documents meanwhile.
pub(super) fn entries_within(documents: &Documents, range: &KeyRange) -> Entries {
    let mut entries = Entries::default();
    documents.index.page(range, false, usize::MAX, &mut entries);
    entries
}
