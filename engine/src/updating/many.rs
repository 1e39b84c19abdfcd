//! Many documents changed or deleted at once: all that a filter admits. spec: U-7.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::AddAssign;

use crate::collection::Collection;
use crate::core::{FoundDocument, WriteTxn, WriteTxnEntries, WriteTxnWalk};
use crate::document::{Key, KeyRef};
use crate::error::{Error, Result};
use crate::find::ranges_of_filter;
use crate::handle::{Handle, Writes};
use crate::index::{Documents, KeyRange, Target};
use crate::indexed::broken;
use crate::query::Filter;
use crate::seeded::{self, Bug};
use crate::sync::Arc;
use crate::update::Changes;

/// How many documents a call on many met and changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UpdateReport {
    /// Documents that the filter admitted.
    pub matched: u64,
    /// Those of them that are others now, or are gone.
    pub changed: u64,
}

impl AddAssign for UpdateReport {
    fn add_assign(&mut self, other: UpdateReport) {
        self.matched += other.matched;
        self.changed += other.changed;
    }
}

/// What is done to each document.
enum Action<'a> {
    Update(&'a Changes<'a>),
    Delete,
}

impl Action<'_> {
    //= spec/update.md#u-5-2-paths
    //# A path of another form MUST be refused with the byte at which it goes wrong.
    /// Refuses what can be done to no document, whether or not there is one.
    fn check(&self, filter: &Filter) -> Result<()> {
        filter.check()?;
        if let Action::Update(changes) = self { changes.check() } else { Ok(()) }
    }

    /// Whether the document is another now.
    fn apply(&self, txn: &mut WriteTxn, name: &str, key: KeyRef<'_>, found: &FoundDocument) -> Result<bool> {
        match self {
            Action::Update(changes) => txn.update_found(name, key, found, changes),
            Action::Delete => txn.delete_found(name, key, found).map(|()| true),
        }
    }
}

//= spec/update.md#u-7-1-many-documents
//# The filter MUST be evaluated on the state before the call, and each document that it admits be changed once.
//= spec/update.md#u-7-1-many-documents
//# When one of them cannot be changed, the call MUST fail, and change nothing.
/// Changes all documents that `filter` admits.
fn every(txn: &mut WriteTxn, name: &str, filter: &Filter, action: &Action<'_>) -> Result<UpdateReport> {
    action.check(filter)?;
    let documents = txn.documents(name)?;
    let ranges = ranges(txn, &documents, filter)?;
    let mut report = UpdateReport::default();
    let mut one = |txn: &mut WriteTxn, key: KeyRef<'_>, found: &FoundDocument| -> Result<()> {
        if filter.matches_with_key(key, found.raw())? {
            report.matched += 1;
            match action.apply(txn, name, key, found) {
                Err(_) if seeded::is_on(Bug::ManyAppliedHalf) => {}
                changed => report.changed += u64::from(changed?),
            }
            txn.check_transaction_size()?;
            if seeded::is_on(Bug::ManyUpdatedTwice)
                && let Some(again) = txn.found(name, key)?
            {
                action.apply(txn, name, key, &again)?;
            }
        }
        Ok(())
    };
    if let Some(ranges) = ranges {
        for key in keys_of(txn, &documents, ranges)? {
            // Each key comes once, so it is as it was before the call.
            if let Some(found) = txn.found(name, key.as_ref())? {
                one(txn, key.as_ref(), &found)?;
            }
        }
        return Ok(report);
    }
    // The walk stays in the state in which it began, so it meets nothing that is put meanwhile.
    let mut walk = WriteTxnWalk::new(txn, documents.clone(), KeyRange::all());
    while let Some(found) = walk.next_found(txn)? {
        one(txn, found.key(), &found)?;
    }
    Ok(report)
}

/// The ranges of indexes to go by, where that costs less than going through all documents.
fn ranges(txn: &WriteTxn, documents: &Documents, filter: &Filter) -> Result<Option<Vec<(Target, KeyRange)>>> {
    let Some(targets) = documents.targets() else { return Ok(None) };
    ranges_of_filter(&txn.shared, filter, &targets, txn.len(documents)?)
}

/// The keys of all documents that have entries in the ranges, in order and each once.
fn keys_of(
    txn: &mut WriteTxn,
    documents: &Arc<Documents>,
    ranges: Vec<(Target, KeyRange)>,
) -> Result<BTreeSet<Key>> {
    let (mut keys, limits) = (BTreeSet::new(), txn.shared.entry_limits());
    for (target, range) in ranges {
        let mut walk = WriteTxnEntries::new(txn, Arc::clone(documents), target, range);
        while walk.advance(txn)? {
            let definition = &walk.target.definition.definition;
            keys.insert(definition.key_of(walk.entry(), limits).map_err(broken)?.0);
        }
    }
    Ok(keys)
}

/// As [`every`], of the documents under `keys` that `filter` still admits, in a commit of their own.
fn some(
    txn: &mut WriteTxn,
    name: &str,
    keys: &[Key],
    filter: &Filter,
    action: &Action<'_>,
) -> Result<UpdateReport> {
    let mut report = UpdateReport::default();
    for key in keys {
        let Some(found) = txn.found(name, key.as_ref())? else { continue };
        if filter.matches_with_key(key.as_ref(), found.raw())? {
            report.matched += 1;
            report.changed += u64::from(action.apply(txn, name, key.as_ref(), &found)?);
        }
    }
    Ok(report)
}

