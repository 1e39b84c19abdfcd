//! What answers are sorted by, and the place of a document in that order as bytes.

use crate::document::{Key, KeyRef, RawDocument, Value, order_key};
use crate::error::{Error, Result};
use crate::query::Expression;
use crate::seeded::{self, Bug};

use super::texts::IntoExpression;

/// What documents or groups are sorted by: an expression, a direction, and where nothing goes.
///
/// A text is an ascending sort. Nothing is less than every value, unless the sort says where it goes.
///
/// ```
/// use holotype::{Db, Sort, doc};
///
/// let birds = Db::in_memory().collection("birds");
/// birds.insert_many([doc! { "name": "Wren", "seen": 3 }, doc! { "name": "Owl" }, doc! { "name": "Tit", "seen": 7 }])?;
/// let mut names = Vec::new();
/// for bird in birds.find(..).sort(Sort::by("$.seen").descending().nothing_first()).run()? {
///     names.push(bird?.get("name").and_then(|name| name.as_str().map(str::to_owned)));
/// }
/// assert_eq!(names, [Some("Owl".into()), Some("Tit".into()), Some("Wren".into())]);
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sort {
    /// As it was given, and what is wrong with it where something is.
    expression: Result<Expression>,
    descending: bool,
    nothing_last: Option<bool>,
}

impl Sort {
    /// Ascending by what the expression gives. One that is wrong is told by the call that runs the query.
    pub fn by(expression: impl IntoExpression) -> Self {
        Sort { expression: expression.into_expression(), descending: false, nothing_last: None }
    }

    /// The greatest first.
    #[must_use]
    pub fn descending(self) -> Self {
        Sort { descending: true, ..self }
    }

    /// What has no value comes first.
    #[must_use]
    pub fn nothing_first(self) -> Self {
        Sort { nothing_last: Some(false), ..self }
    }

    /// What has no value comes last.
    #[must_use]
    pub fn nothing_last(self) -> Self {
        Sort { nothing_last: Some(true), ..self }
    }

    //= spec/query.md#q-7-2-order
    //# A store MUST refuse a sort whose expression is not single.
    pub(super) fn checked(self) -> Result<CheckedSort> {
        let expression = self.expression?;
        if !expression.is_single() {
            let what = format!("`{expression}` can give more than one value, and a sort takes one");
            return Err(Error::Query { offset: 0, what });
        }
        let turned = seeded::is_on(Bug::NothingTurned) && self.descending;
        let nothing_last = turned || self.nothing_last.unwrap_or(self.descending);
        Ok(CheckedSort { expression, descending: self.descending, nothing_last })
    }
}

impl<T: IntoExpression> From<T> for Sort {
    fn from(expression: T) -> Self {
        Sort::by(expression)
    }
}

#[derive(Debug, Clone)]
pub(super) struct CheckedSort {
    pub(super) expression: Expression,
    pub(super) descending: bool,
    nothing_last: bool,
}

/// The order of a query. spec: Q-7.2.
///
/// A document's *place* is a text of bytes: places compare as the documents do. It has, for each sort, the order key of what the
/// sort gives, each of its bytes turned over where the sort descends; then the order key of the document's key, and the length of that in two bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    pub(super) sorts: Vec<CheckedSort>,
}

/// Less than every order key, whether it is turned over or not.
const NOTHING_FIRST: u8 = 0x00;
/// Greater than each of them.
const NOTHING_LAST: u8 = 0xff;

impl Order {
    //= spec/query.md#q-7-2-order
    //# Documents MUST be answered in the order of the first sort that tells them apart, and documents that
    //# none tells apart in the order of their keys (V-3.8).
    /// Puts the place of a document into `out`.
    pub(super) fn place(&self, key: KeyRef<'_>, document: RawDocument<'_>, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        self.sorts.iter().try_for_each(|sort| sort.put(Some(key), document, out))?;
        put_key(key, out);
        Ok(())
    }
}

/// Appends what ends the place of a document.
pub(super) fn put_key(key: KeyRef<'_>, out: &mut Vec<u8>) {
    let before = out.len();
    order_key::encode_key(key, out);
    let len = u16::try_from(out.len() - before).expect("a key has 1,024 bytes at most");
    out.extend_from_slice(&len.to_le_bytes());
}

impl CheckedSort {
    /// Appends what the sort gives of a document.
    pub(super) fn put(
        &self,
        key: Option<KeyRef<'_>>,
        document: RawDocument<'_>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let before = out.len();
        self.expression.give(key, document, &mut |value| {
            value.encode_order_key(out);
            Ok(())
        })?;
        if out.len() == before && seeded::is_on(Bug::NothingIsNull) {
            order_key::encode(&Value::Null, out);
        } else if out.len() == before {
            out.push(if self.nothing_last { NOTHING_LAST } else { NOTHING_FIRST });
        } else if self.descending {
            // No order key is the beginning of another, so they compare the other way round then.
            let kept = if seeded::is_on(Bug::DescendingByLength) { 2.min(out.len() - before) } else { 0 };
            let end = out.len() - kept;
            out[before..end].iter_mut().for_each(|byte| *byte = !*byte);
        }
        Ok(())
    }

    /// Whether what has no value comes last.
    pub(super) fn nothing_last(&self) -> bool {
        self.nothing_last
    }

    pub(super) fn identity(&self) -> String {
        format!("{} {} {}", self.expression.identity(), self.descending, self.nothing_last)
    }
}

/// The key of the document whose place this is; `None` for bytes that are no place.
pub(super) fn key_of(place: &[u8]) -> Option<Key> {
    let (front, len) = place.split_last_chunk()?;
    let start = front.len().checked_sub(usize::from(u16::from_le_bytes(*len)))?;
    let (key, len) = order_key::decode_key(&front[start..]).ok()?;
    (start + len == front.len()).then_some(key)
}

/// What the sorts gave of the document whose place this is.
pub(super) fn sorts_of(place: &[u8]) -> Option<&[u8]> {
    let (front, len) = place.split_last_chunk()?;
    front.get(..front.len().checked_sub(usize::from(u16::from_le_bytes(*len)))?)
}

/// Whether the first sort gave nothing of the document whose place this is.
pub(super) fn has_nothing(place: &[u8]) -> bool {
    matches!(place.first(), Some(&(NOTHING_FIRST | NOTHING_LAST)))
}
