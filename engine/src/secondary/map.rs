//! A definition as a map: as the file has it, and as a user writes it. spec: F-8.10, F-7.3.
//!
//! | key        | value                                                                     spec F-8.10 |
//! |------------|---------------------------------------------------------------------------------------|
//! | `name`     | text                                                                                  |
//! | `on`       | array of paths in normal form, each a text, behind a `-` where it is descending       |
//! | `by`       | array of the functions of the paths, each a text or null; absent if all are null       |
//! | `unique`   | true, or absent                                                                       |
//! | `sparse`   | true, or absent                                                                       |
//! | `where`    | the filter, a text in normal form, or absent                                          |
//! | `required` | array of the keys without which the map cannot be understood, or absent               |

use super::definition::{IndexDefinition, IndexPath, function_of_path, invalid};
use crate::document::limits::NAME_LEN_MAX;
use crate::document::{Document, Value};
use crate::error::Result;
use crate::query::function::Function;
use crate::seeded::{self, Bug};

const NAME: &str = "name";
const ON: &str = "on";
const BY: &str = "by";
const UNIQUE: &str = "unique";
const SPARSE: &str = "sparse";
const WHERE: &str = "where";
const REQUIRED: &str = "required";
/// The keys of a definition as a user writes it, where functions stand in the paths.
const USED_KEYS: [&str; 5] = [NAME, ON, UNIQUE, SPARSE, WHERE];
/// The keys that this version knows beside `required`, which is kept with those that it does not.
const KNOWN_KEYS: [&str; 6] = [NAME, ON, BY, UNIQUE, SPARSE, WHERE];

/// Why a map of the file is none that this version can carry out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(any(test, feature = "testing")),
    expect(unreachable_pub, reason = "public under the feature `testing`")
)]
pub enum MapFault {
    /// The map is not as F-7 or F-8.10 asks.
    Malformed(&'static str),
    /// The map has an `op` that this version does not know, or requires a key that it does not.
    Unsupported,
}

impl IndexDefinition {
    /// The definition as a map: `name`, `on`, `unique` and `sparse` where they are true, and `where` where it has a filter.
    #[must_use]
    pub fn to_document(&self) -> Document {
        self.map(self.texts())
    }

    /// The definition as the file has it, where functions stand apart from the paths, for the versions that do not know them.
    pub(crate) fn to_stored(&self) -> Document {
        let plain = self.paths.iter().map(|path| IndexPath { function: None, ..path.clone() }.text());
        let mut map = self.map(plain);
        let mut required = Vec::new();
        if self.paths.iter().any(|path| path.function.is_some()) {
            let name = |path: &IndexPath| match path.function {
                Some(function) => Value::from(function.signature().name),
                None => Value::Null,
            };
            map.insert(BY, Value::Array(self.paths.iter().map(name).collect()));
            required.push(Value::from(BY));
        }
        if self.filter.is_some() {
            required.push(Value::from(WHERE));
        }
        if !required.is_empty() {
            map.insert(REQUIRED, Value::Array(required));
        }
        map
    }

