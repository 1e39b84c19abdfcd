//! The workloads.
//!
//! Their bounds are what was measured, and some 2 percent. Format 3.0 has raised some, for two causes:
//!
//! * Checkpoints are longer, by some 10 bytes for each log segment, whose row in the table has a fixed width, and by the rest of a sector.
//!   `LONG` and `QUEUE` move what they moved before, to the byte, in as many checkpoints; `UPDATES`, `FEW` and `COPIED` all but that.
//! * Two checkpoints may share a segment, so that the last place in the file is more often one of the log's. That is cleaned, or the log goes
//!   on elsewhere, where a checkpoint's segment came free by itself: `DELETED`, `BURSTS`, `SMALL` and `COMPACTED` do it some more times, and
//!   `TIDES` moves a checkpoint a fifth as often. When a file is cut, and what stands at its end where it rests, is another for that: `COPIED`
//!   is cut once less, `COMPACTED` rests three segments longer, within what rest allows, and most others rest in a shorter file.

use holotype_model::check::Rng;

use super::Tally;
use super::bill::{Bill, Meter};
use super::measured::{Measured, SEGMENT, options};

/// A workload: documents are put, then it goes on.
pub(super) struct Shape {
    /// Documents at the beginning, and the bytes of each.
    documents: usize,
    len: usize,
    /// Writes behind that.
    writes: usize,
    /// Writes between two steps of maintenance.
    pace: usize,
    write: fn(&mut Measured, &mut Rng, i64, usize) -> Result<(), String>,
    /// What it may cost.
    most: Bill,
    /// So many tenths of the live bytes, and segments, at any moment.
    moment: (u64, u64),
    /// The end of the file is not cut off and given back for ever.
    gives_back_seldom: bool,
    /// The file may have so many bytes.
    file_max: Option<u64>,
}

pub(super) const UPDATES: Shape = Shape {
    documents: 4000,
    len: 200,
    writes: 12_000,
    pace: 16,
    write: |store, rng, n, count| store.put(rng.below(count) as i64, n),
    most: Bill([3680, 429, 645, 1877, 1576, 3159]),
    moment: (30, 5),
    gives_back_seldom: true,
    file_max: None,
};

/// Nine of ten go to a tenth of the documents.
pub(super) const FEW: Shape = Shape {
    write: |store, rng, n, count| {
        let among = if rng.one_in(10) { count } else { count / 10 };
        store.put(rng.below(among) as i64, n)
    },
    most: Bill([3350, 423, 636, 1829, 1780, 3176]),
    ..UPDATES
};

/// What is put in front is taken out behind.
pub(super) const QUEUE: Shape = Shape {
    write: |store, _, n, count| {
        store.put(count as i64 + n, n)?;
        store.delete(n)
    },
    most: Bill([2925, 506, 761, 1834, 1676, 1208]),
    ..UPDATES
};

pub(super) const DELETED: Shape = Shape {
    writes: 3600,
    write: |store, _, n, _| store.delete(n * 10 / 9),
    // The deletes are short, and what they leave dead is long.
    most: Bill([75100, 644, 978, 1908, 2383, 2520]),
    pace: 2,
    gives_back_seldom: false,
    ..UPDATES
};

pub(super) const ADDED: Shape = Shape {
    documents: 0,
    writes: 4000,
    write: |store, _, n, _| store.put(n, n),
    most: Bill([82, 53, 89, 4207, 1460, 1329]),
    moment: (30, 6),
    ..UPDATES
};

pub(super) const SMALL: Shape = Shape {
    documents: 60,
    writes: 4000,
    most: Bill([650, 346, 523, 11452, 6228, 4611]),
    moment: (30, 12),
    ..UPDATES
};

/// Each takes several segments.
pub(super) const LONG: Shape = Shape {
    documents: 40,
    len: 3 * SEGMENT as usize,
    writes: 200,
    most: Bill([444, 808, 1213, 1584, 1589, 863]),
    pace: 1,
    moment: (30, 8),
    ..UPDATES
};

/// A backup is made in the midst of it, which gives back what it kept.
pub(super) const COPIED: Shape = Shape {
    writes: 8000,
    most: Bill([3590, 288, 434, 1840, 1578, 3190]),
    write: |store, rng, n, count| {
        if n == 4000 {
            store.back_up()?;
        }
        store.put(rng.below(count) as i64, n)
    },
    ..UPDATES
};

/// As much is written as there is, and then nobody writes for a while.
pub(super) const BURSTS: Shape = Shape {
    write: |store, rng, n, count| {
        if n % 600 == 0 {
            store.come_to_rest(&mut Tally::default())?;
        }
        store.put(rng.below(count) as i64, n)
    },
    documents: 600,
    writes: 6000,
    most: Bill([2080, 418, 632, 2574, 2284, 3171]),
    moment: (30, 8),
    ..UPDATES
};

