//! What was asked of indexes, and how often that was answered.

use std::ops::Bound;

use holotype_model::index::TupleRange;
use holotype_model::{Op, Outcome, Refusal};

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $kind:ident = $name:literal),* $(,)?) => {
        /// A kind of call on an index, and when it counts.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum IndexCall {
            $($(#[doc = $doc])* $kind),*
        }

        /// All of them.
        pub const INDEX_CALLS: &[IndexCall] = &[$(IndexCall::$kind),*];

        impl IndexCall {
            /// What reports call it.
            pub fn name(self) -> &'static str {
                match self {
                    $(IndexCall::$kind => $name),*
                }
            }
        }
    };
}

kinds! {
    /// An index was made.
    Create = "create",
    /// One was made in the place of another, or where none was.
    Replace = "replace",
    /// One ended.
    Drop = "drop",
    /// One got another name.
    Rename = "rename",
    /// The definitions of a collection were answered.
    List = "list",
    /// One was made, and something was done while it was built.
    Beside = "create beside others",
    /// A build was cancelled.
    Cancel = "cancel a build",
    /// Nothing was made, since documents had what only one may have.
    RefusedCreate = "refused creation",
    /// A write was refused, since another document has what only one may have.
    RefusedWrite = "refused write",
    /// Entries were answered from a list of values to the same.
    Get = "get",
    /// From one end to another.
    Range = "range",
    /// Those of texts that begin so.
    Prefix = "prefix",
    /// Those behind a place.
    After = "after",
    /// In the reverse order.
    Reverse = "reverse",
    /// With their documents.
    Documents = "documents",
    /// They were counted, and there was one at least.
    Count = "count",
    /// They were read in a transaction.
    Inside = "in a transaction",
    /// And through a snapshot.
    Through = "through a snapshot",
}

const COUNT: usize = INDEX_CALLS.len();

/// How often each kind of call was answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexCalls {
    counts: [u64; COUNT],
}

impl IndexCalls {
    pub(crate) fn count(&mut self, kind: IndexCall) {
        self.counts[kind as usize] += 1;
    }

    /// Counts a call by its answer.
    pub(super) fn note(&mut self, op: &Op, outcome: &Outcome) {
        let is_done = *outcome == Outcome::Bool(true);
        match (op.plain(), outcome) {
            (_, Outcome::Refused(Refusal::UniqueViolations)) => self.count(IndexCall::RefusedCreate),
            (_, Outcome::Refused(Refusal::UniqueViolation)) => self.count(IndexCall::RefusedWrite),
            (Op::CreateIndex { .. }, _) if is_done => self.count(IndexCall::Create),
            (Op::ReplaceIndex { .. }, _) if is_done => self.count(IndexCall::Replace),
            (Op::DropIndex { .. }, _) if is_done => self.count(IndexCall::Drop),
            (Op::RenameIndex { .. }, _) if is_done => self.count(IndexCall::Rename),
            (Op::Indexes { .. }, Outcome::Indexes(indexes)) if !indexes.is_empty() => {
                self.count(IndexCall::List);
            }
            (Op::IndexCount { range, .. }, Outcome::Count(1..)) => {
                self.count(IndexCall::Count);
                self.note_read(op, range, false, false);
            }
            (Op::IndexScan { range, after, reverse, .. }, Outcome::IndexEntries(entries))
                if !entries.is_empty() =>
            {
                self.note_read(op, range, after.is_some(), *reverse);
            }
            (Op::IndexDocuments { range, after, reverse, .. }, Outcome::IndexDocuments(entries))
                if !entries.is_empty() =>
            {
                self.count(IndexCall::Documents);
                self.note_read(op, range, after.is_some(), *reverse);
            }
            _ => {}
        }
    }

    fn note_read(&mut self, op: &Op, range: &TupleRange, is_after: bool, is_reverse: bool) {
        self.count(match range {
            TupleRange::Prefix { .. } => IndexCall::Prefix,
            TupleRange::Between { from: Bound::Included(from), to: Bound::Included(to) } if from == to => {
                IndexCall::Get
            }
            TupleRange::Between { .. } => IndexCall::Range,
        });
        let also = [
            (is_after, IndexCall::After),
            (is_reverse, IndexCall::Reverse),
            (matches!(op, Op::Inside(_)), IndexCall::Inside),
            (matches!(op, Op::Through { .. }), IndexCall::Through),
        ];
        also.into_iter().filter(|(is_so, _)| *is_so).for_each(|(_, kind)| self.count(kind));
    }

    /// Adds what others were asked.
    pub fn add(&mut self, other: &IndexCalls) {
        self.counts.iter_mut().zip(other.counts).for_each(|(ours, other)| *ours += other);
    }

    /// Each kind, with how often it was answered.
    pub fn iter(&self) -> impl Iterator<Item = (IndexCall, u64)> + '_ {
        INDEX_CALLS.iter().copied().zip(self.counts)
    }

    /// Those that were never answered.
    pub fn missing(&self) -> Vec<String> {
        let missing = self.iter().filter(|(_, answers)| *answers == 0);
        missing.map(|(kind, _)| kind.name().to_owned()).collect()
    }
}
