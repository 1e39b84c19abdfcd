//! The catalog: a collection's name, its counters and its tree (F-8.5).

use super::map::{MapWriter, bytes, read_map, uint32};
use crate::document::Document;
use crate::document::cbor::encode;
use crate::document::cbor::head::Reader;
use crate::document::limits::NAME_LEN_MAX;
use crate::format::catalog::MapFault;

const FIELDS: [&str; 5] = ["id", "name", "next", "count", "tree"];

/// The id counter where the largest int is taken as a key.
pub(super) const NEXT_MAX: u64 = 1 << 63;

//= spec/format.md#f-7-3-unknown-keys
//# A writer MUST keep keys of a catalog map that it does not know when it writes the entry again.
/// A collection in a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogEntry {
    /// Its id, from 1 on.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// The next id to issue, from 1 on: one more than the largest int key ever put. 2^63 where the ids are exhausted.
    pub next: u64,
    /// How many live documents it has.
    pub count: u64,
    /// Directory entries that lead to the directory pages of its tree; empty where it has no documents.
    pub tree: Vec<u8>,
    /// The fields that this version does not know (F-7.3).
    pub kept: Document,
}

impl CatalogEntry {
    pub(super) fn encode(&self) -> Vec<u8> {
        assert!(self.id > 0, "collection ids start at 1");
        assert!((1..=NAME_LEN_MAX).contains(&self.name.len()), "a name has 1 to {NAME_LEN_MAX} bytes");
        assert!(
            (1..=NEXT_MAX).contains(&self.next),
            "ids to issue are above 0, and within 63 bits or exhausted"
        );
        assert_eq!(self.count == 0, self.tree.is_empty(), "a tree is of the documents that are counted");
        let mut map = MapWriter::default();
        map.uint("id", self.id.into());
        map.field("name", |out| encode::text(out, &self.name));
        map.uint("next", self.next);
        map.uint("count", self.count);
        map.field("tree", |out| encode::bytes(out, &self.tree));
        map.encode(&self.kept)
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<CatalogEntry, MapFault> {
        let (mut id, mut name, mut next, mut count, mut tree) = (0, String::new(), 0, 0, Vec::new());
        let read = |field: &str, reader: &mut Reader<'_>| {
            match field {
                "id" => id = uint32(reader)?,
                "name" => name = reader.name()?.to_owned(),
                "next" => next = reader.uint()?,
                "count" => count = reader.uint()?,
                "tree" => tree = bytes(reader)?,
                _ => return Ok(false),
            }
            Ok(true)
        };
        let kept = read_map(reader, (&FIELDS, &[]), "a collection lacks one of its fields", read)?;
        // spec: F-7.2, F-8.5.
        let is_sound = id > 0
            && (1..=NAME_LEN_MAX).contains(&name.len())
            && (1..=NEXT_MAX).contains(&next)
            && (count == 0) == tree.is_empty();
        if !is_sound {
            return Err(MapFault::Malformed("a collection that cannot be"));
        }
        Ok(CatalogEntry { id, name, next, count, tree, kept })
    }
}
