//! Checks the store as it is: every index entry against its record or its document, and, when asked, the whole log as a reader after a crash
//! would see it.

mod space;

use std::cmp::Ordering;

use crate::cache::SegmentTable;
use crate::document::{self, Key, KeyRef};
use crate::error::{Corruption, Error, Result};
use crate::format::superblock::SLOT_OFFSETS;
use crate::index::{Catalog, Entries, Entry, KeyRange, Layout, Naming};
use crate::recovery::{self, Extent, File, Opened, Plan};
use crate::sync::{Arc, read};
use crate::txn::Registered;

use super::demand::entries_within;
use super::{Core, Cursor};

/// What [`Db::verify`](crate::Db::verify) found.
#[non_exhaustive]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Documents read and checked.
    pub documents: u64,
    /// Entries of indexes compared with the documents that give them.
    pub entries: u64,
    /// Commits found in the log behind the newest checkpoint; 0 unless the check was a deep one.
    pub commits: u64,
    /// Records read and checked in all segments of the log, live or not; 0 unless the check was a deep one.
    pub records: u64,
    /// All that is wrong.
    pub problems: Vec<Corruption>,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// Notes that a value is not the one that a clause asks for, if it is not.
    fn compare(&mut self, clause: &'static str, what: &'static str, expected: u64, found: u64) {
        if expected != found {
            self.problems.push(Corruption::new(0, clause, what).comparing(expected, found));
        }
    }

    /// Notes a problem; what is not damage keeps the check from being done.
    fn add(&mut self, error: Error) -> Result<()> {
        self.problems.push(error.into_damage()?);
        Ok(())
    }
}

impl Core {
    /// Checks every document; with `deep`, the log too.
    pub(crate) fn verify(&self, deep: bool) -> Result<VerifyReport> {
        let mut report = VerifyReport::default();
        let _kept = self.shared.keep();
        let all_read = self.shared.read_everything();
        let is_read = all_read.is_ok();
        all_read.or_else(|error| report.add(error))?;
        for cursor in self.shared.cursors() {
            let (snapshot, naming) = (Arc::clone(cursor.snapshot()), Arc::clone(cursor.naming()));
            self.verify_documents(cursor, &mut report)?;
            self.verify_indexes(&snapshot, &naming, &mut report)?;
        }
        if deep {
            self.verify_log(is_read, &mut report)?;
        }
        Ok(report)
    }

    fn verify_documents(&self, mut cursor: Cursor, report: &mut VerifyReport) -> Result<()> {
        let naming = Arc::clone(cursor.naming());
        let mut count = 0;
        loop {
            let (key, entry) = match self.shared.next_entry(&mut cursor) {
                Ok(Some((key, entry))) => (key.to_key(), entry),
                Ok(None) => break,
                // What comes behind is not known.
                Err(error) => return report.add(error),
            };
            count += 1;
            match self.check_document(&cursor, &key, entry) {
                Ok(()) => report.documents += 1,
                Err(error) => report.add(error)?,
            }
        }
        let len = self.shared.len_at(cursor.snapshot(), &naming.documents)?;
        report.compare("S-1", "a collection's count is not the number of its documents", count, len);
        Ok(())
    }

    fn verify_indexes(
        &self,
        snapshot: &Arc<Registered>,
        naming: &Arc<Naming>,
        report: &mut VerifyReport,
    ) -> Result<()> {
        for index in self.shared.indexes_in(snapshot.state(), naming) {
            let mut damaged = Vec::new();
            match self.shared.check_index(snapshot, naming, &index, &mut |problem| damaged.push(problem)) {
                Ok(entries) => report.entries += entries,
                Err(error) => damaged.push(error.into_damage()?),
            }
            // Damaged documents were told of when they were gone through.
            damaged
                .retain(|problem| problem.clause.0.starts_with("I-") || !report.problems.contains(problem));
            report.problems.append(&mut damaged);
        }
        Ok(())
    }

    fn check_document(&self, cursor: &Cursor, key: &Key, entry: Entry) -> Result<()> {
        let located = self.shared.locate_again(cursor, key.as_ref(), entry)?;
        document::validate(located.body()).map_err(|_| {
            let at = self.shared.log.segments.file_offset(entry.address());
            Corruption::new(at, "E-1", "a document is not deterministic CBOR").into()
        })
    }

