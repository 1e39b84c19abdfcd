//! The accounts of log segments: how many of a segment's records are live, by collection.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::format::Lsn;

/// So many records by collection. Most segments have those of one.
pub(crate) type Live = SmallVec<[(u32, u64); 1]>;

/// What is known of the contents of one log segment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) physical: u32,
    /// Where its last frame ended.
    pub(crate) end: u32,
    /// Puts, relocated puts and chunks ever placed in it, and their length in bytes.
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    /// The record that freed it; zero while it is in use.
    pub(crate) freed: Lsn,
    /// Whether records lie in it that were not moved there by cleaning: between these there may be padding. What was moved and has not
    /// died since lies as close as it can.
    pub(crate) is_loose: bool,
    /// How many of the records are live, by collection, in the order of ids. Those of a collection that has ended stay
    /// counted, and callers leave them out.
    live: Live,
}

impl Account {
    pub(crate) fn new(physical: u32) -> Self {
        Account { physical, ..Account::default() }
    }

    /// The same, with these live records, as a checkpoint has them: by collection, in the order of ids.
    pub(crate) fn with_live(self, live: Live) -> Self {
        Account { live, is_loose: true, ..self }
    }

    pub(crate) fn is_freed(&self) -> bool {
        self.freed != Lsn::ZERO
    }

    /// Live records by collection.
    pub(crate) fn live(&self) -> &[(u32, u64)] {
        &self.live
    }

    /// How many records are live, of the collections that `counts` lets count.
    pub(crate) fn live_records(&self, counts: impl Fn(u32) -> bool) -> u64 {
        self.live.iter().filter(|(collection, _)| counts(*collection)).map(|(_, count)| count).sum()
    }

    /// Whether cleaning it can win anything, if so many of its records are live.
    pub(crate) fn can_shrink(&self, live_records: u64) -> bool {
        self.is_loose || live_records < self.records || live_records == 0
    }

    /// The bytes of so many of its records, at their mean length.
    pub(crate) fn bytes_of(&self, records: u64) -> u64 {
        if self.records == 0 {
            0
        } else {
            (u128::from(self.bytes) * u128::from(records) / u128::from(self.records)) as u64
        }
    }

    fn add(&mut self, collection: u32, records: u64) {
        match self.live.binary_search_by_key(&collection, |(id, _)| *id) {
            Ok(at) => self.live[at].1 += records,
            Err(at) => self.live.insert(at, (collection, records)),
        }
    }

    /// A checkpoint or a list of chunks with wrong counts must not stop a writer: what is not counted stays so, and `verify` tells.
    fn take(&mut self, collection: u32, records: u64) {
        let Ok(at) = self.live.binary_search_by_key(&collection, |(id, _)| *id) else { return };
        self.live[at].1 = self.live[at].1.saturating_sub(records);
        if self.live[at].1 == 0 {
            self.live.remove(at);
        }
    }
}

/// The accounts of all log segments in place, by sequence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Accounts {
    segments: BTreeMap<u64, Account>,
    /// Records that are live no longer, ever.
    superseded: u64,
}

impl Accounts {
    /// Of these segments, by sequence.
    pub(crate) fn of(segments: impl Iterator<Item = (u64, Account)>) -> Self {
        Accounts { segments: segments.collect(), superseded: 0 }
    }

    pub(crate) fn get(&self, sequence: u64) -> Option<&Account> {
        self.segments.get(&sequence)
    }

    /// How many records have become dead since the store was opened.
    pub(crate) fn superseded(&self) -> u64 {
        self.superseded
    }

    /// How many segments are in place.
    pub(crate) fn count(&self) -> u64 {
        self.segments.len() as u64
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &Account)> {
        self.segments.iter().map(|(sequence, account)| (*sequence, account))
    }

    /// A segment was opened at `physical`. One of the same sequence, which was opened in vain, had no records.
    pub(crate) fn open(&mut self, sequence: u64, physical: u32) {
        let account = self.segments.entry(sequence).or_insert_with(|| Account::new(physical));
        if account.physical != physical {
            assert_eq!(account.records, 0, "segment {sequence} moved with records in it");
            account.physical = physical;
        }
    }