/// Most goes, and comes again.
pub(super) const TIDES: Shape = Shape {
    write: |store, _, n, count| {
        let (round, key) = (n / count as i64, n % count as i64);
        if key == 0 {
            store.come_to_rest(&mut Tally::default())?;
        }
        if round % 2 == 0 { store.delete(key) } else { store.put(key, n) }
    },
    documents: 1500,
    writes: 1500 * 6,
    most: Bill([2910, 1472, 2336, 3220, 1646, 1349]),
    moment: (1000, 1000),
    pace: 2,
    gives_back_seldom: false,
    ..UPDATES
};

/// The file may not grow beyond twice what is live, and a little.
pub(super) const LIMITED: Shape = Shape {
    documents: 2000,
    writes: 10_000,
    pace: usize::MAX,
    file_max: Some(900 << 10),
    most: Bill([2060, 160, 240, 1918, 1916, 1320]),
    ..UPDATES
};

/// It is compacted again and again.
pub(super) const COMPACTED: Shape = Shape {
    documents: 1000,
    writes: 4000,
    write: |store, rng, n, count| {
        if n % 500 == 0 {
            store.compact(&mut Tally::default())?;
        }
        store.put(rng.below(count) as i64, n)
    },
    most: Bill([9398, 956, 1448, 1954, 2055, 3007]),
    moment: (30, 8),
    ..UPDATES
};

/// Carries out the workload: bounds hold between the writes, at rest, and once the store is compacted.
pub(super) fn run(shape: &Shape, tally: &mut Tally) -> Result<(), String> {
    let options = shape.file_max.map_or(options(), |most| options().max_file_bytes(most));
    let mut store = Measured::create(&options, shape.len)?;
    let mut rng = Rng::seeded(shape.writes as u64);
    for key in 0..shape.documents as i64 {
        store.put(key, 0)?;
    }
    store.come_to_rest(tally)?;
    let mut meter = Meter::new(&store);
    let before = store.db.stats();
    for n in 0..shape.writes {
        (shape.write)(&mut store, &mut rng, n as i64, shape.documents)?;
        tally.calls += 1;
        if n % 16 == 0 {
            meter.look(&store);
        }
        if n % shape.pace == shape.pace - 1 {
            let (tenths, segments) = shape.moment;
            store.is_within(tenths, segments, "between two writes", tally)?;
            // A step moves about a segment.
            for _ in 0..=2 * shape.len / SEGMENT as usize {
                store.step(tally)?;
            }
        }
    }
    store.come_to_rest(tally)?;
    store.is_within(20, 5, "at rest", tally)?;
    // spec: P-5.1, P-5.4. A store of more than 16 segments keeps its reserve: two successors, one to
    // relocate into, and a checkpoint.
    let free = store.db.stats().space.free_bytes / u64::from(SEGMENT);
    let (segments, least) = (store.db.stats().segments, if store.count() < 2000 { 2 } else { 5 });
    if segments > 16 && free < least {
        return Err(format!("{free} segments are free at rest: {:#?}", store.db.stats()));
    }
    let (after, is_due) = (store.db.stats(), store.step(tally)?);
    if is_due {
        return Err("a store at rest does not stay so".to_owned());
    }
    // spec: P-2.1. A checkpoint is due when the log written since the last one has reached the larger of
    // `checkpoint_bytes` and four times the bytes of that one.
    let most = (16 * u64::from(SEGMENT)).max(4 * after.space.checkpoint_bytes) + 2 * u64::from(SEGMENT);
    if after.space.log_since_checkpoint > most {
        return Err(format!(
            "opening has {} bytes of log to read: {after:#?}",
            after.space.log_since_checkpoint
        ));
    }
    // spec: P-3.8. Cleaning and checkpoints are done in steps of bounded length: one that opens a segment may let the file grow for the next
    // checkpoint.
    if store.longest_step > 4 * u64::from(SEGMENT) {
        return Err(format!("one step wrote {} bytes", store.longest_step));
    }
    // spec: P-5.4. A file is not cut before at least half as many bytes of log were written since then
    // as the cut gives back.
    let written = after.log_end - before.log_end;
    if shape.gives_back_seldom && store.given_back > 2 * written + before.file_bytes {
        return Err(format!("{} bytes were cut off, {written} written", store.given_back));
    }
    store.look()?;
    let compacted = store.compact(tally)?;
    store.is_within(11, 7, "compacted", tally)?;
    let bill = meter.bill(&after, compacted);
    bill.is_within(&shape.most)?;
    store.look()?;
    store.reopen(&options)?;
    store.look()
}
