//! Which leaves of the index were read, and are given up again where they take more memory than is theirs (spec: ): their entries in
//! the index, or the bytes of those that stay unread.
//!
//! The first to be read is the first to go. A call that looks into the index, or changes it, keeps it as it is while it
//! lasts; what is too much goes when no call does.

use std::collections::VecDeque;

use crate::document::KeyRef;
use crate::format::LogAddress;
use crate::format::superblock::CheckpointRef;
use crate::index::{Documents, Entry, KeyRange, PrimaryIndex, Wanted};
use crate::seeded::{self, Bug};
use crate::sync::{Arc, Condvar, Duration, Instant, Mutex, lock, wait_timeout};

/// So many leaves are given up by one call, or as many as were read since the last: others wait meanwhile.
const AT_ONCE: usize = 16;

/// What a change takes of the index, about, until that is looked at again.
const BYTES_OF_A_CHANGE: u64 = 48;

/// What it takes to know of an unread leaf, about, until that is looked at again.
const BYTES_OF_AN_ITEM: u64 = 256;

/// So long a checkpoint waits, in all, for moments in which nobody looks into the index. Where that is not enough,
/// what is unread stays with the one before.
pub(super) const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 1000 });

/// One look is remembered for so much memory: for the bytes of some eight leaves. If more were, a store a little larger than that would keep
/// most leaves that it reads, and give up each before it is asked for again.
const BYTES_OF_A_LOOK: u64 = 32 << 10;

/// So many looks are remembered at most.
const LOOKS_MAX: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Leaves {
    /// The index may take so many bytes.
    limit: u64,
    inner: Mutex<Inner>,
    /// Told when something is renewed.
    renewed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    /// How many calls keep the index as it is.
    keepers: usize,
    /// The checkpoint whose leaves may be given up.
    newest: Option<CheckpointRef>,
    /// Where the log ended at the checkpoint before: what came then or later stays.
    since: LogAddress,
    /// Leaves of the newest checkpoint that are still to take the place of what is unread.
    renewals: VecDeque<Renewal>,
    read: VecDeque<ReadLeaf>,
    /// How many of them came since any were given up.
    added: usize,
    /// What those take.
    bytes: u64,
    /// What the index takes beside them: what it took at opening or at the last naming, and about what came since.
    beside: u64,
    given_up: u64,
    /// Of each leaf that was looked into lately, at a place that follows from its key, the hash of that.
    looked_into: Vec<u64>,
}

/// A leaf that was read into the index, or whose bytes are kept.
#[derive(Debug)]
struct ReadLeaf {
    documents: Arc<Documents>,
    leaf: Wanted,
    /// What it takes in memory.
    bytes: u64,
}

/// What the newest checkpoint has in a range of keys.
#[derive(Debug)]
pub(super) struct Renewal {
    pub(super) documents: Arc<Documents>,
    pub(super) range: KeyRange,
    pub(super) leaf: Option<Wanted>,
}

//= spec/recovery.md#r-5-8-leaves-given-up
//# What a call answers MUST NOT change by it.
/// While it lives, nothing of the index is given up.
#[derive(Debug)]
#[must_use = "what was read may be given up once this is dropped"]
pub(crate) struct Kept(Option<Arc<Leaves>>);

impl Kept {
    /// Keeps the index of these leaves, if any are ever given up.
    #[inline]
    pub(super) fn new(leaves: Option<&Arc<Leaves>>) -> Self {
        Kept(leaves.map(|leaves| {
            lock(&leaves.inner).keepers += 1;
            Arc::clone(leaves)
        }))
    }

    /// So many keys of documents and entries change.
    pub(super) fn note_changes(&self, count: usize) {
        if let Some(leaves) = &self.0 {
            lock(&leaves.inner).beside += count as u64 * BYTES_OF_A_CHANGE;
        }
    }
}

impl Drop for Kept {
    #[inline]
    fn drop(&mut self) {
        if let Some(leaves) = &self.0 {
            leaves.let_go();
        }
    }
}

