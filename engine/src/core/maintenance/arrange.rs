//! Arranging: a compaction moves documents into the order of their keys (spec: P-7.4).
//!
//! A log has them in the order of writing, and a scan goes through them in the order of keys: where the two have nothing to do with
//! each other, it waits for memory at each document. What is moved here is moved as the cleaner moves it; the places that it leaves are
//! dead then, and the steps that follow give them back.

use crate::document::{Key, KeyRef};
use crate::error::{Error, Result};
use crate::format::LogAddress;
use crate::format::record::Kind;
use crate::index::{Documents, Entries, Entry, KeyRange};
use crate::sync::{Arc, read};

use super::super::Core;
use super::super::room::documents;
use super::super::shared::Shared;
use super::super::space_budget::Share;
use super::super::work::{Arrangement, Begun};
use super::super::writer::Writer;
use super::clean::{BYTES_AT_ONCE, Candidate, parts};
use super::due::Stepped;

#[cfg(test)]
mod tests;

/// In order is a collection of which no more than this share of its documents, and as many as the log has segments, stand before their
/// predecessor. What is brought further down the file afterwards keeps its order within a segment.
const OUT_OF_ORDER_SHARE: u64 = 16;
/// Entries of the index that are gone through in a step, about.
const ENTRIES_AT_ONCE: usize = 1024;

/// A compaction that wants an arrangement. Once it is over, however it ends, none is under way.
pub(super) struct Wanted<'a>(&'a Core);

impl<'a> Wanted<'a> {
    pub(super) fn by(core: &'a Core) -> Result<Self> {
        core.writer()?.work.arrangement = Some(Arrangement::Wanted);
        Ok(Wanted(core))
    }

    /// Whether one was under way, which goes on no more: what has no room for it may have room for what else there is to do.
    pub(super) fn give_up(&self) -> bool {
        self.0
            .writer()
            .is_ok_and(|mut writer| matches!(writer.work.arrangement.take(), Some(Arrangement::Begun(_))))
    }
}

impl Drop for Wanted<'_> {
    fn drop(&mut self) {
        self.give_up();
    }
}

impl Core {
    //= spec/space.md#p-7-4-order-of-keys
    //# A compaction SHOULD move the documents of a collection into the order of their keys, where many of them stand in another, all have
    //# room in the cache, and the file may grow by as much as is live.
    /// Takes one step of the arrangement that a compaction wants, if it does. Where that fails, it is as if the step had not been taken.
    pub(super) fn arrange(&self) -> Result<Stepped> {
        let arrangement = self.writer()?.work.arrangement.clone();
        let (next, is_first) = match arrangement {
            None => return Ok(Stepped::Nothing),
            Some(Arrangement::Wanted) => (Some(self.begin_arrangement()?), true),
            Some(Arrangement::Begun(begun)) => (self.arrange_some(begun)?, false),
        };
        let Some(next) = next else { return Ok(Stepped::Busy) };
        let mut writer = self.writer()?;
        let is_over = next.left.is_empty();
        writer.work.arrangement = (!is_over).then_some(Arrangement::Begun(next));
        if is_first && is_over {
            return Ok(Stepped::Nothing);
        }
        // What was moved was moved for another reason than to make the file shorter.
        writer.work.best = None;
        Ok(Stepped::Done)
    }

    fn begin_arrangement(&self) -> Result<Begun> {
        let (until, slack) = {
            let writer = self.writer()?;
            let slack = writer.can_arrange().then(|| writer.accounts.count());
            (writer.appender.end_address(), slack)
        };
        let mut begun = Begun { until, left: Vec::new(), behind: None };
        let Some(slack) = slack else { return Ok(begun) };
        let collections: Vec<_> =
            read(&self.shared.catalog).current().map(|naming| Arc::clone(&naming.documents)).collect();
        for documents in collections {
            if let Some(in_order) = in_order_up_to(&self.shared, &documents, slack)? {
                // An arrangement that ended early is gone on with; of several collections in the one that is gone through first.
                begun.left.push(documents.id);
                begun.behind = in_order;
            }
        }
        Ok(begun)
    }

