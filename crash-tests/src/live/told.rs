//! What a store tells of itself: its numbers, its own check, and how far a backup has come.

use holotype::{BackupProgress, BackupReport};

use crate::adapter::Contents;

use super::{Live, Violation};

impl Live {
    /// The numbers of the store are those of what it holds.
    pub(super) fn count(&self, dump: &Contents) -> Result<(), Violation> {
        let stats = self.db().stats();
        let found = (stats.collections, stats.documents);
        let expected = (dump.documents.len() as u64, documents(dump));
        if found != expected {
            return Err(format!("{found:?} collections and documents are told, and {expected:?} are there"));
        }
        let (found, expected) = (self.db().snapshots().len(), self.client.snapshots().len());
        if found != expected {
            return Err(format!("{found} snapshots are told, and {expected} are held"));
        }
        Ok(())
    }

    /// Lets the store check itself, as deep as it can.
    pub fn verify(&self) -> Result<(), Violation> {
        let report = self.db().verify(true).map_err(|error| format!("verify: {error}"))?;
        if let Some(problem) = report.problems.first() {
            return Err(format!("verify finds {} problems, first: {problem}", report.problems.len()));
        }
        let documents = self.db().stats().documents;
        if report.documents != documents {
            return Err(format!("verify checked {} documents of {documents}", report.documents));
        }
        Ok(())
    }
}

fn documents(dump: &Contents) -> u64 {
    dump.documents.values().map(|documents| documents.len() as u64).sum()
}

/// How far a backup said that it was.
#[derive(Debug, Default)]
pub(super) struct Told {
    last: Option<BackupProgress>,
    violation: Option<Violation>,
}

impl Told {
    /// It never goes back, nor beyond its end.
    pub(super) fn is_at(&mut self, now: BackupProgress) {
        let before = self.last.map_or(0, |before| before.bytes_done);
        let total = self.last.map_or(now.bytes_total, |before| before.bytes_total);
        if now.bytes_done < before || now.bytes_done > now.bytes_total || now.bytes_total != total {
            self.violation.get_or_insert(format!("it was at {before} of {total} bytes, and then {now:?}"));
        }
        self.last = Some(now);
    }

    /// What it says at its end, of a backup that holds `dump` in a file of `len` bytes.
    pub(super) fn ended(self, report: &BackupReport, dump: &Contents, len: u64) -> Result<(), Violation> {
        if let Some(violation) = self.violation {
            return Err(violation);
        }
        let last = self.last.ok_or("it told nothing")?;
        let is_so = report.is_complete
            && last.bytes_done == last.bytes_total
            && report.bytes_copied + report.bytes_reused == last.bytes_total
            && report.documents == documents(dump)
            && report.file_bytes == len;
        if is_so { Ok(()) } else { Err(format!("it ended at {last:?} with {report:?}, {len} bytes long")) }
    }
}
