//! One record of a commit, before it is placed.

use crate::format::record::{Kind, RecordParts};

use super::Batch;

/// One record of a commit: a change, or a chunk of the document that it puts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) change: usize,
    /// Which chunk; as many as there are: the record of the change itself.
    pub(super) chunk: usize,
}

impl Piece {
    /// The first of the batch; none where nothing is to be placed.
    pub(super) fn first(batch: &Batch) -> Option<Piece> {
        Piece::from(batch, 0)
    }

    /// The first of change `number`, or of the next that is to be placed.
    pub(super) fn from(batch: &Batch, number: usize) -> Option<Piece> {
        let behind = batch.changes.get(number..)?.iter().position(|change| !change.is_moot)?;
        Some(Piece { change: number + behind, chunk: 0 })
    }
}

/// A record of `kind` with nothing in it.
pub(super) fn nameless(kind: Kind) -> RecordParts<'static> {
    RecordParts {
        kind,
        collection: 0,
        commit: 0,
        moved: None,
        replaces: None,
        expiry: None,
        chunked: false,
        key: None,
        body: &[],
    }
}
