//! Catalog changes: the bodies of catalog records, deterministic CBOR maps (F-7).
//!
//! | `op`     | other keys   | effect                                                        spec F-7.1 |
//! |----------|--------------|----------------------------------------------------------------------|
//! | `create` | `id`, `name` | a collection begins                                                  |
//! | `drop`   | `id`         | the collection ends                                                  |
//! | `clear`  | `id`, `new`  | the collection goes on, empty, under the id `new`                    |
//! | `rename` | `id`, `name` | the collection has another name                                      |
//! | `index`  | `id`, `new`, `index` | an index of the id `new` begins in the collection `id`      |
//! | `unindex` | `id`        | the index ends                                                      |
//! | `reindex` | `id`, `name` | the index has another name                                         |

use crate::document::limits::NAME_LEN_MAX;
use crate::document::{Document, Value};
use crate::secondary::check_required;
pub use crate::secondary::map::MapFault;
use crate::sync::Arc;

use super::definition::StoredDefinition;

/// The keys that this version knows; all others are kept, with `required`.
const KNOWN_KEYS: [&str; 5] = ["op", "id", "name", "new", "index"];

/// What happens to a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatalogChange {
    /// A collection begins.
    Create {
        /// Its id, from 1 on, never given before.
        id: u32,
        /// Its name.
        name: String,
    },
    /// The collection ends; its records are dead.
    Drop {
        /// Its id.
        id: u32,
    },
    /// The collection's records are dead; it goes on under another id, with its name and id counter.
    Clear {
        /// Its id so far.
        id: u32,
        /// Its id from now on, never given before.
        new: u32,
    },
    /// The collection has another name.
    Rename {
        /// Its id.
        id: u32,
        /// Its name from now on.
        name: String,
    },
    /// An index of a collection begins.
    Index {
        /// The id of the collection.
        id: u32,
        /// The id of the index, never given before.
        new: u32,
        /// What it holds.
        definition: Arc<StoredDefinition>,
    },
    /// The index ends.
    Unindex {
        /// Its id.
        id: u32,
    },
    /// The index has another name.
    Reindex {
        /// Its id.
        id: u32,
        /// Its name from now on.
        name: String,
    },
}

impl CatalogChange {
    /// The id of the collection or index that the change begins, if it begins one.
    #[must_use]
    pub const fn begins(&self) -> Option<u32> {
        match self {
            CatalogChange::Create { id, .. }
            | CatalogChange::Clear { new: id, .. }
            | CatalogChange::Index { new: id, .. } => Some(*id),
            CatalogChange::Drop { .. }
            | CatalogChange::Rename { .. }
            | CatalogChange::Unindex { .. }
            | CatalogChange::Reindex { .. } => None,
        }
    }

    /// The change as a deterministic CBOR map.
    ///
    /// # Panics
    /// If an id is 0, or a name is not of 1 to 255 bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut map = Document::new();
        let put_id = |map: &mut Document, key: &str, id: u32| {
            assert!(id > 0, "collection ids start at 1");
            map.insert(key, i64::from(id));
        };
        match self {
            CatalogChange::Create { name, .. }
            | CatalogChange::Rename { name, .. }
            | CatalogChange::Reindex { name, .. } => {
                assert!((1..=NAME_LEN_MAX).contains(&name.len()), "a name has 1 to {NAME_LEN_MAX} bytes");
                map.insert("name", name.as_str());
            }
            CatalogChange::Clear { new, .. } => put_id(&mut map, "new", *new),
            CatalogChange::Index { new, definition, .. } => {
                put_id(&mut map, "new", *new);
                map.insert("index", Value::Object(definition.to_document()));
            }
            CatalogChange::Drop { .. } | CatalogChange::Unindex { .. } => {}
        }
        let (op, id) = match self {
            CatalogChange::Create { id, .. } => ("create", id),
            CatalogChange::Drop { id } => ("drop", id),
            CatalogChange::Clear { id, .. } => ("clear", id),
            CatalogChange::Rename { id, .. } => ("rename", id),
            CatalogChange::Index { id, .. } => ("index", id),
            CatalogChange::Unindex { id } => ("unindex", id),
            CatalogChange::Reindex { id, .. } => ("reindex", id),
        };
        map.insert("op", op);
        put_id(&mut map, "id", *id);
        map.encode()
    }

    //= spec/format.md#f-7-1-catalog-records
    //# A reader MUST refuse, as a newer format, a catalog record whose `op` it does not know.
    /// Reads a catalog record's body.
    ///
    /// # Errors
    /// As [`MapFault`] says.
    pub fn decode(body: &[u8]) -> Result<CatalogChange, MapFault> {
        let map = Document::decode(body).map_err(|_| MapFault::Malformed("not a deterministic CBOR map"))?;
        check_required(&map, &KNOWN_KEYS)?;
        let Some(Value::Text(op)) = map.get("op") else {
            return Err(MapFault::Malformed("no text under `op`"));
        };
        Ok(match &**op {
            "create" => CatalogChange::Create { id: id(&map, "id")?, name: name(&map)? },
            "drop" => CatalogChange::Drop { id: id(&map, "id")? },
            "clear" => CatalogChange::Clear { id: id(&map, "id")?, new: id(&map, "new")? },
            "rename" => CatalogChange::Rename { id: id(&map, "id")?, name: name(&map)? },
            "index" => CatalogChange::Index {
                id: id(&map, "id")?,
                new: id(&map, "new")?,
                definition: Arc::new(definition(&map)?),
            },
            "unindex" => CatalogChange::Unindex { id: id(&map, "id")? },
            "reindex" => CatalogChange::Reindex { id: id(&map, "id")?, name: name(&map)? },
            _ => return Err(MapFault::Unsupported),
        })
    }
}

fn id(map: &Document, key: &str) -> Result<u32, MapFault> {
    // spec: F-7.2.
    match map.get(key) {
        Some(&Value::Int(id)) if id > 0 => {
            u32::try_from(id).map_err(|_| MapFault::Malformed("a collection id beyond 32 bits"))
        }
        _ => Err(MapFault::Malformed("no collection id where one is due")),
    }
}

fn name(map: &Document) -> Result<String, MapFault> {
    // spec: F-7.2.
    match map.get("name") {
        Some(Value::Text(name)) if (1..=NAME_LEN_MAX).contains(&name.len()) => Ok(name.to_string()),
        _ => Err(MapFault::Malformed("a name has 1 to 255 bytes of text")),
    }
}

fn definition(map: &Document) -> Result<StoredDefinition, MapFault> {
    match map.get("index") {
        Some(Value::Object(definition)) => StoredDefinition::decode(definition),
        _ => Err(MapFault::Malformed("no definition of an index where one is due")),
    }
}
