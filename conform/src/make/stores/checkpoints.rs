//! Checkpoints: read whole or fallen back from, and what is free beside them.

mod damaged;
mod directory;
mod healthy;
mod leaves;
mod maps;
mod patches;
mod places;
mod records;
mod roots;
mod tables;

use super::sample::{saying, small, text};
use super::{Maker, corrupt};
use crate::case::Group;
use crate::forge::checkpoint::{Changes, Checkpoint};
use crate::forge::{Forge, Record};
use holotype_model::{Key, Value};

pub(super) fn make() -> Group {
    let mut maker = Maker::new(
        "checkpoints",
        "Stores with checkpoints: read whole, damaged, fallen back from; and what is free beside them",
    );
    healthy::healthy(&mut maker);
    damaged::damaged(&mut maker);
    leaves::forged_leaves(&mut maker);
    maps::forged_maps(&mut maker);
    tables::tables(&mut maker);
    roots::roots(&mut maker);
    records::records(&mut maker);
    directory::directory(&mut maker);
    patches::patches(&mut maker);
    places::places(&mut maker);
    maker.finish()
}

/// The segments of both checkpoints that a slot names.
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

/// Takes the first segment of the log away, so that nothing but the checkpoint has what it held.
fn erase_log(forge: &mut Forge) {
    let end = 16_384 + forge.table[0].end as usize;
    forge.data[16_384 + forge.sector as usize..end].fill(0);
}

/// A store whose newest slot names a checkpoint with `changes`, and none before. The log is there from its beginning.
fn with_one(changes: &Changes) -> Forge {
    named(store(), |checkpoint| checkpoint.finish(changes))
}

/// The store, and its newest slot names the checkpoint that is written so.
fn named(mut forge: Forge, write: impl FnOnce(Checkpoint<'_>) -> Vec<u8>) -> Forge {
    let reference = write(Checkpoint::begin(&mut forge, PLACES[0]));
    let last = forge.last;
    name_in_slot(&mut forge, &[&reference], last);
    forge
}

/// The store, and one document more in a second segment of the log.
fn in_two_segments() -> Forge {
    let mut forge = store();
    forge.segment(forge.last + 1);
    forge.commit(&[Record::put(1, &text("second"), &saying(9))]);
    forge
}

/// A store whose slot names two checkpoints, the newest with `damage` at that offset of its segment.
pub(in crate::make) fn with_two(damage: Option<usize>) -> Forge {
    let mut forge = store();
    let before = Checkpoint::begin(&mut forge, PLACES[0]).finish(&Changes::default());
    forge.commit(&[Record::put(1, &text("between"), &saying(1))]);
    let newest = Checkpoint::begin(&mut forge, PLACES[1]).finish(&Changes::default());
    let last = forge.last;
    name_in_slot(&mut forge, &[&newest, &before], last);
    if let Some(at) = damage {
        forge.data[16_384 + PLACES[1] as usize * 4096 + at] ^= 1;
    }
    forge
}

/// A forged checkpoint that must not be believed: the log behind it is gone, so whoever believes it, or falls back, shows.
fn disbelieved(maker: &mut Maker, clauses: &[&str], name: impl Into<String>, changes: &Changes) {
    disbelieved_file(maker, clauses, name, with_one(changes));
}

/// The same of any file.
fn disbelieved_file(maker: &mut Maker, clauses: &[&str], name: impl Into<String>, mut forge: Forge) {
    let name = name.into();
    maker.holds(
        &[&["R-5.2"], clauses].concat(),
        &["Checkpoint", "Fallback"],
        format!("{name}: the log is read instead"),
        &forge.data,
        forge.state(),
    );
    erase_log(&mut forge);
    let expect = corrupt(&["R-4.1", "R-4.3"], Some(16_384 + u64::from(forge.sector)));
    maker.refused(
        &[&["R-5.2"], clauses].concat(),
        &["Checkpoint", "Fallback"],
        format!("{name}, and the log is gone"),
        &forge.data,
        expect,
    );
}

/// Fields of the root in place of its own.
fn root(name: &str, value: Value) -> Changes {
    Changes { root: [(name.to_owned(), value)].into(), ..Changes::default() }
}
