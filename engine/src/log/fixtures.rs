//! A log to try its parts on: its first segment, in the smallest geometry.

use std::collections::BTreeSet;

use super::{Action, Appender, Batch, LogEnd, Replaces, Superseded};
use crate::cache::Segment;
use crate::document::KeyRef;
use crate::format::record::{Record, parse};
use crate::format::{Geometry, Lineage, LogAddress, Lsn};
use crate::index::{Documents, Layout};
use crate::space::FreeSegments;
use crate::sync::Arc;

pub(super) const LINEAGE: Lineage = [7; 16];
/// The last commit before the segment.
pub(super) const BEFORE: Lsn = Lsn::new(1, 5);

/// Segments of 512 bytes: the first sector is the segment header, and a frame header takes 32.
pub(super) fn geometry() -> Geometry {
    Geometry::new(64, 512).expect("a legal geometry")
}

/// A log that ends where its first segment begins.
pub(super) fn appender() -> Appender {
    ending(64, BEFORE)
}

/// A log that ends at this offset of its first segment, with this commit.
pub(super) fn ending(offset: u32, lsn: Lsn) -> Appender {
    let segment = Arc::new(Segment::new(&LINEAGE, geometry(), 0, 0, BEFORE.next()));
    let end = LogEnd { segment, offset, lsn, reserved: [Some(1), Some(2)] };
    let free = FreeSegments::around(&BTreeSet::from([0, 1, 2]));
    Appender::new(geometry(), LINEAGE, end, free, BEFORE, u32::MAX)
}

pub(super) fn documents() -> Arc<Documents> {
    Arc::new(Documents::new(1, Layout::new(4)))
}

/// A key that takes six bytes.
pub(super) const KEY: KeyRef<'static> = KeyRef::Text("abcde");

/// One put of a document of `len` bytes.
pub(super) fn put(key: KeyRef<'_>, len: usize) -> Batch {
    let mut batch = Batch::default();
    push(&mut batch, Action::Put, &documents(), key, Replaces::Nothing, &vec![7; len]);
    batch
}

/// One more change, which is the first of its key.
pub(super) fn push(
    batch: &mut Batch,
    action: Action,
    documents: &Arc<Documents>,
    key: KeyRef<'_>,
    replaces: Replaces,
    body: &[u8],
) {
    let collection = batch.touch(documents);
    batch.push(action, collection, key, Superseded { before: None, replaces }, body);
}

/// The record that was placed at `address`, and not written out yet.
pub(super) fn record(appender: &Appender, address: LogAddress) -> Record<'_> {
    let (sequence, offset) = geometry().split(address);
    let extent = appender.pending().iter().find(|extent| extent.segment.sequence == sequence);
    let extent = extent.expect("it is pending");
    let seed = extent.segment.stretch_at(offset).seed.at(offset);
    parse(&extent.bytes[(offset - extent.offset) as usize..], seed).expect("it verifies")
}
