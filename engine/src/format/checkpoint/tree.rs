//! Pages of one tree, sealed from the leaves up while the entries arrive in order.
//!
//! A page is sealed when it is known that the next entry has no room in it: only then is its upper fence known, which is
//! where the next page begins. So a key is held back until the next one has come. Whether an entry has room thus includes
//! the upper fence that the page would have if it ended behind it.

use super::branch::{Child, LEVEL_MAX};
use super::pointer::PagePointer;
use super::segments::{PageSink, SegmentWriter};
use crate::error::Result;
use crate::format::page::{PAGE_HEADER_LEN, PageHeader, PageKind};

/// A tree in the making.
#[derive(Debug, Clone)]
pub(super) struct TreeBuilder {
    kind: PageKind,
    tree: u32,
    /// The page in the making of each level, leaves first.
    levels: Vec<Level>,
}

#[derive(Debug, Clone, Default)]
struct Level {
    lower: Vec<u8>,
    entries: Vec<u8>,
    count: u32,
    /// In a branch, the child that was added last.
    last: Option<PagePointer>,
}

impl Level {
    fn len_with(&self, entry_len: usize, upper: &[u8]) -> usize {
        PAGE_HEADER_LEN + self.lower.len() + self.entries.len() + entry_len + upper.len()
    }
}

impl TreeBuilder {
    pub(super) fn new(kind: PageKind, tree: u32) -> Self {
        TreeBuilder { kind, tree, levels: vec![Level::default()] }
    }

    /// Appends an entry to the leaf in the making, if it has room for it and for `upper` as its upper fence. `append`
    /// appends the entry's bytes; it is taken back where there is no room.
    pub(super) fn try_append(
        &mut self,
        page_len_max: usize,
        upper: &[u8],
        append: impl FnOnce(&mut Vec<u8>),
    ) -> bool {
        let leaf = &mut self.levels[0];
        let len = leaf.entries.len();
        append(&mut leaf.entries);
        if leaf.len_with(0, upper) > page_len_max {
            leaf.entries.truncate(len);
            return false;
        }
        leaf.count += 1;
        true
    }

    /// Seals the leaf in the making; the next one begins with the key `upper`.
    pub(super) fn seal_leaf(
        &mut self,
        pages: &mut SegmentWriter,
        sink: &mut impl PageSink,
        upper: &[u8],
    ) -> Result<()> {
        self.seal(pages, sink, 0, upper)
    }

    //= spec/format.md#f-8-1-pages
    //# A page MUST have an entry at least: a tree without entries has no pages.
    /// Seals what there is. The top of the tree, unless it has no entries.
    pub(super) fn finish(
        mut self,
        pages: &mut SegmentWriter,
        sink: &mut impl PageSink,
    ) -> Result<Option<PagePointer>> {
        if self.levels.len() == 1 && self.levels[0].count == 0 {
            return Ok(None);
        }
        let mut level = 0;
        // The top is where one page was all that came from the level below.
        while level == 0 || level + 1 < self.levels.len() || self.levels[level].count > 1 {
            self.seal(pages, sink, level, &[])?;
            level += 1;
        }
        Ok(self.levels[level].last)
    }

    fn seal(
        &mut self,
        pages: &mut SegmentWriter,
        sink: &mut impl PageSink,
        level: usize,
        upper: &[u8],
    ) -> Result<()> {
        let page = &mut self.levels[level];
        assert!(page.count > 0, "no page is empty");
        assert!(level <= usize::from(LEVEL_MAX), "each level has at most half the pages of the one below");
        let header = PageHeader {
            number: 0,
            tree: self.tree,
            kind: self.kind,
            level: level as u8,
            entry_count: page.count,
            lower_fence_len: page.lower.len() as u32,
            upper_fence_len: upper.len() as u32,
        };
        let (pointer, _) = pages.page(sink, header, [&page.lower, upper, &page.entries])?;
        let lower = std::mem::replace(&mut page.lower, upper.to_vec());
        page.entries.clear();
        page.count = 0;
        self.add_child(pages, sink, level + 1, pointer, &lower, upper)
    }

