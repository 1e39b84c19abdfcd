//! Ranges of tuples (spec: I-6.1).

use std::ops::{self, Bound, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::document::Value;
use crate::secondary::Tuple;

/// The first values of a tuple: a value, a tuple of several such as `("Wren", 1859)`, `()` for none, or a list in which `None` is a path that
/// gives nothing.
pub trait TupleLike {
    /// The values, path by path; `None` is nothing.
    fn into_tuple(self) -> Vec<Option<Value>>;
}

impl TupleLike for () {
    fn into_tuple(self) -> Vec<Option<Value>> {
        Vec::new()
    }
}

impl TupleLike for Vec<Option<Value>> {
    fn into_tuple(self) -> Vec<Option<Value>> {
        self
    }
}

impl TupleLike for &[Option<Value>] {
    fn into_tuple(self) -> Vec<Option<Value>> {
        self.to_vec()
    }
}

macro_rules! of_one {
    ($($kind:ty),*) => {$(
        impl TupleLike for $kind {
            fn into_tuple(self) -> Vec<Option<Value>> {
                vec![Some(self.into())]
            }
        }
    )*};
}

of_one!(i64, i32, u32, f64, bool, &str, String, Value);

impl TupleLike for &Value {
    fn into_tuple(self) -> Vec<Option<Value>> {
        vec![Some(self.clone())]
    }
}

macro_rules! of_several {
    ($($name:ident),*) => {
        impl<$($name: Into<Value>),*> TupleLike for ($($name,)*) {
            #[expect(non_snake_case, reason = "each value is named as its type")]
            fn into_tuple(self) -> Vec<Option<Value>> {
                let ($($name,)*) = self;
                vec![$(Some($name.into())),*]
            }
        }
    };
}

of_several!(A, B);
of_several!(A, B, C);
of_several!(A, B, C, D);

/// One end of a range of tuples.
pub type TupleBound = Bound<Vec<Option<Value>>>;

/// A range of tuples: `..` for all, or a range of anything that is [`TupleLike`], such as `1850..1900` or `("Wren", 1)..=("Wren", 9)`.
pub trait TupleBounds {
    /// The two ends.
    fn into_bounds(self) -> (TupleBound, TupleBound);
}

impl TupleBounds for RangeFull {
    fn into_bounds(self) -> (TupleBound, TupleBound) {
        (Bound::Unbounded, Bound::Unbounded)
    }
}

impl<T: TupleLike> TupleBounds for (Bound<T>, Bound<T>) {
    fn into_bounds(self) -> (TupleBound, TupleBound) {
        (self.0.map(T::into_tuple), self.1.map(T::into_tuple))
    }
}

impl<T: TupleLike> TupleBounds for ops::Range<T> {
    fn into_bounds(self) -> (TupleBound, TupleBound) {
        (Bound::Included(self.start.into_tuple()), Bound::Excluded(self.end.into_tuple()))
    }
}

impl<T: TupleLike> TupleBounds for RangeInclusive<T> {
    fn into_bounds(self) -> (TupleBound, TupleBound) {
        let (start, end) = self.into_inner();
        (Bound::Included(start.into_tuple()), Bound::Included(end.into_tuple()))
    }
}

impl<T: TupleLike> TupleBounds for RangeFrom<T> {
    fn into_bounds(self) -> (TupleBound, TupleBound) {
        (Bound::Included(self.start.into_tuple()), Bound::Unbounded)
    }
}

impl<T: TupleLike> TupleBounds for RangeTo<T> {
    fn into_bounds(self) -> (TupleBound, TupleBound) {
        (Bound::Unbounded, Bound::Excluded(self.end.into_tuple()))
    }
}

impl<T: TupleLike> TupleBounds for RangeToInclusive<T> {
    fn into_bounds(self) -> (TupleBound, TupleBound) {
        (Bound::Unbounded, Bound::Included(self.end.into_tuple()))
    }
}

/// What a read asks for.
#[derive(Debug, Clone)]
pub(super) enum Range {
    /// Tuples that begin with these values, and go on with a text that begins so where one is given.
    Like(Tuple, Option<String>),
    Between(Bound<Tuple>, Bound<Tuple>),
}
