//! The copies that a run makes of its store, each on a disk of its own.

use std::sync::Arc;

use holotype::storage::Storage;
use holotype::storage::sim::{Call, FaultPlan, SimDisk};
use holotype::{BackupReport, Db};

use crate::adapter::Contents;
use crate::setup::Setup;

#[derive(Debug)]
pub(super) struct Copies {
    setup: Setup,
    /// What goes wrong with the disk of each.
    plan: FaultPlan,
    /// The last one that is whole.
    last: Option<SimDisk>,
    pub(super) whole: u64,
    pub(super) failed: u64,
    /// Faults that struck.
    pub(super) hits: u64,
    /// The calls on the disk of each copy, where they are asked for.
    pub(super) recorded: Vec<Vec<Call>>,
    records: bool,
}

impl Copies {
    pub(super) fn new(setup: Setup, plan: FaultPlan) -> Copies {
        Copies { setup, plan, last: None, whole: 0, failed: 0, hits: 0, recorded: Vec::new(), records: false }
    }

    pub(super) fn record_calls(&mut self) {
        self.records = true;
    }

    /// Copies the store, from the copy before where there is one.
    pub(super) fn make(&mut self, db: &Db) -> holotype::Result<BackupReport> {
        let disk = Arc::new(self.setup.disk());
        if self.records {
            disk.record_calls();
        }
        disk.set_faults(self.plan.clone());
        let earlier = self.last.as_ref().map(|last| Box::new(last.fork()) as Box<dyn Storage>);
        let made = db.backup_to(&disk, earlier);
        self.hits += disk.fault_hits();
        if self.records {
            self.recorded.push(disk.recorded_calls());
        }
        disk.set_faults(FaultPlan::none());
        // A file gets its name when it is whole, and durable, beside what is checked here.
        disk.sync_directory().expect("nothing hinders it any more");
        match &made {
            Ok(_) => {
                self.whole += 1;
                self.last = Some(disk.fork());
            }
            Err(_) => self.failed += 1,
        }
        made
    }

    /// What the last copy holds after a power cut that takes all that it may take; a copy is durable when it is made (spec: P-10.3).
    pub(super) fn check(&self) -> Result<Contents, String> {
        crate::copy::contents(self.setup, self.last.as_ref().expect("one was made just now"))
    }
}
