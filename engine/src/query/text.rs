//! Texts whose characters are mapped as they are read, so that comparing them allocates nothing. spec.

use std::cell::Cell;

use super::folding::fold;

/// What becomes of each character of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mapping {
    None,
    /// ASCII letters in lower case.
    Lower,
    /// Simple case folding.
    Fold,
}

thread_local! {
    /// What the last mapped text was written into, kept so that a steady run allocates nothing.
    static SCRATCH: Cell<String> = const { Cell::new(String::new()) };
}

/// A buffer beyond this is given back after use, in bytes.
const SCRATCH_BYTES: usize = 64 << 10;

impl Mapping {
    /// This mapping, and then another.
    pub(super) fn then(self, next: Mapping) -> Mapping {
        match (self, next) {
            (Mapping::None, other) | (other, Mapping::None) => other,
            (Mapping::Lower, Mapping::Lower) => Mapping::Lower,
            // Folding leaves no ASCII letter in upper case, and folds one of either case alike.
            _ => Mapping::Fold,
        }
    }

    #[inline]
    fn map(self, c: char) -> char {
        match self {
            Mapping::None => c,
            Mapping::Lower => c.to_ascii_lowercase(),
            Mapping::Fold => fold(c),
        }
    }

    pub(super) fn chars(self, text: &str) -> impl Iterator<Item = char> {
        text.chars().map(move |c| self.map(c))
    }

    /// Lends `text` as it reads once mapped.
    pub(super) fn read<R>(self, text: &str, reader: impl FnOnce(&str) -> R) -> R {
        if self == Mapping::None {
            return reader(text);
        }
        let mut mapped = SCRATCH.take();
        mapped.clear();
        mapped.extend(self.chars(text));
        let result = reader(&mapped);
        mapped.shrink_to(SCRATCH_BYTES);
        SCRATCH.set(mapped);
        result
    }
}
