//! From the bytes of a file to the state that they stand for (spec: `recovery.md`).
//!
//! [`slots`] finds the superblock, [`scan`] follows the log, [`opening`] from life to life, [`claims`] looks behind its end for what attests that it
//! once went on, [`decide`] is the table that settles what that means, and [`replay`] builds catalog and indexes. Nothing in
//! this room writes, but for [`create`]: what recovery decides is carried out by the writer, later.

mod checkpoint;
mod claims;
mod commit;
mod create;
mod decide;
mod file;
mod follow;
mod frames;
mod image;
mod recover;
mod replay;
mod scan;
mod slots;
mod start;
#[cfg(test)]
mod tests;

pub(crate) use checkpoint::{
    Extent, HeldCheckpoint, NamedCheckpoints, find_shared_record, verify_checkpoint,
};
pub(crate) use create::create;
pub(crate) use file::File;
pub(crate) use follow::{Followed, follow, recover_instead, root_of};
pub(crate) use recover::{Plan, Recovered, recover};
pub(crate) use slots::{Opened, OtherSlot, open_slots, same_creation};
