//! What must hold once the fault is over: in the store that met it, and after a power cut in the one that recovers.

use holotype::storage::sim::{Decisions, FaultKind, SimDisk};
use holotype::{Db, Error};
use holotype_model::{Document, Durability, Ending, Key, Op, Oracle, Value};

use super::Run;
use crate::adapter;
use crate::client::Client;
use crate::faults::Tally;
use crate::live::Live;
use crate::witness::Witness;

/// Ways in which the power cut after each run is tried.
const CUTS: u64 = 3;

impl Run {
    /// Reads go on; writes do if all that was wrong was a full disk.
    pub(super) fn after_the_fault(&mut self) -> Result<(), String> {
        let Some(mut client) = self.client.take() else { return Ok(()) };
        let result = self.goes_on(&mut client);
        self.client = Some(client);
        result
    }

    fn goes_on(&mut self, client: &mut Client) -> Result<(), String> {
        let key = Key::from("room");
        let document = Document::from([("n".to_owned(), Value::Int(1))]);
        let collection = "a".to_owned();
        let put = Op::Put { collection, key, document, durability: Durability::Synced };
        if !self.stopped || self.judges.is_empty() {
            if let Err(error) = client.try_apply(&put)
                && !self.lost_by_the_disk()
            {
                return self.fail(format!("nothing is wrong any more, and yet a write fails: {error}"));
            }
            for judge in &mut self.judges {
                let foretold = judge.histories()[0].clone().apply(&put);
                judge.judge(&put, &foretold).map_err(|d| d.found)?;
            }
        } else if !matches!(client.try_apply(&put), Err(Error::Poisoned { .. })) {
            return self.fail("it stopped writing, and now goes on");
        }
        match adapter::contents(client.db()) {
            Ok(dump) => {
                let shown = |judge: &Oracle| judge.clone().judge_dump(&dump).is_ok();
                if self.judges.iter().any(shown) || self.lost_by_the_disk() {
                    Ok(())
                } else {
                    self.fail("reads show what no legal state holds")
                }
            }
            // A failed sync may have dropped what was written out and not yet durable.
            Err(Error::Corrupt(_)) if matches!(self.fault.kind, FaultKind::Sync(_)) => Ok(()),
            Err(error) => self.fail(format!("reads do not go on: {error}")),
        }
    }

    /// Short and interrupted calls are no failures.
    pub(super) fn must_be_harmless(&self) -> Result<(), String> {
        let harmless = match self.fault.kind {
            FaultKind::Short => true,
            FaultKind::Interrupted => !self.fault.lasts,
            _ => false,
        };
        if harmless && self.any_failed {
            self.fail("a call failed that only had to be repeated")
        } else {
            Ok(())
        }
    }

    /// The process is gone, then the power: what was acknowledged is there.
    pub(super) fn recover(&mut self, tally: &mut Tally) -> Result<(), String> {
        self.witness.switch_off();
        self.client = None;
        for choice in 0..CUTS {
            let disk = self.disk.fork();
            // All old, then by the seed.
            disk.set_decisions(if choice == 0 {
                Decisions::path(Vec::new())
            } else {
                Decisions::seeded(self.fault.call * CUTS + choice)
            });
            disk.crash();
            tally.recoveries += 1;
            let opened = self
                .judges
                .iter()
                .map(|judge| Live::open(self.setup, disk.fork(), judge.clone(), Ending::PowerCut))
                .find_map(|opened| opened.map_err(|what| self.doing = what).ok());
            match opened {
                Some((live, ..)) => match live.verify() {
                    // Behind a checkpoint, what such a disk lost is met only by those who look for it.
                    Err(_) if self.lost_by_the_disk() => {}
                    verified => verified?,
                },
                // It promised on the word of a disk that lied.
                None if self.lost_by_the_disk() => self.must_open_or_say(&disk)?,
                None => return self.fail("after a power cut"),
            }
        }
        Ok(())
    }

    fn must_open_or_say(&self, disk: &SimDisk) -> Result<(), String> {
        match Db::open_on(Witness::new(disk.clone()), &self.setup.options()) {
            Ok(_) | Err(Error::Corrupt(_) | Error::NotHolotype { .. }) => Ok(()),
            Err(error) => self.fail(format!("after a power cut: {error}")),
        }
    }
}
