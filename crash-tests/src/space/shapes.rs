//! The workloads.

use holotype_model::check::Rng;

use super::Tally;
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
    /// For each byte that callers wrote, so many tenths may be written for maintenance, at most.
    cost: u64,
    /// So many tenths of the live bytes, and segments, at any moment.
    moment: (u64, u64),
    /// The end of the file is not cut off and given back for ever.
    gives_back_seldom: bool,
}

pub(super) const UPDATES: Shape = Shape {
    documents: 4000,
    len: 200,
    writes: 12_000,
    pace: 16,
    write: |store, rng, n, count| store.put(rng.below(count) as i64, n),
    cost: 45,
    moment: (30, 5),
    gives_back_seldom: true,
};

/// Nine of ten go to a tenth of the documents.
pub(super) const FEW: Shape = Shape {
    write: |store, rng, n, count| {
        let among = if rng.one_in(10) { count } else { count / 10 };
        store.put(rng.below(among) as i64, n)
    },
    cost: 41,
    ..UPDATES
};

/// What is put in front is taken out behind.
pub(super) const QUEUE: Shape = Shape {
    write: |store, _, n, count| {
        store.put(count as i64 + n, n)?;
        store.delete(n)
    },
    cost: 35,
    ..UPDATES
};

pub(super) const DELETED: Shape = Shape {
    writes: 3600,
    write: |store, _, n, _| store.delete(n * 10 / 9),
    // The deletes are short, and what they leave dead is long.
    cost: 770,
    pace: 2,
    gives_back_seldom: false,
    ..UPDATES
};

pub(super) const ADDED: Shape = Shape {
    documents: 0,
    writes: 4000,
    write: |store, _, n, _| store.put(n, n),
    cost: 1,
    moment: (30, 6),
    ..UPDATES
};

pub(super) const SMALL: Shape = Shape { documents: 60, writes: 4000, cost: 8, moment: (30, 12), ..UPDATES };

/// Each takes several segments.
pub(super) const LONG: Shape =
    Shape { documents: 40, len: 3 * SEGMENT as usize, writes: 200, pace: 1, moment: (30, 8), ..UPDATES };

/// A backup is made in the midst of it, which gives back what it kept.
pub(super) const COPIED: Shape = Shape {
    writes: 8000,
    write: |store, rng, n, count| {
        if n == 4000 {
            store.back_up()?;
        }
        store.put(rng.below(count) as i64, n)
    },
    ..UPDATES
};

/// Carries out the workload: bounds hold between the writes, at rest, and once the store is compacted.
pub(super) fn run(shape: &Shape, tally: &mut Tally) -> Result<(), String> {
    let mut store = Measured::create(&options(), shape.len)?;
    let mut rng = Rng::seeded(shape.writes as u64);
    for key in 0..shape.documents as i64 {
        store.put(key, 0)?;
    }
    store.come_to_rest(tally)?;
    let before = store.db.stats();
    for n in 0..shape.writes {
        (shape.write)(&mut store, &mut rng, n as i64, shape.documents)?;
        tally.calls += 1;
        if n % shape.pace == 0 {
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
    if store.db.stats().segments > 16 && free < 5 {
        return Err(format!("{free} segments are free at rest: {:#?}", store.db.stats()));
    }
    let (after, is_due) = (store.db.stats(), store.step(tally)?);
    if is_due {
        return Err("a store at rest does not stay so".to_owned());
    }
    let user = after.space.user_bytes - before.space.user_bytes;
    let work = |stats: &holotype::Stats| stats.space.relocated_bytes + stats.space.checkpoint_written_bytes;
    let cost = work(&after) - work(&before);
    if cost * 10 > user * shape.cost {
        return Err(format!("{cost} bytes were moved and written for {user} of callers': {after:#?}"));
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
    // spec: P-3.8. Cleaning and checkpoints are done in steps of bounded length.
    if store.longest_step > 3 * u64::from(SEGMENT) {
        return Err(format!("one step wrote {} bytes", store.longest_step));
    }
    // spec: P-5.4. A file is not cut before at least half as many bytes of log were written since then
    // as the cut gives back.
    let written = after.log_end - before.log_end;
    if shape.gives_back_seldom && store.given_back > 2 * written + before.file_bytes {
        return Err(format!("{} bytes were cut off, {written} written", store.given_back));
    }
    store.look()?;
    store.compact(tally)?;
    store.is_within(11, 7, "compacted", tally)?;
    store.look()?;
    store.reopen(&options())?;
    store.look()
}