impl Leaves {
    /// The index takes up to `limit` bytes. What is unread is of the newest checkpoint, and what came at `since` or
    /// later is kept.
    pub(super) fn new(limit: u64, newest: Option<CheckpointRef>, since: LogAddress) -> Self {
        let looked_into =
            vec![0; usize::try_from(limit.div_ceil(BYTES_OF_A_LOOK)).unwrap_or(LOOKS_MAX).min(LOOKS_MAX)];
        let inner = Inner { newest, since, looked_into, ..Inner::default() };
        Leaves { limit, inner: Mutex::new(inner), renewed: Condvar::new() }
    }

    /// A copy, of which nothing was read.
    #[cfg(feature = "testing")]
    pub(super) fn fork(&self) -> Self {
        let inner = lock(&self.inner);
        Leaves::new(self.limit, inner.newest, inner.since)
    }

    /// Whether an unread leaf stays unread when a call needs it: there is no room for its entries, and it need not be in memory
    /// before the next checkpoint is named.
    pub(super) fn stays_unread(&self, leaf: &Wanted) -> bool {
        let inner = lock(&self.inner);
        let taken = (inner.bytes + inner.beside).saturating_add(leaf.bytes_in_map());
        leaf.can_be_given_up() && inner.can_give_up(leaf) && taken > self.limit
    }

    /// A look-up of one key has read the bytes of an unread leaf. Whether another one did lately: then they are kept. Look-ups of
    /// many keys at random would else drive out leaves for others that are not asked for again.
    pub(super) fn note_look(&self, leaf: &Wanted) -> bool {
        let looked_into = &mut lock(&self.inner).looked_into;
        let (len, hash) = (looked_into.len() as u64, leaf.hash());
        // Where there is room for none, none is kept.
        len > 0 && std::mem::replace(&mut looked_into[(hash % len) as usize], hash) == hash
    }

    #[cold]
    fn let_go(&self) {
        let mut inner = lock(&self.inner);
        inner.keepers -= 1;
        if inner.keepers == 0 || seeded::is_on(Bug::GivenUpBesideAReader) {
            inner.renew(&self.renewed);
            inner.give_up(self.limit);
        }
    }

    /// A leaf was read into the index, or its bytes are kept.
    pub(super) fn add(&self, documents: &Arc<Documents>, leaf: Wanted) {
        lock(&self.inner).add(documents, leaf);
    }

    //= spec/recovery.md#r-5-8-leaves-given-up
    //# A reader MUST NOT give up a leaf of any but the newest checkpoint that both slots name, or, until its leaves have taken
    //# the place of what is unread, the one before: the places of others may be given out.
    /// From now on leaves of this checkpoint may be given up, and no others, but for what came at this address or later.
    /// False where not all of that is kept: then none may be.
    pub(super) fn name(&self, newest: Option<(CheckpointRef, LogAddress)>) -> bool {
        let mut inner = lock(&self.inner);
        let newest = newest.filter(|(_, since)| *since >= inner.since);
        inner.newest = newest.map(|(newest, _)| newest);
        inner.since = newest.map_or(inner.since, |(_, since)| since);
        // What was read before is not given up.
        inner.read.clear();
        inner.renewals.clear();
        inner.beside += inner.bytes;
        (inner.added, inner.bytes) = (0, 0);
        newest.is_some()
    }

    /// Waits for moments in which nobody looks into the index, and puts what the newest checkpoint has in these ranges
    /// in the place of what is unread there. Whether they came before `patience` ended.
    pub(super) fn renew(
        self: &Arc<Self>,
        renewals: impl IntoIterator<Item = Renewal>,
        patience: &mut Duration,
    ) -> bool {
        lock(&self.inner).renewals.extend(renewals);
        loop {
            drop(Kept::new(Some(self)));
            let mut inner = lock(&self.inner);
            let left = inner.renewals.len();
            if left > 0 && inner.keepers == 0 {
                continue;
            }
            if left > 0 {
                let begun = Instant::now();
                inner = wait_timeout(&self.renewed, inner, *patience);
                *patience = patience.saturating_sub(begun.elapsed());
            }
            if left == 0 || patience.is_zero() {
                inner.renewals.clear();
                return left == 0;
            }
        }
    }

    /// So many leaves more are known of, and unread.
    pub(super) fn note_items(&self, count: usize) {
        lock(&self.inner).beside += count as u64 * BYTES_OF_AN_ITEM;
    }

