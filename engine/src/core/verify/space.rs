//! Checks what only maintenance rests on: the segments of the log from end to end, their accounts, and the checkpoints.

use std::collections::BTreeMap;

use crate::error::{Corruption, Result};
use crate::format::LogAddress;
use crate::format::superblock::Superblock;
use crate::index::{KeyRange, PrimaryIndex};
use crate::recovery;
use crate::space::Account;
use crate::sync::read;

use super::super::demand::entries_within;
use super::super::{Core, Writer};
use super::VerifyReport;

impl Core {
    /// Reads every frame and record of every log segment in use, as far as it is written out.
    pub(super) fn verify_segments(&self, writer: &Writer, report: &mut VerifyReport) -> Result<()> {
        let in_use = writer.accounts.iter().filter(|(_, account)| !account.is_freed());
        for (sequence, account) in in_use {
            let Some(segment) = self.shared.log.segments.get(sequence) else {
                let missing = Corruption::new(0, "F-8.6", "an account of a segment that is not there");
                report.problems.push(missing.comparing(0, sequence));
                continue;
            };
            let walked = self.shared.read_segment(&segment, account.end).and_then(|mut walk| {
                let mut records = 0;
                while let Some(frame) = walk.next()? {
                    records += u64::from(frame.header.record_count);
                }
                Ok(records)
            });
            match walked {
                Ok(records) => report.records += records,
                Err(error) => report.add(error)?,
            }
        }
        Ok(())
    }

    /// Counts the live records of each segment and collection, and holds that against the accounts.
    pub(super) fn verify_accounts(&self, writer: &Writer, report: &mut VerifyReport) -> Result<()> {
        let mut counted: BTreeMap<(u64, u32), u64> = BTreeMap::new();
        let sequence = |address: LogAddress| self.shared.log.geometry.split(address).0;
        let namings: Vec<_> = read(&self.shared.catalog).current().cloned().collect();
        for naming in &namings {
            let documents = &naming.documents;
            let entries = entries_within(documents, &KeyRange::all());
            for entry in entries.items().iter().map(|item| item.value) {
                let mut count = |at| *counted.entry((sequence(at), documents.id)).or_default() += 1;
                count(entry.address());
                match self.shared.chunks_of(entry) {
                    Ok(chunks) => chunks.into_iter().for_each(count),
                    Err(error) => report.add(error)?,
                }
            }
        }
        let current = |id: u32| namings.iter().any(|naming| naming.documents.id == id);
        let accounts = writer.accounts.iter().flat_map(|(sequence, account)| {
            account.live().iter().map(move |(id, count)| ((sequence, *id), *count))
        });
        let kept: BTreeMap<_, _> = accounts.filter(|((_, id), _)| current(*id)).collect();
        for (place, count) in &counted {
            let found = kept.get(place).copied().unwrap_or(0);
            report.compare("P-1.5", "an account of a segment is wrong", *count, found);
        }
        for (_, found) in kept.iter().filter(|(place, _)| !counted.contains_key(*place)) {
            let dead = Corruption::new(0, "P-1.5", "an account counts what is not live");
            report.problems.push(dead.comparing(0, *found));
        }
        // spec: P-3.6. Its place will be given out, with what is live in it.
        let is_freed = |sequence| writer.accounts.get(sequence).is_some_and(Account::is_freed);
        for (_, count) in kept.iter().filter(|((sequence, _), _)| is_freed(*sequence)) {
            report.compare("P-3.6", "a freed segment has live records", 0, *count);
        }
        Ok(())
    }

    /// Counts the entries of each index, and holds that against the count that a checkpoint would have. With the writer held still.
    pub(super) fn verify_index_counts(&self, report: &mut VerifyReport) {
        for index in read(&self.shared.catalog).current_indexes() {
            let entries = index.entries();
            if entries.damage().is_some() {
                continue;
            }
            let count = entries.index.count(&KeyRange::all(), usize::MAX) as u64;
            report.compare("F-8.10", "the count of an index is wrong", count, entries.newest_len());
        }
    }

    /// Reads both checkpoints that the newest slot names: either alone must suffice.
    pub(super) fn verify_checkpoints(&self, slot: &Superblock, report: &mut VerifyReport) -> Result<()> {
        for reference in slot.checkpoints.iter().flatten() {
            let shift = self.shared.options.check.page_shift;
            let verified = recovery::verify_checkpoint(&self.shared.log.storage, slot, reference, shift);
            verified.or_else(|error| report.add(error))?;
        }
        //= spec/format.md#f-8-8-completeness
        //# The two checkpoints that a slot names MUST NOT refer to one record: what is damaged is damaged in one of
        //# them.
        if let Ok(Some(at)) = recovery::find_shared_record(&self.shared.log.storage, slot) {
            let what = "a record to which both named checkpoints refer";
            report.problems.push(Corruption::new(at, "F-8.8", what));
        }
        Ok(())
    }
}
