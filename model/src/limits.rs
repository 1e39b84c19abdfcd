//! How large things may be.

/// The limits of a store. The default is that of `spec/semantics.md`; a check may set smaller ones, to reach them cheaply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Bytes of payload of a text or bytes key.
    pub key_len: usize,
    /// Bytes of an encoded document.
    pub document_len: usize,
    /// Levels of arrays and objects in a document, itself the first.
    pub depth: usize,
    /// Bytes of a collection's name.
    pub name_len: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { key_len: 1024, document_len: 64 << 20, depth: 128, name_len: 255 }
    }
}
