//! Shorter forms of a list of steps of which some belong together: a transaction is nothing without its begin, and a read
//! through a snapshot nothing without the snapshot.

use std::ops::Range;

use crate::op::{Durability, Op};

use super::rig::Step;

/// Lists with fewer steps that mean nearly the same, those with the fewest first for each thing that is taken away.
pub(super) fn shorter(steps: &[Step]) -> Vec<Vec<Step>> {
    let transactions = transactions(steps).into_iter();
    let transactions = transactions.flat_map(|span| [without(steps, &span), dissolved(steps, &span)]);
    let undone = (0..steps.len()).filter_map(|at| without_undone(steps, at));
    let snapshots = (0..steps.len()).filter_map(|at| without_snapshot(steps, at));
    transactions.chain(undone).chain(snapshots).collect()
}

/// From each begin to the end of its transaction, or to the end of the life or the list before it.
fn transactions(steps: &[Step]) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut begun = None;
    for (at, step) in steps.iter().enumerate() {
        match (step, begun) {
            (Step::Do(Op::Begin), None) => begun = Some(at),
            (Step::Do(Op::Commit { .. } | Op::Rollback), Some(from)) => {
                spans.push(from..at + 1);
                begun = None;
            }
            (Step::End(..), Some(from)) => {
                spans.push(from..at);
                begun = None;
            }
            _ => {}
        }
    }
    spans.extend(begun.map(|from| from..steps.len()));
    spans
}

fn is_of_transaction(step: &Step) -> bool {
    matches!(
        step,
        Step::Do(
            Op::Begin
                | Op::Inside(_)
                | Op::Savepoint
                | Op::RollbackTo { .. }
                | Op::Commit { .. }
                | Op::Rollback
        )
    )
}

/// Without the transaction; what came between its steps stays.
fn without(steps: &[Step], span: &Range<usize>) -> Vec<Step> {
    let stays = |(at, step): &(usize, &Step)| !span.contains(at) || !is_of_transaction(step);
    steps.iter().enumerate().filter(stays).map(|(_, step)| step.clone()).collect()
}

/// With each operation of the transaction by itself, in the class of its commit.
fn dissolved(steps: &[Step], span: &Range<usize>) -> Vec<Step> {
    let class = match &steps[span.end - 1] {
        Step::Do(Op::Commit { durability }) => *durability,
        _ => Durability::Buffered,
    };
    let by_itself = |(at, step): (usize, &Step)| match step {
        Step::Do(Op::Inside(op)) if span.contains(&at) => Some(Step::Do(op.with_durability(class))),
        step if span.contains(&at) && is_of_transaction(step) => None,
        step => Some(step.clone()),
    };
    steps.iter().enumerate().filter_map(by_itself).collect()
}

/// Without the return to a savepoint at `at`, and without all that it undoes.
fn without_undone(steps: &[Step], at: usize) -> Option<Vec<Step>> {
    let Step::Do(Op::RollbackTo { savepoint }) = steps[at] else { return None };
    let span = transactions(steps).into_iter().find(|span| span.contains(&at))?;
    let mut places: Vec<usize> = Vec::new();
    for (i, step) in steps[..at].iter().enumerate().skip(span.start) {
        match step {
            Step::Do(Op::Savepoint) => places.push(i),
            Step::Do(Op::RollbackTo { savepoint }) => places.truncate(savepoint + 1),
            _ => {}
        }
    }
    let place = *places.get(savepoint)?;
    Some(without(steps, &(place + 1..at + 1)))
}

/// Without the snapshot that is taken at `at` and all that is done with it.
fn without_snapshot(steps: &[Step], at: usize) -> Option<Vec<Step>> {
    if steps[at] != Step::Do(Op::TakeSnapshot) {
        return None;
    }
    let is_end = |step: &Step| matches!(step, Step::End(..));
    let begin = steps[..at].iter().rposition(is_end).map_or(0, |end| end + 1);
    let end = steps[at..].iter().position(is_end).map_or(steps.len(), |end| at + end);
    let taken_before = steps[begin..at].iter().filter(|step| **step == Step::Do(Op::TakeSnapshot)).count();
    let gone = taken_before as u64;
    // Those taken later are counted anew.
    let renumbered = |number: u64| if number > gone { number - 1 } else { number };
    let rest = steps[at + 1..end].iter().filter_map(|step| match step {
        Step::Do(Op::Through { snapshot, .. } | Op::Release { snapshot }) if *snapshot == gone => None,
        Step::Do(Op::Through { snapshot, op }) => {
            Some(Step::Do(Op::Through { snapshot: renumbered(*snapshot), op: op.clone() }))
        }
        Step::Do(Op::Release { snapshot }) => Some(Step::Do(Op::Release { snapshot: renumbered(*snapshot) })),
        step => Some(step.clone()),
    });
    Some(steps[..at].iter().cloned().chain(rest).chain(steps[end..].iter().cloned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Ending;

    fn len() -> Op {
        Op::Len { collection: "a".into() }
    }

    fn drop_it(durability: Durability) -> Op {
        Op::DropCollection { collection: "a".into(), durability }
    }

    fn inside() -> Op {
        Op::Inside(Box::new(drop_it(Durability::Buffered)))
    }

    fn through(snapshot: u64) -> Op {
        Op::Through { snapshot, op: Box::new(len()) }
    }

    fn steps(ops: impl IntoIterator<Item = Op>) -> Vec<Step> {
        ops.into_iter().map(Step::Do).collect()
    }

    #[test]
    fn a_transaction_goes_whole_or_is_dissolved_and_what_came_between_stays() {
        let commit = Op::Commit { durability: Durability::Synced };
        let list = steps([Op::Begin, inside(), len(), commit, Op::Flush]);
        let dissolved = steps([drop_it(Durability::Synced), len(), Op::Flush]);
        assert_eq!(shorter(&list), [steps([len(), Op::Flush]), dissolved]);
    }

    #[test]
    fn what_a_return_to_a_savepoint_undoes_goes_with_it() {
        let back = |savepoint| Op::RollbackTo { savepoint };
        let list = steps([Op::Begin, Op::Savepoint, inside(), Op::Savepoint, len(), back(0), inside()]);
        let expected = steps([Op::Begin, Op::Savepoint, len(), inside()]);
        assert!(shorter(&list).contains(&expected));
    }

    #[test]
    fn a_snapshot_goes_with_its_reads_and_the_later_ones_of_this_life_move_up() {
        let mut list = steps([Op::TakeSnapshot, Op::TakeSnapshot, through(0), through(1)]);
        list.push(Step::End(Ending::Kill, 0));
        list.extend(steps([through(1)]));
        let mut expected = steps([Op::TakeSnapshot, through(0)]);
        expected.extend_from_slice(&list[4..]);
        assert_eq!(shorter(&list)[0], expected);
    }
}
