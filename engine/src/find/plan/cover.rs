//! Documents made of entries: they have what a query asks of them, where an index has all of that.

use super::asks::Asks;
use super::bounded::fan_out_of;
use crate::document::cbor::encode;
use crate::document::map::key_cmp;
use crate::document::{Document, Text, Value};
use crate::error::Result;
use crate::indexed::{IndexStats, broken};
use crate::query::{GivenValue, JsonPath, Segment, Selector};
use crate::secondary::{EntryLimits, IndexDefinition};
use crate::seeded::{self, Bug};

/// What makes a document of an entry.
#[derive(Debug)]
pub(in crate::find) struct Cover {
    definition: IndexDefinition,
    limits: EntryLimits,
    /// The names that lead to each component, which has a value of its own.
    names: Vec<(usize, Vec<Text>)>,
    /// Whether these are one name each, in name order.
    is_flat: bool,
}

/// Whether the entries of an index have all that a query of these parts asks of a document, its key apart: of paths of names, with one entry for each.
pub(super) fn covers(index: &impl IndexStats, asks: &Asks<'_>, parts: &[JsonPath]) -> bool {
    let cover = Cover::of(index.definition(), index.limits());
    let has = &mut |path: &[Segment]| cover.has(path);
    fan_out_of(index.definition()).is_none()
        && parts.iter().all(|path| path.reads_only(has))
        && asks.filter.is_none_or(|filter| filter.reads_only(has))
        && asks.sorts.iter().all(|sort| sort.expression.reads_only(has))
}

impl Cover {
    pub(in crate::find) fn of(definition: &IndexDefinition, limits: EntryLimits) -> Self {
        let all: Vec<_> = definition
            .components()
            .map(|((function, path), _)| names_of(path).filter(|_| function.is_none()))
            .collect();
        let is_within = |names: &Vec<Text>, other: &Option<Vec<Text>>| {
            other.as_ref().is_some_and(|other| other.len() < names.len() && names.starts_with(other))
        };
        let own = all.iter().enumerate().filter_map(|(at, names)| {
            let names = names.as_ref().filter(|names| !all.iter().any(|other| is_within(names, other)))?;
            Some((at, names.clone()))
        });
        let mut names: Vec<(usize, Vec<Text>)> = own.collect();
        let is_flat = names.iter().all(|(_, names)| names.len() == 1);
        if is_flat {
            names.sort_by(|(_, a), (_, b)| key_cmp(a[0].as_bytes(), b[0].as_bytes()));
        }
        Cover { definition: definition.clone(), limits, names, is_flat }
    }

    /// Whether the entries have what a path leads to.
    fn has(&self, path: &[Segment]) -> bool {
        self.names.iter().any(|(_, names)| {
            let front = path.get(..names.len()).and_then(names_of);
            front.as_ref() == Some(names)
        })
    }

    //= spec/query.md#q-10-1-plans
    //# What depends on the bytes of a long tuple (I-2.6) MUST be told by the documents.
    /// The encoded parts of the document that the entry has; `None` where its tuple is long.
    pub(in crate::find) fn document(&self, entry: &[u8]) -> Result<Option<Vec<u8>>> {
        let parsed = self.definition.parse(entry, self.limits).map_err(broken)?;
        let mut tuple = match parsed.tuple {
            Some(tuple) => tuple,
            None if seeded::is_on(Bug::CutTupleAnswers) => vec![None; self.definition.paths().len()],
            None => return Ok(None),
        };
        if self.is_flat {
            let fields = self.names.iter().filter_map(|(at, names)| Some((&names[0], tuple[*at].as_ref()?)));
            let mut out = Vec::with_capacity(entry.len() + 16);
            encode::head(&mut out, encode::OBJECT, fields.clone().count() as u64);
            for (name, value) in fields {
                encode::text(&mut out, name);
                GivenValue::of(value).encode(&mut out)?;
            }
            return Ok(Some(out));
        }
        let mut document = Document::new();
        for (at, names) in &self.names {
            if let Some(value) = tuple[*at].take() {
                put(&mut document, names, value);
            }
        }
        Ok(Some(document.encode()))
    }
}

/// The names of a path that has nothing else.
fn names_of(path: &[Segment]) -> Option<Vec<Text>> {
    path.iter()
        .map(|segment| match segment.singular() {
            Some(Selector::Name(name)) => Some(name.clone()),
            _ => None,
        })
        .collect()
}

/// Puts a value where the names lead to.
fn put(document: &mut Document, names: &[Text], value: Value) {
    match names {
        [] => {}
        [name] => _ = document.insert(name.clone(), value),
        [name, rest @ ..] => {
            if document.get(name).is_none() {
                document.insert(name.clone(), Document::new());
            }
            if let Some(Value::Object(inner)) = document.get_mut(name) {
                put(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doc;
    use crate::document::{KeyRef, RawDocument};
    use crate::secondary::EntryList;

    /// Names of many lengths, which come in another order than their components.
    #[test]
    fn a_document_of_an_entry_has_the_parts_that_its_document_has() {
        let flat = ["$.long", "-$.b", "$.zz", "$.a"];
        let nested = ["$.long.b", "-$.b", "$.zz.a", "$.long.a"];
        let documents = [
            doc! { "long": -0.0, "b": "x", "zz": [1, { "n": 2.0 }], "a": 1.0, "other": 5 },
            doc! { "b": Value::Null, "a": i64::MAX },
            doc! { "long": { "a": 3, "b": 1.0 }, "zz": { "a": "t" }, "b": -7 },
            doc! {},
        ];
        let limits = EntryLimits { tuple: 1_024, key: 64 };
        for (paths, is_flat) in [(flat, true), (nested, false)] {
            let definition = IndexDefinition::new("i", paths).expect("a definition");
            let cover = Cover::of(&definition, limits);
            assert_eq!(cover.is_flat, is_flat);
            for document in &documents {
                let (bytes, mut entries) = (document.encode(), EntryList::default());
                let raw = RawDocument::from_verified(&bytes);
                definition.entries(raw, KeyRef::Int(1), limits, &mut entries).expect("entries");
                let made = cover.document(entries.iter().next().expect("one")).expect("an entry");
                let mut expected = Document::new();
                for (at, names) in &cover.names {
                    let tuple = definition.tuples(raw).expect("tuples").remove(0);
                    if let Some(value) = &tuple[*at] {
                        put(&mut expected, names, value.clone());
                    }
                }
                assert_eq!(made, Some(expected.encode()), "{document} by {paths:?}");
            }
        }
    }
}
