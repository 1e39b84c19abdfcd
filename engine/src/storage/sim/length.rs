//! The length of the file: what calls see, and what a power cut may find.

use crate::sync::Arc;

#[derive(Debug, Clone)]
pub(super) struct Length {
    pub(super) current: u64,
    /// The change that made it so.
    change: u64,
    /// Lengths since the last sync before the current one, that at the sync first; each with the change that made it.
    history: Vec<(u64, u64)>,
    /// After a crash: what it may be, two or more. `current` then means nothing.
    pub(super) unsettled: Option<Arc<[u64]>>,
}

impl Length {
    pub(super) fn new(len: u64) -> Self {
        Length { current: len, change: 0, history: Vec::new(), unsettled: None }
    }

    pub(super) fn set(&mut self, change: u64, len: u64) {
        assert!(self.unsettled.is_none(), "a length is settled before it is changed");
        if len != self.current {
            self.history.push((self.change, self.current));
            (self.change, self.current) = (change, len);
        }
    }

    /// The lengths since the last sync, oldest first, the current one last.
    pub(super) fn all(&self) -> impl Iterator<Item = u64> {
        self.history.iter().map(|(_, len)| *len).chain([self.current])
    }

    /// The furthest that the file reached since the last sync: bytes beyond the current end and below this are left from
    /// before it was cut.
    pub(super) fn furthest(&self) -> u64 {
        self.all().max().expect("there is a current length")
    }

    pub(super) fn is_synced(&self) -> bool {
        self.history.is_empty()
    }

    pub(super) fn make_durable(&mut self) {
        self.history.clear();
        self.change = 0;
    }

    /// The file has this length, and always had.
    pub(super) fn settle(&mut self, len: u64) {
        *self = Length::new(len);
    }

    /// The length after the changes up to `change`.
    pub(super) fn after(&self, change: u64) -> u64 {
        if self.change <= change {
            return self.current;
        }
        let earlier = self.history.iter().rev().find(|(made, _)| *made <= change);
        earlier.expect("the synced length was made by no change since").1
    }

    /// What a crash may leave: any length since the last sync and, where the file grew, any number of whole sectors in
    /// between, unless lengths are `whole`. The oldest comes first, the newest last.
    pub(super) fn candidates(&self, sector_len: u64, whole: bool) -> Vec<u64> {
        let lens: Vec<u64> = self.all().collect();
        let (oldest, newest) = (lens[0], self.current);
        let mut between = lens.clone();
        for pair in lens.windows(2).filter(|_| !whole) {
            let first = pair[0] / sector_len + 1;
            between.extend((first..pair[1].div_ceil(sector_len)).map(|sector| sector * sector_len));
        }
        between.sort_unstable();
        between.dedup();
        between.retain(|len| *len != oldest && *len != newest);
        between.insert(0, oldest);
        if newest != oldest {
            between.push(newest);
        }
        between
    }

    /// The least that it can be.
    pub(super) fn least(&self) -> u64 {
        match &self.unsettled {
            Some(lens) => lens.iter().copied().min().expect("a length is one of several"),
            None => self.current,
        }
    }
}
