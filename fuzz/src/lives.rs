//! Bytes as the lives of a store, judged by the model.

use std::ops::Bound;

use holotype::storage::sim::Decisions;
use holotype_crash_tests::live::{Live, Moment, Step, Violation};
use holotype_crash_tests::setup::Setup;
use holotype_model::index::{DefinitionText, PathText, TupleRange};
use holotype_model::{Document, Durability, Ending, Key, KeyRange, Op, Value};

use holotype_crash_tests::input::Input;

/// More steps show what fewer show.
const STEPS_MAX: usize = 120;

const SETUPS: [Setup; 5] = [Setup::TINY, Setup::SHORT_LIVES, Setup::SMALL, Setup::GARBAGE, Setup::SECTORS];

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Values of a byte that choose calls on indexes. They are the last ones, so that every other value chooses what it chose before.
const INDEX_CHANGE: u8 = 254;
const INDEX_READ: u8 = 253;

/// Takes the steps that `bytes` stand for: calls, transactions, commits beside a sync, maintenance, closings, kills, and power cuts at
/// any change of the file, in ways that the bytes choose. Every answer must be one that the model gives.
///
/// # Panics
/// With what the store did that it may not do.
pub fn lives(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let setup = input.pick(&SETUPS);
    let mut trail = Vec::new();
    if let Err(violation) = live(setup, &mut input, &mut trail) {
        panic!("{} store: {violation}\nafter:\n  {}", setup.name, trail.join("\n  "));
    }
}

fn live(setup: Setup, input: &mut Input<'_>, trail: &mut Vec<String>) -> Result<(), Violation> {
    let (mut live, _) = Live::create(setup)?;
    for _ in 0..STEPS_MAX {
        let Some(choice) = input.next() else { break };
        if choice == u8::MAX {
            trail.push("go on with a copy".to_owned());
            live = live.fork();
            continue;
        }
        let step = step(choice, input);
        trail.push(step.to_string());
        let moments = live.step(&step)?;
        // Most steps end well.
        let cut = input.byte();
        if cut >= 240 && !moments.is_empty() {
            let moment = &moments[input.short() % moments.len()];
            let choice = input.short() as u64;
            trail.push(format!("a power cut in it, choice {choice:#x}"));
            live = after_cut(setup, moment, choice)?;
        } else if cut < 8 {
            trail.push("look".to_owned());
            live.look()?;
        }
    }
    live.look()?;
    live.step(&Step::Reopen)?;
    live.look()
}

fn after_cut(setup: Setup, moment: &Moment, choice: u64) -> Result<Live, Violation> {
    let disk = moment.disk.fork();
    disk.set_decisions(Decisions::seeded(choice));
    disk.crash();
    let (mut live, ..) = Live::open(setup, disk, moment.oracle.clone(), Ending::PowerCut)?;
    live.look()?;
    Ok(live)
}

fn step(choice: u8, input: &mut Input<'_>) -> Step {
    match choice {
        INDEX_CHANGE => return index_change(input),
        INDEX_READ => return Step::Do(index_read(input)),
        _ => {}
    }
    match choice % 32 {
        0..=15 => Step::Do(write(input)),
        16 => Step::Do(match input.byte() % 4 {
            0 => Op::Flush,
            1 => Op::Checkpoint,
            2 => Op::Clean,
            _ => Op::Compact,
        }),
        17 => Step::Do(collection_change(input)),
        18..=20 => Step::All(transaction(input)),
        21 => Step::Overlap(put(input), put(input)),
        22 | 23 => Step::Maintain,
        24 => Step::DuringCheckpoint(write(input)),
        25 => Step::Follow,
        26 => Step::Reopen,
        27 => Step::Kill,
        28 => Step::Do(Op::TakeSnapshot),
        29 => Step::Do(Op::Release { snapshot: u64::from(input.byte() % 4) }),
        30 => {
            let read = Box::new(read(input));
            Step::Do(Op::Through { snapshot: u64::from(input.byte() % 4), op: read })
        }
        _ => Step::Do(read(input)),
    }
}

/// The creation, replacement or end of an index of few documents' numbers; a creation with a write in its midst.
fn index_change(input: &mut Input<'_>) -> Step {
    let (collection, index, durability) = (name(input), index(input), durability(input));
    let choice = input.byte();
    let path = PathText { path: "$.n".to_owned(), descending: choice >= 128 };
    let filter = (choice % 16 >= 14).then(|| "@.n >= 100".to_owned());
    let (unique, sparse) = (choice.is_multiple_of(8), choice % 8 == 1);
    let definition = DefinitionText { paths: vec![path], unique, sparse, filter };
    match choice % 4 {
        0 | 1 => {
            let op = Op::CreateIndex { collection, index, definition, durability };
            Step::DuringBuild { op, steps: vec![Step::Do(write(input))], is_cancelled: false }
        }
        2 => Step::Do(Op::ReplaceIndex { collection, index, definition, durability }),
        _ => Step::Do(Op::DropIndex { collection, index, durability }),
    }
}

