//! A disk that can lose power at any moment, and be asked what that may have left behind.
//!
//! A [`SimDisk`] knows for each sector what reads see and what a power cut may find there: its bytes at the last sync and
//! every value written since (`spec/media.md`). [`SimDisk::crash`] does not choose among these; a sector is *settled* when
//! somebody first reads it. So one image stands for all that the crash may have left, and recovery, by what it reads,
//! says which differences matter: [`explore`] runs it once for each way of settling them, and that is a proof over every
//! legal state, not a sample.
//!
//! ```
//! use holotype::storage::Storage;
//! use holotype::storage::sim::{Level, SimDisk, explore};
//!
//! let disk = SimDisk::new(512, Level::Sectors);
//! disk.set_len(1024)?;
//! disk.sync()?;
//! disk.sync_directory()?;
//! disk.write_at(0, &[1; 1024])?;
//! disk.crash();
//! let first_byte = |disk: SimDisk| {
//!     let mut byte = [9];
//!     disk.read_at(0, &mut byte).map(|_| byte[0])
//! };
//! let found = explore(&disk, 100, first_byte);
//! let bytes: Vec<u8> = found.leaves.into_iter().map(|leaf| leaf.result.unwrap()).collect();
//! assert_eq!(bytes, [0, 1]); // it never asked for the second sector:
//! assert_eq!((found.tally.leaves, found.tally.states), (2, 4.0));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! | file | what it holds |
//! |---|---|
//! | `content` | bytes, copy-on-write, so that a fork is cheap |
//! | `sectors`, `length` | what may have persisted, by sector, and of the length |
//! | `state` | what calls do to a disk that has power |
//! | `crash` | losing power, and settling what it left |
//! | `sync` | a sync that succeeds, and three ways to fail |
//! | `probe` | searches that settle no more than they must |
//! | `decisions` | who settles: a path of choices, or a seed |
//! | `faults` | what goes wrong at the n-th call |
//! | `damage` | what goes wrong at rest |
//! | `explore` | all ways to settle an image |
//!
//! Nothing here depends on time, on addresses or on a random hash: the same calls give the same disk.

mod content;
mod crash;
mod damage;
mod decisions;
mod disk;
mod explore;
mod faults;
mod fingerprint;
mod hash;
mod length;
mod level;
mod probe;
mod sectors;
mod state;
mod sync;
#[cfg(test)]
mod tests;

pub use decisions::{Decision, Decisions, What};
pub use disk::SimDisk;
pub use explore::{Exploration, Leaf, Tally, explore, explore_each, naive};
pub use faults::{Call, CallKind, Calls, FaultKind, FaultPlan, Nth, SyncLoss};
pub use level::Level;
