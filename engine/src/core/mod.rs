//! The store as a value: every promise is kept here, one step at a time, with no thread and no clock.
//!
//! Readers share it by reference and take no lock that a writer holds across I/O. The one writer at a time holds the mutex
//! around [`Writer`], which is all that only writers need. Given its storage and the order of calls, everything is
//! deterministic; and [`Core::fork`] copies it between any two calls.
//!
//! Nothing here waits but for locks that are held for a moment: who waits for a turn, or for a sync of somebody else, does so in
//! the room `pipeline`. What takes long gives way to other threads between its steps.

mod ahead;
mod apply;
mod commit;
mod demand;
mod feed;
mod feeds;
#[cfg(feature = "testing")]
mod fingerprint;
#[cfg(feature = "testing")]
mod fork;
mod give_up;
mod incarnation;
mod indexes;
mod leaves;
#[cfg(all(test, loom))]
mod loom;
mod maintenance;
mod open;
mod opening;
mod read;
mod room;
mod scan;
mod shared;
mod slots;
mod space_budget;
mod stats;
mod superseded;
mod sync;
mod turn;
mod value;
mod verify;
mod visit;
mod walk;
mod work;
mod write;
mod writer;
mod writer_lock;

pub(crate) use feed::Feed;
pub use feed::{Change, Commit, Location};
pub(crate) use indexes::{IndexBuild, IndexStep};
pub use maintenance::{BackupProgress, BackupReport, CompactProgress, CompactReport, Space};
#[cfg(feature = "testing")]
pub(crate) use maintenance::{CheckpointJob, Profile, SealedCheckpoint};
pub(crate) use maintenance::{Pressure, Purpose, Stepped, copy_to};
pub(crate) use open::assemble;
pub(crate) use read::Located;
pub(crate) use scan::Cursor;
pub(crate) use shared::Shared;
pub(crate) use space_budget::Upkeep;
pub use stats::Stats;
#[cfg(feature = "testing")]
pub(crate) use sync::SyncJob;
pub(crate) use turn::QueueNumber;
pub(crate) use value::{Core, Progress};
pub use verify::VerifyReport;
pub(crate) use visit::Visited;
pub(crate) use work::Effort;
pub use write::OnConflict;
pub(crate) use write::{
    BeforeAfter, Bodies, Expect, FoundDocument, Savepoint, WriteTxn, WriteTxnEntries, WriteTxnWalk,
};
pub(crate) use writer::Writer;
