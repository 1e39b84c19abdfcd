//! What the driver makes up meets the corners of transactions, snapshots and versions: a check that never gets there shows
//! nothing about them.

use std::collections::BTreeMap;

use holotype_model::check::{Profile, Step, Steps};
use holotype_model::{Durability, Features, Model, Op, Outcome, Refusal};

/// What was met, and how often.
#[derive(Default)]
struct Met(BTreeMap<&'static str, u64>);

impl Met {
    fn note(&mut self, what: &'static str, is_met: bool) {
        *self.0.entry(what).or_default() += u64::from(is_met);
    }
}

#[test]
fn the_driver_meets_every_corner_of_transactions_snapshots_and_versions() {
    let profile = Profile::new(Features::all());
    let mut met = Met::default();
    for seed in 1..=300 {
        let (mut model, mut went_back) = (Model::default(), false);
        for step in Steps::seeded(seed, &profile).take(80) {
            match step {
                Step::Do(op) => {
                    let before = model.clone();
                    let outcome = model.apply(&op);
                    note_transactions(&mut met, &before, &op, &outcome, went_back);
                    note_snapshots_and_versions(&mut met, &before, &op, &outcome);
                    went_back =
                        (went_back || matches!(op, Op::RollbackTo { .. })) && model.is_in_transaction();
                }
                Step::End(..) => {
                    met.note("a life that ends in a transaction", model.is_in_transaction());
                    met.note("a life that ends with a snapshot", model.snapshots().count() > 0);
                    model.crash_to(model.unacknowledged().count());
                    went_back = false;
                }
            }
        }
    }
    let rare: Vec<_> = met.0.iter().filter(|(_, times)| **times < 10).collect();
    assert!(rare.is_empty(), "met too rarely: {rare:?} of {:?}", met.0);
}

fn note_transactions(met: &mut Met, before: &Model, op: &Op, outcome: &Outcome, went_back: bool) {
    let is_done = !matches!(outcome, Outcome::Refused(_));
    let is_open = before.is_in_transaction();
    met.note("a write refused as busy", *outcome == Outcome::Refused(Refusal::Busy));
    met.note("a begin refused as busy", *op == Op::Begin && !is_done);
    met.note("a flush beside a transaction", *op == Op::Flush && is_open);
    met.note("a snapshot taken beside a transaction", *op == Op::TakeSnapshot && is_open);
    met.note("a read beside a transaction", op.is_plain_read() && is_done && is_open);
    met.note("a savepoint inside another", *op == Op::Savepoint && matches!(outcome, Outcome::Count(1..)));
    met.note("a rollback", *op == Op::Rollback && is_done);
    if let Op::Inside(inner) = op {
        met.note("a refusal inside a transaction", !is_done);
        met.note("a change of the catalog inside a transaction", is_done && is_of_catalog(inner));
    }
    if let Op::Commit { durability } = op {
        met.note("a commit after going back to a savepoint", went_back);
        met.note(
            match durability {
                Durability::Buffered => "a buffered commit",
                Durability::Written => "a written commit",
                Durability::Synced => "a synced commit",
            },
            true,
        );
    }
}

fn note_snapshots_and_versions(met: &mut Met, before: &Model, op: &Op, outcome: &Outcome) {
    let is_done = !matches!(outcome, Outcome::Refused(_));
    let held = before.snapshots().count();
    met.note("three snapshots at once", held >= 3);
    let is_changed = held > 0 && *outcome == Outcome::Bool(true);
    met.note("a collection dropped under a snapshot", is_changed && matches!(op, Op::DropCollection { .. }));
    met.note("a collection cleared under a snapshot", is_changed && matches!(op, Op::ClearCollection { .. }));
    met.note(
        "a collection renamed under a snapshot",
        is_changed && matches!(op, Op::RenameCollection { .. }),
    );
    met.note("a transaction committed over a snapshot", matches!(op, Op::Commit { .. }) && held > 0);
    if let Op::Through { op: read, .. } = op {
        let is_gone = read.collection().is_some_and(|name| before.visible().collection(name).is_none());
        met.note("a snapshot read of a dropped collection", is_done && is_gone);
        let now = before.clone().apply(read);
        met.note("a snapshot read that differs from one of now", is_done && *outcome != now);
    }
    let is_conditional = matches!(op.plain(), Op::ReplaceIf { .. } | Op::DeleteIf { .. });
    met.note("a version that is as it was seen", is_conditional && is_done);
    met.note("a version that is another", *outcome == Outcome::Refused(Refusal::VersionMismatch));
    let is_inside = matches!(op, Op::Inside(_));
    met.note("a version met inside a transaction", is_conditional && is_inside && is_done);
}

fn is_of_catalog(op: &Op) -> bool {
    matches!(
        op,
        Op::CreateCollection { .. }
            | Op::DropCollection { .. }
            | Op::ClearCollection { .. }
            | Op::RenameCollection { .. }
    )
}
