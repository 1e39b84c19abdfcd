//! Arranging: a compaction moves documents into the order of their keys (spec: P-7.4).
//!
//! A log has them in the order of writing, and a scan goes through them in the order of keys: where the two have nothing to do with
//! each other, it waits for memory at each document. What is moved here is moved as the cleaner moves it; the places that it leaves are
//! dead then, and the steps that follow give them back.

use crate::document::{Key, KeyRef};
use crate::error::{Error, Result};
use crate::format::LogAddress;
use crate::format::record::Kind;
use crate::index::{Documents, Entries, Entry, KeyRange, PrimaryIndex};
use crate::sync::{Arc, read};

use super::super::room::documents;
use super::super::{Core, Writer};
use super::clean::{Candidate, parts};
use super::due::Stepped;

#[cfg(test)]
mod tests;

/// How far a compaction has come with the order of the keys.
#[derive(Debug, Clone)]
pub(in crate::core) enum Arrangement {
    /// Nobody has looked yet what is out of order.
    Wanted,
    Begun(Begun),
}

/// What is left to be gone through.
#[derive(Debug, Clone)]
pub(in crate::core) struct Begun {
    /// Where the log ended when it began: what stands behind that stays.
    until: LogAddress,
    /// Collections, the one that is gone through last, and the key behind which that goes on.
    left: Vec<u32>,
    behind: Option<Key>,
}

/// In order is a collection of which no more than this share of its documents, and as many as the log has segments, stand before their
/// predecessor. What is brought further down the file afterwards keeps its order within a segment.
const OUT_OF_ORDER_SHARE: u64 = 16;
/// Entries of the index that are gone through in a step.
const ENTRIES_AT_ONCE: usize = 1024;

/// A compaction that wants an arrangement. Once it is over, however it ends, none is under way.
pub(super) struct Wanted<'a>(&'a Core);

impl<'a> Wanted<'a> {
    pub(super) fn by(core: &'a Core) -> Result<Self> {
        core.writer()?.work.arrangement = Some(Arrangement::Wanted);
        Ok(Wanted(core))
    }
}

impl Drop for Wanted<'_> {
    fn drop(&mut self) {
        if let Ok(mut writer) = self.0.writer() {
            writer.work.arrangement = None;
        }
    }
}

impl Core {
    //= spec/space.md#p-7-4-order-of-keys
    //# A compaction SHOULD move the documents of a collection into the order of their keys, where many of them stand in another, all have
    //# room in the cache, and the file may grow by as much as is live.
    /// Takes one step of the arrangement that a compaction wants, if it does.
    pub(super) fn arrange(&self) -> Result<Stepped> {
        let Some(arrangement) = self.writer()?.work.arrangement.take() else { return Ok(Stepped::Nothing) };
        let begun = match arrangement {
            Arrangement::Wanted => self.begin_arrangement()?,
            Arrangement::Begun(begun) => begun,
        };
        if begun.left.is_empty() {
            return Ok(Stepped::Nothing);
        }
        let before = begun.clone();
        let (stepped, next) = match self.arrange_some(begun) {
            Ok(Some(next)) => (Stepped::Done, Some(next).filter(|next| !next.left.is_empty())),
            Ok(None) => (Stepped::Busy, Some(before)),
            // It gains no room, and so does not ask for the last of it.
            Err(Error::StorageFull { .. }) => (Stepped::Done, None),
            Err(error) => return Err(error),
        };
        let mut writer = self.writer()?;
        writer.work.arrangement = next.map(Arrangement::Begun);
        // What was moved was moved for another reason than to make the file shorter.
        writer.work.best = None;
        Ok(stepped)
    }

    fn begin_arrangement(&self) -> Result<Begun> {
        let (until, slack) = {
            let writer = self.writer()?;
            let slack = writer.can_arrange(self).then(|| writer.accounts.count());
            (writer.appender.end_address(), slack)
        };
        let Some(slack) = slack else { return Ok(Begun { until, left: Vec::new(), behind: None }) };
        let collections: Vec<_> =
            read(&self.catalog).current().map(|naming| Arc::clone(&naming.documents)).collect();
        let left = collections.iter().filter(|documents| is_out_of_order(documents, slack));
        Ok(Begun { until, left: left.map(|documents| documents.id).collect(), behind: None })
    }