    fn map(&self, on: impl Iterator<Item = String>) -> Document {
        let mut map = Document::new();
        map.insert(NAME, self.name.as_str());
        map.insert(ON, Value::Array(on.map(Value::from).collect()));
        for (key, flag) in [(UNIQUE, self.unique), (SPARSE, self.sparse)] {
            if flag {
                map.insert(key, true);
            }
        }
        if let Some(filter) = &self.filter {
            map.insert(WHERE, filter.to_string());
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
        if let Some(key) = map.keys().find(|key| !USED_KEYS.contains(key)) {
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
        let definition = IndexDefinition { unique: flag(UNIQUE)?, sparse: flag(SPARSE)?, ..definition };
        match map.get(WHERE) {
            None => Ok(definition),
            Some(Value::Text(filter)) => definition.filtered(filter),
            Some(_) => Err(invalid(name, "no text under \"where\"")),
        }
    }

    //= spec/format.md#f-7-3-unknown-keys
    //# A reader MUST refuse the file when the map has an array `required` that names a key it does not know.
    //= spec/format.md#f-8-10-indexes
    //# A definition MUST be one that I-1 allows.
    /// The definition that a map of a file is, and the keys of the map that this version does not know: a writer that writes
    /// the definition again keeps them.
    ///
    /// # Errors
    /// As [`MapFault`] says.
    pub(crate) fn decode(map: &Document) -> Result<(Self, Document), MapFault> {
        check_required(map, &KNOWN_KEYS)?;
        let name = match map.get(NAME) {
            // A name that is reserved is read like any other (F-7.2).
            Some(Value::Text(name)) if (1..=NAME_LEN_MAX).contains(&name.len()) => name,
            _ => return Err(MapFault::Malformed("an index has a name of 1 to 255 bytes of text")),
        };
        let Some(Value::Array(texts)) = map.get(ON) else {
            return Err(MapFault::Malformed("no array of paths under `on`"));
        };
        let paths = texts.iter().map(path_in_normal_form).collect::<Option<Vec<_>>>();
        let mut paths = paths.ok_or(MapFault::Malformed("a path of an index that is not in normal form"))?;
        if let Some(by) = map.get(BY) {
            let functions = functions(by, map, paths.len());
            let functions =
                functions.ok_or(MapFault::Malformed("`by` is not a list of functions of the paths"))?;
            for (path, function) in paths.iter_mut().zip(functions) {
                path.function = function.filter(|_| !seeded::is_on(Bug::FunctionsNotStored));
            }
        }
        let definition = IndexDefinition::of_paths(name, paths);
        let definition = definition.map_err(|(what, _)| MapFault::Malformed(what))?;
        let flag = |key| match map.get(key) {
            None => Ok(false),
            Some(Value::Bool(true)) => Ok(true),
            Some(_) => Err(MapFault::Malformed("a flag of an index is true or absent")),
        };
        let definition = IndexDefinition { unique: flag(UNIQUE)?, sparse: flag(SPARSE)?, ..definition };
        let definition = match map.get(WHERE) {
            Some(filter) if !seeded::is_on(Bug::FilterNotStored) => {
                definition.filtered_as_stored(filter, map)?
            }
            _ => definition,
        };
        let mut kept = map.clone();
        for key in KNOWN_KEYS {
            kept.remove(key);
        }
        Ok((definition, kept))
    }

    /// The same with the filter that a file has, if it has it as F-8.10 says.
    fn filtered_as_stored(self, filter: &Value, map: &Document) -> Result<Self, MapFault> {
        let filtered =
            filter.as_str().filter(|_| requires(map, WHERE)).and_then(|text| self.filtered(text).ok());
        filtered.ok_or(MapFault::Malformed("`where` is not a filter that an index can have"))
    }
}

/// Whether the map requires what this key says.
fn requires(map: &Document, key: &str) -> bool {
    map.get(REQUIRED).and_then(Value::as_array).is_some_and(|keys| keys.contains(&Value::from(key)))
}

/// A path of a file, whose function stands under `by`.
fn path_in_normal_form(text: &Value) -> Option<IndexPath> {
    let text = text.as_str()?;
    IndexPath::parse(text).ok().filter(|path| path.function.is_none() && path.text() == text)
}

/// The functions of so many paths, if the map has them as F-8.10 says.
fn functions(by: &Value, map: &Document, paths: usize) -> Option<Vec<Option<Function>>> {
    let names = by.as_array().filter(|names| names.len() == paths)?;
    let functions = names.iter().map(|name| match name {
        Value::Null => Some(None),
        name => name.as_str().and_then(function_of_path).map(Some),
    });
    let functions = functions.collect::<Option<Vec<_>>>()?;
    let is_right = functions.iter().any(Option::is_some) && requires(map, BY);
    is_right.then_some(functions)
}

//= spec/format.md#f-7-3-unknown-keys
//# A reader MUST refuse the file when the map has an array `required` that names a key it does not know.
/// Whether a map can be understood by a reader that knows the keys `known`, and `required`. An array that holds anything but texts is malformed,
/// whatever its texts name.
///
/// # Errors
/// [`MapFault::Unsupported`] if its `required` names another key, [`MapFault::Malformed`] if that is not
/// an array of text.
pub(crate) fn check_required(map: &Document, known: &[&str]) -> Result<(), MapFault> {
    let malformed = MapFault::Malformed("`required` is not an array of text");
    let keys = match map.get(REQUIRED) {
        None => return Ok(()),
        Some(Value::Array(keys)) => keys,
        Some(_) => return Err(malformed),
    };
    let names = keys.iter().map(Value::as_str).collect::<Option<Vec<_>>>().ok_or(malformed)?;
    let knows_all = names.iter().all(|name| known.contains(name) || *name == REQUIRED);
    if knows_all { Ok(()) } else { Err(MapFault::Unsupported) }
}