    /// The index takes so many bytes.
    pub(super) fn note_bytes(&self, bytes: u64) {
        let mut inner = lock(&self.inner);
        inner.beside = bytes.saturating_sub(inner.bytes);
    }

    /// How often a leaf was given up.
    pub(super) fn given_up(&self) -> u64 {
        lock(&self.inner).given_up
    }

    /// Whether there is more to give up, and nobody looks.
    pub(super) fn is_due(&self) -> bool {
        let inner = lock(&self.inner);
        inner.is_over(self.limit) && inner.keepers == 0
    }
}

impl Inner {
    fn is_over(&self, limit: u64) -> bool {
        self.bytes + self.beside > limit && !self.read.is_empty()
    }

    fn add(&mut self, documents: &Arc<Documents>, leaf: Wanted) {
        if !self.can_give_up(&leaf) {
            return;
        }
        let bytes = documents.memory_of(&leaf, self.since);
        if bytes > 0 {
            self.bytes += bytes;
            self.added += 1;
            let (documents, leaf) = (Arc::clone(documents), leaf.without_bytes());
            self.read.push_back(ReadLeaf { documents, leaf, bytes });
        }
    }

    fn can_give_up(&self, leaf: &Wanted) -> bool {
        self.newest == Some(leaf.checkpoint()) || seeded::is_on(Bug::GivenUpPastItsCheckpoint)
    }

    fn renew(&mut self, renewed: &Condvar) {
        for _ in 0..AT_ONCE {
            let Some(Renewal { documents, range, leaf }) = self.renewals.pop_front() else { break };
            documents.renew(&range, leaf.as_ref(), self.since);
            if let Some(leaf) = leaf {
                let before = self.bytes;
                self.add(&documents, leaf);
                self.beside = self.beside.saturating_sub(self.bytes - before);
            }
            renewed.notify_all();
        }
    }

    fn give_up(&mut self, limit: u64) {
        for _ in 0..AT_ONCE.max(std::mem::take(&mut self.added)) {
            if !self.is_over(limit) {
                break;
            }
            let ReadLeaf { documents, leaf, bytes } = self.read.pop_front().expect("there is one");
            self.bytes -= bytes;
            self.given_up += u64::from(documents.give_up(&leaf, self.since));
        }
    }
}

/// While it lives, the newest entry of a key can be asked for again and again. It is empty where all was read and nothing
/// is ever given up.
#[derive(Debug)]
#[must_use = "what was read may be given up once this is dropped"]
pub(crate) struct Ready(Option<Box<Unready>>);

#[derive(Debug)]
struct Unready {
    #[expect(dead_code, reason = "its end is what counts")]
    kept: Kept,
    /// What an unread leaf has, where the index has nothing.
    unread: Option<Entry>,
}

impl Ready {
    /// Of an index that has everything.
    pub(super) const ALL_READ: Self = Ready(None);

    /// Where an unread leaf has the key, if nobody put or deleted it since.
    pub(super) fn new(kept: Kept, unread: Option<Entry>) -> Self {
        Ready(Some(Box::new(Unready { kept, unread })))
    }

    #[inline(always)]
    pub(crate) fn entry(&self, documents: &Documents, key: KeyRef<'_>) -> Option<Entry> {
        match (documents.index.get(key), &self.0) {
            (None, Some(unready)) => unready.entry(documents, key),
            (found, _) => found,
        }
    }
}

impl Drop for Ready {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(unready) = self.0.take() {
            unready.end();
        }
    }
}

impl Unready {
    /// What an unread leaf has, where the index had nothing; unless the key was deleted since, or the leaf was read: then the
    /// index tells.
    #[cold]
    #[inline(never)]
    fn entry(&self, documents: &Documents, key: KeyRef<'_>) -> Option<Entry> {
        let unread = self.unread?;
        if documents.is_unread(key) { Some(unread) } else { documents.index.get(key) }
    }

    #[cold]
    #[inline(never)]
    #[expect(clippy::boxed_local, reason = "it is boxed for whoever has none")]
    fn end(self: Box<Self>) {}
}
