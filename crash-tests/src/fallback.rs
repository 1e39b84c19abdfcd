//! What is there twice is enough once: with either slot damaged, or either of the checkpoints that it names, or one of each, a store at rest
//! opens with all it held; and when it has gone on for a while, it can bear the same again (spec, P-2.4, P-4.1).
//!
//! The same where power was cut in the midst of a checkpoint, of cleaning or of compaction: the older checkpoint is enough. There a slot
//! may have been lost to the cut already, so damage to the other may be told in place of being borne.

use std::fmt;
use std::ops::Range;

use holotype::format::superblock::{SLOT_LEN, SLOT_OFFSETS};
use holotype::storage::sim::{Decisions, SimDisk};
use holotype::{Db, Error};
use holotype_model::{Durability, Ending, Op};

use crate::adapter::{self, Contents};
use crate::crash::{Start, blob, put, starts};
use crate::live::{Live, Moment, Step, Violation};
use crate::setup::Setup;
use crate::witness::Witness;

/// About so many sectors of a checkpoint are lost before the store goes on.
const AGAIN: usize = 6;

/// What was tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Stores at rest, damaged in one place.
    pub single: u64,
    /// In a slot and in a checkpoint.
    pub double: u64,
    /// Once more, after they had gone on.
    pub again: u64,
    /// After a power cut.
    pub cut: u64,
}

impl Tally {
    /// All of them.
    pub fn cases(&self) -> u64 {
        self.single + self.double + self.again + self.cut
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { single, double, again, cut } = self;
        write!(
            f,
            "stores damaged in a slot or a checkpoint: {single} in one place, {double} in one of each, {again} for a second time, {cut} after a \
             power cut"
        )
    }
}

