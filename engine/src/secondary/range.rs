//! What the entries of a range begin with. spec: I-6.1.

use super::definition::{IndexDefinition, invalid};
use super::entries::{invert_if, put_component};
use super::limits::EntryLimits;
use crate::document::{Value, order_key};
use crate::error::Result;
use crate::seeded::{self, Bug};

/// Most beginnings have no more bytes.
const LIKELY_LEN: usize = 32;

/// The bytes with which entries begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Beginning {
    /// All entries of tuples that begin as asked begin with these.
    pub(crate) bytes: Vec<u8>,
    /// Whether what was asked is longer than the tuple limit. Then entries of other tuples can begin with these bytes too. All
    /// entries that do are of long tuples, and their documents tell (I-2.6).
    pub(crate) cut: bool,
}

impl IndexDefinition {
    /// What the entries begin with whose tuples begin with these values, where nothing is `None`, and then with a text that begins with
    /// `text`, if that is given.
    ///
    /// # Errors
    /// `InvalidIndex` for more values than paths, that text among them.
    pub(crate) fn beginning(
        &self,
        values: &[Option<Value>],
        text: Option<&str>,
        limits: EntryLimits,
    ) -> Result<Beginning> {
        let (given, paths) = (values.len() + usize::from(text.is_some()), self.paths.len());
        if given > paths {
            let what = format!("an end of a range has {given} values, and the index has {paths} paths");
            return Err(invalid(&self.name, what));
        }
        let mut bytes = Vec::with_capacity(LIKELY_LEN);
        let null = seeded::is_on(Bug::EndOfNothingIsNull).then_some(&Value::Null);
        for (path, value) in self.paths.iter().zip(values) {
            let value = value.as_ref().or(null);
            put_component(value.as_ref(), path.descending, limits.tuple, &mut bytes, &mut |_| ());
        }
        if let Some(text) = text {
            let start = bytes.len();
            order_key::begin_text(text, &mut bytes);
            invert_if(self.paths[values.len()].descending, &mut bytes[start..]);
        }
        let cut = bytes.len() > limits.tuple;
        bytes.truncate(limits.tuple);
        Ok(Beginning { bytes, cut })
    }
}
