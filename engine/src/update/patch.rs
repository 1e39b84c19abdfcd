//! JSON Patch (RFC 6902) as a value: its operations, and how they are read and written.

use crate::document::json::{self, JsonMode};
use crate::document::{Document, JsonPointer, Value};
use crate::error::{Error, Result};

/// One operation of a [`JsonPatch`].
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// Adds a field or replaces its value; inserts an item, or appends it with `-`.
    Add {
        /// Where to.
        path: JsonPointer,
        /// What is added.
        value: Value,
    },
    /// Takes out what is at `path`.
    Remove {
        /// Where.
        path: JsonPointer,
    },
    /// Puts `value` in the place of what is at `path`.
    Replace {
        /// Where.
        path: JsonPointer,
        /// What is there afterwards.
        value: Value,
    },
    /// Takes out what is at `from`, and adds it at `path`.
    Move {
        /// Where it is taken from.
        from: JsonPointer,
        /// Where it goes.
        path: JsonPointer,
    },
    /// Adds what is at `from` at `path`.
    Copy {
        /// Where it is.
        from: JsonPointer,
        /// Where it is added.
        path: JsonPointer,
    },
    /// Fails unless what is at `path` is equal to `value` in the order of values, in which 1 equals 1.0.
    Test {
        /// Where.
        path: JsonPointer,
        /// What has to be there.
        value: Value,
    },
}

/// A JSON Patch (RFC 6902): operations that are applied one after the other, all or none.
///
/// ```
/// use holotype::{doc, update::JsonPatch};
///
/// let patch = JsonPatch::parse(r#"[
///     { "op": "test", "path": "/seen", "value": 1 },
///     { "op": "add", "path": "/places/-", "value": "hedge" }
/// ]"#)?;
/// let bird = patch.apply(&doc! { "seen": 1, "places": [] }.into())?;
/// assert_eq!(bird, doc! { "seen": 1, "places": ["hedge"] }.into());
/// assert!(patch.apply(&doc! { "seen": 2, "places": [] }.into()).is_err());
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JsonPatch {
    operations: Vec<Operation>,
}

impl Operation {
    /// What it is: the value of its field `op`.
    pub fn name(&self) -> &'static str {
        match self {
            Operation::Add { .. } => "add",
            Operation::Remove { .. } => "remove",
            Operation::Replace { .. } => "replace",
            Operation::Move { .. } => "move",
            Operation::Copy { .. } => "copy",
            Operation::Test { .. } => "test",
        }
    }

    /// Where it takes place.
    pub fn path(&self) -> &JsonPointer {
        match self {
            Operation::Add { path, .. }
            | Operation::Remove { path }
            | Operation::Replace { path, .. }
            | Operation::Move { path, .. }
            | Operation::Copy { path, .. }
            | Operation::Test { path, .. } => path,
        }
    }
}

impl JsonPatch {
    /// The patch that a JSON text holds, its values read as [`json`](crate::document::json) says.
    ///
    /// # Errors
    /// `Json` with line and column; `InvalidPatch` with the number of the operation and its field; `TooDeep`.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self> {
        JsonPatch::from_value(json::parse_patch(text.as_ref())?)
    }

    /// The patch that `value` is: an array of objects.
    ///
    /// # Errors
    /// `InvalidPatch` with the number of the operation and its field.
    pub fn from_value(value: Value) -> Result<Self> {
        let items = match value {
            Value::Array(items) => items,
            other => {
                return Err(invalid(None, "", format!("a patch is an array, not of type {}", other.kind())));
            }
        };
        let operations = items.into_iter().enumerate().map(|(number, item)| operation(number, item));
        Ok(JsonPatch { operations: operations.collect::<Result<_>>()? })
    }

    /// The operations, in their order.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The patch as the value that [`from_value`](Self::from_value) reads.
    pub fn to_value(&self) -> Value {
        Value::Array(self.operations.iter().map(|operation| Value::Object(operation.to_document())).collect())
    }

    /// The patch as JSON.
    pub fn to_json(&self, mode: JsonMode) -> String {
        self.to_value().to_json(mode)
    }
}

impl FromIterator<Operation> for JsonPatch {
    fn from_iter<I: IntoIterator<Item = Operation>>(operations: I) -> Self {
        JsonPatch { operations: operations.into_iter().collect() }
    }
}

impl Operation {
    fn to_document(&self) -> Document {
        let mut fields =
            Document::from([("op", self.name().into()), ("path", Value::from(self.path().to_string()))]);
        match self {
            Operation::Add { value, .. }
            | Operation::Replace { value, .. }
            | Operation::Test { value, .. } => {
                fields.insert("value", value);
            }
            Operation::Move { from, .. } | Operation::Copy { from, .. } => {
                fields.insert("from", from.to_string());
            }
            Operation::Remove { .. } => {}
        }
        fields
    }
}

//= spec/update.md#u-3-1-form
//# A patch of another form MUST be refused before anything is applied, with the number of the operation and
//# the field that is missing or wrong.
/// Operation number `number`, from the object that it is.
fn operation(number: usize, item: Value) -> Result<Operation> {
    let mut fields = match item {
        Value::Object(fields) => fields,
        other => {
            return Err(invalid(
                Some(number),
                "",
                format!("an operation is an object, not of type {}", other.kind()),
            ));
        }
    };
    let name = text(number, &mut fields, "op")?;
    let path = pointer(number, &mut fields, "path")?;
    let mut value = || fields.remove("value").ok_or_else(|| missing(number, "value"));
    Ok(match name.as_str() {
        "add" => Operation::Add { path, value: value()? },
        "remove" => Operation::Remove { path },
        "replace" => Operation::Replace { path, value: value()? },
        "move" => Operation::Move { path, from: pointer(number, &mut fields, "from")? },
        "copy" => Operation::Copy { path, from: pointer(number, &mut fields, "from")? },
        "test" => Operation::Test { path, value: value()? },
        other => {
            let known = "add, remove, replace, move, copy and test";
            return Err(invalid(
                Some(number),
                "op",
                format!("there is no operation {other:?}; there are {known}"),
            ));
        }
    })
}

fn text(number: usize, fields: &mut Document, field: &'static str) -> Result<String> {
    match fields.remove(field) {
        Some(Value::Text(text)) => Ok(text.into()),
        Some(other) => {
            Err(invalid(Some(number), field, format!("it is a text, not of type {}", other.kind())))
        }
        None => Err(missing(number, field)),
    }
}

fn pointer(number: usize, fields: &mut Document, field: &'static str) -> Result<JsonPointer> {
    let text = text(number, fields, field)?;
    JsonPointer::parse(&text).map_err(|error| invalid(Some(number), field, error.to_string()))
}

#[cold]
fn missing(number: usize, field: &'static str) -> Error {
    invalid(Some(number), field, "it is missing".to_owned())
}

#[cold]
fn invalid(operation: Option<usize>, field: &'static str, what: String) -> Error {
    Error::InvalidPatch { operation, field, what }
}
