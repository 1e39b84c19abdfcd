//! From the bytes of an entry to what they say. spec: I-7.2.

use super::definition::{IndexDefinition, IndexPath};
use super::limits::EntryLimits;
use crate::document::order_key::{self, Cursor, Marks, Stop};
use crate::document::{DEPTH_MAX, Key, Value};
use crate::query::function::Function;

/// What bytes say, or what is wrong with them.
type Parsed<T> = Result<T, &'static str>;

/// What stands for a component without a value.
pub(super) const NOTHING: u8 = 0x00;

/// The value of each path, or nothing.
pub(crate) type Tuple = Vec<Option<Value>>;

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParsedEntry {
    /// The tuple, with `None` for nothing; no tuple where it is long.
    pub(crate) tuple: Option<Tuple>,
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

impl Outline {
    /// The key of the document that the entry is of, which is so outlined, and its order key.
    ///
    /// # Errors
    /// What is wrong with the bytes of the key.
    #[inline(always)]
    pub(crate) fn key_of<'e>(&self, entry: &'e [u8]) -> Parsed<(Key, &'e [u8])> {
        let behind = &entry[self.tuple_len..];
        let mut cursor = Cursor::new(behind);
        let key = order_key::take_key(&mut cursor).map_err(Stop::what)?;
        key.as_ref().check_len().map_err(|_| "a key that is too long")?;
        Ok((key, &behind[..cursor.position()]))
    }

    /// Makes `to` that key. An int is put there at once, as a [value](order_key::decode_value) is.
    ///
    /// # Errors
    /// As [`key_of`](Self::key_of).
    #[inline(always)]
    pub(crate) fn read_key(&self, entry: &[u8], to: &mut Key) -> Parsed<()> {
        match order_key::near_int(&entry[self.tuple_len..]) {
            Some((int, _)) => *to = Key::Int(int),
            None => *to = self.key_of(entry)?.0,
        }
        Ok(())
    }

    /// Whether a number of the entry, which is so outlined, has a mark. Looks at nothing but where the key ends.
    ///
    /// # Errors
    /// What is wrong with the bytes that it looks at.
    #[inline]
    pub(crate) fn has_marks(&self, entry: &[u8]) -> Parsed<bool> {
        let behind = &entry[self.tuple_len..];
        let mut cursor = Cursor::new(behind);
        order_key::skip_value(&mut cursor, 0).map_err(Stop::what)?;
        Ok(cursor.position() < behind.len())
    }
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
        let mut tuple = Vec::with_capacity(self.paths.len());
        // The marks stand at the end of an entry, and most have none: so the values are read without marks first.
        let outline = self.read(entry, limits, (0, 0), &[], |_| true, &mut tuple)?;
        let Outline { tuple_len, is_long, .. } = outline;
        let (key, encoded) = outline.key_of(entry)?;
        if encoded.len() > limits.key {
            return Err("a key that is too long for an index of this store");
        }
        match &entry[tuple_len + encoded.len()..] {
            [] => {}
            _ if is_long => return Err("marks of a long tuple"),
            [.., 0] => return Err("a zero that ends the marks"),
            marks => _ = self.read(entry, limits, (0, 0), marks, |_| true, &mut tuple)?,
        }
        if self.sparse && !is_long && tuple.iter().all(Option::is_none) {
            return Err("a tuple of nothing in a sparse index");
        }
        Ok(ParsedEntry { tuple: (!is_long).then_some(tuple), key, tuple_len })
    }

    /// The key of the document that the entry is of, and its order key.
    ///
    /// # Errors
    /// What is wrong with the bytes that it looks at.
    #[inline]
    pub(crate) fn key_of<'e>(&self, entry: &'e [u8], limits: EntryLimits) -> Parsed<(Key, &'e [u8])> {
        self.outline(entry, limits)?.key_of(entry)
    }

    /// Where the first `count` components of the entry's tuple end; `None` where they are cut.
    ///
    /// # Errors
    /// What is wrong with the bytes that it looks at.
    pub(crate) fn end_of(&self, count: usize, entry: &[u8], limits: EntryLimits) -> Parsed<Option<usize>> {
        let outline = self.go_through(count, entry, limits, (0, 0), |_, path, cursor| skip(path, cursor))?;
        Ok((!outline.is_long).then_some(outline.tuple_len))
    }

    /// Where the entry's tuple ends. Looks at nothing that this does not take.
    ///
    /// # Errors
    /// What is wrong with the bytes that it looks at.
    #[inline]
    pub(crate) fn outline(&self, entry: &[u8], limits: EntryLimits) -> Parsed<Outline> {
        self.go_through(self.paths.len(), entry, limits, (0, 0), |_, path, cursor| skip(path, cursor))
    }

    /// Makes `tuple` the components of the entry that are wanted, whose numbers have these marks, with nothing in the place of the others. Those
    /// that are [known](Self::go_through) are not wanted.
    ///
    /// # Errors
    /// What is wrong with the bytes that it looks at.
    #[inline]
    pub(crate) fn read(
        &self,
        entry: &[u8],
        limits: EntryLimits,
        known: (usize, usize),
        marks: &[u8],
        is_wanted: impl Fn(usize) -> bool,
        tuple: &mut Tuple,
    ) -> Parsed<Outline> {
        tuple.clear();
        tuple.resize_with(self.paths.len(), || None);
        let mut left = Marks::new(marks);
        let outline = self.go_through(self.paths.len(), entry, limits, known, |at, path, cursor| {
            if !is_wanted(at) {
                return skip(path, cursor);
            }
            let to = &mut tuple[at];
            order_key::decode_value(cursor, levels(path), &mut left, to)?;
            match to.as_ref().is_some_and(|value| gives(path.function, value)) {
                true => Ok(()),
                false => Err(Stop::Malformed("a value that the function of its path does not give")),
            }
        })?;
        if left.left() > 0 { Err("more marks than numbers") } else { Ok(outline) }
    }

    /// Goes through the first `count` components of the entry's tuple, or as far as it is not cut: `each` takes one that is not nothing, of
    /// this number and path. `known` is how many of them were gone through before, and how many bytes these take: they are passed over.
    #[inline]
    fn go_through(
        &self,
        count: usize,
        entry: &[u8],
        limits: EntryLimits,
        known: (usize, usize),
        mut each: impl FnMut(usize, &IndexPath, &mut Cursor<'_>) -> Result<(), Stop>,
    ) -> Parsed<Outline> {
        let (first, start) = known;
        let mut cursor = Cursor::new(&entry[..entry.len().min(limits.tuple)]);
        cursor.pass(start);
        let mut has_nothing = false;
        let read = self.paths.iter().enumerate().take(count).skip(first).try_for_each(|(at, path)| {
            cursor.invert(path.descending);
            if cursor.peek()? == NOTHING {
                has_nothing = true;
                return cursor.byte().map(|_| ());
            }
            each(at, path, &mut cursor)
        });
        match read {
            Ok(()) => Ok(Outline { tuple_len: cursor.position(), is_long: false, has_nothing }),
            // spec: I-7.1
            Err(Stop::Ends) if entry.len() >= limits.tuple => {
                Ok(Outline { tuple_len: limits.tuple, is_long: true, has_nothing })
            }
            Err(Stop::Ends) => Err("the entry ends within its tuple"),
            Err(Stop::Malformed(what)) => Err(what),
        }
    }
}

fn skip(path: &IndexPath, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
    order_key::skip_value(cursor, levels(path))
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
