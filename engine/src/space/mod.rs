//! Where there is room in the file: what each log segment still holds, and which places are free.
//!
//! Only the writer changes it, and recovery makes it anew from a checkpoint and the log behind it.

mod accounts;
mod free;

pub(crate) use accounts::{Account, Accounts};
pub(crate) use free::{FreeSegments, Limits};
