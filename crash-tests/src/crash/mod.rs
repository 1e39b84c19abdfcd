//! Every power cut: after each write and sync of every short sequence of operations, every state that the disk may be in.
//!
//! Sequences begin with a new store, or with one in which more has come about than a short sequence reaches. A sequence is walked depth first, the store forked before each step, so a prefix is carried out once. At each moment at
//! which power may go, the disk is turned into the image that this leaves, and recovery is run once for each way in which
//! what it reads may have come out: together these runs stand for every legal state of the disk. What each finds must be a
//! legal prefix; the store must find itself in order and go on working; and while it recovers and goes on, power may go
//! again.

mod alphabet;
mod cut;
mod indexes;
mod points;
mod report;
mod starts;
mod updates;
mod walk;

pub(crate) use alphabet::{blob, put};
pub use alphabet::{followers, steps};
pub use cut::LEAVES_MAX;
pub use indexes::indexes;
pub use points::{CutPoint, points};
pub use report::{Failure, Tally};
pub use starts::{Start, maintenance, maintenance_followers, starts};
pub use updates::updates;
pub use walk::{Scope, run};
