//! A store that nobody has open: its disk, and all that the next opening may find.

use std::hash::{Hash, Hasher};

use holotype::format::superblock::{SLOT_LEN, SLOT_OFFSETS};
use holotype::storage::sim::{SimDisk, What};
use holotype::{Db, Error};
use holotype_model::{Ending, Oracle, Survived};

use crate::adapter;
use crate::client::Client;
use crate::setup::Setup;
use crate::witness::Witness;

use super::events::Events;
use super::finding::{Finding, Law};
use super::hash::Mixer;
use super::running::Running;

/// How the life before came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum End {
    Closed,
    Killed,
    Cut,
    /// Killed, and a sector of the newest checkpoint lost since.
    CheckpointLost,
    /// Killed, and a sector of the log lost since.
    SectorLost,
}

/// A store that is not open.
#[derive(Debug)]
pub(super) struct Off {
    disk: SimDisk,
    judges: Vec<Oracle>,
    end: End,
}

/// How an opening came out.
pub(super) struct Opened {
    /// The store; none where it says that it is damaged, and is.
    pub(super) running: Option<Running>,
    pub(super) events: Events,
    /// What a power cut after each change that opening made leaves.
    pub(super) cuts: Vec<Off>,
}

impl Opened {
    /// What was lost was told, or was not needed.
    fn over(events: Events) -> Opened {
        Opened { running: None, events, cuts: Vec::new() }
    }
}

impl Off {
    /// A disk on which nothing is.
    pub(super) fn blank(setup: Setup) -> Self {
        Off { disk: setup.disk(), judges: vec![Oracle::new(setup.limits())], end: End::Killed }
    }

    pub(super) fn closed(disk: SimDisk, judges: Vec<Oracle>) -> Self {
        Off { disk, judges, end: End::Closed }
    }

    pub(super) fn killed(disk: SimDisk, judges: Vec<Oracle>) -> Self {
        Off { disk, judges, end: End::Killed }
    }

    /// The power goes while the disk is as it is; what that leaves is settled by who reads it.
    pub(super) fn cut(disk: SimDisk, judges: Vec<Oracle>) -> Self {
        disk.set_capacity(None);
        disk.crash();
        Off { disk, judges, end: End::Cut }
    }

    /// The process is killed, and a sector of a checkpoint is lost: the one before is enough.
    pub(super) fn checkpoint_lost(disk: SimDisk, judges: Vec<Oracle>, sector: u64) -> Self {
        disk.zero_sector(sector);
        Off { disk, judges, end: End::CheckpointLost }
    }

    /// The process is killed, and a sector of the log is lost.
    pub(super) fn sector_lost(disk: SimDisk, judges: Vec<Oracle>, sector: u64) -> Self {
        disk.zero_sector(sector);
        Off { disk, judges, end: End::SectorLost }
    }

    pub(super) fn disk(&self) -> &SimDisk {
        &self.disk
    }

    /// The same, on a copy of the disk of a caller's own.
    pub(super) fn on(&self, disk: SimDisk) -> Off {
        Off { disk, judges: self.judges.clone(), end: self.end }
    }

    fn ending(&self) -> Ending {
        match self.end {
            End::Closed => Ending::Close,
            End::Killed | End::CheckpointLost | End::SectorLost => Ending::Kill,
            End::Cut => Ending::PowerCut,
        }
    }

    /// Opens the store, and holds what is found against what is legal.
    pub(super) fn open(self, setup: Setup) -> Result<Opened, Finding> {
        let witness = Witness::recording(self.disk.clone());
        let db = match Db::open_on(witness.clone(), &setup.options()) {
            Ok(db) => db,
            // spec. Something behind it attests that what is lost was durable.
            Err(Error::Corrupt(_)) if self.end == End::SectorLost => {
                return Ok(Opened::over(Events::ATTESTED));
            }
            Err(error) => return Err(Finding::new(Law::of_error(&error), format!("opening: {error}"))),
        };
        let moments = witness.take();
        let dump = match adapter::contents(&db) {
            Ok(dump) => dump,
            Err(Error::Corrupt(_)) if self.end == End::SectorLost => {
                witness.switch_off();
                return Ok(Opened::over(Events::default()));
            }
            Err(error) => {
                witness.switch_off();
                return Err(Finding::new(Law::of_error(&error), format!("reading all: {error}")));
            }
        };
        let (oracle, survived) = self.judge(&dump).inspect_err(|_| witness.switch_off())?;
        if self.end == End::SectorLost {
            witness.switch_off();
            return Ok(Opened::over(Events::default()));
        }
        let events = self.events(&db.stats(), survived);
        // spec. What it found after a power cut it finds again, wherever the opening was cut short. Otherwise nothing that it
        // found is promised before it is over.
        let judges = match self.end {
            End::Cut => vec![oracle.clone()],
            _ => self.judges,
        };
        let last = moments.len().saturating_sub(1);
        let on_the_way = moments.into_iter().take(last);
        let cuts = on_the_way.map(|disk| Off::cut(disk, judges.clone())).collect();
        let running = Running::new(setup, Client::new(db), witness, oracle);
        Ok(Opened { running: Some(running), events, cuts })
    }

    /// The judge that goes on from what was found.
    fn judge(&self, dump: &adapter::Contents) -> Result<(Oracle, Survived), Finding> {
        let mut disagreement = None;
        for judge in &self.judges {
            let mut judge = judge.clone();
            match judge.judge_ending(self.ending(), dump) {
                Ok(survived) => return Ok((judge, survived)),
                Err(what) => disagreement = Some(what),
            }
        }
        let what = disagreement.expect("there is a judge");
        let law = if self.end == End::SectorLost { Law::TornIsNotCorrupt } else { Law::Prefix };
        Err(Finding::disagreement(law, &what))
    }

    fn events(&self, stats: &holotype::Stats, survived: Survived) -> Events {
        let mut events = Events::default();
        if self.end == End::CheckpointLost {
            events = events.with(Events::FALLBACK);
        }
        if self.end == End::Cut {
            let slot = |sector: u64| {
                let offset = sector * u64::from(stats.sector);
                SLOT_OFFSETS.iter().any(|at| (*at..at + SLOT_LEN as u64).contains(&offset))
            };
            // Whether something old and something new came out of what was written.
            let (mut old, mut new, mut torn_slot) = (false, false, false);
            for decision in self.disk.decisions() {
                if let What::Sector(sector) = decision.what {
                    old |= decision.choice == 0;
                    new |= decision.choice + 1 == decision.alternatives;
                    torn_slot |= slot(sector);
                }
            }
            let lost = survived.kept < survived.unacknowledged;
            events = events
                .with_if(Events::TORN_TAIL, lost && old && new)
                .with_if(Events::SLOT_IN_DOUBT, torn_slot)
                .with_if(Events::PARTLY_KEPT, lost && survived.kept > 0);
        }
        events
    }

    pub(super) fn fingerprint(&self) -> u64 {
        let mut mixer = Mixer::default();
        (self.disk.fingerprint(), self.end).hash(&mut mixer);
        self.judges.hash(&mut mixer);
        mixer.finish()
    }

    pub(super) fn about(&self) -> String {
        let end = match self.end {
            End::Closed => "closed",
            End::Killed => "killed",
            End::Cut => "the power was cut",
            End::CheckpointLost => "killed, and a sector of the newest checkpoint is lost",
            End::SectorLost => "killed, and a sector of the log is lost",
        };
        let states = self.disk.states();
        format!("not open: {end}; the disk may be in {states} states")
    }
}
