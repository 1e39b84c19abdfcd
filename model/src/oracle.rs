//! The judge: every history that a store may have, given what it has answered so far.

use std::collections::BTreeSet;

use crate::limits::Limits;
use crate::model::{Ending, Model};
use crate::op::Op;
use crate::outcome::Outcome;
use crate::state::{Dump, DumpedIndex, State};

/// Judges a store by its answers.
///
/// After a crash, states that look alike may come from different histories: a document that was inserted and deleted again
/// leaves nothing but the id that it used up. So the oracle keeps a [`Model`] for each history that agrees with everything
/// seen, and drops those that a later answer contradicts. The store is wrong when none is left; then the run is over, and
/// the oracle of no further use.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Oracle {
    histories: Vec<Model>,
}

/// What a crash took and left, of the commits that were not acknowledged durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Survived {
    /// How many there were.
    pub unacknowledged: usize,
    /// How many of them are there, by the longest history that agrees.
    pub kept: usize,
}

/// The store did what no legal history allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// What would have been legal, each way in one line.
    pub expected: Vec<String>,
    /// What was found, in one line.
    pub found: String,
}

impl Default for Oracle {
    fn default() -> Self {
        Oracle::new(Limits::default())
    }
}

impl Oracle {
    /// A judge of a new, empty store.
    pub fn new(limits: Limits) -> Self {
        Oracle { histories: vec![Model::with_limits(limits)] }
    }

    /// The histories that agree with everything seen, at least one.
    pub fn histories(&self) -> &[Model] {
        &self.histories
    }

    /// Whether an outcome is unknown in every history, so that writes must be refused.
    pub fn is_poisoned(&self) -> bool {
        self.histories.iter().all(Model::is_poisoned)
    }

    //= spec/semantics.md#s-8-1-three-answers
    //# A store MUST NOT report a write as refused or failed when a crash could still show its commit, but for
    //# the case of S-8.5.
    /// Judges what the store answered to `op`. `Unknown` stands for no answer, too: a call during which the power went.
    ///
    /// A failure is taken as it is, since no model foretells what breaks: whether anything may break is for the caller to say.
    pub fn judge(&mut self, op: &Op, answered: &Outcome) -> Result<(), Disagreement> {
        if *answered == Outcome::Unknown && op.is_write() {
            self.or_sealed();
        }
        // Each history moves on in place: beside a clone of it, every write would copy a whole collection.
        let verdicts: Vec<Result<(), String>> =
            self.histories.iter_mut().map(|history| agree(history, op, answered)).collect();
        if verdicts.iter().all(Result::is_err) {
            let expected = distinct(verdicts.into_iter().filter_map(Result::err));
            return Err(Disagreement { expected, found: answered.to_string() });
        }
        let mut verdicts = verdicts.iter();
        self.histories.retain(|_| verdicts.next().is_some_and(Result::is_ok));
        Ok(())
    }

    /// Notes that `op`, a write, found no room while it was handed over (S-8.5). See [`Model::take_back`].
    pub fn take_back(&mut self, op: &Op) {
        self.or_sealed();
        self.histories.iter_mut().for_each(|history| history.take_back(op));
    }

    /// A write that is under way seals the log before anything else: it may have come so far, or not.
    fn or_sealed(&mut self) {
        let unsealed = self.histories.iter().filter(|history| history.is_unsealed());
        let sealed: Vec<Model> = unsealed.cloned().collect();
        self.histories.extend(sealed.into_iter().map(|mut history| {
            history.seal();
            history
        }));
    }

    /// Whether a crash may show a commit that failed for want of room.
    pub fn is_unsealed(&self) -> bool {
        self.histories.iter().any(Model::is_unsealed)
    }

    /// Judges what the store shows, while it is open.
    pub fn judge_dump(&mut self, dump: &Dump) -> Result<(), Disagreement> {
        let agreeing = self
            .histories
            .iter()
            .filter(|history| shows(history, history.visible(), dump))
            .cloned()
            .collect();
        self.narrow(agreeing, |oracle| Disagreement {
            expected: distinct(oracle.histories.iter().map(|history| describe(history.visible()))),
            found: difference(&oracle.histories[0].visible().dump(oracle.limits()), dump),
        })
    }

