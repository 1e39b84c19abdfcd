//! Indexes of the engine as the model's drivers see them.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use holotype::{Collection, Db, DocRef, Error, IndexDefinition, IndexEntry};
use holotype_model::index::{DefinitionText, PathText, Place, Shown, Tuple, TupleRange};
use holotype_model::{Document, DumpedIndex, Op, Outcome};

use crate::adapter;
use crate::convert;

/// A read through an index, and what it is to answer.
pub(crate) struct IndexRead<'a> {
    pub(crate) index: &'a str,
    pub(crate) range: &'a TupleRange,
    pub(crate) after: Option<&'a Place>,
    pub(crate) reverse: bool,
    pub(crate) limit: usize,
    pub(crate) asked: Asked,
}

/// What a read through an index is to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Entries,
    Documents,
    Count,
}

/// Both ends of a range of tuples.
pub(crate) type Ends = (Bound<Vec<Option<holotype::Value>>>, Bound<Vec<Option<holotype::Value>>>);

impl<'a> IndexRead<'a> {
    /// The read that `op` is, if it is one.
    pub(crate) fn of(op: &'a Op) -> Option<Self> {
        let (asked, after, reverse, limit) = match op {
            Op::IndexScan { after, reverse, limit, .. } => (Asked::Entries, after.as_ref(), *reverse, *limit),
            Op::IndexDocuments { after, reverse, limit, .. } => {
                (Asked::Documents, after.as_ref(), *reverse, *limit)
            }
            Op::IndexCount { .. } => (Asked::Count, None, false, None),
            _ => return None,
        };
        let (Op::IndexScan { index, range, .. }
        | Op::IndexDocuments { index, range, .. }
        | Op::IndexCount { index, range, .. }) = op
        else {
            return None;
        };
        Some(IndexRead { index, range, after, reverse, limit: limit.unwrap_or(usize::MAX), asked })
    }

    /// The ends of the range.
    pub(crate) fn ends(&self) -> Ends {
        match self.range {
            TupleRange::Between { from, to } => (from.as_ref().map(values), to.as_ref().map(values)),
            TupleRange::Prefix { .. } => unreachable!("a prefix is asked for as such"),
        }
    }

    /// The values of a `get`: both ends are the same, and included.
    pub(crate) fn values_of_get(&self) -> Option<Vec<Option<holotype::Value>>> {
        match self.range {
            TupleRange::Between { from: Bound::Included(from), to: Bound::Included(to) } if from == to => {
                Some(values(from))
            }
            _ => None,
        }
    }
}

/// The scan of a read. Each kind of collection has its own type of scan, and they are alike.
macro_rules! scan {
    ($index:expr, $read:expr) => {{
        let (index, read) = (&$index, $read);
        let scan = match (read.range, read.values_of_get()) {
            (holotype_model::index::TupleRange::Prefix { values, text }, _) => {
                index.prefix($crate::indexes::values(values), text)?
            }
            (_, Some(values)) => index.get(values)?,
            (_, None) => index.range(read.ends())?,
        };
        let scan = if read.reverse { scan.reversed() } else { scan };
        match read.after {
            Some(place) => {
                let definition = $crate::convert::model_definition(&index.definition()?);
                scan.after(&place.bytes(&definition))?
            }
            None => scan,
        }
    }};
}
pub(crate) use scan;

/// Answers a read through an index of `collection`.
macro_rules! answer {
    ($collection:expr, $read:expr) => {{
        let read: &$crate::indexes::IndexRead<'_> = $read;
        let index = $collection.index(read.index);
        match read.asked {
            $crate::indexes::Asked::Count
                if matches!(read.range, holotype_model::index::TupleRange::Between { .. }) =>
            {
                Ok(holotype_model::Outcome::Count(index.count(read.ends())?))
            }
            $crate::indexes::Asked::Count => {
                let entries = $crate::indexes::entries($crate::indexes::scan!(index, read), usize::MAX)?;
                Ok(holotype_model::Outcome::Count(entries.len() as u64))
            }
            $crate::indexes::Asked::Entries => {
                let entries = $crate::indexes::entries($crate::indexes::scan!(index, read), read.limit)?;
                Ok(holotype_model::Outcome::IndexEntries(entries))
            }
            $crate::indexes::Asked::Documents => {
                let entries = $crate::indexes::entries($crate::indexes::scan!(index, read), read.limit)?;
                let documents = $crate::indexes::scan!(index, read).documents();
                $crate::indexes::with_documents(entries, documents, read.limit)
            }
        }
    }};
}
pub(crate) use answer;

