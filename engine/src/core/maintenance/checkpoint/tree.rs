//! The tree of a collection or an index in the making: what a snapshot has of it, and leaves that nobody has read.

use crate::document::KeyRef;
use crate::error::Result;
use crate::format::Lsn;
use crate::format::checkpoint::{
    CatalogEntry, IndexEntry, IndexSink, IndexWriter, Output, TreeOf, TreeWriter,
};
use crate::index::{Entry, Indexing, KeyRange, Naming, since_ever};
use crate::sync::Arc;
use crate::txn::Registered;

use super::super::super::Shared;
use super::super::super::scan::Cursor;
use super::base::Base;

/// What a tree is of.
#[derive(Debug)]
pub(super) enum Item {
    Collection(CatalogEntry),
    Index(IndexEntry),
}

/// A tree in the making.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) item: Item,
    pub(super) writer: TreeWriter,
    walk: TreeWalk,
    /// Whether the places of entries tell which of them are new.
    places_tell: bool,
    /// How many keys it has so far.
    pub(super) count: u64,
}

/// A walk through a collection or an index in a snapshot, which stops at what nobody has read.
#[derive(Debug)]
pub(super) struct TreeWalk {
    /// Over keys of which everything was read.
    cursor: Cursor,
    /// What comes behind these.
    rest: Option<KeyRange>,
}

impl TreeWalk {
    pub(super) fn new(snapshot: Arc<Registered>, naming: Arc<Naming>) -> Self {
        // Entries that cannot be told are left out.
        let rest = naming.documents.damage().is_none().then(KeyRange::all);
        TreeWalk { cursor: Cursor::new(snapshot, naming, KeyRange::none()), rest }
    }
}

impl Tree {
    /// Begins the next tree of a checkpoint. `opened_at` is the commit with which this life of the store began.
    pub(super) fn begin(
        (item, walk): (Item, TreeWalk),
        writer: &IndexWriter,
        (mut base, opened_at): (Option<&mut Base>, Lsn),
    ) -> Tree {
        let id = item.tree().id;
        let tree = base.as_mut().and_then(|base| base.take_tree(id));
        let places_tell = match item {
            Item::Collection(_) => true,
            Item::Index(_) => base.is_some_and(|base| base.tells_of_indexes(opened_at)),
        };
        Tree { writer: writer.tree(id, tree), item, walk, places_tell, count: 0 }
    }

    /// Writes an entry, or goes on to where the next one is. Whether there may be more.
    pub(super) fn step(
        &mut self,
        shared: &Shared,
        base: Option<&Base>,
        out: &mut Output<'_, impl IndexSink>,
    ) -> Result<bool> {
        if let Some((key, place)) = shared.next_entry(&mut self.walk.cursor)? {
            let (key, place): (KeyRef<'_>, Entry) = (key, place);
            let is_new = !self.places_tell || base.is_some_and(|base| base.is_behind(place));
            self.writer.push(out, (key, self.item.value(place)), is_new)?;
            self.count += 1;
            return Ok(true);
        }
        let Some(rest) = self.walk.rest.take() else { return Ok(false) };
        self.go_on(shared, rest, base, out).map(|()| true)
    }

    //= spec/space.md#p-2-8-what-is-taken-over
    //# A writer MAY take over a leaf of the base in its place, a leaf of an index too, and read neither, when all of
    //# this holds: all keys of its record are unread; no key in the range of the unread leaf was put, moved or
    //# deleted since the checkpoint that it is of; the LSN of its record, or of the patch over it
    //# (F-8.13), is at or below that of the base;
    //# and the leaf of the base has the same range and as many entries.
    //= spec/space.md#p-2-8-what-is-taken-over
    //# A writer MUST NOT take over a leaf in the place of any other that is unread.
    /// Goes on with `rest` of a tree, which begins behind what was walked through: what stands in front of it is read,
    /// or an unread leaf for which one of the base serves.
    fn go_on(
        &mut self,
        shared: &Shared,
        rest: KeyRange,
        base: Option<&Base>,
        out: &mut Output<'_, impl IndexSink>,
    ) -> Result<()> {
        let documents = Arc::clone(&self.walk.cursor.naming().documents);
        let Some(unread) = documents.unread_in(&rest, false) else {
            self.walk.cursor.begin(rest);
            return Ok(());
        };
        let range = unread.range();
        if let Some(before) = unread.before(&rest, false).filter(|before| !before.is_empty()) {
            self.walk.cursor.begin(before);
            self.walk.rest = Some(KeyRange { from: range.from, to: rest.to });
            return Ok(());
        }
        let old = unread
            .leaf()
            .filter(|(_, lsn)| unread.is_whole() && base.is_some_and(|base| base.has_known(*lsn)));
        if let Some((leaf, _)) = old.filter(|_| documents.is_unchanged(&unread))
            && self.writer.take_over_leaf(out, leaf)?
        {
            self.count += leaf.count;
            self.walk.rest = range.beyond_end();
            return Ok(());
        }
        if unread.leaf().is_none() {
            self.walk.rest = Some(rest);
            return shared.read_unread(&documents, &unread);
        }
        self.walk.rest = range.beyond_end();
        self.walk.cursor.begin(KeyRange { from: rest.from, to: range.to });
        Ok(())
    }
}

impl Item {
    pub(super) fn of_collection(naming: &Naming) -> Self {
        let documents = &naming.documents;
        Item::Collection(CatalogEntry {
            id: documents.id,
            name: naming.name.clone(),
            next: documents.largest_id().unsigned_abs() + 1,
            count: documents.newest_len(),
            tree: Vec::new(),
            kept: documents.kept.clone(),
        })
    }

    pub(super) fn of_index(index: &Indexing) -> Self {
        // Entries that cannot be told would be taken for right ones.
        let anew = index.entries().damage().is_some();
        Item::Index(IndexEntry {
            id: index.entries().id,
            of: index.of,
            definition: Arc::clone(&index.definition),
            count: if anew { 0 } else { index.entries().newest_len() },
            tree: Vec::new(),
            anew,
            kept: index.entries().kept.clone(),
        })
    }

    pub(super) fn tree(&self) -> TreeOf<'_> {
        match self {
            Item::Collection(entry) => entry.into(),
            Item::Index(entry) => entry.into(),
        }
    }

    /// What the tree has for an entry. When an entry of an index came to be matters to no state that the
    /// checkpoint leads to.
    fn value(&self, place: Entry) -> u64 {
        match self {
            Item::Collection(_) => place.value(),
            Item::Index(_) => since_ever().value(),
        }
    }
}
