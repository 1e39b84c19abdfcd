//! Prepared stores: what takes many steps to come about is there already, so that one or two more reach every rule of space.

use holotype::Stats;
use holotype_model::{Document, Durability, Key, Op, Value};

use crate::live::{Live, Step, Violation};
use crate::setup::Setup;

use super::alphabet::{blob, delete, number, put};

/// Where segments begin in a file.
const FIRST_SEGMENT: u64 = 16 << 10;

/// A store to begin sequences with.
#[derive(Debug, Clone)]
pub struct Start {
    /// What reports call it.
    pub name: &'static str,
    /// What was done to a new store, power being on all the while.
    steps: Vec<Step>,
    /// What is true of it then.
    shows: fn(&Stats) -> bool,
}

impl Start {
    /// A new store.
    pub fn empty() -> Start {
        Start { name: "a new store", steps: Vec::new(), shows: |stats| stats.lsn == 0 }
    }

    /// Makes it.
    ///
    /// # Errors
    /// What the store did that it may not do; also where it has not become what this start is for.
    pub fn make(&self, setup: Setup) -> Result<Live, Violation> {
        let (mut live, _) = Live::create(setup)?;
        for step in &self.steps {
            live.step(step).map_err(|what| format!("{}: {step}: {what}", self.name))?;
        }
        // A copy remembers nothing of the disk that it is not asked to read.
        live.fork().look().map_err(|what| format!("{}: {what}", self.name))?;
        let stats = live.db().stats();
        if (self.shows)(&stats) { Ok(live) } else { Err(format!("this is not {}: {stats:#?}", self.name)) }
    }
}

/// Every prepared store, for segments of this length.
pub fn starts(segment_bytes: u32) -> Vec<Start> {
    let (long, short) = (segment_bytes as usize / 2, segment_bytes as usize / 8);
    let fill = filled(long, short);
    let maintained = [fill.clone(), vec![Step::Maintain]].concat();
    let start = |name, steps, shows| Start { name, steps, shows };
    vec![
        start("dead segments", fill.clone(), |stats| stats.segments > 4 && stats.space.dead_bytes > 0),
        start(
            "two checkpoints",
            [fill.clone(), vec![checkpoint(), put("k", number(1), Durability::Synced), checkpoint()]]
                .concat(),
            |stats| stats.space.checkpoint_bytes > 0,
        ),
        start(
            "segments that are freed and wait",
            [fill.clone(), vec![checkpoint(), checkpoint(), clean(), clean()]].concat(),
            |stats| stats.space.reclaimable_bytes > 0,
        ),
        start(
            "segments that one checkpoint has as freed",
            [fill.clone(), vec![checkpoint(), clean(), clean(), checkpoint()]].concat(),
            |stats| stats.space.reclaimable_bytes > 0,
        ),
        start(
            "segments that are used again",
            [&maintained[..], &fill[..], &[Step::Maintain], &fill[..3]].concat(),
            |stats| stats.log_end > stats.file_bytes - FIRST_SEGMENT,
        ),
        start(
            "a document of chunks",
            [vec![put("c", blob(3 * long), Durability::Synced)], fill.clone(), vec![checkpoint(), clean()]]
                .concat(),
            |stats| stats.space.relocated_bytes > 0,
        ),
        start(
            "a snapshot that is held",
            [
                vec![put("s", blob(short), Durability::Synced), Step::Do(Op::TakeSnapshot)],
                fill.clone(),
                vec![delete("s"), Step::Maintain, checkpoint(), checkpoint()],
            ]
            .concat(),
            |stats| stats.space.pinned_bytes > 0,
        ),
        start(
            "a feed that is followed",
            [
                vec![put("s", number(1), Durability::Synced), Step::Follow],
                fill.clone(),
                vec![Step::Maintain, checkpoint(), checkpoint()],
            ]
            .concat(),
            |stats| stats.space.pinned_bytes > 0,
        ),
        start(
            "two feeds, of which the older lags",
            [
                vec![put("s", number(1), Durability::Synced), Step::Follow],
                fill.clone(),
                vec![Step::Follow],
                fill.clone(),
                vec![Step::CatchUp(1), Step::Maintain, checkpoint(), checkpoint()],
                fill.clone(),
            ]
            .concat(),
            |stats| stats.space.pinned_bytes > 0,
        ),
        start(
            "a snapshot of a document of chunks",
            [
                vec![
                    put("c", blob(3 * long), Durability::Synced),
                    Step::Do(Op::TakeSnapshot),
                    put("c", number(1), Durability::Synced),
                ],
                fill.clone(),
                vec![Step::Maintain, checkpoint(), checkpoint()],
                fill.clone(),
            ]
            .concat(),
            |stats| stats.retained_versions > 0 && stats.space.pinned_bytes > 0,
        ),
        start(
            "a checkpoint that one slot names",
            [fill.clone(), vec![checkpoint(), clean(), clean(), Step::HalfPublish]].concat(),
            |stats| stats.space.reclaimable_bytes > 0,
        ),
        start(
            "a commit that was taken back on a full disk",
            [fill.clone(), vec![Step::Do(Op::Flush), Step::NoRoom { write: 0, op: parts(segment_bytes, 1) }]]
                .concat(),
            |stats| stats.segments > 4,
        ),
        start(
            "a growth that no sync has covered",
            ["x", "y", "z", "w"].map(|key| put(key, blob(long), Durability::Buffered)).to_vec(),
            |stats| stats.durable_lsn < stats.lsn && stats.segments > 2,
        ),
        start("documents in another order than their keys", strewn(), |stats| stats.documents == 12),
        start("a store at rest", [maintained, vec![Step::Reopen]].concat(), |stats| {
            stats.space.reclaimable_bytes == 0
        }),
    ]
}

