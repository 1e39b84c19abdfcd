//! Smaller forms of a step, for when it is part of a list that fails.

use crate::key::KeyRange;
use crate::op::Op;
use crate::value::Document;

use super::reduce::Simplify;
use super::rig::Step;

impl Simplify for Step {
    fn simpler(&self) -> Vec<Self> {
        match self {
            Step::Do(op) => simpler_ops(op).into_iter().map(Step::Do).collect(),
            Step::End(_, 0) => Vec::new(),
            Step::End(ending, choice) => [0, choice % 256]
                .into_iter()
                .filter(|smaller| smaller < choice)
                .map(|smaller| Step::End(*ending, smaller))
                .collect(),
        }
    }
}

fn simpler_ops(op: &Op) -> Vec<Op> {
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
    match op {
        Op::Insert { document, .. }
        | Op::Put { document, .. }
        | Op::InsertWithKey { document, .. }
        | Op::Replace { document, .. } => document.clear(),
        Op::InsertMany { documents, .. } => documents.iter_mut().for_each(Document::clear),
        Op::PutMany { entries, .. } => entries.iter_mut().for_each(|(_, document)| document.clear()),
        _ => {}
    }
}

fn scan_everything(op: &mut Op) {
    match op {
        Op::Keys { range: asked, reverse, limit, .. } | Op::Scan { range: asked, reverse, limit, .. } => {
            (*asked, *reverse, *limit) = (KeyRange::ALL, false, None);
        }
        Op::ScanPrefix { reverse, limit, .. } => (*reverse, *limit) = (false, None),
        _ => {}
    }
}