    /// Recovers the file a second time and compares: with the writer held still, so that file and memory stand for one state.
    fn verify_log(&self, is_read: bool, report: &mut VerifyReport) -> Result<()> {
        let mut writer = self.writer().ok();
        let comparable = match &mut writer {
            Some(writer) => writer.hand_over()?,
            None => true,
        };
        let (slot, other) = match recovery::open_slots(&self.shared.log.storage, self.shared.log.geometry) {
            Ok(Opened::Store { slot, other }) => (slot, other),
            Ok(Opened::Unfinished) => return Ok(()),
            Err(error) => return report.add(error),
        };
        if other.is_damaged(self.shared.visibility.visible().lsn) {
            let at = SLOT_OFFSETS[1 - slot.slot()];
            // One slot alone still opens the store; the next writer mends the other (spec: ).
            let invalid = Corruption::new(at, "F-3.3", "a superblock slot is not valid").comparing(1, 0);
            report.problems.push(invalid);
        }
        self.verify_checkpoints(&slot, report)?;
        if let Some(writer) = &writer {
            if is_read {
                self.verify_accounts(writer, report)?;
                self.verify_index_counts(report);
            }
            if comparable {
                self.verify_segments(writer, report)?;
            }
        }
        let segments = SegmentTable::new(slot.geometry);
        let check = &self.shared.options.check;
        let (layout, extent) = (Layout::new(check.page_shift), Extent::Whole);
        let plan = Plan { read_unit: check.read_unit, layout, extent };
        let file = File::new(&self.shared.log.storage, &slot);
        match file.and_then(|file| recovery::recover(file, &segments, plan)) {
            Ok(recovered) => {
                report.commits = recovered.commits;
                // The index has what is placed, visible or not; and so has the file, with the store's own frames.
                // The writer is held until all is compared.
                let lsn = writer
                    .as_ref()
                    .map_or_else(|| self.shared.visibility.visible().lsn, |writer| writer.end());
                if !comparable || !is_read {
                    return Ok(());
                }
                let what = "the log in the file ends at another commit than the store";
                report.compare("R-4.1", what, lsn.0, recovered.end.lsn.0);
                if recovered.end.lsn == lsn {
                    // What recovery finds in the file must be what the store answers with.
                    let (ours, theirs) = (read(&self.shared.catalog), read(&recovered.replay.catalog));
                    let what = "index entries differ from what the log in the file says";
                    report.compare("R-2.7", what, 0, differing(&ours, &theirs) as u64);
                }
                Ok(())
            }
            Err(error) => report.add(error),
        }
    }
}

/// How many keys one of them alone has, or has elsewhere.
fn differing(ours: &Catalog, theirs: &Catalog) -> usize {
    let (ours, theirs) = (pages(ours), pages(theirs));
    let (mut ours, mut theirs) = (entries(&ours).peekable(), entries(&theirs).peekable());
    let mut count = 0;
    loop {
        let order = match (ours.peek(), theirs.peek()) {
            (None, None) => return count,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((our, _)), Some((their, _))) => our.cmp(their),
        };
        let our = if order.is_le() { ours.next() } else { None };
        let their = if order.is_ge() { theirs.next() } else { None };
        count += usize::from(our != their);
    }
}

/// What each collection has, by name.
fn pages(catalog: &Catalog) -> Vec<(&str, Entries)> {
    let page = |naming: &Arc<Naming>| entries_within(&naming.documents, &KeyRange::all());
    let mut pages: Vec<_> = catalog.current().map(|naming| (naming.name.as_str(), page(naming))).collect();
    pages.sort_unstable_by_key(|(name, _)| *name);
    pages
}

/// Every key of every collection, in order, and where it stands.
fn entries<'a>(pages: &'a [(&'a str, Entries)]) -> impl Iterator<Item = ((&'a str, KeyRef<'a>), &'a Entry)> {
    pages.iter().flat_map(|(name, page)| page.iter().map(|(key, entry)| ((*name, key), entry)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::LogAddress;
    use crate::index::{Documents, PrimaryIndex};

    /// A catalog with these entries: name, key and address.
    fn catalog(entries: &[(&str, Key, u64)]) -> Catalog {
        let mut catalog = Catalog::default();
        for (name, key, address) in entries {
            if catalog.find(name).is_none() {
                // Ids go by the names here, so that they are the same in whatever order these come.
                let documents = Arc::new(Documents::new(u32::from(name.as_bytes()[0]), Layout::new(4)));
                catalog.load((*name).to_owned(), documents).expect("names differ");
            }
            let naming = catalog.find(name).expect("it is there by now");
            naming.documents.index.set(key.as_ref(), Entry::new(LogAddress(*address), false));
        }
        catalog
    }

    #[test]
    fn each_key_that_one_has_alone_or_elsewhere_differs_once() {
        let both = [("a", Key::Int(1), 8), ("b", Key::from("x"), 16), ("b", Key::from("y"), 24)];
        let other_order = [both[2].clone(), both[0].clone(), both[1].clone()];
        assert_eq!(differing(&catalog(&both), &catalog(&other_order)), 0);
        let elsewhere = [both[0].clone(), ("b", Key::from("x"), 32), both[2].clone()];
        assert_eq!(differing(&catalog(&both), &catalog(&elsewhere)), 1);
        for missing in 0..3 {
            let mut fewer = both.to_vec();
            fewer.remove(missing);
            assert_eq!(differing(&catalog(&both), &catalog(&fewer)), 1);
            assert_eq!(differing(&catalog(&fewer), &catalog(&both)), 1);
        }
        let another_name = [("c", Key::Int(1), 8), both[1].clone(), both[2].clone()];
        assert_eq!(differing(&catalog(&both), &catalog(&another_name)), 2);
        assert_eq!(differing(&catalog(&both), &Catalog::default()), 3);
    }
}
