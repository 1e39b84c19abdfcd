//! From a damaged file to a new store with all that can be proven (spec: P-11).
//!
//! | file | job |
//! |---|---|
//! | `source` | the file, read whatever can be read of it |
//! | `guess` | a superblock where none is left |
//! | `base` | the state that is known whole: a checkpoint, and the log as far as it goes |
//! | `found` | what a search of the file finds |
//! | `sweep`, `segment` | every frame and record in the file whose checksum holds, whatever leads there |
//! | `chain` | which of these count, and from where on none is missing |
//! | `gather` | the newest version of each document, and whether that is proven |
//! | `sink` | the new store |
//!
//! One rule decides: a version is *proven* when it is known to have been the newest of its key at a commit behind which nothing of the log is
//! missing. All else may be stale, and never goes into a collection of the name that it had.

mod base;
mod chain;
mod found;
mod gather;
mod guess;
mod report;
mod segment;
mod sink;
mod source;
mod sweep;

#[cfg(any(test, feature = "testing"))]
pub(crate) use guess::superblock as guess_superblock;
pub use report::{LostDocument, SalvageReport};
pub use sink::{LostIndex, SalvagedCollection};
#[cfg(any(test, feature = "testing"))]
pub(crate) use source::Forgiving;

use std::path::Path;

use crate::error::Result;
use crate::recovery::File;
use crate::storage::{Access, Draft, FileStorage, Storage};
use crate::sync::Arc;

use base::Base;
use chain::Chain;
use found::Swept;
use gather::Gather;
use sink::Sink;
use source::Source;

//= spec/space.md#p-11-1-what-it-is
//# Salvage MUST NOT write to its source, nor replace a file.
/// Writes everything that can be proven of a damaged store into a new one, and tells what cannot. The damaged file is opened for reading only;
/// the new one takes its name once it is whole and durable. Until then it is called `destination` with `.partial` behind it. A process that is
/// killed leaves that file, which the next call with this destination replaces.
///
/// A document goes into its collection where it is proven to have been the newest version of its key. Where part of the log is missing, a
/// document that might have been replaced or deleted in it goes into a list apart, a collection whose name ends in `.stale`. A collection whose
/// name is lost is called `collection-` and its id.
///
/// ```
/// use holotype::{Db, doc, salvage};
///
/// # let directory = tempfile::tempdir()?;
/// let (damaged, rescued) = (directory.path().join("notes.holo"), directory.path().join("rescued.holo"));
/// # let db = Db::open(&damaged)?;
/// # db.collection("notes").put("a", doc! { "n": 1 })?;
/// # db.close()?;
/// let report = salvage(&damaged, &rescued)?;
/// println!("{} documents back, {} that may be stale, {} lost", report.documents, report.stale, report.lost.len());
/// let notes = Db::open(&rescued)?.collection("notes");
/// # assert_eq!(notes.len()?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `CannotOpen` where there is a file at `destination`; `Locked` while somebody writes the damaged store; `NotHolotype` where nothing in the file
/// tells that it was a store; `Incomplete` where its creation was not finished; `NewerFormat`, `OlderFormat`; `NotFound`; `StorageFull`, `Io`. Nothing is left behind then.
pub fn salvage(source: impl AsRef<Path>, destination: impl AsRef<Path>) -> Result<SalvageReport> {
    let source = FileStorage::open(source.as_ref(), Access::ReadOnly)?;
    let draft = Draft::begin(destination.as_ref(), None)?;
    let report = salvage_to(source, Arc::clone(draft.storage()))?;
    draft.finish()?;
    Ok(report)
}

/// As [`salvage`], between storages of the caller's own: `destination` is empty.
///
/// # Errors
/// As [`salvage`]. What was written to `destination` until then is not to be used.
#[cfg_attr(not(feature = "testing"), expect(unreachable_pub, reason = "public under the feature `testing`"))]
pub fn salvage_to(
    source: impl Storage + 'static,
    destination: Arc<impl Storage + 'static>,
) -> Result<SalvageReport> {
    let source = Source::open(source)?;
    let base = Base::find(&source)?;
    let mut swept = Swept::default();
    let break_off = base.break_off();
    if break_off.is_some() || base.problem.is_some() || source.is_guessed {
        swept = sweep::sweep(&source, &base.ahead)?;
    }
    let claim = base.claim.max(swept.claim);
    let mut chain = Chain::follow(base.lsn, &swept, claim);
    let is_end_known = base.problem.is_none() && base.is_end_there && !chain.is_longer_than_base();
    if source.is_cut() && !is_end_known {
        chain.lose_end();
    }
    let mut gather = Gather::new(&source, &base, &chain, swept);
    let unread = source.slot.checkpoints.iter().flatten().filter(|reference| reference.lsn > base.lsn);
    for reference in unread {
        let file = File::new(&source.storage, &source.slot);
        let catalog = file.and_then(|file| Ok(file.checkpoint(reference)?.root().catalog.clone()));
        let names = catalog.unwrap_or_default().into_iter();
        gather.learn_names(names.map(|entry| (entry.id, entry.name, (entry.next - 1) as i64)));
    }
    let mut sink = Sink::create(destination, source.slot.geometry)?;
    gather.pour(&mut sink)?;
    let (collections, lost_indexes) = sink.finish()?;
    let mut problems = source.slot_problems(base.claim.max(base.lsn));
    problems.extend(base.problem.clone());
    problems.extend(break_off);
    Ok(SalvageReport {
        documents: collections.iter().map(|collection| collection.documents).sum(),
        stale: collections.iter().map(|collection| collection.stale).sum(),
        collections,
        may_miss_more: !chain.is_unbroken(),
        lost: gather.lost,
        lost_indexes,
        is_geometry_inferred: source.is_guessed,
        unreadable_bytes: source.unreadable_bytes(),
        problems,
    })
}
