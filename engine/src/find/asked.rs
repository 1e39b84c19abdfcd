//! What is asked by a query, as it was said.

use super::bindings::Bindings;
use super::cursor::Cursor;
use super::plan::Hint;
use super::sort::Sort;
use super::watch::Watch;
use crate::error::Result;
use crate::query::Filter;

/// What a sort or groups may take when nobody said, in bytes.
pub const SORT_MEMORY_DEFAULT: usize = 64 << 20;

/// What is asked, whatever it is asked of.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) filter: Result<Option<Filter>>,
    pub(super) sorts: Vec<Sort>,
    pub(super) skip: u64,
    pub(super) limit: Option<u64>,
    pub(super) after: Option<Cursor>,
    pub(super) unordered: bool,
    pub(super) hint: Option<Hint>,
    pub(super) bound: Bindings,
    pub(super) sort_memory: usize,
    pub(super) watch: Watch,
}

impl Asked {
    pub(super) fn new(filter: Result<Option<Filter>>) -> Self {
        Asked {
            filter,
            sorts: Vec::new(),
            skip: 0,
            limit: None,
            after: None,
            unordered: false,
            hint: None,
            bound: Bindings::default(),
            sort_memory: SORT_MEMORY_DEFAULT,
            watch: Watch::default(),
        }
    }
}