fn index_read(input: &mut Input<'_>) -> Op {
    let (collection, index, n) = (name(input), index(input), i64::from(input.byte()));
    let range =
        TupleRange::Between { from: Bound::Included(vec![Some(Value::Int(n))]), to: Bound::Unbounded };
    Op::IndexDocuments { collection, index, range, after: None, reverse: n % 2 == 1, limit: None }
}

fn index(input: &mut Input<'_>) -> String {
    input.pick(&["i", "j"]).to_owned()
}

/// A write that is not refused and always makes a commit.
fn put(input: &mut Input<'_>) -> Op {
    let (collection, durability) = (name(input), Durability::Synced);
    Op::Put { collection, key: key(input), document: document(input), durability }
}

fn durability(input: &mut Input<'_>) -> Durability {
    input.pick(&[Durability::Synced, Durability::Written, Durability::Buffered])
}

fn name(input: &mut Input<'_>) -> String {
    input.pick(&NAMES).to_owned()
}

fn write(input: &mut Input<'_>) -> Op {
    let (collection, durability) = (name(input), durability(input));
    match input.byte() % 12 {
        0..=2 => Op::Put { collection, key: key(input), document: document(input), durability },
        3 => Op::Insert { collection, document: document(input), durability },
        4 => {
            let documents = (0..1 + input.byte() % 6).map(|_| document(input)).collect();
            Op::InsertMany { collection, documents, durability }
        }
        5 => {
            let entries = (0..1 + input.byte() % 6).map(|_| (key(input), document(input))).collect();
            Op::PutMany { collection, entries, durability }
        }
        6 => Op::InsertWithKey { collection, key: key(input), document: document(input), durability },
        7 => Op::Replace { collection, key: key(input), document: document(input), durability },
        8 => Op::ReplaceIf { collection, key: key(input), document: document(input), durability },
        9 => Op::DeleteIf { collection, key: key(input), durability },
        _ => Op::Delete { collection, key: key(input), durability },
    }
}

fn collection_change(input: &mut Input<'_>) -> Op {
    // These are always `Synced`.
    let (collection, durability) = (name(input), Durability::Synced);
    match input.byte() % 4 {
        0 => Op::CreateCollection { collection, durability },
        1 => Op::DropCollection { collection, durability },
        2 => Op::ClearCollection { collection, durability },
        _ => Op::RenameCollection { collection, to: name(input), durability },
    }
}

fn read(input: &mut Input<'_>) -> Op {
    let collection = name(input);
    match input.byte() % 4 {
        0 => Op::Get { collection, key: key(input) },
        1 => Op::Len { collection },
        2 => Op::Keys { collection, range: KeyRange::ALL, reverse: true, limit: Some(3) },
        _ => Op::Scan { collection, range: KeyRange::ALL, reverse: false, limit: None },
    }
}

/// A transaction from its begin to its end.
fn transaction(input: &mut Input<'_>) -> Vec<Op> {
    let mut ops = vec![Op::Begin];
    for _ in 0..1 + input.byte() % 8 {
        ops.push(match input.byte() % 8 {
            0 => Op::Savepoint,
            1 => Op::RollbackTo { savepoint: usize::from(input.byte() % 2) },
            2 => Op::Inside(Box::new(collection_change(input))),
            3 => Op::Inside(Box::new(read(input))),
            _ => Op::Inside(Box::new(write(input))),
        });
    }
    ops.push(if input.byte().is_multiple_of(4) {
        Op::Rollback
    } else {
        Op::Commit { durability: durability(input) }
    });
    ops
}

/// Few keys, so that they meet.
fn key(input: &mut Input<'_>) -> Key {
    let n = input.byte();
    match n {
        0..=159 => Key::Int(i64::from(n % 24)),
        160..=207 => Key::Text(format!("key {}", n % 12)),
        _ => Key::Bytes(vec![n; usize::from(n % 4)]),
    }
}

/// Around what fills a sector and a segment.
fn document(input: &mut Input<'_>) -> Document {
    let len = input.pick(&[0, 1, 20, 40, 64, 100, 300, 440, 600, 1500]);
    let n = i64::from(input.byte());
    Document::from([("n".to_owned(), Value::Int(n)), ("text".to_owned(), Value::Text("x".repeat(len)))])
}
