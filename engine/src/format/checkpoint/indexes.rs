//! The indexes: an index of a collection, its definition and its tree (F-8.10).

use super::map::{MapWriter, bytes, read_map, uint32};
use crate::document::cbor::head::Reader;
use crate::document::cbor::{decode, encode};
use crate::document::{DEPTH_MAX, Document, Value};
use crate::format::catalog::MapFault;
use crate::format::definition::StoredDefinition;
use crate::format::index_record::INDEX_RECORD_OVERHEAD_MAX;
use crate::sync::Arc;

const FIELDS: [&str; 5] = ["id", "of", "index", "count", "tree"];
const ANEW: &str = "anew";

/// Three varints and a checksum.
const REFERENCE_LEN_MAX: usize = 5 + 4 + 3 + 4;
/// The CBOR of true.
const TRUE: u8 = 0xF5;

//= spec/format.md#f-7-3-unknown-keys
//# A writer MUST keep keys of a catalog map that it does not know when it writes the entry again.
/// An index in a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    /// Its id, from 1 on.
    pub id: u32,
    /// The id of its collection.
    pub of: u32,
    /// What it holds.
    pub definition: Arc<StoredDefinition>,
    /// How many entries it has.
    pub count: u64,
    /// Directory entries that lead to the directory pages of its tree; empty where it has no entries.
    pub tree: Vec<u8>,
    /// Whether its entries are not here, and are to be made from the documents.
    pub anew: bool,
    /// The fields that this version does not know (F-7.3).
    pub kept: Document,
}

impl IndexEntry {
    /// How long an index record is at most that has an index of this definition, and one reference, alone.
    #[must_use]
    pub fn len_max(definition: &StoredDefinition) -> usize {
        let definition = Arc::new(StoredDefinition::clone(definition));
        let longest = IndexEntry {
            id: u32::MAX,
            of: u32::MAX,
            definition,
            count: u64::MAX,
            tree: vec![0; REFERENCE_LEN_MAX],
            anew: true,
            kept: Document::new(),
        };
        INDEX_RECORD_OVERHEAD_MAX + longest.encode().len()
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        assert!(self.id > 0 && self.of > 0, "ids start at 1");
        assert_eq!(self.count == 0, self.tree.is_empty(), "a tree is of the entries that are counted");
        let mut map = MapWriter::default();
        map.uint("id", self.id.into());
        map.uint("of", self.of.into());
        let definition = Value::Object(self.definition.to_document());
        map.field("index", |out| {
            encode::value(out, &definition, DEPTH_MAX - 1)
                .expect("a definition nests no deeper than it was read");
        });
        map.uint("count", self.count);
        map.field("tree", |out| encode::bytes(out, &self.tree));
        if self.anew {
            map.field(ANEW, |out| out.push(TRUE));
        }
        map.encode(&self.kept)
    }

    //= spec/format.md#f-8-10-indexes
    //# A definition MUST be one that I-1 allows.
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<IndexEntry, MapFault> {
        let (mut id, mut of, mut index, mut count, mut tree) = (0, 0, Value::Null, 0, Vec::new());
        let read = |field: &str, reader: &mut Reader<'_>| {
            match field {
                "id" => id = uint32(reader)?,
                "of" => of = uint32(reader)?,
                "index" => index = decode::value(reader, 1)?,
                "count" => count = reader.uint()?,
                "tree" => tree = bytes(reader)?,
                _ => return Ok(false),
            }
            Ok(true)
        };
        let lacking = "an index lacks one of its fields";
        let mut kept = read_map(reader, (&FIELDS, &[ANEW]), lacking, read)?;
        let Value::Object(index) = index else { return Err(MapFault::Malformed(lacking)) };
        let anew = kept.remove(ANEW);
        let is_anew = anew.is_some();
        let is_sound = id > 0
            && of > 0
            && (count == 0) == tree.is_empty()
            && anew.is_none_or(|anew| anew == Value::Bool(true) && count == 0);
        if !is_sound {
            return Err(MapFault::Malformed("an index that cannot be"));
        }
        let definition = Arc::new(StoredDefinition::decode(&index)?);
        Ok(IndexEntry { id, of, definition, count, tree, anew: is_anew, kept })
    }
}
