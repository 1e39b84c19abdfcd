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
    /// Bytes of the name of a collection or an index.
    pub name_len: usize,
    /// Indexes of a collection.
    pub indexes: usize,
    /// Entries of one document in one index.
    pub document_entries: usize,
    /// Bytes of the longest entry that the index records of the store have room for. The default stands for all that have room for
    /// every key.
    pub entry_len: usize,
}

impl Limits {
    // spec: I-2.6
    /// Bytes of a tuple, beyond which it is long.
    pub fn tuple_len(&self) -> usize {
        (self.entry_len / 3).min(1024)
    }

    // spec: F-8.10
    /// Bytes of the order key of a key in a collection with an index: what the longest tuple and its marks leave.
    pub(crate) fn indexed_key_len(&self) -> usize {
        self.entry_len - self.tuple_len() - self.tuple_len() / 9
    }
}

impl Default for Limits {
    fn default() -> Self {
        // The longest order key is that of 1,024 zero bytes, each of which is escaped.
        let entry_len = 1024 + 1024 / 9 + 2051;
        Limits {
            key_len: 1024,
            document_len: 64 << 20,
            depth: 128,
            name_len: 255,
            indexes: 64,
            document_entries: 1 << 20,
            entry_len,
        }
    }
}