/// Tries every prepared store, for as long as `goes_on`. Whether that was long enough for all.
///
/// # Errors
/// What a store did that it may not do.
pub fn every_check(
    setup: Setup,
    tally: &mut Tally,
    mut goes_on: impl FnMut() -> bool,
) -> Result<bool, String> {
    for start in starts(setup.segment_bytes) {
        let is_over = try_start(setup, &start, tally, &mut goes_on);
        if !is_over.map_err(|what| format!("{}: {what}", start.name))? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn try_start(
    setup: Setup,
    start: &Start,
    tally: &mut Tally,
    goes_on: &mut impl FnMut() -> bool,
) -> Result<bool, String> {
    let mut live = start.make(setup)?;
    // Longer than what the log has reserved: it goes on where a checkpoint was, once that is free.
    let long = put("again", blob(4 * setup.segment_bytes as usize), Durability::Synced);
    let checkpoint = Step::Do(Op::Checkpoint);
    for step in [checkpoint, long, Step::Maintain, Step::Do(Op::Compact)] {
        if tally.cases() > 0 && !goes_on() {
            return Ok(false);
        }
        for moment in live.fork().step(&step)? {
            cut(setup, &moment, tally).map_err(|what| format!("power cut, {step}: {what}"))?;
        }
        live.step(&step)?;
        live.step(&Step::Do(Op::Flush))?;
        let rest = Rest::of(setup, live.disk().fork())?;
        rest.bears_damage(tally).map_err(|what| format!("{step}: {what}"))?;
    }
    Ok(true)
}

/// A store at rest: nothing of it was in memory alone.
struct Rest {
    setup: Setup,
    disk: SimDisk,
    contents: Contents,
    /// Where its slots are, and its checkpoints, the newest first.
    slots: Vec<Range<u64>>,
    checkpoints: [Vec<Range<u64>>; 2],
}

impl Rest {
    fn of(setup: Setup, disk: SimDisk) -> Result<Rest, Violation> {
        let (db, _off) = open(setup, &disk).map_err(|error| format!("opening: {error}"))?;
        let contents = adapter::contents(&db).map_err(|error| format!("reading: {error}"))?;
        let slots = SLOT_OFFSETS.map(|at| at..at + SLOT_LEN as u64).to_vec();
        Ok(Rest { setup, contents, slots, checkpoints: db.checkpoint_places(), disk })
    }

    fn bears_damage(&self, tally: &mut Tally) -> Result<(), String> {
        let slots = self.sectors(&self.slots);
        for checkpoint in &self.checkpoints {
            let sectors = self.sectors(checkpoint);
            for sector in &sectors {
                tally.single += 1;
                self.bears(&[*sector])?;
                // A slot is one checksum: any of its sectors stands for all.
                for slot in SLOT_OFFSETS.map(|at| at / u64::from(self.setup.sector)) {
                    tally.double += 1;
                    self.bears(&[slot, *sector])?;
                }
            }
            // Of its segments, which have records of others too: headers, leaves, which are read later than the root, and roots.
            for sector in sectors.iter().step_by((sectors.len() / AGAIN).max(1)).chain(sectors.last()) {
                self.bears_again(*sector, tally)?;
            }
        }
        for slot in &slots {
            tally.single += 1;
            self.bears(&[*slot])?;
        }
        SLOT_OFFSETS.iter().try_for_each(|at| self.bears_again(at / u64::from(self.setup.sector), tally))
    }

    /// The sectors of these places in which something stands.
    fn sectors(&self, places: &[Range<u64>]) -> Vec<u64> {
        let (bytes, sector) = (self.disk.bytes(), u64::from(self.setup.sector));
        let all = places.iter().flat_map(|place| place.start / sector..place.end / sector);
        let is_used = |at: &u64| {
            let start = (at * sector) as usize;
            bytes.get(start..start + sector as usize).is_some_and(|bytes| bytes.iter().any(|byte| *byte != 0))
        };
        all.filter(is_used).collect()
    }

    /// Opens a copy in which these sectors are lost.
    fn bears(&self, sectors: &[u64]) -> Result<SimDisk, String> {
        let disk = self.disk.fork();
        sectors.iter().for_each(|sector| disk.zero_sector(*sector));
        let say = |error: Error| format!("without sectors {sectors:?}: {error}");
        let (db, _off) = open(self.setup, &disk).map_err(say)?;
        if adapter::contents(&db).map_err(say)? == self.contents {
            Ok(disk)
        } else {
            Err(format!("without sectors {sectors:?} it holds something else"))
        }
    }

    /// The same after this damage was borne once, and the store went on.
    fn bears_again(&self, sector: u64, tally: &mut Tally) -> Result<(), String> {
        for is_long in [false, true] {
            let disk = self.bears(&[sector])?;
            let later = self.go_on(&disk, is_long);
            let later = later.map_err(|error| format!("without sector {sector}, later: {error}"))?;
            let later = Rest::of(self.setup, later)?;
            let places = [&later.slots, &later.checkpoints[0], &later.checkpoints[1]];
            for other in places.into_iter().flat_map(|place| later.sectors(place)) {
                tally.again += 1;
                later.bears(&[other]).map_err(|what| format!("after sector {sector} was lost, {what}"))?;
            }
        }
        Ok(())
    }

    /// Writes, and takes a checkpoint; goes on for long enough to use again what is free then, too.
    fn go_on(&self, disk: &SimDisk, is_long: bool) -> holotype::Result<SimDisk> {
        let (db, _off) = open(self.setup, disk)?;
        let a = db.collection("a");
        a.put("again", &holotype::doc! { "n": 1 })?;
        db.checkpoint()?;
        if !is_long {
            return Ok(disk.fork());
        }
        while db.maintain()? {}
        let long = "x".repeat(self.setup.segment_bytes as usize);
        a.put("again", &holotype::doc! { "long": long })?;
        Ok(disk.fork())
    }
}

/// Cuts the power, so that everything not synced is lost, or nothing is; and damages what is named then.
fn cut(setup: Setup, moment: &Moment, tally: &mut Tally) -> Result<(), String> {
    let old = moment.disk.fork();
    old.set_decisions(Decisions::path(Vec::new()));
    old.crash();
    for disk in [old, moment.disk.fork()] {
        // Opening mends a torn slot: what is damaged is the disk as the cut has left it.
        let rest = Rest::of(setup, disk.fork())?;
        let rest = Rest { disk, ..rest };
        let sectors = rest.sectors(&rest.checkpoints[0]);
        for sector in sectors.first().into_iter().chain(sectors.last()) {
            tally.cut += 1;
            let damaged = rest.disk.fork();
            damaged.zero_sector(*sector);
            Live::open(setup, damaged, moment.oracle.clone(), Ending::PowerCut)
                .map_err(|what| format!("without sector {sector} of the newest checkpoint: {what}"))?;
        }
        for slot in SLOT_OFFSETS.map(|at| at / u64::from(setup.sector)) {
            tally.cut += 1;
            let damaged = rest.disk.fork();
            damaged.zero_sector(slot);
            match open(setup, &damaged) {
                Ok((db, _off)) => {
                    let found = adapter::contents(&db).map_err(|error| error.to_string())?;
                    let judged = moment.oracle.clone().judge_ending(Ending::PowerCut, &found);
                    judged
                        .map_err(|wrong| format!("without sector {slot} of a slot, found {}", wrong.found))?;
                }
                Err(Error::Corrupt(_)) => {}
                Err(error) => return Err(format!("without sector {slot} of a slot: {error}")),
            }
        }
    }
    Ok(())
}

/// A store whose process is gone when the second of the two goes.
fn open(setup: Setup, disk: &SimDisk) -> holotype::Result<(Db, Off)> {
    let witness = Witness::new(disk.clone());
    let db = Db::open_on(witness.clone(), &setup.options())?;
    Ok((db, Off(witness)))
}

struct Off(Witness);

impl Drop for Off {
    fn drop(&mut self) {
        self.0.switch_off();
    }
}
