//! JSON Pointer (RFC 6901): the way to one value within a document, as a text such as `/seen/0/where`.

mod fault;
mod find;
mod parse;
mod tokens;

use std::fmt;

pub use fault::PathFault;

use super::node::Node;
use super::{Kind, RawValue, Text, Value};
use crate::error::{Error, Result};

/// A way to one value: the names and indexes along it, the *tokens* of RFC 6901. Parsed, to be used often, changed, or to know why
/// it leads nowhere; [`Document::pointer`](crate::Document::pointer) and its like take the text.
///
/// ```
/// use holotype::{doc, document::JsonPointer};
///
/// let bird = doc! { "seen": [{ "where": "hedge" }], "a/b": 1 };
/// let pointer = JsonPointer::parse("/seen/0/where")?;
/// assert_eq!(pointer.resolve(&bird.clone().into())?.as_str(), Some("hedge"));
/// assert_eq!(bird.pointer("/seen/0/where").and_then(|place| place.as_str()), Some("hedge"));
/// assert_eq!(JsonPointer::from_tokens(["a/b"]).to_string(), "/a~1b");
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JsonPointer {
    tokens: Vec<Text>,
}

impl JsonPointer {
    /// The pointer to the whole value: the empty text.
    pub fn root() -> Self {
        Self::default()
    }

    /// The pointer along `tokens`, which are names and indexes as they are, without escapes.
    pub fn from_tokens<T: Into<Text>>(tokens: impl IntoIterator<Item = T>) -> Self {
        JsonPointer { tokens: tokens.into_iter().map(Into::into).collect() }
    }

    /// The names and indexes along the pointer, escapes resolved.
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator {
        self.tokens.iter().map(Text::as_str)
    }

    /// Whether this is the pointer to the whole value.
    pub fn is_root(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The pointer one step further.
    #[must_use]
    pub fn child(mut self, token: impl Into<Text>) -> Self {
        self.tokens.push(token.into());
        self
    }

    /// The pointer to the object or array around the value, and the last token; `None` for the root.
    pub fn split_last(&self) -> Option<(JsonPointer, &str)> {
        let (last, around) = self.tokens.split_last()?;
        Some((JsonPointer { tokens: around.to_vec() }, last))
    }

    /// Whether `other` leads to a value within the one that this leads to, or to the same.
    pub fn is_prefix_of(&self, other: &JsonPointer) -> bool {
        other.tokens.starts_with(&self.tokens)
    }

    /// The value that the pointer leads to in `root`.
    ///
    /// # Errors
    /// `NoSuchPlace` with the pointer up to the step that leads nowhere, and what was there.
    pub fn resolve<'a>(&self, root: &'a Value) -> Result<&'a Value> {
        self.walk(root)
    }

    /// As [`resolve`](Self::resolve), over a document's bytes: nothing is decoded, nothing allocated.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub fn resolve_raw<'a>(&self, root: RawValue<'a>) -> Result<RawValue<'a>> {
        self.walk(root)
    }

    fn walk<'v, N: Node<'v>>(&self, root: N) -> Result<N> {
        self.tokens
            .iter()
            .enumerate()
            .try_fold(root, |node, (at, token)| step(&node, token).map_err(|fault| self.astray(at, fault)))
    }

    //= spec/values.md#v-6-4-leading-nowhere
    //# A call that asks why a pointer leads nowhere MUST be answered with the pointer up to the step that
    //# fails, and with what that step met.
    /// The error of a pointer whose token number `at` leads nowhere.
    #[cold]
    fn astray(&self, at: usize, fault: PathFault) -> Error {
        let way = JsonPointer { tokens: self.tokens[..=at].to_vec() };
        Error::NoSuchPlace { path: way.to_string(), fault }
    }
}

//= spec/values.md#v-6-3-step
//# In an array, a token MUST lead nowhere unless it is the shortest decimal form of an index below the length.
/// The value that `token` leads to from `node`.
pub(crate) fn step<'v, N: Node<'v>>(node: &N, token: &str) -> Result<N, PathFault> {
    match node.kind() {
        Kind::Object => node.member(token).ok_or(PathFault::NoField),
        Kind::Array => {
            let index = index(token).ok_or(PathFault::NotAnIndex)?;
            node.item(index).ok_or_else(|| PathFault::BeyondEnd { len: node.count() })
        }
        found => Err(PathFault::Scalar { found }),
    }
}

/// The index that a token stands for: decimal digits, with no zero in front.
pub(crate) fn index(token: &str) -> Option<usize> {
    let is_shortest = token == "0"
        || matches!(token.as_bytes(), [b'1'..=b'9', rest @ ..] if rest.iter().all(u8::is_ascii_digit));
    is_shortest.then(|| token.parse().ok())?
}

/// As RFC 6901 writes it: `/` before each token, `~` as `~0` and `/` as `~1` within.
impl fmt::Display for JsonPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for token in &self.tokens {
            f.write_str("/")?;
            for part in token.split_inclusive(['~', '/']) {
                match part.split_at(part.len() - usize::from(part.ends_with(['~', '/']))) {
                    (plain, "~") => write!(f, "{plain}~0")?,
                    (plain, "/") => write!(f, "{plain}~1")?,
                    (plain, _) => f.write_str(plain)?,
                }
            }
        }
        Ok(())
    }
}
