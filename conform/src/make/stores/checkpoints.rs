//! Checkpoints: read whole or fallen back from, and what is free beside them.

mod damaged;
mod healthy;
mod leaves;
mod maps;
mod places;
mod trees;

use super::sample::{saying, small, text};
use super::{Maker, corrupt};
use crate::case::Group;
use crate::forge::checkpoint::{Changes, Pages};
use crate::forge::{Forge, Record};
use holotype_model::{Document, Key, Value};

pub(super) fn make() -> Group {
    let mut maker = Maker::new(
        "checkpoints",
        "Stores with checkpoints: read whole, damaged, fallen back from; and what is free beside them",
    );
    healthy::healthy(&mut maker);
    damaged::damaged(&mut maker);
    leaves::forged_leaves(&mut maker);
    maps::forged_maps(&mut maker);
    trees::trees(&mut maker);
    places::places(&mut maker);
    maker.finish()
}

/// Every page of a checkpoint, and both that a slot names.
pub(in crate::make) const PLACES: [u32; 2] = [4, 5];

/// A store with documents of every kind of key in segments of 4,096 bytes.
pub(in crate::make) fn store() -> Forge {
    let mut forge = small();
    forge.commit(&[
        Record::put(1, &Key::Int(-7), &saying(-7)),
        Record::put(1, &Key::Int(300), &saying(300)),
        Record::put(1, &text("name"), &saying(5)),
        Record::put(1, &text("names"), &saying(6)),
        Record::put(1, &Key::Bytes(vec![0]), &saying(7)),
        Record::put(1, &Key::Bytes(vec![0, 1]), &saying(8)),
    ]);
    forge
}

pub(in crate::make) fn name_in_slot(forge: &mut Forge, references: &[&[u8]], durable: u64) {
    forge.slot(3, |slot| {
        slot[360] = 1;
        slot[368..376].copy_from_slice(&durable.to_le_bytes());
        for (n, reference) in references.iter().enumerate() {
            slot[384 + 48 * n..384 + 48 * n + 48].copy_from_slice(reference);
        }
    });
}

/// Takes the log away up to X, so that nothing but the checkpoint has what it held.
fn erase_log(forge: &mut Forge) {
    let (start, end) = (forge.start() + forge.sector as usize, forge.x() as usize);
    forge.data[start..end].fill(0);
}

/// A store whose newest slot names a checkpoint with `changes`, and none before. The log is there from its beginning.
fn with_one(changes: &Changes) -> Forge {
    let mut forge = store();
    let reference = Pages::begin(&mut forge, PLACES[0]).finish(changes);
    let last = forge.last;
    name_in_slot(&mut forge, &[&reference], last);
    forge
}

/// A store whose slot names two checkpoints, the newest with `damage` at that offset of its segment.
pub(in crate::make) fn with_two(damage: Option<usize>) -> Forge {
    let mut forge = store();
    let before = Pages::begin(&mut forge, PLACES[0]).finish(&Changes::default());
    forge.commit(&[Record::put(1, &text("between"), &saying(1))]);
    let newest = Pages::begin(&mut forge, PLACES[1]).finish(&Changes::default());
    let last = forge.last;
    name_in_slot(&mut forge, &[&newest, &before], last);
    if let Some(at) = damage {
        forge.data[16_384 + PLACES[1] as usize * 4096 + at] ^= 1;
    }
    forge
}

/// A forged checkpoint that must not be believed: the log behind it is gone, so whoever believes it, or falls back, shows.
fn disbelieved(maker: &mut Maker, clauses: &[&str], name: impl Into<String>, changes: &Changes) {
    let mut forge = with_one(changes);
    let name = name.into();
    maker.holds(
        &[&["R-5.2"], clauses].concat(),
        &["Checkpoint", "Fallback"],
        format!("{name}: the log is read instead"),
        &forge.data,
        forge.state(),
    );
    erase_log(&mut forge);
    let expect = corrupt(&["R-4.1", "R-4.3"], Some(16_384 + 64));
    maker.refused(
        &[&["R-5.2"], clauses].concat(),
        &["Checkpoint", "Fallback"],
        format!("{name}, and the log is gone"),
        &forge.data,
        expect,
    );
}

fn collection(id: i64, name: &str, next: i64) -> Document {
    Document::from([
        ("id".to_owned(), Value::Int(id)),
        ("name".to_owned(), Value::from(name)),
        ("next".to_owned(), Value::Int(next)),
        ("count".to_owned(), Value::Int(0)),
    ])
}
