//! The real engine on a simulated disk, judged by the model.
//!
//! | check | what it does |
//! |---|---|
//! | [`crash`] | every power cut in every short sequence of steps, in every way that it may come out |
//! | [`power`] | power cuts at every write of longer lives with real documents, in some of the ways |
//! | [`random`] | long lives with closings, kills and power cuts |
//! | [`media`] | damage at rest: right data or a typed error |
//! | [`readers`] | scans beside a writer, and over damage |
//! | [`history`] | threads on one store: some order of their calls explains every answer |
//! | [`faults`] | storage calls that fail, each in turn |
//! | [`gate`] | all of them, within a time |
//!
//! [`adapter`], [`client`] and [`convert`] put the engine under the model's operations, [`witness`] is the disk that keeps every moment of
//! itself, [`live`] a store with its judge beside it, and [`setup`] the sizes.
#![deny(missing_docs)]

pub mod adapter;
pub mod client;
pub mod convert;
pub mod crash;
pub mod faults;
pub mod gate;
pub mod history;
pub mod live;
pub mod media;
pub mod power;
pub mod random;
pub mod readers;
pub mod setup;
pub mod witness;
