//! What an operation needs of the value that it changes: decoded or encoded, the rules above it are the same.

use crate::document::node::Node;
use crate::document::pointer;
use crate::document::{JsonPointer, Kind, PathFault, Value};
use crate::error::Result;
use crate::query::Step;

/// The way to a place, written as RFC 9535 writes a normalized path (2.7). Each step fits the value that it starts from: a name in an object, an index in an array. The values
/// around it exist; what is there may be nothing.
pub(super) type NormalizedPath = Vec<Step>;

/// A value that is being changed.
pub(super) trait Tree {
    /// A value within it.
    type Node<'a>: Node<'a> + Copy
    where
        Self: 'a;
    /// A value outside of it, to be put in.
    type Part;
    /// Where a value within it stands, until something is changed.
    type At;

    /// The whole value.
    fn root(&self) -> Self::Node<'_>;
    /// Where the value at `node` stands, which `place` leads to.
    fn at(node: Self::Node<'_>, place: impl FnOnce() -> NormalizedPath) -> Self::At;
    /// A copy of the value at `node`.
    fn copy(node: Self::Node<'_>) -> Result<Self::Part>;
    /// `value`, to be put in.
    fn part(value: &Value) -> Result<Self::Part>;
    /// The value at `node`, decoded.
    fn decode(node: Self::Node<'_>) -> Result<Value>;

    /// The items of the array at `node`; none of any other value.
    fn items<'n>(node: Self::Node<'n>) -> impl Iterator<Item = Self::Node<'n>>
    where
        Self: 'n;

    /// Puts `part`, of as many levels as the place leaves, in the place of the whole value, a field that may be there or not, or an item that is there.
    fn put(&mut self, place: &[Step], part: Self::Part) -> Result<()>;
    /// Puts `value` in the place of the value that stands there, with so many levels around it.
    fn replace(&mut self, at: Self::At, levels_around: usize, value: &Value) -> Result<()>;
    /// Inserts `part` as an item before the index that ends `place`, which is the array's length at most.
    fn insert(&mut self, place: &[Step], part: Self::Part) -> Result<()>;
    /// Takes out the field or item at `place`, which is there.
    fn remove(&mut self, place: &[Step]) -> Result<Self::Part>;
    /// Of the items of the array at `array`, keeps those for which `keep` is true.
    fn retain(&mut self, array: &[Step], keep: &[bool]) -> Result<()>;
    /// Whether the value is within the limit of a document's length.
    fn check_len(&self) -> Result<()>;
}

/// The value at `place`, if one is there.
#[inline(always)]
pub(super) fn find<'v, N: Node<'v>>(root: N, place: &[Step]) -> Option<N> {
    let mut node = root;
    for step in place {
        node = match step {
            Step::Name(name) => node.member(name)?,
            Step::Index(index) => node.item(*index)?,
        };
    }
    Some(node)
}

/// The place that a pointer leads to, where a value is; or the number of the token that leads nowhere.
pub(super) fn resolve<'v, N: Node<'v>>(
    root: N,
    pointer: &JsonPointer,
) -> Result<(NormalizedPath, N), (usize, PathFault)> {
    let mut place = NormalizedPath::with_capacity(pointer.tokens().len() + 1);
    let mut node = root;
    for (at, token) in pointer.tokens().enumerate() {
        let next = pointer::step(&node, token).map_err(|fault| (at, fault))?;
        place.push(match node.kind() {
            Kind::Array => Step::Index(pointer::index(token).expect("the step found an item by it")),
            _ => Step::Name(token.into()),
        });
        node = next;
    }
    Ok((place, node))
}
