//! Files whose checksums all hold, and which say what no writer of this version would write: each rule of recovery that a torn or a
//! damaged file shows by chance alone is shown here by itself.
#![cfg(feature = "testing")]

mod accounts;
mod checkpoints;
mod claims;
mod forge;
mod frames;
mod older;
mod records;
#[cfg(feature = "seeded")]
mod removed;
mod replaced;
mod slots;
