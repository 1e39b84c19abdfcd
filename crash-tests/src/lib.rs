//! The real engine on a simulated disk, judged by the model.
//!
//! | check | what it does |
//! |---|---|
//! | [`crash`] | every power cut in every short sequence of steps, in every way that it may come out |
//! | [`power`] | power cuts at every write of longer lives with real documents, in some of the ways |
//! | [`random`] | long lives with closings, kills and power cuts |
//! | [`media`] | damage at rest: right data or a typed error |
//! | [`seen`] | what is wrong under an open store: it is told when the store checks itself |
//! | [`readers`] | scans beside a writer, and over damage |
//! | [`reads`] | what reading costs, and what a feed leads to |
//! | [`waits`] | those who wait: for a sync, a turn, the end of the store |
//! | [`history`] | threads on one store: some order of their calls explains every answer |
//! | [`mod@queries`] | filters, queries and groups: by the engine, and by the model |
//! | [`updates`] | changes of values: over bytes, decoded, and by the model |
//! | [`fallback`] | damage to what is there twice: the other one is enough |
//! | [`full`] | a disk that is full: what frees room still finds some |
//! | [`costs`] | what a life asks of its file, number for number |
//! | [`space`] | the length of a file, and what it costs to keep it short |
//! | [`own_thread`] | what a store does by itself while nobody calls |
//! | [`faults`] | storage calls that fail, each in turn |
//! | [`kills`] | a real process on a real file, killed at any moment |
//! | [`machine`] | every life of a small store, breadth first, by a model checker |
//! | [`torture`] | power cuts for any store, not Holotype alone |
//! | [`gate`] | all of them, within a time |
//!
//! [`adapter`], [`client`] and [`convert`] put the engine under the model's operations, [`follower`] listens to its change feed, [`witness`] is the disk that keeps every moment of
//! itself, [`live`] a store with its judge beside it,
//! [`setup`] the sizes, and [`part`] what part of a search is wanted.
#![deny(missing_docs)]

pub mod adapter;
pub mod changes;
pub mod client;
pub mod convert;
pub mod copy;
pub mod costs;
pub mod crash;
pub mod fallback;
pub mod faults;
pub mod follower;
pub mod full;
pub mod gate;
pub mod history;
mod indexes;
pub mod input;
pub mod kills;
pub mod live;
pub mod machine;
pub mod media;
mod metered;
pub mod own_thread;
pub mod part;
pub mod power;
pub mod queries;
pub mod random;
pub mod readers;
pub mod reads;
#[cfg(feature = "seeded")]
pub mod seeded;
pub mod seen;
pub mod setup;
pub mod space;
mod story;
pub mod torture;
pub mod updates;
pub mod waits;
pub mod witness;