    //= spec/space.md#p-3-8-bounded-steps
    //# A writer MUST let waiting writers in between two steps.
    /// Moves some documents, and says what is left; nothing where a transaction has the turn.
    fn arrange_some(&self, mut begun: Begun) -> Result<Option<Begun>> {
        let collection = *begun.left.last().expect("one that has none left is over");
        let Some(naming) = read(&self.shared.catalog).by_id(collection).cloned() else {
            begun.behind = None;
            begun.left.pop();
            return Ok(Some(begun));
        };
        let all = KeyRange::all();
        let range = begun.behind.take().map_or(all.clone(), |key| all.beyond(&key, false));
        let mut page = Entries::default();
        self.shared.page(&naming.documents, &range, false, ENTRIES_AT_ONCE, &mut page)?;
        let (mut candidates, mut bytes, mut gone) = (Vec::new(), 0, 0);
        for (key, entry) in page.iter() {
            gone += 1;
            if let Some(candidate) = self.to_arrange(&naming.documents, key, *entry, begun.until)? {
                bytes += candidate.len();
                candidates.push(candidate);
            }
            if bytes >= BYTES_AT_ONCE {
                break;
            }
        }
        for (records, _) in parts(&candidates, false).filter(|(records, _)| !records.is_empty()) {
            let Some(mut writer) = self.writer_between_turns()? else { return Ok(None) };
            writer.relocate(records, None, Share::Ordinary)?;
        }
        let is_over = gone == page.len() && page.len() < ENTRIES_AT_ONCE;
        begun.behind = page.iter().take(gone).last().map(|(key, _)| key.to_key()).filter(|_| !is_over);
        if is_over {
            begun.left.pop();
        }
        Ok(Some(begun))
    }

    /// The record of an entry, where it is to be moved: it was written before it all began. Damage stays where it is.
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
        let found = self.shared.log.find(address)?;
        let record = self.shared.log.parse(&found, address)?;
        let is_document = matches!(record.kind, Kind::Put | Kind::RelocatedPut) && !record.chunked;
        if !is_document || record.collection != documents.id || record.key != Some(key) {
            return Err(self.shared.wrong_record(address, documents.id, &record));
        }
        let lsn = self.shared.log.lsn(&found, &record, address);
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
    fn can_arrange(&self) -> bool {
        let live = self.usage().live;
        let count = documents(&read(&self.shared.catalog));
        live <= self.shared.log.cache.budget() as u64
            && live <= count * self.shared.log.long_record_len() as u64
            && self.log_room() == u64::MAX
            && self.shared.options.max_file_bytes.is_none_or(|max| self.file_len.saturating_add(live) <= max)
            // What is left behind could not be given back.
            && self.work.backups == 0
            && self.shared.feeds.with_oldest(|oldest| oldest) >= self.appender.end().segment.sequence
    }
}

/// None where few documents stand before the one with the key before theirs; else the key up to which few do, if there is one.
fn in_order_up_to(shared: &Shared, documents: &Documents, slack: u64) -> Result<Option<Option<Key>>> {
    let (mut range, mut last, mut before, mut seen) = (Some(KeyRange::all()), LogAddress(0), 0, 0);
    let (mut page, mut in_order) = (Entries::default(), None);
    let len = documents.newest_len().max(1);
    let are_few = |before: u64, seen: u64| before <= seen / OUT_OF_ORDER_SHARE + slack * seen / len;
    while let Some(rest) = range.take() {
        page.clear();
        shared.page(documents, &rest, false, ENTRIES_AT_ONCE, &mut page)?;
        let mut last_in_order = None;
        for (key, entry) in page.iter() {
            before += u64::from(entry.address() < last);
            last = entry.address();
            seen += 1;
            if are_few(before, seen) {
                last_in_order = Some(key);
            }
        }
        in_order = last_in_order.map(KeyRef::to_key).or(in_order);
        let more = page.last_key().filter(|_| page.len() >= ENTRIES_AT_ONCE).map(KeyRef::to_key);
        range = more.map(|last| rest.beyond(&last, false));
    }
    Ok((!are_few(before, seen)).then_some(in_order))
}
