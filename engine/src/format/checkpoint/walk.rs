//! The leaves of one tree, in order.
//!
//! Every walk ends, whatever the bytes: from page to page of one level the numbers grow (F-8.3), and a page has one number and
//! one level, both under its checksum. So a walk comes to no page twice, whatever the branches say.

use super::branch::{Child, LEVEL_MAX};
use super::pages::{Ahead, PageSource, Pages, Unreadable};
use super::pointer::PagePointer;
use crate::document::KeyRef;
use crate::format::page::{Page, PageKind};
use crate::seeded::{self, Bug};

/// The tree that is walked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tree {
    pub(super) kind: PageKind,
    /// The collection; 0 where there is none.
    pub(super) id: u32,
    pub(super) top: PagePointer,
    /// Where the page that names the top lies in the file.
    pub(super) named_at: u64,
}

/// A page that is still to be visited, and what its parent says of it.
#[derive(Debug)]
struct Due {
    pointer: PagePointer,
    /// Where the parent lies in the file.
    named_at: u64,
    /// None for the top, whose level is its own affair.
    level: Option<u8>,
    lower: Vec<u8>,
    upper: Vec<u8>,
}

impl<S: PageSource> Pages<'_, S> {
    /// Hands each leaf of `tree` to `visit`, with its place in the file.
    pub(super) fn walk(
        &mut self,
        tree: Tree,
        mut visit: impl FnMut(Page<'_>, u64) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        let Tree { top, named_at, .. } = tree;
        let (lower, upper) = (Vec::new(), Vec::new());
        let mut due = vec![Due { pointer: top, named_at, level: None, lower, upper }];
        // The least number that the next page of each level may have.
        let mut numbers = [0_u64; LEVEL_MAX as usize + 1];
        while let Some(next) = due.pop() {
            // A top is a branch, or the only leaf.
            let ahead = if next.level == Some(0) { Ahead::Piece } else { Ahead::Alone };
            let (page, at) = self.page(next.pointer, tree.kind, ahead, next.named_at)?;
            check(&page, at, tree, &next)?;
            let (number, least) =
                (u64::from(page.header().number), &mut numbers[usize::from(page.header().level)]);
            if number < *least {
                let what = "a page number out of order";
                return Err(Unreadable::damaged(at, "F-8.3", what, *least, number));
            }
            *least = number + 1;
            if page.header().level == 0 {
                visit(page, at)?;
                continue;
            }
            let children = due.len();
            push_children(&page, at, &next, &mut due)?;
            // The first child is to be visited first.
            due[children..].reverse();
        }
        Ok(())
    }
}

//= spec/format.md#f-8-3-branches
//# A reader MUST take a page for damaged when its tree id, level or fences are not those that its parent
//# says.
/// Whether the page is what its parent says.
fn check(page: &Page<'_>, at: u64, tree: Tree, due: &Due) -> Result<(), Unreadable> {
    // spec: F-8.1.
    let header = page.header();
    let damaged =
        |what, expected: u64, found: u64| Err(Unreadable::damaged(at, "F-8.3", what, expected, found));
    if header.tree != tree.id && !seeded::is_on(Bug::LeavesOfAnotherIndex) {
        return damaged("a page of another tree", tree.id.into(), header.tree.into());
    }
    if header.level != due.level.unwrap_or(header.level.min(LEVEL_MAX)) {
        return damaged(
            "a page of another level",
            due.level.unwrap_or(LEVEL_MAX).into(),
            header.level.into(),
        );
    }
    if page.lower_fence() != due.lower || page.upper_fence() != due.upper {
        return damaged("a page with other fences than its parent says", 0, 0);
    }
    Ok(())
}

//= spec/format.md#f-8-3-branches
//# A reader MUST take a checkpoint for damaged where that does not hold: it is what makes every walk end.
/// Appends the children of a branch to `due`, in order.
fn push_children(page: &Page<'_>, at: u64, parent: &Due, due: &mut Vec<Due>) -> Result<(), Unreadable> {
    let damaged = |what| Unreadable::damaged(at, "F-8.3", what, 0, 0);
    let has_keys = page.header().kind == PageKind::Primary;
    let level = page.header().level - 1;
    let mut rest = page.entries();
    for index in 0..page.header().entry_count {
        let Child { lower, pointer } =
            Child::take(&mut rest).ok_or(damaged("a branch ends within a child"))?;
        if lower.is_empty() != (index == 0 || !has_keys) {
            return Err(damaged("only first children begin where their parent does"));
        }
        let mut lower = lower.to_vec();
        if index == 0 {
            lower.clone_from(&parent.lower);
        } else if has_keys {
            let before = due.last_mut().expect("a child that is not the first has one before");
            if !is_above(&lower, &before.lower).map_err(damaged)? {
                return Err(damaged("children of a branch are out of order"));
            }
            before.upper.clone_from(&lower);
        }
        due.push(Due { pointer, named_at: at, level: Some(level), lower, upper: Vec::new() });
    }
    if !rest.is_empty() {
        return Err(damaged("bytes behind the last child of a branch"));
    }
    let last = due.last_mut().expect("no page is without entries");
    if !parent.upper.is_empty() && !is_above(&parent.upper, &last.lower).map_err(damaged)? {
        return Err(damaged("a child begins at or above the upper fence of its parent"));
    }
    last.upper.clone_from(&parent.upper);
    Ok(())
}

/// Whether the key of fence `upper` is above that of `lower`, which may be no bound.
fn is_above(upper: &[u8], lower: &[u8]) -> Result<bool, &'static str> {
    let upper = fence(upper)?.ok_or("a fence without a key")?;
    Ok(fence(lower)?.is_none_or(|lower| upper > lower))
}

/// The key of a fence; none where it is no bound.
pub(super) fn fence(bytes: &[u8]) -> Result<Option<KeyRef<'_>>, &'static str> {
    if bytes.is_empty() {
        return Ok(None);
    }
    match KeyRef::decode_long(bytes) {
        Ok((key, len)) if len == bytes.len() => Ok(Some(key)),
        _ => Err("a fence that is no key"),
    }
}
