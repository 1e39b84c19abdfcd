//! From the bytes of an entry to what they say. spec: I-7.2.

use super::definition::{IndexDefinition, IndexPath};
use super::entries::NOTHING;
use super::limits::EntryLimits;
use crate::document::order_key::{self, Cursor, Marks, Stop};
use crate::document::{DEPTH_MAX, Key, Value};
use crate::error::Error;
use crate::query::function::Function;

/// What bytes say, or what is wrong with them.
type Parsed<T> = Result<T, &'static str>;

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParsedEntry {
    /// The tuple, with `None` for nothing; no tuple where it is long.
    pub(crate) tuple: Option<Vec<Option<Value>>>,
    /// The key of the document.
    pub(crate) key: Key,
    /// How many bytes of the entry are those of the tuple.
    pub(crate) tuple_len: usize,
}

/// Where the tuple of an entry ends, and what that takes to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outline {
    /// How many bytes of the entry are those of the tuple.
    pub(crate) tuple_len: usize,
    /// Whether these are not all bytes of the tuple.
    pub(crate) is_long: bool,
    /// Whether a component is nothing: one of those that are there, where the tuple is long.
    pub(crate) has_nothing: bool,
}

impl IndexDefinition {
    //= spec/index.md#i-7-2-entries-from-bytes
    //# A reader MUST refuse bytes that are not those of an entry of the definition: a component that is no order key,
    //# a key that is none (E-5.6), a mark above 2, a mark of a number that it does not fit, more marks than numbers, a
    //# zero that ends them.
    //= spec/index.md#i-2-5-exactness
    //# An entry MUST give back the values of its tuple, equal to those of the document.
    /// What the entry says. Reads no bytes but those that [`entries`](Self::entries) writes.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub(crate) fn parse(&self, entry: &[u8], limits: EntryLimits) -> Parsed<ParsedEntry> {
        let Outline { tuple_len, is_long, .. } = self.outline(entry, limits)?;
        let (key, key_len) = order_key::decode_key(&entry[tuple_len..]).map_err(|error| match error {
            Error::Decode { what, .. } => what,
            _ => "a key that is too long",
        })?;
        if key_len > limits.key {
            return Err("a key that is too long for an index of this store");
        }
        let marks = &entry[tuple_len + key_len..];
        if marks.last() == Some(&0) {
            return Err("a zero that ends the marks");
        }
        let tuple = self.tuple(&entry[..tuple_len], marks);
        let tuple = match tuple {
            Ok(_) if is_long => return Err("a tuple that is cut and whole"),
            Ok(tuple) => Some(tuple),
            Err(Stop::Ends) if !is_long => return Err("a tuple that ends early"),
            Err(Stop::Ends) if !marks.is_empty() => return Err("marks of a long tuple"),
            Err(Stop::Ends) => None,
            Err(Stop::Malformed(what)) => return Err(what),
        };
        Ok(ParsedEntry { tuple, key, tuple_len })
    }

    /// The key of the document that the entry is of, and its order key.
    ///
    /// # Errors
    /// What is wrong with the bytes that it looks at.
    #[inline]
    pub(crate) fn key_of<'e>(&self, entry: &'e [u8], limits: EntryLimits) -> Parsed<(Key, &'e [u8])> {
        let Outline { tuple_len, .. } = self.outline(entry, limits)?;
        let behind = &entry[tuple_len..];
        let mut cursor = Cursor::new(behind);
        let key = order_key::take_key(&mut cursor).ok().filter(|key| key.as_ref().check_len().is_ok());
        Ok((key.ok_or("a key that is none")?, &behind[..cursor.position()]))
    }

    /// Where the first `count` components of the entry's tuple end; `None` where they are cut.
    ///
    /// # Errors
    /// What is wrong with the bytes that it looks at.
    pub(crate) fn end_of(&self, count: usize, entry: &[u8], limits: EntryLimits) -> Parsed<Option<usize>> {
        match self.skip(count, entry, limits).0 {
            Ok(end) => Ok(Some(end)),
            Err(Stop::Ends) => Ok(None),
            Err(Stop::Malformed(what)) => Err(what),
        }
    }

    /// Steps over the first `count` components of the entry's tuple, unless they are cut. Where they end, and whether one that was
    /// met is nothing.
    #[inline]
    fn skip(&self, count: usize, entry: &[u8], limits: EntryLimits) -> (Result<usize, Stop>, bool) {
        let mut cursor = Cursor::new(&entry[..entry.len().min(limits.tuple)]);
        let mut has_nothing = false;
        let skipped = self.paths.iter().take(count).try_for_each(|path| {
            cursor.invert(path.descending);
            if cursor.peek()? == NOTHING {
                has_nothing = true;
                return cursor.byte().map(|_| ());
            }
            order_key::skip_value(&mut cursor, levels(path))
        });
        (skipped.map(|()| cursor.position()), has_nothing)
    }

    /// Where the entry's tuple ends. Looks at nothing that this does not take.
    ///
    /// # Errors
    /// What is wrong with the bytes that it looks at.
    #[inline]
    pub(crate) fn outline(&self, entry: &[u8], limits: EntryLimits) -> Parsed<Outline> {
        let (end, has_nothing) = self.skip(self.paths.len(), entry, limits);
        match end {
            Ok(tuple_len) => Ok(Outline { tuple_len, is_long: false, has_nothing }),
            // spec: I-7.1
            Err(Stop::Ends) if entry.len() >= limits.tuple => {
                Ok(Outline { tuple_len: limits.tuple, is_long: true, has_nothing })
            }
            Err(Stop::Ends) => Err("the entry ends within its tuple"),
            Err(Stop::Malformed(what)) => Err(what),
        }
    }

    /// The values of a tuple.
    fn tuple(&self, bytes: &[u8], marks: &[u8]) -> Result<Vec<Option<Value>>, Stop> {
        let mut cursor = Cursor::new(bytes);
        let mut marks = Marks::new(marks);
        let mut tuple = Vec::with_capacity(self.paths.len());
        for path in &*self.paths {
            cursor.invert(path.descending);
            tuple.push(if cursor.peek()? == NOTHING {
                cursor.byte()?;
                None
            } else {
                let value = order_key::decode_value(&mut cursor, levels(path), &mut marks)?;
                if !gives(path.function, &value) {
                    return Err(Stop::Malformed("a value that the function of its path does not give"));
                }
                Some(value)
            });
        }
        if marks.left() > 0 {
            return Err(Stop::Malformed("more marks than numbers"));
        }
        if self.sparse && tuple.iter().all(Option::is_none) {
            return Err(Stop::Malformed("a tuple of nothing in a sparse index"));
        }
        Ok(tuple)
    }
}

/// Whether a path under this function gives values of such a type.
fn gives(function: Option<Function>, value: &Value) -> bool {
    match function {
        None => true,
        Some(Function::Fold | Function::Lower) => matches!(value, Value::Text(_)),
        Some(_) => matches!(value, Value::Int(_)),
    }
}

/// How many levels of arrays and objects there can be in the value that a path selects. spec: V-4.3.
fn levels(path: &IndexPath) -> usize {
    DEPTH_MAX.saturating_sub(path.path.segments().len())
}
