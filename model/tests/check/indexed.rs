//! A store that is the model itself passes with indexes, and each way of being wrong about them is caught.

use std::ops::Bound;

use holotype_model::check::{Finding, Plan, Profile, Reduced, Rig, Tally, drive};
use holotype_model::index::TupleRange;
use holotype_model::{
    Durability, Ending, Failure, Feature, Features, Model, Op, Outcome, Refusal, Subject, Value,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bug {
    /// An entry gives back an int for the float at its place.
    ShowsFloatsAsInts,
    /// An exclusive end includes what begins with it.
    KeepsExcludedEnds,
    /// A read that goes on begins anew.
    IgnoresPlaces,
    /// A count is that of documents.
    CountsDocuments,
    /// A snapshot's index has the newest entries.
    SnapshotFollowsWrites,
    /// A write that would break uniqueness is done.
    LetsViolationsIn,
    /// A replaced index stays as it was.
    KeepsReplaced,
    /// The indexes end with the process.
    ForgetsIndexesAtKill,
    /// A collection that was cleared has no indexes.
    ClearDropsIndexes,
    /// A sparse index has entries of nothing.
    IgnoresSparse,
}

#[derive(Debug)]
struct Mirror {
    model: Model,
    bug: Option<Bug>,
}

impl Mirror {
    fn is(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    /// The operation as a store with this bug takes it.
    fn mistaken(&self, op: &Op) -> Op {
        let mut op = op.clone();
        let plain = match &mut op {
            Op::Through { op: inner, .. }
                if self.is(Bug::SnapshotFollowsWrites) && inner.index().is_some() =>
            {
                return Op::clone(inner);
            }
            Op::Inside(op) | Op::Through { op, .. } => op,
            op => op,
        };
        match plain {
            Op::IndexScan { range, after, .. } | Op::IndexDocuments { range, after, .. } => {
                after.take_if(|_| self.is(Bug::IgnoresPlaces));
                if let (true, TupleRange::Between { from, to }) = (self.is(Bug::KeepsExcludedEnds), range) {
                    [from, to].into_iter().for_each(|end| {
                        if let Bound::Excluded(values) = end {
                            *end = Bound::Included(values.clone());
                        }
                    });
                }
            }
            Op::IndexCount { collection, .. } if self.is(Bug::CountsDocuments) => {
                *plain = Op::Len { collection: collection.clone() };
            }
            Op::CreateIndex { definition, .. } if self.is(Bug::IgnoresSparse) => definition.sparse = false,
            Op::ReplaceIndex { collection, index, .. } if self.is(Bug::KeepsReplaced) => {
                let (collection, index) = (collection.clone(), index.clone());
                let there = self.model.visible().collection(&collection);
                if there.is_some_and(|there| there.indexes.contains_key(&index)) {
                    let to = index.clone();
                    *plain = Op::RenameIndex { collection, index, to, durability: Durability::Synced };
                }
            }
            _ => {}
        }
        op
    }

    fn drop_indexes(&mut self, collection: &str) {
        let there = self.model.visible().collection(collection);
        let names: Vec<String> = there.into_iter().flat_map(|there| there.indexes.keys().cloned()).collect();
        for index in names {
            let (collection, durability) = (collection.to_owned(), Durability::Buffered);
            self.model.apply(&Op::DropIndex { collection, index, durability });
        }
    }
}

impl Subject for Mirror {
    type Image = (Model, Option<Bug>);

    fn open((model, bug): Self::Image) -> Result<Self, Failure> {
        Ok(Mirror { model, bug })
    }

    fn apply(&mut self, op: &Op) -> Outcome {
        let mut outcome = self.model.apply(&self.mistaken(op));
        match &mut outcome {
            Outcome::IndexEntries(entries) if self.is(Bug::ShowsFloatsAsInts) => {
                let values = entries.iter_mut().filter_map(|entry| entry.tuple.as_mut()).flatten().flatten();
                values.for_each(|value| {
                    if let Value::Float(float) = value
                        && float.fract() == 0.0
                    {
                        *value = Value::Int(*float as i64);
                    }
                });
            }
            Outcome::Refused(Refusal::UniqueViolation) if self.is(Bug::LetsViolationsIn) => {
                return Outcome::Done;
            }
            _ => {}
        }
        if let (true, Op::ClearCollection { collection, .. }) = (self.is(Bug::ClearDropsIndexes), op) {
            self.drop_indexes(collection);
        }
        outcome
    }

    fn verify(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn supports(&self) -> Features {
        features()
    }
}

/// Updates are left out: what they do is not what is looked for here.
fn features() -> Features {
    Features::all().without(Feature::Updates)
}

struct MirrorRig(Option<Bug>);

impl Rig for MirrorRig {
    type Subject = Mirror;

    fn fresh(&mut self) -> Result<Mirror, Failure> {
        Mirror::open((Model::default(), self.0))
    }

    fn restart(&mut self, mut mirror: Mirror, ending: Ending, choice: u64) -> Result<Mirror, Failure> {
        let legal: Vec<usize> = mirror.model.legal_after(ending).map(|(kept, _)| kept).collect();
        mirror.model.crash_to(legal[(choice % legal.len() as u64) as usize]);
        if ending == Ending::Kill && mirror.is(Bug::ForgetsIndexesAtKill) {
            let names: Vec<String> = mirror.model.visible().names().map(str::to_owned).collect();
            names.iter().for_each(|name| mirror.drop_indexes(name));
        }
        Ok(mirror)
    }

    fn endings(&self) -> Vec<Ending> {
        vec![Ending::Close, Ending::Kill, Ending::PowerCut]
    }
}

fn driven(bug: Option<Bug>, cases: u64) -> Result<Tally, Finding> {
    drive(&mut MirrorRig(bug), &Plan { cases, ..Plan::new(1, Profile::new(features())) })
}

#[track_caller]
fn is_caught_within(steps_max: usize, bug: Bug) -> Reduced {
    match driven(Some(bug), 4000) {
        Err(Finding::Diverged(reduced)) => {
            assert!(reduced.case.steps.len() <= steps_max, "{reduced}");
            *reduced
        }
        Err(idle) => panic!("{idle}"),
        Ok(tally) => panic!("not caught in {tally}"),
    }
}

#[test]
fn the_model_passes_and_meets_what_is_to_be_met() {
    let tally = driven(None, 300).unwrap_or_else(|finding| panic!("{finding}"));
    // spec: I-3, I-4, I-6
    assert!(tally.index_changes > 200, "{tally}");
    assert!(tally.index_reads > 200, "{tally}");
    assert!(tally.violations > 40, "{tally}");
}

#[test]
fn reads_that_answer_other_entries_are_caught() {
    // spec: I-2.5, I-6
    is_caught_within(2, Bug::ShowsFloatsAsInts);
    is_caught_within(3, Bug::KeepsExcludedEnds);
    is_caught_within(3, Bug::IgnoresPlaces);
    is_caught_within(3, Bug::CountsDocuments);
    is_caught_within(4, Bug::SnapshotFollowsWrites);
}

#[test]
fn writes_that_should_be_refused_are_caught() {
    // spec: I-3.2
    is_caught_within(3, Bug::LetsViolationsIn);
}

#[test]
fn indexes_that_do_not_last_or_do_not_change_are_caught() {
    // spec: I-2.2, I-4.3, I-4.5
    is_caught_within(2, Bug::KeepsReplaced);
    is_caught_within(3, Bug::ForgetsIndexesAtKill);
    is_caught_within(3, Bug::ClearDropsIndexes);
    is_caught_within(2, Bug::IgnoresSparse);
}
