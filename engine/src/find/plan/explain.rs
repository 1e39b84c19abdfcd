//! What is told of a plan.

use std::fmt;

use super::route::{ByEntries, InOrder, IndexEnd, Part, Route};
use crate::find::keys::KeysWanted;
use crate::indexed::IndexStats;

/// How a query is answered: by [`Query::explain`](crate::Query::explain) before it is, and by [`Query::analyze`](crate::Query::analyze)
/// with what came of it. Printed, it is a few lines of text; later versions may print others.
///
/// ```
/// use holotype::{Db, IndexDefinition, PlanAccess, doc};
///
/// let birds = Db::in_memory().collection("birds");
/// birds.insert_many((0..1000).map(|n| doc! { "year": 1000 + n }))?;
/// birds.create_index(IndexDefinition::new("by_year", ["$.year"])?)?;
/// let asked = birds.find("@.year >= 1995");
/// let plan = asked.clone().explain()?;
/// assert!(matches!(&plan.access, PlanAccess::Indexes(parts) if parts[0].index == "by_year" && parts[0].entries == 5));
/// let done = asked.analyze()?.actual.expect("it was run");
/// assert_eq!((done.entries, done.documents, done.answers), (5, 5, 5));
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryPlan {
    /// What is read.
    pub access: PlanAccess,
    /// What the answers are made of.
    pub reads: PlanReads,
    /// How the answers come into their order.
    pub order: PlanOrder,
    /// What a walk over the keys would go through; `None` where nothing was compared with it.
    pub keys: Option<u64>,
    /// What was read, where the query was run.
    pub actual: Option<PlanActual>,
}

/// What a query reads.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanAccess {
    /// The documents of all keys that the filter can admit.
    Scan,
    /// So many documents, whose keys the filter names.
    Keys(u64),
    /// The documents of ranges of indexes: of one, or of several for the sides of an `||`.
    Indexes(Vec<PlanIndex>),
}

/// What answers are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanReads {
    /// Of documents.
    Documents,
    /// Of entries, which have all that is asked for.
    Entries,
    /// Of some entries of each value, among which and behind which the next value is searched for.
    Values,
    /// Of the first entries of an index, or the last.
    Ends,
}

/// How answers come into their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanOrder {
    /// In the order of keys, or in the reverse.
    Keys,
    /// By a sort.
    Sort,
    /// As the index has them.
    Index,
    /// In any order.
    Any,
}

/// What is read of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanIndex {
    /// Its name.
    pub index: String,
    /// Its filter, if it is partial. The query asks for that.
    pub filter: Option<String>,
    /// How many ranges of it.
    pub ranges: usize,
    /// How many entries these have, or are to be read of them.
    pub entries: u64,
    /// Whether they were counted. If not, there may be more.
    pub is_counted: bool,
    /// Whether the filter admits the documents of all these entries, so that a count needs no document.
    pub is_exact: bool,
}

/// What a query read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanActual {
    /// Entries of indexes.
    pub entries: u64,
    /// Documents that were looked at.
    pub documents: u64,
    /// Documents that were answered.
    pub answers: u64,
}

impl QueryPlan {
    /// `order` is how answers come into their order where no index has it.
    pub(super) fn of<I: IndexStats>(
        route: &Route<I>,
        wanted: &KeysWanted,
        order: PlanOrder,
        keys: Option<u64>,
    ) -> Self {
        let (access, reads, order) = match route {
            Route::Keys => (PlanAccess::of_keys(wanted), PlanReads::Documents, order),
            Route::Ranges(parts) => {
                let covers = order != PlanOrder::Sort && matches!(parts.as_slice(), [part] if part.covers);
                (PlanAccess::Indexes(parts.iter().map(told).collect()), reads(covers), order)
            }
            Route::Order(InOrder { part, .. }) => {
                (PlanAccess::Indexes(vec![told(part)]), reads(part.covers), PlanOrder::Index)
            }
        };
        QueryPlan { access, reads, order, keys, actual: None }
    }

    pub(super) fn of_entries<I: IndexStats>(way: &ByEntries<I>) -> Self {
        let access = PlanAccess::Indexes(vec![told(&way.part)]);
        let reads = if way.is_loose { PlanReads::Values } else { PlanReads::Entries };
        QueryPlan { access, reads, order: PlanOrder::Index, keys: None, actual: None }
    }

    pub(super) fn of_ends<I: IndexStats>(ends: &[IndexEnd<I>]) -> Self {
        let parts = ends.iter().map(|end| PlanIndex {
            index: end.index.definition().name().to_owned(),
            filter: None,
            ranges: 1,
            entries: 1,
            is_counted: false,
            is_exact: true,
        });
        let access = PlanAccess::Indexes(parts.collect());
        QueryPlan { access, reads: PlanReads::Ends, order: PlanOrder::Any, keys: None, actual: None }
    }
}

impl PlanAccess {
    fn of_keys(wanted: &KeysWanted) -> Self {
        match wanted {
            KeysWanted::These(keys) => PlanAccess::Keys(keys.len() as u64),
            KeysWanted::Range(_) => PlanAccess::Scan,
        }
    }
}

fn reads(covers: bool) -> PlanReads {
    if covers { PlanReads::Entries } else { PlanReads::Documents }
}

fn told<I: IndexStats>(part: &Part<I>) -> PlanIndex {
    let definition = part.index.definition();
    PlanIndex {
        index: definition.name().to_owned(),
        filter: definition.filter().map(ToString::to_string),
        ranges: part.ranges.len(),
        entries: part.entries,
        is_counted: part.is_counted,
        is_exact: part.is_exact,
    }
}

impl fmt::Display for QueryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.access {
            PlanAccess::Scan => f.write_str("scan: every document whose key the filter can admit")?,
            PlanAccess::Keys(count) => {
                write!(f, "keys: the documents of {count} keys that the filter names")?;
            }
            PlanAccess::Indexes(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    let separator = if at == 0 { "" } else { "\n" };
                    let ranges = if part.ranges == 1 { "range" } else { "ranges" };
                    let about = if part.is_counted { "" } else { "about " };
                    write!(f, "{separator}index {:?}", part.index)?;
                    if let Some(filter) = &part.filter {
                        write!(f, " of what {filter}")?;
                    }
                    write!(f, ": {} {ranges}, ", part.ranges)?;
                    write!(f, "{about}{} entries", part.entries)?;
                    if !part.is_exact {
                        f.write_str("; the filter is asked of each document")?;
                    }
                }
            }
        }
        f.write_str(match self.reads {
            PlanReads::Documents => "",
            PlanReads::Entries => "\nanswered from entries: they have all that is asked for",
            PlanReads::Values => "\nanswered from entries: from one value to the next",
            PlanReads::Ends => "\nanswered from entries: the first or the last",
        })?;
        let order = match self.order {
            PlanOrder::Keys => "that of the keys",
            PlanOrder::Sort => "by a sort",
            PlanOrder::Index => "as the index has it",
            PlanOrder::Any => "any",
        };
        write!(f, "\norder: {order}")?;
        if let Some(keys) = self.keys {
            write!(f, "\na scan would look at: {keys} documents")?;
        }
        if let Some(PlanActual { entries, documents, answers }) = self.actual {
            write!(f, "\nread: {entries} entries, {documents} documents; answered: {answers}")?;
        }
        Ok(())
    }
}
