//! What a run really did: a check that did nothing must not pass.

use std::fmt;
use std::ops::AddAssign;

use crate::model::Ending;
use crate::op::Op;
use crate::oracle::Survived;
use crate::outcome::{Outcome, Refusal};
use crate::subject::{Feature, Features};

/// Counts of what was done and met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each name is what it counts")]
pub struct Tally {
    pub cases: u64,
    pub calls: u64,
    pub writes: u64,
    pub reads: u64,
    /// Documents and keys that the store answered.
    pub answered: u64,
    pub refusals: u64,
    pub failures: u64,
    pub unknown: u64,
    /// Transactions that ended in success.
    pub transactions: u64,
    /// Transactions that were rolled back, and returns to a savepoint.
    pub rollbacks: u64,
    /// Writes refused beside an open transaction.
    pub busy: u64,
    /// Answers through a snapshot.
    pub snapshot_reads: u64,
    /// Conditional writes whose document was the one that the client had seen.
    pub matches: u64,
    /// And those whose document was not.
    pub mismatches: u64,
    /// Indexes that were created, replaced, dropped or renamed.
    pub index_changes: u64,
    /// Reads through an index that answered an entry.
    pub index_reads: u64,
    /// Writes, and creations of indexes, that were refused for a value that is there twice.
    pub violations: u64,
    /// Calls left out because the store cannot do them.
    pub left_out: u64,
    pub closes: u64,
    pub kills: u64,
    pub power_cuts: u64,
    /// Crashes that took a commit which had not been acknowledged.
    pub crashes_that_took: u64,
    /// Crashes that left a commit which had not been acknowledged.
    pub crashes_that_left: u64,
}

impl Tally {
    /// Counts a call and its answer.
    pub fn count_call(&mut self, op: &Op, outcome: &Outcome) {
        self.calls += 1;
        match outcome {
            Outcome::Refused(_) => self.refusals += 1,
            Outcome::Failed(_) => self.failures += 1,
            Outcome::Unknown => self.unknown += 1,
            _ if op.plain().is_write() => self.writes += 1,
            _ => self.reads += 1,
        }
        self.answered += match outcome {
            Outcome::Keys(keys) => keys.len() as u64,
            Outcome::Entries(entries) => entries.len() as u64,
            Outcome::IndexEntries(entries) => entries.len() as u64,
            Outcome::IndexDocuments(entries) => entries.len() as u64,
            Outcome::Document(Some(_)) | Outcome::Key(_) => 1,
            _ => 0,
        };
        self.count_woven(op, outcome);
        self.count_of_indexes(op, outcome);
    }

    fn count_of_indexes(&mut self, op: &Op, outcome: &Outcome) {
        let answers = match outcome {
            Outcome::IndexEntries(entries) => !entries.is_empty(),
            Outcome::IndexDocuments(entries) => !entries.is_empty(),
            Outcome::Count(count) => *count > 0 && matches!(op.plain(), Op::IndexCount { .. }),
            _ => false,
        };
        self.index_reads += u64::from(answers);
        self.index_changes += u64::from(op.defines_index() && *outcome == Outcome::Bool(true));
        self.violations += u64::from(matches!(
            outcome,
            Outcome::Refused(Refusal::UniqueViolation | Refusal::UniqueViolations)
        ));
    }

    fn count_woven(&mut self, op: &Op, outcome: &Outcome) {
        let count = match (op, outcome) {
            (_, Outcome::Refused(Refusal::Busy)) => &mut self.busy,
            (_, Outcome::Refused(Refusal::VersionMismatch)) => &mut self.mismatches,
            (_, Outcome::Refused(_) | Outcome::Failed(_) | Outcome::Unknown) => return,
            (Op::Commit { .. }, _) => &mut self.transactions,
            (Op::Rollback | Op::RollbackTo { .. }, _) => &mut self.rollbacks,
            (Op::Through { .. }, _) => &mut self.snapshot_reads,
            _ if matches!(op.plain(), Op::ReplaceIf { .. } | Op::DeleteIf { .. }) => &mut self.matches,
            _ => return,
        };
        *count += 1;
    }