    //= spec/format.md#f-8-3-branches
    //# Of two pages of one tree and one level, the one that stands first in the order of entries MUST have
    //# the lower number.
    /// Adds a child that holds the keys from `lower` to below `upper` to the page in the making of `level`.
    fn add_child(
        &mut self,
        pages: &mut SegmentWriter,
        sink: &mut impl PageSink,
        level: usize,
        pointer: PagePointer,
        lower: &[u8],
        upper: &[u8],
    ) -> Result<()> {
        if level == self.levels.len() {
            self.levels.push(Level::default());
        }
        let page = &self.levels[level];
        let is_full = page.len_with(Child { lower, pointer }.encoded_len(), upper) > pages.page_len();
        if page.count > 0 && is_full {
            self.seal(pages, sink, level, lower)?;
        }
        let page = &mut self.levels[level];
        // spec: F-8.3. The first child begins where the page does.
        let lower = if page.count == 0 { &[] } else { lower };
        Child { lower, pointer }.put(&mut page.entries);
        page.count += 1;
        page.last = Some(pointer);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::pointer::key_len_max;
    use super::*;
    use crate::format::{Geometry, Lsn};

    // spec: F-8.1. Two pointers, each behind the head of a fence, and three keys: two fences of the page and one between.
    #[test]
    fn a_key_has_a_third_of_what_a_page_has_left_without_66_bytes() {
        assert_eq!([66, 69, 70, 4096].map(key_len_max), [0, 1, 1, 1343]);
    }

    struct Nowhere;

    impl PageSink for Nowhere {
        fn allocate(&mut self) -> Result<u32> {
            Ok(0)
        }

        fn write_at(&mut self, _: u64, _: &[u8]) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_branch_is_filled_to_its_last_byte() {
        let geometry = Geometry::new(64, 512).expect("a geometry");
        let mut pages = SegmentWriter::new(geometry, &[7; 16], Lsn::new(1, 1), Lsn::ZERO);
        let mut tree = TreeBuilder::new(PageKind::Primary, 1);
        let pointer = PagePointer { number: 1, physical: 1, offset: 64 };
        let room = pages.page_len_max() - PAGE_HEADER_LEN;
        let first = Child { lower: &[], pointer }.encoded_len();
        let mut add = |lower: usize, upper: usize| {
            let (lower, upper) = (vec![1; lower], vec![2; upper]);
            tree.add_child(&mut pages, &mut Nowhere, 1, pointer, &lower, &upper).expect("there is room");
            (tree.levels[1].count, tree.levels.len())
        };
        // The head of a fence of 100 bytes is one byte long.
        assert_eq!(add(0, 100), (1, 2));
        let upper = room - first - (first + 100);
        assert_eq!(add(100, upper), (2, 2), "the second fills the page, with its upper fence");
        assert_eq!(add(1, upper), (1, 3), "the third begins the next page");
    }

    // spec: F-8.3
    #[test]
    fn the_top_is_above_a_branch_that_came_to_have_one_child_behind_a_full_one() {
        let geometry = Geometry::new(64, 512).expect("a geometry");
        let mut pages = SegmentWriter::new(geometry, &[7; 16], Lsn::new(1, 1), Lsn::ZERO);
        let mut tree = TreeBuilder::new(PageKind::Primary, 1);
        // The second leaf fills the branch with its upper fence, but for two bytes: the third, which begins with it, has no room there.
        let pointer = PagePointer { number: 1, physical: 1, offset: 64 };
        let first = Child { lower: &[], pointer }.encoded_len();
        let fence = pages.page_len_max() - PAGE_HEADER_LEN - first - (first + 100) - 2;
        let (page_len_max, fences) = (pages.page_len_max(), [vec![1; 100], vec![2; fence]]);
        for upper in &fences {
            assert!(tree.try_append(page_len_max, upper, |out| out.push(7)));
            tree.seal_leaf(&mut pages, &mut Nowhere, upper).expect("there is room");
        }
        assert!(tree.try_append(page_len_max, &[], |out| out.push(7)));
        let top = tree.finish(&mut pages, &mut Nowhere).expect("there is room").expect("it has entries");
        assert_eq!(
            (top.number, pages.pages()),
            (5, 6),
            "three leaves, two branches and the top, last of all"
        );
    }

    #[test]
    fn a_page_is_filled_to_its_last_byte() {
        let mut tree = TreeBuilder::new(PageKind::Primary, 1);
        let len_max = PAGE_HEADER_LEN + 10;
        assert!(tree.try_append(len_max, &[0; 4], |out| out.extend_from_slice(&[1; 6])));
        assert!(!tree.try_append(len_max, &[0; 4], |out| out.push(1)), "there is no room for the fence");
        assert!(tree.try_append(len_max, &[0; 3], |out| out.push(1)));
    }
}