    /// Moves some documents, and says what is left; nothing where a transaction has the turn.
    fn arrange_some(&self, mut begun: Begun) -> Result<Option<Begun>> {
        let Some(&collection) = begun.left.last() else { return Ok(Some(begun)) };
        let naming = read(&self.catalog).by_id(collection).cloned();
        let mut page = Entries::default();
        if let Some(naming) = naming {
            let all = KeyRange::all();
            let range = begun.behind.take().map_or(all.clone(), |key| all.beyond(&key, false));
            naming.documents.index.page(&range, false, ENTRIES_AT_ONCE, &mut page);
            let mut candidates = Vec::with_capacity(page.len());
            for (key, entry) in page.iter() {
                candidates.extend(self.to_arrange(&naming.documents, key, *entry, begun.until)?);
            }
            for (records, _) in parts(&candidates, false) {
                let Some(mut writer) = self.writer_between_turns()? else { return Ok(None) };
                self.relocate(&mut writer, records, None)?;
            }
        }
        begun.behind = page.last_key().filter(|_| page.len() == ENTRIES_AT_ONCE).map(|last| last.to_key());
        if begun.behind.is_none() {
            begun.left.pop();
        }
        Ok(Some(begun))
    }

    /// The record of an entry, where it is to be moved: a short one, written before it all began. Damage stays where it is.
    fn to_arrange(
        &self,
        documents: &Documents,
        key: KeyRef<'_>,
        entry: Entry,
        until: LogAddress,
    ) -> Result<Option<Candidate>> {
        let address = entry.address();
        if entry.is_chunked() || address >= until {
            return Ok(None);
        }
        match self.read_candidate(documents, key, address) {
            Err(Error::Corrupt(_) | Error::NewerFormat { .. }) => Ok(None),
            read => read.map(Some),
        }
    }

    fn read_candidate(
        &self,
        documents: &Documents,
        key: KeyRef<'_>,
        address: LogAddress,
    ) -> Result<Candidate> {
        let found = self.log.find(address)?;
        let record = self.log.parse(&found, address)?;
        let is_document = matches!(record.kind, Kind::Put | Kind::RelocatedPut) && !record.chunked;
        if !is_document || record.collection != documents.id || record.key != Some(key) {
            return Err(self.wrong_record(address, documents.id, &record));
        }
        let lsn = self.log.lsn(&found, &record, address);
        Ok(Candidate::of_document(lsn, address, key, &record))
    }
}

impl Writer {
    /// Whether documents are being moved into the order of their keys: then nothing else is moved without need.
    pub(super) fn is_arranging(&self) -> bool {
        matches!(self.work.arrangement, Some(Arrangement::Begun(_)))
    }

    /// Whether there is room for all that is live beside itself, in the file and in the cache; and documents are so short that several have
    /// room in a block.
    fn can_arrange(&self, core: &Core) -> bool {
        let live = self.usage(core).live;
        let count = documents(&read(&core.catalog));
        live <= core.log.cache.budget() as u64
            && live <= count * core.log.long_record_len() as u64
            && self.log_room(core) == u64::MAX
            && core.options.max_file_bytes.is_none()
            // What is left behind could not be given back.
            && self.work.backups == 0
            && core.feeds.oldest() >= self.appender.end().segment.sequence
    }
}

/// Whether many documents stand before the one with the key before theirs.
fn is_out_of_order(documents: &Documents, slack: u64) -> bool {
    let (mut range, mut last, mut before) = (Some(KeyRange::all()), LogAddress(0), 0);
    let mut page = Entries::default();
    while let Some(rest) = range.take() {
        page.clear();
        documents.index.page(&rest, false, ENTRIES_AT_ONCE, &mut page);
        for (_, entry) in page.iter() {
            before += u64::from(entry.address() < last);
            last = entry.address();
        }
        let more = page.last_key().filter(|_| page.len() == ENTRIES_AT_ONCE);
        range = more.map(|last| rest.beyond(&last.to_key(), false));
    }
    before > documents.newest_len() / OUT_OF_ORDER_SHARE + slack
}
