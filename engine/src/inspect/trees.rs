//! The trees of a checkpoint, one for each collection and each index.

use crate::error::Result;
use crate::format::checkpoint::{CatalogEntry, IndexEntry, IndexSource, TreeOf, Trees};
use crate::format::superblock::{CheckpointRef, Superblock};
use crate::recovery::File;
use crate::storage::FailStop;

/// A tree of a checkpoint: of the documents of a collection, or of the entries of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeView {
    /// The id of the collection or the index.
    pub id: u32,
    /// The collection that it is an index of; none where the tree is that of a collection.
    pub of: Option<u32>,
    /// The name of the collection or the index.
    pub name: String,
    /// Its documents or entries.
    pub entries: u64,
    /// What its records take; none where a directory page is damaged.
    pub size: Option<TreeSize>,
}

/// What the records of a tree take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TreeSize {
    /// How many directory pages it has.
    pub pages: u64,
    /// How many leaves it has.
    pub leaves: u64,
    /// The length of all of these in bytes.
    pub bytes: u64,
}

/// The segments that the checkpoint holds which the superblock names thus, and its trees: collections first, each sort by id.
pub(super) fn held_by(
    storage: &FailStop,
    slot: &Superblock,
    reference: &CheckpointRef,
) -> Result<(Vec<u32>, Vec<TreeView>)> {
    let file = File::new(storage, slot)?;
    let mut checkpoint = file.checkpoint(reference)?;
    let segments = checkpoint.places().to_vec();
    let (root, trees) = checkpoint.parts();
    let mut size = |tree| size_of(trees, tree).ok();
    let mut views = Vec::new();
    views.extend(root.catalog.iter().map(|collection| {
        let CatalogEntry { id, name, count, .. } = collection;
        let size = size(collection.into());
        TreeView { id: *id, of: None, name: name.clone(), entries: *count, size }
    }));
    views.extend(root.indexes.iter().map(|index| {
        let IndexEntry { id, of, definition, count, .. } = index;
        let name = definition.definition.name().to_owned();
        TreeView { id: *id, of: Some(*of), name, entries: *count, size: size(index.into()) }
    }));
    Ok((segments, views))
}

fn size_of<S: IndexSource>(trees: &mut Trees<'_, S>, tree: TreeOf<'_>) -> Result<TreeSize> {
    let mut size = TreeSize::default();
    for (first, page) in trees.pages(tree)? {
        let leaves = trees.page(tree.id, &first, &page)?;
        size.pages += 1;
        size.leaves += leaves.len() as u64;
        size.bytes += u64::from(page.reference.len);
        let records = leaves.iter().flat_map(|(_, leaf)| leaf.references());
        size.bytes += records.map(|record| u64::from(record.len)).sum::<u64>();
    }
    Ok(size)
}
