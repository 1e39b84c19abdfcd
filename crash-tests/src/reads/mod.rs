//! What reading costs, and what a feed leads to.
//!
//! | file | job |
//! |---|---|
//! | `cached` | what is read of the file, and what is kept in memory |
//! | `feeds` | documents where a feed says that they are; feeds that wait; damage in their way |
//! | `metered` | a file that counts what is read of it |

mod cached;
mod feeds;
mod metered;

/// A story, and its name.
type Story = (&'static str, fn() -> Result<(), String>);

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
    for (name, story) in STORIES {
        story().map_err(|what| format!("{name}: {what}"))?;
    }
    Ok(STORIES.len() as u64)
}

fn say(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