#[expect(private_bounds, reason = "the states are the store's own")]
impl<S: Writes> Handle<S> {
    /// Changes every document that `filter` admits, in one commit: all of them or none. The filter sees the state before the call. A
    /// document that stays equal is not written.
    ///
    /// ```
    /// use holotype::{Db, Update, UpdateReport, doc, query::Filter};
    ///
    /// let birds = Db::in_memory().collection("birds");
    /// birds.insert_many([doc! { "seen": 0 }, doc! { "seen": 3 }, doc! { "seen": 7 }])?;
    /// let often = Filter::parse("@.seen >= arg('often')")?.bind("often", 3)?;
    /// let report = birds.update_many(&often, Update::new().max("$.seen", 5))?;
    /// assert_eq!(report, UpdateReport { matched: 2, changed: 1 });
    /// # Ok::<(), holotype::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`update`](Self::update); `Parameter` for one that is not bound; `PatternTooLarge`; `TransactionTooLarge` where the changes
    /// take more memory than one commit may: `Collection::batches_of` makes several. No document is changed then.
    pub fn update_many<'a>(&self, filter: &Filter, changes: impl Into<Changes<'a>>) -> Result<UpdateReport> {
        let changes = changes.into();
        self.source.change(|txn| every(txn, self.name(), filter, &Action::Update(&changes)))
    }

    /// Deletes every document that `filter` admits, in one commit.
    ///
    /// # Errors
    /// As [`update_many`](Self::update_many), but for `Update`.
    pub fn delete_many(&self, filter: &Filter) -> Result<UpdateReport> {
        self.source.change(|txn| every(txn, self.name(), filter, &Action::Delete))
    }
}

impl Collection {
    /// For changes of many documents in several commits, each of `count` documents at most; 0 counts as 1. Others may write between
    /// two of them.
    ///
    /// ```
    /// use holotype::{Db, Update, doc, query::Filter};
    ///
    /// let birds = Db::in_memory().collection("birds");
    /// birds.insert_many((0..10).map(|n| doc! { "seen": n }))?;
    /// let report = birds.batches_of(3).update_many(&Filter::parse("@.seen > 2")?, Update::new().inc("$.seen", 1))?;
    /// assert_eq!((report.matched, report.changed), (7, 7));
    /// # Ok::<(), holotype::Error>(())
    /// ```
    pub fn batches_of(&self, count: usize) -> Batches<'_> {
        Batches { collection: self, count: count.max(1) }
    }
}

/// Changes of many documents in several commits. See [`Collection::batches_of`].
#[derive(Debug, Clone, Copy)]
pub struct Batches<'c> {
    collection: &'c Collection,
    count: usize,
}

/// A change of many documents that ended before it was through, and how far it came.
#[derive(Debug, Clone)]
pub struct Stopped {
    /// What the commits before did.
    pub report: UpdateReport,
    /// The last document of those commits; `None` where there were none.
    pub last: Option<Key>,
    /// Why the next commit failed. It changed nothing.
    pub error: Error,
}

impl Batches<'_> {
    /// Changes every document that `filter` admits before the call and again before its commit, in key order.
    ///
    /// # Errors
    /// As [`Collection::update_many`], with what was done before.
    pub fn update_many<'a>(
        &self,
        filter: &Filter,
        changes: impl Into<Changes<'a>>,
    ) -> Result<UpdateReport, Stopped> {
        self.run(filter, &Action::Update(&changes.into()))
    }

    /// Deletes every document that `filter` admits before the call and again before its commit, in key order.
    ///
    /// # Errors
    /// As [`Collection::delete_many`], with what was done before.
    pub fn delete_many(&self, filter: &Filter) -> Result<UpdateReport, Stopped> {
        self.run(filter, &Action::Delete)
    }

    //= spec/update.md#u-7-2-batches
    //# The documents MUST be those that the filter admits in the state before the call, and in the state before
    //# their commit.
    //= spec/update.md#u-7-2-batches
    //# When a commit fails, the call MUST answer what the commits before it did, and their last key.
    fn run(&self, filter: &Filter, action: &Action<'_>) -> Result<UpdateReport, Stopped> {
        let (mut report, mut last) = (UpdateReport::default(), None);
        let mut work = || -> Result<()> {
            action.check(filter)?;
            let mut found = self.collection.find(filter).keys()?;
            loop {
                let keys = found.by_ref().take(self.count).collect::<Result<Vec<Key>>>()?;
                let Some(end) = keys.last() else { return Ok(()) };
                let name = self.collection.name();
                report += self.collection.source.change(|txn| some(txn, name, &keys, filter, action))?;
                last = Some(end.clone());
            }
        };
        work().map_err(|error| Stopped { report, last, error })?;
        Ok(report)
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stopped { report: UpdateReport { matched, changed }, last, error } = self;
        if let Some(last) = last {
            write!(
                f,
                "{changed} of {matched} documents were changed, the last of them {last}; what came next failed: "
            )?;
        }
        write!(f, "{error}")
    }
}

impl std::error::Error for Stopped {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<Stopped> for Error {
    fn from(stopped: Stopped) -> Self {
        stopped.error
    }
}
