//! Carries out accepted commits: catalog and indexes as they stand after the last one.

use crate::cache::SegmentTable;
use crate::document::KeyRef;
use crate::error::{Clause, Corruption, Error, Result};
use crate::format::LogAddress;
use crate::format::catalog::{CatalogChange, CatalogFault};
use crate::format::record::{self, Kind, Record, RecordSeed};
use crate::format::superblock::{FORMAT_MAJOR, FORMAT_MINOR};
use crate::index::{Catalog, Documents, Entry, PrimaryIndex};
use crate::log::record_fault;
use crate::seeded::{self, Bug};
use crate::sync::Arc;

use super::scan::Scan;
use super::{Commit, Part};

/// Catalog and indexes in the making.
#[derive(Debug)]
pub(crate) struct Replay {
    pub(crate) catalog: Catalog,
    page_shift: u32,
}

impl Replay {
    pub(super) fn new(page_shift: u32) -> Self {
        Replay { catalog: Catalog::default(), page_shift }
    }

    pub(super) fn apply(&mut self, scan: &Scan<'_>, commit: &Commit, segments: &SegmentTable) -> Result<()> {
        for part in &commit.parts {
            let segment = segments.get(part.image.sequence).expect("its segments were noted");
            let bytes = part.image.bytes();
            let seed = RecordSeed::new(&scan.lineage, commit.lsn.incarnation(), part.image.sequence);
            for &at in &part.records {
                let record = record::parse(&bytes[at as usize..], seed.at(at))
                    .map_err(|fault| record_fault(part.image.file_offset(at), &fault))?;
                // spec: F-6.2
                let expected = commit.lsn.count() - segment.stretch_at(at).first_lsn.count();
                if record.commit != expected {
                    return Err(Corruption {
                        at: part.image.file_offset(at),
                        clause: Clause("F-6.2"),
                        what: "a record counts itself to another commit",
                        expected: u64::from(expected),
                        found: u64::from(record.commit),
                    }
                    .into());
                }
                let address = scan.geometry.address(part.image.sequence, at);
                self.record(part, at, address, &record)?;
            }
        }
        Ok(())
    }

    fn record(&mut self, part: &Part, at: u32, address: LogAddress, record: &Record<'_>) -> Result<()> {
        let broken = |clause, what| broken(part.image.file_offset(at), clause, what);
        match record.kind {
            Kind::Put | Kind::RelocatedPut | Kind::Delete => {
                let key = record.key.ok_or_else(|| broken("F-6.1", "a record of a document has no key"))?;
                // spec: F-7.4. A record of a collection that is unknown here is dead.
                if let Some(naming) = self.catalog.by_id(record.collection) {
                    document(&naming.documents, key, address, record);
                }
                Ok(())
            }
            Kind::Catalog => {
                let change = CatalogChange::decode(record.body).map_err(|fault| match fault {
                    CatalogFault::Malformed(what) => broken("F-7.1", what),
                    CatalogFault::Unsupported => newer(0),
                })?;
                if matches!(change, CatalogChange::Drop { .. }) && seeded::is_on(Bug::DropNotReplayed) {
                    return Ok(());
                }
                let begins = change.begins().map(|id| Arc::new(Documents::new(id, self.page_shift)));
                let fits = self.catalog.carry_out(&change, begins, address);
                // Nobody reads while recovery runs, so no naming but the current ones is needed.
                self.catalog.purge(&[]);
                fits.ok_or_else(|| broken("F-7.1", "a catalog record contradicts the catalog"))
            }
            Kind::Chunk | Kind::SegmentFreed | Kind::Opening | Kind::CommitTime | Kind::Skippable(_) => {
                Ok(())
            }
            Kind::Reserved(kind) => Err(newer(kind)),
        }
    }
}

fn document(documents: &Documents, key: KeyRef<'_>, address: LogAddress, record: &Record<'_>) {
    let before = match record.kind {
        Kind::Delete if seeded::is_on(Bug::DeletesNotReplayed) => return,
        Kind::Delete => documents.index.remove(key),
        Kind::RelocatedPut => {
            // It moves a version; if that is no longer the newest, there is nothing to move.
            let (_, from) = record.moved.expect("a relocated put says where from");
            if documents.index.get(key).is_some_and(|entry| entry.address() == from) {
                documents.index.set(key, Entry::new(address, true));
            }
            return;
        }
        _ => {
            if let KeyRef::Int(id) = key {
                documents.note_key(id);
            }
            documents.index.set(key, Entry::new(address, false))
        }
    };
    match (record.kind, before) {
        (Kind::Delete, Some(_)) => documents.set_newest_len(documents.newest_len() - 1),
        (Kind::Put, None) => documents.set_newest_len(documents.newest_len() + 1),
        _ => {}
    }
}

/// A record that this version does not know, and may not skip (spec: F-6.3).
fn newer(kind: u8) -> Error {
    Error::NewerFormat { major: FORMAT_MAJOR, minor: FORMAT_MINOR, unknown_features: u64::from(kind) }
}

fn broken(at: u64, clause: &'static str, what: &'static str) -> Error {
    Corruption { at, clause: Clause(clause), what, expected: 0, found: 0 }.into()
}
