//! What a pointer leads to, asked of the value.

use super::{JsonPointer, step};
use crate::document::{Document, RawDocument, RawValue, Value};

impl Value {
    /// The value that `pointer` leads to, if it leads to one.
    pub fn pointer(&self, pointer: &JsonPointer) -> Option<&Value> {
        pointer.find(self)
    }
}

impl Document {
    /// The value that `pointer` leads to, if it leads to one. To the whole document, which is no [`Value`], it leads to none.
    pub fn pointer(&self, pointer: &JsonPointer) -> Option<&Value> {
        let mut tokens = pointer.tokens();
        let first = self.get(tokens.next()?)?;
        tokens.try_fold(first, |value, token| step(&value, token).ok())
    }
}

impl<'a> RawDocument<'a> {
    /// The value that `pointer` leads to, if it leads to one.
    pub fn pointer(&self, pointer: &JsonPointer) -> Option<RawValue<'a>> {
        pointer.find(self.value()?)
    }
}

impl<'a> RawValue<'a> {
    /// The value that `pointer` leads to, if it leads to one.
    pub fn pointer(&self, pointer: &JsonPointer) -> Option<RawValue<'a>> {
        pointer.find(*self)
    }
}
