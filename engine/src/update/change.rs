//! Updates: what applications change all day, as a builder. spec: U-5.

use crate::document::{Text, Value};
use crate::error::{Error, Result};
use crate::query::JsonPath;

/// Changes of a document, applied one after the other, all or none. Paths are singular queries of RFC 9535 (JSONPath).
///
/// What `set`, `inc`, `mul`, `min`, `max`, `push` and `add_to_set` change need not be there: they create it, with the objects
/// around it. The others change nothing then. A path that is no path is reported by the call that applies the update.
///
/// ```
/// use holotype::{Db, Update, doc};
///
/// let db = Db::in_memory();
/// let birds = db.collection("birds");
/// birds.put("wren", doc! { "seen": 1, "tags": ["small"] })?;
/// let update = Update::new().inc("$.seen", 1).set("$.last.where", "hedge").add_to_set("$.tags", "brown");
/// let updated = birds.update("wren", update)?;
/// let wren = updated.after().expect("it is there").to_document()?;
/// assert_eq!(wren, doc! { "seen": 2, "last": { "where": "hedge" }, "tags": ["small", "brown"] });
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Update {
    changes: Vec<Change>,
    /// The first path that is none.
    invalid: Option<Error>,
}

#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) path: JsonPath,
    pub(super) action: Action,
}

#[derive(Debug, Clone)]
pub(super) enum Action {
    Set(Value),
    Unset,
    Rename(Text),
    Inc(Number),
    Mul(Number),
    Min(Value),
    Max(Value),
    Push {
        items: Vec<Value>,
        keep_last: Option<usize>,
    },
    Pop {
        first: bool,
    },
    Pull(Value),
    AddToSet(Value),
    /// Of the nodes that the path selects, which alone may be many.
    Each(Update),
}

/// An int or a float.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A whole number of 64 signed bits.
    Int(i64),
    /// A number of IEEE 754 binary64.
    Float(f64),
}

macro_rules! from_each {
    ($variant:ident: $($from:ty),+) => {$(
        impl From<$from> for Number {
            fn from(number: $from) -> Self {
                Number::$variant(number.into())
            }
        }
    )+};
}

from_each!(Int: i8, i16, i32, i64, u8, u16, u32);
from_each!(Float: f32, f64);

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        match number {
            Number::Int(int) => Value::Int(int),
            Number::Float(float) => Value::Float(float),
        }
    }
}

impl Action {
    /// The name of the builder's method.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Action::Set(_) => "set",
            Action::Unset => "unset",
            Action::Rename(_) => "rename",
            Action::Inc(_) => "inc",
            Action::Mul(_) => "mul",
            Action::Min(_) => "min",
            Action::Max(_) => "max",
            Action::Push { .. } => "push",
            Action::Pop { first: false } => "pop",
            Action::Pop { first: true } => "pop_first",
            Action::Pull(_) => "pull",
            Action::AddToSet(_) => "add_to_set",
            Action::Each(_) => "each",
        }
    }
}

impl Update {
    /// An update that changes nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts `value` at `path`, in the place of what is there.
    #[must_use]
    pub fn set(self, path: &str, value: impl Into<Value>) -> Self {
        self.and(path, Action::Set(value.into()))
    }

    /// Takes out the field or item at `path`.
    #[must_use]
    pub fn unset(self, path: &str) -> Self {
        self.and(path, Action::Unset)
    }

    /// Gives the field at `path` another name, and replaces the field that had it.
    #[must_use]
    pub fn rename(self, path: &str, name: impl Into<Text>) -> Self {
        self.and(path, Action::Rename(name.into()))
    }

    /// Adds `by` to the number at `path`; nothing counts as 0. Two ints give the exact int, or the error `Overflow`.
    #[must_use]
    pub fn inc(self, path: &str, by: impl Into<Number>) -> Self {
        self.and(path, Action::Inc(by.into()))
    }

    /// Multiplies the number at `path` by `by`; nothing counts as 0. Ints as for [`inc`](Self::inc).
    #[must_use]
    pub fn mul(self, path: &str, by: impl Into<Number>) -> Self {
        self.and(path, Action::Mul(by.into()))
    }

