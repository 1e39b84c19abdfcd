//! What is answered of a document.

use crate::doc_ref::DocRef;
use crate::document::{Key, KeyRef, RawDocument};

/// A document, or what of it is asked for.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    Whole(DocRef),
    /// Made of an entry.
    Parts(Key, Vec<u8>),
}

impl Answer {
    pub(super) fn key(&self) -> KeyRef<'_> {
        match self {
            Answer::Whole(document) => document.key(),
            Answer::Parts(key, _) => key.as_ref(),
        }
    }

    pub(super) fn into_key(self) -> Key {
        match self {
            Answer::Whole(document) => document.key().to_key(),
            Answer::Parts(key, _) => key,
        }
    }

    pub(super) fn raw(&self) -> RawDocument<'_> {
        match self {
            Answer::Whole(document) => document.raw(),
            Answer::Parts(_, bytes) => RawDocument::from_verified(bytes),
        }
    }
}
