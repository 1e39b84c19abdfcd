//! How large documents and keys may be, spec: V-4, and what names collections and indexes may have, spec: S-3.1.

use crate::error::{Error, Result};

/// The longest text or byte string that can be a key, in bytes of payload.
pub const KEY_LEN_MAX: usize = 1024;

/// The longest encoded document, in bytes.
pub const DOCUMENT_LEN_MAX: usize = 64 << 20;

/// How deep arrays and objects may nest: the document itself is level 1.
pub const DEPTH_MAX: usize = 128;

//= spec/semantics.md#s-2-4-document-limit
//# A write of a document whose encoded form is longer than 67,108,864 bytes MUST be refused as
//# `DocumentTooLarge`.
//= spec/values.md#v-4-2-document-length
//# A document MUST NOT have more than 67,108,864 encoded bytes (64 MiB).
//= spec/values.md#v-4-4-beyond-a-limit
//# A store MUST refuse a key or a document that is beyond a limit with an error that names the limit, whether
//# it comes from a caller, from JSON or from bytes.
/// Whether a document may have `len` encoded bytes. spec: V-4.2.
pub(crate) fn check_len(len: usize) -> Result<()> {
    if len > DOCUMENT_LEN_MAX {
        return Err(Error::DocumentTooLarge { len, max: DOCUMENT_LEN_MAX });
    }
    Ok(())
}

/// The longest name of a collection or an index, in bytes of UTF-8.
pub(crate) const NAME_LEN_MAX: usize = 255;

/// What is wrong with the name of a collection or an index. spec: S-3.1, I-1.1.
pub(crate) fn name_fault(name: &str) -> Option<&'static str> {
    match name {
        "" => Some("it is empty"),
        _ if name.len() > NAME_LEN_MAX => Some("it is longer than 255 bytes"),
        _ if name.starts_with('$') => Some("names that begin with $ are reserved"),
        _ => None,
    }
}
