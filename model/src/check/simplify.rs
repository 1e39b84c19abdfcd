//! Smaller forms of a step, for when it is part of a list that fails.

use crate::index::TupleRange;
use crate::key::KeyRange;
use crate::op::Op;
use crate::value::Document;

use super::reduce::Simplify;
use super::rig::Step;
use super::shorten::shorter;

impl Simplify for Step {
    fn simpler(&self) -> Vec<Self> {
        match self {
            Step::Do(op) => simpler_ops(op).into_iter().map(Step::Do).collect(),
            Step::End(_, 0) => Vec::new(),
            // Few commits leave few choices; a small number goes on meaning the same when there are fewer of them.
            Step::End(ending, choice) => [0, 1, 2, 3, choice % 256]
                .into_iter()
                .filter(|smaller| smaller < choice)
                .map(|smaller| Step::End(*ending, smaller))
                .collect(),
        }
    }

    fn shorter(steps: &[Self]) -> Vec<Vec<Self>> {
        shorter(steps)
    }
}

fn simpler_ops(op: &Op) -> Vec<Op> {
    match op {
        // The savepoint or snapshot before, for when the one that is named now is not needed.
        Op::RollbackTo { savepoint } => {
            savepoint.checked_sub(1).map(|savepoint| Op::RollbackTo { savepoint }).into_iter().collect()
        }
        Op::Release { snapshot } => {
            snapshot.checked_sub(1).map(|snapshot| Op::Release { snapshot }).into_iter().collect()
        }
        Op::Through { snapshot, op } => {
            let before = snapshot.checked_sub(1).map(|snapshot| Op::Through { snapshot, op: op.clone() });
            let simpler = simpler_plain(op).into_iter().map(Box::new);
            let simpler = simpler.map(|op| Op::Through { snapshot: *snapshot, op });
            std::iter::once(Op::clone(op)).chain(before).chain(simpler).collect()
        }
        Op::Inside(op) => {
            let outside = op.is_plain_read().then(|| Op::clone(op));
            let simpler = simpler_plain(op).into_iter().map(|op| Op::Inside(Box::new(op)));
            outside.into_iter().chain(simpler).collect()
        }
        op => simpler_plain(op),
    }
}

fn simpler_plain(op: &Op) -> Vec<Op> {
    let mut simpler = Vec::new();
    let mut offer = |change: fn(&mut Op)| {
        let mut changed = op.clone();
        change(&mut changed);
        if changed != *op {
            simpler.push(changed);
        }
    };
    offer(keep_first_half);
    offer(keep_second_half);
    offer(empty_documents);
    offer(scan_everything);
    offer(plain_index);
    simpler
}

fn keep_first_half(op: &mut Op) {
    match op {
        Op::InsertMany { documents, .. } => documents.truncate(documents.len() / 2),
        Op::PutMany { entries, .. } => entries.truncate(entries.len() / 2),
        _ => {}
    }
}

fn keep_second_half(op: &mut Op) {
    match op {
        Op::InsertMany { documents, .. } => drop(documents.drain(..documents.len() / 2)),
        Op::PutMany { entries, .. } => drop(entries.drain(..entries.len() / 2)),
        _ => {}
    }
}

fn empty_documents(op: &mut Op) {
    op.documents_mut().into_iter().for_each(Document::clear);
}

fn scan_everything(op: &mut Op) {
    match op {
        Op::Keys { range: asked, reverse, limit, .. } | Op::Scan { range: asked, reverse, limit, .. } => {
            (*asked, *reverse, *limit) = (KeyRange::ALL, false, None);
        }
        Op::ScanPrefix { reverse, limit, .. } => (*reverse, *limit) = (false, None),
        Op::IndexScan { range: asked, after, reverse, limit, .. }
        | Op::IndexDocuments { range: asked, after, reverse, limit, .. } => {
            (*asked, *after, *reverse, *limit) = (TupleRange::ALL, None, false, None);
        }
        Op::IndexCount { range: asked, .. } => *asked = TupleRange::ALL,
        _ => {}
    }
}

/// All paths ascending, neither flag, and no filter. The paths stay, for ends of ranges to fit them.
fn plain_index(op: &mut Op) {
    if let Op::CreateIndex { definition, .. } | Op::ReplaceIndex { definition, .. } = op {
        definition.paths.iter_mut().for_each(|path| path.descending = false);
        (definition.unique, definition.sparse, definition.filter) = (false, false, None);
    }
}
