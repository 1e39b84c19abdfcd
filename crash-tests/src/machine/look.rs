//! Looking at an open store: by the model, by the store itself, by a number, and by a person.

use std::hash::{Hash, Hasher};

use holotype::Corruption;
use holotype_model::index::TupleRange;
use holotype_model::{KeyRange, Op, Oracle, Outcome};

use crate::adapter;

use super::finding::{Finding, Law};
use super::hash::Mixer;
use super::running::Running;

impl Running {
    /// Reads everything, holds it against the model, and has the store check itself.
    pub(super) fn look(&mut self) -> Result<(), Finding> {
        let dump = match adapter::contents(self.client.db()) {
            Ok(dump) => dump,
            // A failed sync may have dropped what was written out and not yet durable.
            Err(_) if self.is_stopped => return Ok(()),
            Err(error) => return Err(Finding::new(Law::of_error(&error), format!("reading all: {error}"))),
        };
        // Of a copy: what a look rules out is ruled out by what comes as well, and a state that was met before is not looked at.
        let mut oracle = self.oracle.clone();
        oracle.judge_dump(&dump).map_err(|what| Finding::disagreement(Law::Serial, &what))?;
        for snapshot in self.client.snapshots() {
            self.look_through(snapshot, &mut oracle)?;
        }
        if self.is_stopped {
            return Ok(());
        }
        let report = self
            .client
            .db()
            .verify(true)
            .map_err(|error| Finding::new(Law::Verify, format!("verify: {error}")))?;
        // A root that was lost is named until the next checkpoint is there.
        let [newest, _] = self.client.db().checkpoint_places();
        let is_lost = |problem: &&Corruption| newest.is_empty() && problem.clause.0.starts_with("F-8.");
        match report.problems.iter().find(|problem| !is_lost(problem)) {
            None => Ok(()),
            Some(problem) => Err(Finding::new(Law::Verify, format!("verify: {problem}"))),
        }
    }

    fn look_through(&mut self, snapshot: u64, oracle: &mut Oracle) -> Result<(), Finding> {
        let mut ask = |op: Op| {
            let op = Op::Through { snapshot, op: Box::new(op) };
            let answer = self.client.apply(&op);
            oracle.judge(&op, &answer).map_err(|what| Finding::disagreement(Law::Snapshots, &what))?;
            if let Outcome::Failed(failure) = answer {
                return Err(Finding::new(Law::Snapshots, format!("{op}: {failure:?}")));
            }
            Ok(answer)
        };
        let Outcome::Names(names) = ask(Op::Collections)? else { unreachable!("it was judged") };
        let (reverse, limit) = (false, None);
        for collection in names {
            ask(Op::Scan { collection: collection.clone(), range: KeyRange::ALL, reverse, limit })?;
            let indexes = ask(Op::Indexes { collection: collection.clone() })?;
            let Outcome::Indexes(indexes) = indexes else { unreachable!("it was judged") };
            for (index, _) in indexes {
                let (collection, range) = (collection.clone(), TupleRange::ALL);
                ask(Op::IndexScan { collection, index, range, after: None, reverse, limit })?;
            }
        }
        Ok(())
    }

    /// One number for what the engine has in memory.
    pub(super) fn engine_fingerprint(&self) -> u64 {
        self.client.db().fingerprint()
    }

    /// One number for what the engine has in memory, of which that is `engine`, and what of the file it holds. What is left over elsewhere in the file is no part
    /// of it, although recovery looks there too, behind the end of the log.
    pub(super) fn held_fingerprint(&self, engine: u64) -> u64 {
        let mut mixer = Mixer::default();
        (engine, self.disk().fingerprint_within(&self.client.db().held_places())).hash(&mut mixer);
        mixer.finish()
    }

    /// One number for everything that matters to what comes; `engine` is that for what the engine has in memory.
    pub(super) fn fingerprint(&self, engine: u64) -> u64 {
        let mut mixer = Mixer::default();
        (0u8, engine).hash(&mut mixer);
        self.disk().fingerprint().hash(&mut mixer);
        (&self.oracle, &self.unsealed, &self.deferred, &self.unattested).hash(&mut mixer);
        (self.is_full, self.is_stopped, self.sync.as_ref().map(|sync| sync.is_on_disk)).hash(&mut mixer);
        mixer.finish()
    }

    /// What a person wants to know of it.
    pub(super) fn about(&self) -> String {
        let stats = self.stats();
        let mut about = format!(
            "open: {} documents, commit {:#x}, durable {:#x}, file of {} bytes, log to {:#x}",
            stats.documents, stats.lsn, stats.durable_lsn, stats.file_bytes, stats.log_end
        );
        let unacknowledged = self.oracle.histories()[0].unacknowledged().count();
        let facts = [
            (unacknowledged > 0, format!("; {unacknowledged} commits may be lost")),
            (!self.deferred.is_empty(), format!("; {} commits nobody waits for", self.deferred.len())),
            (self.is_in_transaction(), "; in a transaction".to_owned()),
            (self.sync.is_some(), "; a sync is under way".to_owned()),
            (stats.snapshots > 0, "; a snapshot is held".to_owned()),
            (self.is_full, "; the disk is full".to_owned()),
            (self.is_stopped, "; stopped by a failed sync".to_owned()),
        ];
        facts.into_iter().filter(|(is_so, _)| *is_so).for_each(|(_, fact)| about.push_str(&fact));
        about
    }
}
