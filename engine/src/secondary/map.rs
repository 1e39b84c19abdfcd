//! A definition as a map: as the file has it, and as a user writes it. spec: F-8.10, F-7.3.
//!
//! | key        | value                                                                     spec F-8.10 |
//! |------------|---------------------------------------------------------------------------------------|
//! | `name`     | text                                                                                  |
//! | `on`       | array of paths in normal form, each a text, behind a `-` where it is descending       |
//! | `unique`   | true, or absent                                                                       |
//! | `sparse`   | true, or absent                                                                       |
//! | `required` | array of the keys without which the map cannot be understood, or absent               |

use super::definition::{IndexDefinition, IndexPath, invalid};
use crate::document::limits::NAME_LEN_MAX;
use crate::document::{Document, Value};
use crate::error::Result;

const NAME: &str = "name";
const ON: &str = "on";
const UNIQUE: &str = "unique";
const SPARSE: &str = "sparse";
const REQUIRED: &str = "required";
/// The keys that this version knows, of which `required` is kept with those that it does not.
const KNOWN_KEYS: [&str; 4] = [NAME, ON, UNIQUE, SPARSE];

/// Why a map is no definition that this version can carry out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DefinitionFault {
    /// The map is not as F-8.10 asks.
    Malformed(&'static str),
    /// The map requires a key that this version does not know.
    Unsupported,
}

impl IndexDefinition {
    /// The definition as a map: `name`, `on`, and `unique` and `sparse` where they are true.
    #[must_use]
    pub fn to_document(&self) -> Document {
        let paths = self.paths.iter().map(|path| Value::from(path.text()));
        let mut map = Document::new();
        map.insert(NAME, self.name.as_str());
        map.insert(ON, Value::Array(paths.collect()));
        for (key, flag) in [(UNIQUE, self.unique), (SPARSE, self.sparse)] {
            if flag {
                map.insert(key, true);
            }
        }
        map
    }

    /// The definition that a map states as [`to_document`](Self::to_document) does. Paths may be in any form, and flags may be
    /// false.
    ///
    /// # Errors
    /// As [`new`](Self::new); `InvalidIndex` also for other keys, and for values of other types.
    pub fn from_document(map: &Document) -> Result<Self> {
        let text = map.get(NAME).and_then(Value::as_str);
        let name = text.unwrap_or_default();
        if let Some(key) = map.keys().find(|key| !KNOWN_KEYS.contains(key)) {
            return Err(invalid(name, format!("a definition has no key {key:?}")));
        }
        if text.is_none() {
            return Err(invalid(name, "no text under \"name\""));
        }
        let paths =
            map.get(ON).and_then(Value::as_array).map(|paths| paths.iter().map(Value::as_str).collect());
        let Some(Some(paths)) = paths else {
            return Err(invalid(name, "no array of texts under \"on\""));
        };
        let paths: Vec<&str> = paths;
        let flag = |key: &str| match map.get(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(invalid(name, format!("{key:?} is neither true nor false"))),
        };
        let definition = IndexDefinition::new(name, paths)?;
        Ok(IndexDefinition { unique: flag(UNIQUE)?, sparse: flag(SPARSE)?, ..definition })
    }

    //= spec/format.md#f-7-3-unknown-keys
    //# A reader MUST refuse the file when the map has an array `required` that names a key it does not know.
    //= spec/format.md#f-8-10-indexes
    //# A definition MUST be one that I-1 allows.
    /// The definition that a map of a file is, and the keys of the map that this version does not know: a writer that writes
    /// the definition again keeps them.
    ///
    /// # Errors
    /// As [`DefinitionFault`] says.
    pub(crate) fn decode(map: &Document) -> Result<(Self, Document), DefinitionFault> {
        check_required(map)?;
        let name = match map.get(NAME) {
            // A name that is reserved is read like any other (F-7.2).
            Some(Value::Text(name)) if (1..=NAME_LEN_MAX).contains(&name.len()) => name,
            _ => return Err(DefinitionFault::Malformed("an index has a name of 1 to 255 bytes of text")),
        };
        let Some(Value::Array(texts)) = map.get(ON) else {
            return Err(DefinitionFault::Malformed("no array of paths under `on`"));
        };
        let paths = texts.iter().map(path_in_normal_form).collect::<Option<Vec<_>>>();
        let paths =
            paths.ok_or(DefinitionFault::Malformed("a path of an index that is not in normal form"))?;
        let definition = IndexDefinition::of_paths(name, paths);
        let definition = definition.map_err(|(what, _)| DefinitionFault::Malformed(what))?;
        let flag = |key| match map.get(key) {
            None => Ok(false),
            Some(Value::Bool(true)) => Ok(true),
            Some(_) => Err(DefinitionFault::Malformed("a flag of an index is true or absent")),
        };
        let definition = IndexDefinition { unique: flag(UNIQUE)?, sparse: flag(SPARSE)?, ..definition };
        let mut kept = map.clone();
        for key in KNOWN_KEYS {
            kept.remove(key);
        }
        Ok((definition, kept))
    }
}

fn path_in_normal_form(text: &Value) -> Option<IndexPath> {
    let text = text.as_str()?;
    IndexPath::parse(text).ok().filter(|path| path.text() == text)
}

fn check_required(map: &Document) -> Result<(), DefinitionFault> {
    let malformed = DefinitionFault::Malformed("`required` is not an array of text");
    let keys = match map.get(REQUIRED) {
        None => return Ok(()),
        Some(Value::Array(keys)) => keys,
        Some(_) => return Err(malformed),
    };
    let names = keys.iter().map(Value::as_str).collect::<Option<Vec<_>>>().ok_or(malformed)?;
    let knows_all = names.iter().all(|name| KNOWN_KEYS.contains(name) || *name == REQUIRED);
    if knows_all { Ok(()) } else { Err(DefinitionFault::Unsupported) }
}
