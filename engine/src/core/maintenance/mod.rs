//! What keeps space, opening and memory bounded, in steps between which others go on (spec: `space.md`).
//!
//! | file | job |
//! |---|---|
//! | `usage` | where the bytes of the file are |
//! | `plan` | what is to be done next, if anything: plain functions of a few numbers |
//! | `due` | these numbers, and one step of what is due |
//! | `checkpoint` | writes the index down, so that the log before it is not needed |
//! | `clean` | moves what is live out of a segment, and frees it |
//! | `arrange` | moves documents into the order of their keys, where a compaction finds them in another |
//! | `reclaim` | gives freed segments out again, once nobody can need them |
//! | `backup` | a copy of it all, made while others go on |
//! | `compact` | all of it until nothing is left to gain |

mod arrange;
mod backup;
mod checkpoint;
mod clean;
mod compact;
mod due;
mod plan;
mod reclaim;
mod usage;

pub(crate) use backup::copy_to;
pub use backup::{BackupProgress, BackupReport};
#[cfg(feature = "testing")]
pub(crate) use checkpoint::{CheckpointJob, SealedCheckpoint};
pub use compact::{CompactProgress, CompactReport};
pub(crate) use due::Stepped;
#[cfg(feature = "testing")]
pub(crate) use plan::profile::Profile;
pub(crate) use plan::{Pressure, Purpose};
pub use usage::Space;
