//! A record before it is placed.

use crate::format::record::{Kind, RecordParts};

/// A record of `kind` with nothing in it.
pub(super) fn nameless(kind: Kind) -> RecordParts<'static> {
    RecordParts {
        kind,
        collection: 0,
        commit: 0,
        own_lsn: None,
        replaces: None,
        expiry: None,
        chunked: false,
        key: None,
        body: &[],
    }
}
