//! What the text of a pointer leads to, asked of the value.

use super::step;
use super::tokens::Tokens;
use crate::document::node::Node;
use crate::document::{Document, RawDocument, RawValue, Value};

/// None for a text that is no pointer. Allocates for tokens with escapes alone.
fn find<'v, N: Node<'v>>(root: N, tokens: &mut Tokens<'_>) -> Option<N> {
    tokens.try_fold(root, |node, token| step(&node, &token.ok()?).ok())
}

impl Value {
    /// The value that a JSON Pointer (RFC 6901) such as `"/seen/0/where"` leads to within this one; `""` leads to the value itself.
    /// None where it leads nowhere, and for a text that is no pointer.
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        find(self, &mut Tokens::of(pointer))
    }
}

impl Document {
    /// The value that a JSON Pointer (RFC 6901) such as `"/seen/0/where"` leads to. None where it leads nowhere, and for a text that
    /// is no pointer. The whole document, to which `""` leads, is no [`Value`]: that is none as well.
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        let mut tokens = Tokens::of(pointer);
        let first = self.get(&tokens.next()?.ok()?)?;
        find(first, &mut tokens)
    }
}

impl<'a> RawDocument<'a> {
    /// The value that a JSON Pointer (RFC 6901) such as `"/seen/0/where"` leads to. None where it leads nowhere, and for a text that
    /// is no pointer. Only a pointer with `~` in it costs an allocation.
    pub fn pointer(&self, pointer: &str) -> Option<RawValue<'a>> {
        find(self.value()?, &mut Tokens::of(pointer))
    }
}

impl<'a> RawValue<'a> {
    /// As [`RawDocument::pointer`], from this value.
    pub fn pointer(&self, pointer: &str) -> Option<RawValue<'a>> {
        find(*self, &mut Tokens::of(pointer))
    }
}
