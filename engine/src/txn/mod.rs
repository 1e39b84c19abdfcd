//! Who sees what: the visible end of the log, commits that wait to be seen, live snapshots, and the versions that they still need.
//!
//! A commit stands at a log address, and addresses grow along the log for ever. So a state of the store is named by an
//! address: it holds what stands below. The index always has the newest version, seen or not. A reader that finds a version at or
//! above its own address, or none at all, asks the table of retained versions for the one that it may see.

mod applying;
mod lengths;
mod live;
mod pending;
mod registered;
mod retained;
mod visibility;
mod waiting;

pub(crate) use applying::Applying;
pub(crate) use pending::Pending;
pub(crate) use registered::Registered;
pub(crate) use visibility::{AT_ONCE, Visibility};

#[cfg(test)]
mod tests;
