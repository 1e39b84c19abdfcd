//! Backup: a copy of the store as of one commit, made while others read and write (spec: P-10).
//!
//! What is copied is settled in one moment under the writer: the checkpoints that the slots name, and every log segment in place, up to the
//! end of the log then. None of these bytes changes any more; that their places are not given out meanwhile is what [`Hold`](hold::Hold) is for. The slots are
//! never copied: the copy gets a pair of its own, last of all.
//!
//! | file | job |
//! |---|---|
//! | `contents` | what a file is made of: which segments, by what tells them apart |
//! | `earlier` | what of an earlier backup can be taken over |
//! | `hold` | what is to be copied, and what keeps its places from being given out |
//! | `copy` | writes the copy, and checks it |

mod contents;
mod copy;
mod earlier;
mod hold;
#[cfg(test)]
mod tests;

pub(crate) use copy::copy_to;
pub use hold::{BackupProgress, BackupReport};
