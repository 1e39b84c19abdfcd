//! Which leaves of the index were read, and are given up again where they take more memory than is theirs (spec: ).
//!
//! The first to be read is the first to go. A call that looks into the index, or changes it, keeps it as it is while it
//! lasts; what is too much goes when no call does.

use std::collections::VecDeque;

use crate::document::KeyRef;
use crate::index::{Documents, Entry, PrimaryIndex, Wanted};
use crate::seeded::{self, Bug};
use crate::sync::{Arc, Mutex, lock};

/// So many leaves are given up by one call, or as many as were read since the last: others wait meanwhile.
const AT_ONCE: usize = 16;

/// One look is remembered for so much memory: for some eight leaves. If more were, a store that hardly fits would keep
/// most leaves that it reads, and give up each before it is asked for again.
const BYTES_OF_A_LOOK: u64 = 128 << 10;

/// So many looks are remembered at most.
const LOOKS_MAX: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Leaves {
    /// So many bytes of them may be in memory.
    limit: u64,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// How many calls keep the index as it is.
    keepers: usize,
    /// A checkpoint is being written, which may have a leaf elsewhere.
    is_paused: bool,
    /// How many were begun.
    begun: u64,
    read: VecDeque<ReadLeaf>,
    /// How many of them came since any were given up.
    added: usize,
    /// What those take.
    bytes: u64,
    given_up: u64,
    /// Of each leaf that was looked into lately, at a place that follows from its key, the hash of that.
    looked_into: Vec<u64>,
}

/// A leaf that was read.
#[derive(Debug)]
pub(super) struct ReadLeaf {
    pub(super) documents: Arc<Documents>,
    pub(super) leaf: Wanted,
    /// What it takes in memory.
    pub(super) bytes: u64,
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
    pub(super) fn new(limit: u64) -> Self {
        let looked_into =
            vec![0; usize::try_from(limit.div_ceil(BYTES_OF_A_LOOK)).unwrap_or(LOOKS_MAX).min(LOOKS_MAX)];
        Leaves { limit, inner: Mutex::new(Inner { looked_into, ..Inner::default() }) }
    }

    /// Whether a look-up of one key reads an unread leaf and does not keep it: one that no look-up has read lately.
    /// Look-ups of many keys at random would else fill memory with leaves that are not asked for again.
    pub(super) fn is_for_one_look(&self, leaf: &Wanted) -> bool {
        let Some(hash) = leaf.hash() else { return false };
        let looked_into = &mut lock(&self.inner).looked_into;
        let len = looked_into.len() as u64;
        // Where there is room for none, none is kept.
        len == 0 || std::mem::replace(&mut looked_into[(hash % len) as usize], hash) != hash
    }

    #[cold]
    fn let_go(&self) {
        let mut inner = lock(&self.inner);
        inner.keepers -= 1;
        let may = inner.keepers == 0 || seeded::is_on(Bug::GivenUpBesideAReader);
        let at_once = if may { AT_ONCE.max(std::mem::take(&mut inner.added)) } else { 0 };
        for _ in 0..at_once {
            let is_over = inner.bytes > self.limit;
            let Some(first) = is_over.then(|| inner.read.pop_front()).flatten() else { break };
            inner.bytes -= first.bytes;
            inner.given_up += u64::from(first.documents.give_up(&first.leaf));
        }
    }

    /// How many checkpoints were begun.
    pub(super) fn begun(&self) -> u64 {
        lock(&self.inner).begun
    }

    /// A leaf was read, when so many checkpoints were begun.
    pub(super) fn add(&self, read: ReadLeaf, begun: u64) {
        let mut inner = lock(&self.inner);
        if !inner.is_paused && inner.begun == begun {
            inner.bytes += read.bytes;
            inner.added += 1;
            inner.read.push_back(read);
        }
    }

    //= spec/recovery.md#r-5-8-leaves-given-up
    //# A reader MUST NOT give up a leaf that was read before a checkpoint was begun which is named since, or while that was
    //# written, but for those of that checkpoint: the places of others may have been given out.
    /// A checkpoint is begun: where it has what is in memory by now is not known before it is named.
    fn pause(&self) {
        if !seeded::is_on(Bug::GivenUpPastItsCheckpoint) {
            let mut inner = lock(&self.inner);
            (inner.is_paused, inner.bytes) = (true, 0);
            inner.begun += 1;
            inner.read.clear();
        }
    }

    /// How often a leaf was given up.
    pub(super) fn given_up(&self) -> u64 {
        lock(&self.inner).given_up
    }

    /// How many leaves may be given up.
    #[cfg(test)]
    pub(super) fn noted(&self) -> usize {
        lock(&self.inner).read.len()
    }

    /// Whether there is more to give up, and nobody looks.
    pub(super) fn is_due(&self) -> bool {
        let inner = lock(&self.inner);
        inner.bytes > self.limit && inner.keepers == 0
    }
}

/// While it lives, no leaf that is read then is given up.
#[derive(Debug)]
pub(crate) struct Pause(Option<Arc<Leaves>>);

impl Pause {
    /// A checkpoint is begun.
    pub(super) fn new(leaves: Option<&Arc<Leaves>>) -> Self {
        Pause(leaves.map(|leaves| {
            leaves.pause();
            Arc::clone(leaves)
        }))
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        if let Some(leaves) = &self.0 {
            lock(&leaves.inner).is_paused = false;
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
    /// What an unread leaf has; unless the key was deleted since, or the leaf was read: then the index tells.
    #[cold]
    #[inline(never)]
    fn entry(&self, documents: &Documents, key: KeyRef<'_>) -> Option<Entry> {
        let unread = self.unread?;
        if documents.is_unknown(key) { Some(unread) } else { documents.index.get(key) }
    }

    #[cold]
    #[inline(never)]
    #[expect(clippy::boxed_local, reason = "it is boxed for whoever has none")]
    fn end(self: Box<Self>) {}
}