fn checkpoint() -> Step {
    Step::Do(Op::Checkpoint)
}

fn clean() -> Step {
    Step::Do(Op::Clean)
}

/// Some segments, of which most is dead; the live is here and there in them.
fn filled(long: usize, short: usize) -> Vec<Step> {
    let names = ["p", "q", "r"];
    let mut steps = vec![];
    for name in names {
        steps.push(put(name, blob(short), Durability::Synced));
        steps.push(put("x", blob(long), Durability::Synced));
        steps.push(put("y", blob(long), Durability::Buffered));
    }
    steps.push(delete("q"));
    steps.push(put("x", blob(short), Durability::Synced));
    steps
}

/// Short documents, the last of which was put first: a compaction has nothing to gain but their order.
fn strewn() -> Vec<Step> {
    ["l", "k", "j", "i", "h", "g", "f", "e", "d", "c", "b", "a"]
        .into_iter()
        .map(|name| put(name, number(1), Durability::Buffered))
        .collect()
}

/// What is done to prepared stores.
pub fn maintenance(segment_bytes: u32) -> Vec<Step> {
    let put_op = |key: &str, len| Op::Put {
        collection: "a".into(),
        key: Key::from(key),
        document: blob(len),
        durability: Durability::Synced,
    };
    vec![
        checkpoint(),
        clean(),
        Step::Maintain,
        Step::DuringCheckpoint(put_op("x", segment_bytes as usize / 2)),
        Step::BeforeSlotSync(put_op("x", segment_bytes as usize / 2)),
        Step::Do(Op::Compact),
        put("x", blob(segment_bytes as usize / 2), Durability::Synced),
        put("p", number(9), Durability::Buffered),
        Step::Reopen,
        Step::DuringBackup(beside_a_backup(segment_bytes)),
        Step::Do(parts(segment_bytes, 2)),
        Step::FailSync(put_op("x", segment_bytes as usize / 2)),
        Step::Do(Op::RenameCollection {
            collection: "a".into(),
            to: "b".into(),
            durability: Durability::Synced,
        }),
    ]
}

/// What frees segments, and takes each that is given out.
fn beside_a_backup(segment_bytes: u32) -> Vec<Step> {
    let (long, short) = (segment_bytes as usize / 2, segment_bytes as usize / 8);
    let maintained = [checkpoint(), clean(), clean(), checkpoint(), checkpoint()];
    maintained.into_iter().chain(filled(long, short)).collect()
}

/// A commit of more than a segment, so of several parts, whose bytes are others for another `fill`.
fn parts(segment_bytes: u32, fill: u8) -> Op {
    let document =
        |at: u32| Document::from([("b".to_owned(), Value::Bytes(vec![fill.wrapping_add(at as u8); 16]))]);
    let entries = (0..segment_bytes / 32).map(|at| (Key::from(format!("k{at}").as_str()), document(at)));
    Op::PutMany { collection: "a".into(), entries: entries.collect(), durability: Durability::Synced }
}

/// The steps that such a store takes after a power cut: those that would write over what is still needed.
pub fn maintenance_followers(segment_bytes: u32) -> Vec<Step> {
    vec![Step::Maintain, put("z", blob(segment_bytes as usize), Durability::Synced)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compaction_of_documents_in_another_order_moves_them_though_none_is_dead() {
        let setup = Setup::TINY;
        let starts = starts(setup.segment_bytes);
        let strewn =
            starts.iter().find(|start| start.name.contains("another order")).expect("it is one of them");
        let mut live = strewn.make(setup).expect("it becomes what it is for");
        let moved = |live: &Live| live.db().stats().space.relocated_bytes;
        assert_eq!(moved(&live), 0);
        live.step(&Step::Do(Op::Compact)).expect("nothing hinders it");
        let stats = live.db().stats();
        assert!(moved(&live) > stats.space.live_bytes / 2, "{stats:#?}");
    }
}