    /// Puts `value` at `path` if what is there comes after it in the order of values, or nothing is there.
    #[must_use]
    pub fn min(self, path: &str, value: impl Into<Value>) -> Self {
        self.and(path, Action::Min(value.into()))
    }

    /// Puts `value` at `path` if what is there comes before it in the order of values, or nothing is there.
    #[must_use]
    pub fn max(self, path: &str, value: impl Into<Value>) -> Self {
        self.and(path, Action::Max(value.into()))
    }

    /// Adds an item to the end of the array at `path`.
    #[must_use]
    pub fn push(self, path: &str, item: impl Into<Value>) -> Self {
        self.push_all(path, [item])
    }

    /// Adds items to the end of the array at `path`, in their order.
    #[must_use]
    pub fn push_all<V: Into<Value>>(self, path: &str, items: impl IntoIterator<Item = V>) -> Self {
        self.and(path, Action::Push { items: items.into_iter().map(Into::into).collect(), keep_last: None })
    }

    /// Adds items to the end of the array at `path`, and takes items from its front until `last` are left at most.
    #[must_use]
    pub fn push_keep_last<V: Into<Value>>(
        self,
        path: &str,
        items: impl IntoIterator<Item = V>,
        last: usize,
    ) -> Self {
        let items = items.into_iter().map(Into::into).collect();
        self.and(path, Action::Push { items, keep_last: Some(last) })
    }

    /// Takes out the last item of the array at `path`.
    #[must_use]
    pub fn pop(self, path: &str) -> Self {
        self.and(path, Action::Pop { first: false })
    }

    /// Takes out the first item of the array at `path`.
    #[must_use]
    pub fn pop_first(self, path: &str) -> Self {
        self.and(path, Action::Pop { first: true })
    }

    /// Takes out all items of the array at `path` that are equal to `item` in the order of values: 1 equals 1.0.
    #[must_use]
    pub fn pull(self, path: &str, item: impl Into<Value>) -> Self {
        self.and(path, Action::Pull(item.into()))
    }

    /// Adds `item` to the end of the array at `path`, unless one that is equal to it in the order of values is there.
    #[must_use]
    pub fn add_to_set(self, path: &str, item: impl Into<Value>) -> Self {
        self.and(path, Action::AddToSet(item.into()))
    }

    /// Makes the changes of `changes` to each value that `path` selects, as though it was the whole value: `$` is that value, and
    /// its `unset` takes it out. Values within others come first, and later ones before earlier ones.
    ///
    /// ```
    /// use holotype::{Update, Value, doc};
    ///
    /// let order = Value::from(doc! { "lines": [{ "n": 2, "free": true }, { "n": 1 }, { "n": 0 }] });
    /// let update = Update::new()
    ///     .each("$.lines[?@.free]", Update::new().unset("$.free").inc("$.n", 1))
    ///     .each("$.lines[?@.n == 0]", Update::new().unset("$"));
    /// assert_eq!(update.apply(&order)?, Value::from(doc! { "lines": [{ "n": 3 }, { "n": 1 }] }));
    /// # Ok::<(), holotype::Error>(())
    /// ```
    #[must_use]
    pub fn each(mut self, path: &str, mut changes: Update) -> Self {
        self.invalid = self.invalid.or(changes.invalid.take());
        self.with(path, JsonPath::parse(path), Action::Each(changes))
    }

    fn and(self, path: &str, action: Action) -> Self {
        self.with(path, JsonPath::parse_singular(path), action)
    }

    //= spec/update.md#u-5-2-paths
    //# A path of another form MUST be refused with the byte at which it goes wrong.
    fn with(mut self, text: &str, path: Result<JsonPath>, action: Action) -> Self {
        match path {
            Ok(path) => self.changes.push(Change { path, action }),
            Err(error) => self.invalid = self.invalid.or(Some(of_path(text, error))),
        }
        self
    }

    pub(super) fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether all paths given are paths. The call that applies the update asks as well.
    ///
    /// # Errors
    /// `InvalidPath` for the first that is none.
    pub fn check(&self) -> Result<()> {
        match &self.invalid {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    }
}

/// What is wrong with a path, with its text.
#[cold]
fn of_path(text: &str, error: Error) -> Error {
    match error {
        Error::Query { offset, what } => Error::InvalidPath { path: text.to_owned(), at: offset, what },
        error => error,
    }
}