    /// Judges what the store shows after one life has ended and the next begun.
    pub fn judge_ending(&mut self, ending: Ending, dump: &Dump) -> Result<Survived, Disagreement> {
        let unacknowledged =
            self.histories.iter().map(|history| history.unacknowledged().count()).max().unwrap_or(0);
        let mut kept = 0;
        let mut agreeing: Vec<Model> = Vec::new();
        for history in &self.histories {
            for (k, _) in history.legal_after(ending).filter(|(_, state)| shows(history, state, dump)) {
                kept = kept.max(k);
                let mut next = history.clone();
                next.crash_to(k);
                if !agreeing.contains(&next) {
                    agreeing.push(next);
                }
            }
        }
        self.narrow(agreeing, |oracle| {
            let legal = oracle.histories.iter().flat_map(|history| history.legal_after(ending));
            let newest =
                oracle.histories[0].legal_after(ending).last().map(|(_, state)| state).unwrap_or_default();
            Disagreement {
                expected: distinct(
                    legal.map(|(k, state)| format!("with {k} unacknowledged commits: {}", describe(&state))),
                ),
                found: format!("after {ending}: {}", difference(&newest.dump(oracle.limits()), dump)),
            }
        })?;
        Ok(Survived { unacknowledged, kept })
    }

    /// All histories are of one store.
    fn limits(&self) -> &Limits {
        self.histories[0].limits()
    }

    fn narrow(
        &mut self,
        agreeing: Vec<Model>,
        disagreement: impl FnOnce(&Oracle) -> Disagreement,
    ) -> Result<(), Disagreement> {
        if agreeing.is_empty() {
            return Err(disagreement(self));
        }
        self.histories = agreeing;
        Ok(())
    }
}

/// Moves the history on over `op`, or says what it would have allowed.
fn agree(history: &mut Model, op: &Op, answered: &Outcome) -> Result<(), String> {
    let may_be_in_doubt = !history.is_poisoned() && (op.is_write() || matches!(op, Op::Flush));
    match answered {
        Outcome::Failed(_) => {
            history.fail(op); // spec: S-8.1
            return Ok(());
        }
        Outcome::Refused(reason) if history.refusals(op).contains(reason) => return Ok(()), // spec: S-2.2
        Outcome::Unknown if may_be_in_doubt => {
            history.doubt(op);
            return Ok(());
        }
        _ => {}
    }
    let foretold = history.apply(op);
    if foretold == *answered { Ok(()) } else { Err(foretold.to_string()) }
}

fn distinct(lines: impl Iterator<Item = String>) -> Vec<String> {
    lines.collect::<BTreeSet<String>>().into_iter().collect()
}

fn describe(state: &State) -> String {
    let count = |name: &str| state.collection(name).map_or(0, |collection| collection.documents.len());
    let collections: Vec<String> =
        state.names().map(|name| format!("{name:?} with {}", count(name))).collect();
    if collections.is_empty() {
        "no collection".to_owned()
    } else {
        format!("collections {}", collections.join(", "))
    }
}

fn shows(history: &Model, state: &State, dump: &Dump) -> bool {
    state.shows(dump, history.limits())
}

/// Where `dump` first departs from `expected`.
fn difference(expected: &Dump, dump: &Dump) -> String {
    for name in expected.documents.keys().chain(dump.documents.keys()) {
        let (Some(ours), Some(theirs)) = (expected.documents.get(name), dump.documents.get(name)) else {
            let verb = if dump.documents.contains_key(name) { "there but unexpected" } else { "missing" };
            return format!("collection {name:?} is {verb}");
        };
        for key in ours.keys().chain(theirs.keys()) {
            match (ours.get(key), theirs.get(key)) {
                (Some(_), None) => return format!("{name:?} misses key {key}"),
                (None, Some(_)) => return format!("{name:?} has the unexpected key {key}"),
                (ours, theirs) if ours != theirs => {
                    return format!("{name:?} has another document under key {key}");
                }
                _ => {}
            }
        }
    }
    for name in expected.indexes.keys().chain(dump.indexes.keys()) {
        match (expected.indexes.get(name), dump.indexes.get(name)) {
            (Some(_), None) => return format!("index {name:?} is missing"),
            (None, Some(_)) => return format!("index {name:?} is there but unexpected"),
            (Some(ours), Some(theirs)) if ours != theirs => return different_index(name, ours, theirs),
            _ => {}
        }
    }
    "the same as the newest state".to_owned()
}

fn different_index(name: &(String, String), ours: &DumpedIndex, theirs: &DumpedIndex) -> String {
    if ours.definition != theirs.definition {
        return format!("index {name:?} has another definition");
    }
    if let Some(missing) = ours.entries.iter().find(|entry| !theirs.entries.contains(entry)) {
        return format!("index {name:?} misses the entry {missing}");
    }
    match theirs.entries.iter().find(|entry| !ours.entries.contains(entry)) {
        Some(unexpected) => format!("index {name:?} has the unexpected entry {unexpected}"),
        None => format!("index {name:?} has its entries in another order"),
    }
}