    /// Counts the end of a life, and what it left.
    pub fn count_ending(&mut self, ending: Ending, survived: Survived) {
        match ending {
            Ending::Close => self.closes += 1,
            Ending::Kill => self.kills += 1,
            Ending::PowerCut => self.power_cuts += 1,
        }
        self.crashes_that_took += u64::from(survived.kept < survived.unacknowledged);
        self.crashes_that_left += u64::from(ending != Ending::Close && survived.kept > 0);
    }

    /// What should have been done at least once and was not, given what the store can do and the endings that were to happen.
    pub fn missing(&self, features: &Features, endings: &[Ending]) -> Vec<&'static str> {
        let [transactions, snapshots, versions, indexes] =
            [Feature::Transactions, Feature::Snapshots, Feature::Versions, Feature::Indexes]
                .map(|feature| features.has(feature));
        let wanted = [
            ("a write that was done", true, self.writes),
            ("a read that was answered", true, self.reads),
            ("a document or key in an answer", true, self.answered),
            ("a transaction that was committed", transactions, self.transactions),
            ("a transaction or a part of one that was rolled back", transactions, self.rollbacks),
            ("a write beside a transaction", transactions, self.busy),
            ("a read through a snapshot", snapshots, self.snapshot_reads),
            ("a write on a document as it was seen", versions, self.matches),
            ("a write on a document that had changed", versions, self.mismatches),
            ("a change of an index", indexes, self.index_changes),
            ("an entry read through an index", indexes, self.index_reads),
            ("a write refused for uniqueness", indexes, self.violations),
            ("a close", endings.contains(&Ending::Close), self.closes),
            ("a kill", endings.contains(&Ending::Kill), self.kills),
            ("a power cut", endings.contains(&Ending::PowerCut), self.power_cuts),
        ];
        wanted
            .into_iter()
            .filter(|(_, wanted, count)| *wanted && *count == 0)
            .map(|(what, ..)| what)
            .collect()
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        // Taken apart by name, so that a count which is added to the type is not forgotten here.
        let Tally {
            cases,
            calls,
            writes,
            reads,
            answered,
            refusals,
            failures,
            unknown,
            transactions,
            rollbacks,
            busy,
            snapshot_reads,
            matches,
            mismatches,
            index_changes,
            index_reads,
            violations,
            left_out,
            closes,
            kills,
            power_cuts,
            crashes_that_took,
            crashes_that_left,
        } = other;
        self.cases += cases;
        self.calls += calls;
        self.writes += writes;
        self.reads += reads;
        self.answered += answered;
        self.refusals += refusals;
        self.failures += failures;
        self.unknown += unknown;
        self.transactions += transactions;
        self.rollbacks += rollbacks;
        self.busy += busy;
        self.snapshot_reads += snapshot_reads;
        self.matches += matches;
        self.mismatches += mismatches;
        self.index_changes += index_changes;
        self.index_reads += index_reads;
        self.violations += violations;
        self.left_out += left_out;
        self.closes += closes;
        self.kills += kills;
        self.power_cuts += power_cuts;
        self.crashes_that_took += crashes_that_took;
        self.crashes_that_left += crashes_that_left;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cases, {} calls ({} writes, {} reads, {} refused, {} failed, {} unknown), {} entries answered, \
             {} transactions ({} rollbacks, {} writes kept out), {} reads through snapshots, {} versions met ({} missed), \
             {} changes of indexes, {} reads through them ({} values refused), {} closes, {} kills, {} power cuts ({} took and {} left unacknowledged commits)",
            self.cases,
            self.calls,
            self.writes,
            self.reads,
            self.refusals,
            self.failures,
            self.unknown,
            self.answered,
            self.transactions,
            self.rollbacks,
            self.busy,
            self.snapshot_reads,
            self.matches,
            self.mismatches,
            self.index_changes,
            self.index_reads,
            self.violations,
            self.closes,
            self.kills,
            self.power_cuts,
            self.crashes_that_took,
            self.crashes_that_left
        )
    }
}