    /// The segment that lies at `physical`.
    pub(crate) fn at_physical(&self, physical: u32) -> Option<(u64, &Account)> {
        self.iter().find(|(_, account)| account.physical == physical)
    }

    /// Takes out what lies behind `sequence`: it was taken back.
    pub(crate) fn end_with(&mut self, sequence: u64) {
        self.segments.split_off(&(sequence + 1));
    }

    pub(crate) fn remove(&mut self, sequence: u64) -> Option<Account> {
        self.segments.remove(&sequence)
    }

    /// So many records of `collection` were placed in a segment, `bytes` bytes long in all, and are live.
    pub(crate) fn add(&mut self, sequence: u64, collection: u32, records: u64, bytes: u64) {
        let Some(account) = self.segments.get_mut(&sequence) else { return };
        account.records += records;
        account.bytes += bytes;
        account.add(collection, records);
    }

    /// The reverse of [`add`](Self::add), for one record: it was taken back.
    pub(crate) fn take_back(&mut self, sequence: u64, collection: u32, len: u32) {
        let Some(account) = self.segments.get_mut(&sequence) else { return };
        account.records -= 1;
        account.bytes -= u64::from(len);
        account.take(collection, 1);
    }

    /// So many live records of a segment are live no longer.
    pub(crate) fn supersede(&mut self, sequence: u64, collection: u32, records: u64) {
        if let Some(account) = self.segments.get_mut(&sequence) {
            account.take(collection, records);
            self.superseded = self.superseded.saturating_add(records);
        }
    }

    /// The reverse of [`supersede`](Self::supersede).
    pub(crate) fn restore(&mut self, sequence: u64, collection: u32, records: u64) {
        if let Some(account) = self.segments.get_mut(&sequence) {
            account.add(collection, records);
        }
    }

    /// Records lie in a segment that no cleaning has moved there.
    pub(crate) fn set_loose(&mut self, sequence: u64) {
        if let Some(account) = self.segments.get_mut(&sequence) {
            account.is_loose = true;
        }
    }

    /// The last frame of a segment ended at `end`.
    pub(crate) fn set_end(&mut self, sequence: u64, end: u32) {
        if let Some(account) = self.segments.get_mut(&sequence) {
            account.end = end;
        }
    }

    /// The segment was freed by the record of this LSN; zero takes that back.
    pub(crate) fn set_freed(&mut self, sequence: u64, lsn: Lsn) {
        if let Some(account) = self.segments.get_mut(&sequence) {
            account.freed = lsn;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_back_leaves_the_accounts_as_they_were() {
        let mut accounts = Accounts::default();
        accounts.open(0, 0);
        accounts.add(0, 1, 1, 100);
        accounts.add(0, 2, 1, 40);
        let before = accounts.clone();
        accounts.add(0, 1, 1, 60);
        accounts.supersede(0, 2, 1);
        accounts.restore(0, 2, 1);
        accounts.take_back(0, 1, 60);
        accounts.open(1, 1);
        accounts.end_with(0);
        assert_eq!(accounts.segments, before.segments);
    }

    #[test]
    fn live_bytes_are_the_mean_of_the_segment_and_leave_out_what_has_ended() {
        let mut accounts = Accounts::default();
        accounts.open(3, 7);
        for len in [100, 50, 30] {
            accounts.add(3, 1, 1, len);
        }
        accounts.add(3, 2, 1, 20);
        accounts.supersede(3, 1, 1);
        let account = accounts.get(3).expect("it was opened").clone();
        assert_eq!((account.records, account.bytes), (4, 200));
        assert_eq!(account.bytes_of(account.live_records(|_| true)), 150);
        assert_eq!(account.bytes_of(account.live_records(|id| id == 1)), 100);
        accounts.supersede(3, 1, u64::MAX);
        assert_eq!(accounts.get(3).expect("it was opened").live(), [(2, 1)]);
    }
}
