//! A driver that makes up calls, puts them to a store and to the model, and reduces what goes wrong.
//!
//! * [`Steps`] makes calls, closings and crashes from a seed.
//! * [`Rig`] is how the driver gets a store, ends its life and opens it again.
//! * [`run`](run()) takes one list of steps; [`drive`](drive()) takes many, and gives back the shortest list that it
//!   could find to fail, with the line that repeats it.
//! * [`minimise`] reduces any list that fails; [`CaseStrategy`] does it inside proptest.

mod drive;
mod indexes;
mod reduce;
mod rig;
mod rng;
mod run;
mod shorten;
mod simplify;
mod steps;
mod strategy;
mod tally;
mod updates;
mod values;
mod weave;

pub use drive::{Finding, Plan, Reduced, drive};
pub use reduce::{Reduction, Simplify, minimise};
pub use rig::{Rig, Step};
pub use rng::Rng;
pub use run::{Divergence, run};
pub use steps::{Profile, Steps};
pub use strategy::{Case, CaseStrategy, CaseTree};
pub use tally::Tally;
