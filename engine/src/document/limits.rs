//! How large documents and keys may be. spec: V-4.

/// The longest text or byte string that can be a key, in bytes of payload.
pub const KEY_LEN_MAX: usize = 1024;

/// The longest encoded document, in bytes.
pub const DOCUMENT_LEN_MAX: usize = 64 << 20;

/// How deep arrays and objects may nest: the document itself is level 1.
pub const DEPTH_MAX: usize = 128;
