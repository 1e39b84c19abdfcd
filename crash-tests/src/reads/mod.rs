//! What reading costs, and what a feed leads to.
//!
//! | file | job |
//! |---|---|
//! | `cached` | what is read of the file, and what is kept in memory |
//! | `feeds` | documents where a feed says that they are; feeds that wait; damage in their way |

mod cached;
mod feeds;

use crate::story::{Story, tell};

const STORIES: &[Story] = &[
    ("a long document", cached::a_long_document),
    ("documents one by one", cached::one_by_one),
    ("documents of some blocks", cached::of_some_blocks),
    ("a scan of all", cached::a_scan),
    ("what was written", cached::what_was_written),
    ("where documents stand", feeds::places),
    ("commits that were never made", feeds::unknown),
    ("a feed that waits", feeds::waiting),
];

/// Tells every story. How many there are.
///
/// # Errors
/// What a store did that it may not do.
pub fn every_check() -> Result<u64, String> {
    tell(STORIES)
}