/// The entries of a scan.
pub(crate) fn entries(
    scan: impl Iterator<Item = holotype::Result<IndexEntry>>,
    limit: usize,
) -> holotype::Result<Vec<Shown>> {
    scan.take(limit).map(|entry| Ok(shown(&entry?))).collect()
}

/// Entries with the documents that another scan gives for them.
pub(crate) fn with_documents(
    entries: Vec<Shown>,
    documents: impl Iterator<Item = holotype::Result<DocRef>>,
    limit: usize,
) -> holotype::Result<Outcome> {
    let mut found: Vec<(holotype_model::Key, Document)> = Vec::new();
    for document in documents.take(limit) {
        let document = document?;
        found.push((convert::model_key(&document.key().to_key()), adapter::decoded(&document)?));
    }
    let keys =
        |of: &[(holotype_model::Key, Document)]| of.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
    if !keys(&found).iter().eq(entries.iter().map(|entry| &entry.key)) {
        // What no model answers.
        return Ok(Outcome::Keys(keys(&found)));
    }
    let documents = found.into_iter().map(|(_, document)| document);
    Ok(Outcome::IndexDocuments(entries.into_iter().zip(documents).collect()))
}

fn shown(entry: &IndexEntry) -> Shown {
    let tuple: Tuple = entry.values().iter().map(|value| value.as_ref().map(convert::model_value)).collect();
    Shown { tuple: (!entry.is_long()).then_some(tuple), key: convert::model_key(entry.key()) }
}

/// The store's form of the values of an end.
pub(crate) fn values(tuple: &Tuple) -> Vec<Option<holotype::Value>> {
    tuple.iter().map(|value| value.as_ref().map(convert::value)).collect()
}

/// All that the indexes of a store show.
pub(crate) fn contents(db: &Db) -> holotype::Result<BTreeMap<(String, String), DumpedIndex>> {
    let mut all = BTreeMap::new();
    for name in db.collections() {
        let collection = db.collection(name.as_str());
        for stored in collection.indexes()? {
            let entries = entries(collection.index(stored.name()).range(..)?, usize::MAX)?;
            let (index, definition) = convert::named_definition(&stored);
            all.insert((name.clone(), index), DumpedIndex { definition, entries });
        }
    }
    Ok(all)
}

/// Carries out a change of an index.
pub(crate) fn change(collection: &Collection, op: &Op) -> holotype::Result<Outcome> {
    Ok(Outcome::Bool(match op {
        Op::CreateIndex { index, definition, .. } => {
            collection.create_index(stored_definition(index, definition)?)?
        }
        Op::ReplaceIndex { index, definition, .. } => {
            collection.replace_index(stored_definition(index, definition)?)?
        }
        Op::DropIndex { index, .. } => collection.drop_index(index)?,
        Op::RenameIndex { index, to, .. } => collection.rename_index(index, to)?,
        op => unreachable!("{op:?} changes no index"),
    }))
}

/// Creates or replaces an index, and calls `told` while it is built; a break ends that.
pub(crate) fn build(
    db: &Db,
    op: &Op,
    mut told: impl FnMut() -> ControlFlow<()>,
) -> holotype::Result<Outcome> {
    let (Op::CreateIndex { collection, index, definition, durability }
    | Op::ReplaceIndex { collection, index, definition, durability }) = op
    else {
        unreachable!("{op} builds no index")
    };
    let collection = db.collection(collection.as_str()).with_durability(convert::durability(*durability));
    let definition = stored_definition(index, definition)?;
    let replace = matches!(op, Op::ReplaceIndex { .. });
    Ok(Outcome::Bool(collection.create_index_with(definition, replace, |_| told())?))
}

/// The store's form of a definition. A text that is no path, or no filter, makes it one that is refused.
fn stored_definition(name: &str, text: &DefinitionText) -> holotype::Result<IndexDefinition> {
    let path = |PathText { path, descending }: &PathText| {
        if *descending { format!("-{path}") } else { path.clone() }
    };
    let definition = IndexDefinition::new(name, text.paths.iter().map(path));
    let definition = definition.and_then(|definition| match &text.filter {
        Some(filter) => definition.filtered(filter),
        None => Ok(definition),
    });
    let definition = definition.map_err(|error| match error {
        Error::Query { what, .. } => Error::InvalidIndex { index: name.to_owned(), what: what.to_string() },
        error => error,
    })?;
    let definition = if text.unique { definition.unique() } else { definition };
    Ok(if text.sparse { definition.sparse() } else { definition })
}
