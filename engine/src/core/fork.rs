//! Copies of a store between any two calls, for checks that try many futures of one past; and where things stand in it.

use std::ops::Range;

use crate::cache::Cache;
use crate::document::Key;
use crate::format::superblock::{SLOT_LEN, SLOT_OFFSETS};
use crate::index::Documents;
use crate::storage::Storage;
use crate::sync::{Arc, RwLock, read};
use crate::txn::Registered;

use super::feeds::Feeds;
use super::shared::Shared;
use super::writer_lock::WriterLock;
use super::{Core, Feed, WriteTxn};

/// Copies of documents, each made once: what shares documents here (two names after a rename, a pending commit) shares their copy there.
#[derive(Default)]
struct Copies(Vec<Arc<Documents>>);

impl Copies {
    fn of(&mut self, documents: &Arc<Documents>) -> Arc<Documents> {
        let known = self.0.iter().find(|copy| copy.id == documents.id);
        known.map(Arc::clone).unwrap_or_else(|| {
            let copy = Arc::new(documents.fork(&mut |entries| self.of(entries)));
            self.0.push(Arc::clone(&copy));
            copy
        })
    }
}

impl Core {
    /// A copy that shares nothing with this one and goes on from here on `storage`, which is a copy of the disk.
    pub(crate) fn fork(&self, storage: Box<dyn Storage>) -> Core {
        let writer = self.writer().ok();
        let mut copies = Copies::default();
        let mut copy_of = |documents: &Arc<Documents>| copies.of(documents);
        let shared = Arc::new(Shared {
            // What was cached is read again: the copy's disk holds it.
            log: self.shared.log.fork(storage, Cache::new(self.shared.options.cache_bytes.unwrap_or(0))),
            catalog: RwLock::new(read(&self.shared.catalog).fork(&mut copy_of)),
            visibility: Arc::new(self.shared.visibility.fork(&mut copy_of)),
            feeds: Feeds::default(),
            options: self.shared.options.clone(),
            opening: self.shared.opening.fork(),
            leaves: self.shared.leaves.as_ref().map(|leaves| Arc::new(leaves.fork())),
        });
        let writer = writer.map(|writer| WriterLock::new(writer.fork(Arc::clone(&shared))));
        Core { shared, writer, space_at_opening: self.space_at_opening }
    }

    /// The snapshot `id` of the store that this is a copy of.
    pub(crate) fn registered(&self, id: u64) -> Option<Registered> {
        Registered::copied(&self.shared.visibility, id)
    }

    /// A copy of a transaction of the store that this is a copy of.
    pub(crate) fn fork_txn(&self, txn: &WriteTxn) -> WriteTxn {
        let mut copies = Copies(read(&self.shared.catalog).documents().cloned().collect());
        txn.fork(Arc::clone(&self.shared), &mut |documents| copies.of(documents))
    }

    /// A copy of a feed of the store that this is a copy of: what that holds in place, this does.
    pub(crate) fn fork_feed(&self, feed: &Feed) -> Feed {
        self.shared.fork_feed(feed)
    }

    /// The bytes of the file that each of the two named checkpoints takes: its segments, which may be those of the other too, and last the
    /// sectors in which its root ends.
    pub(crate) fn checkpoint_places(&self) -> [Vec<Range<u64>>; 2] {
        let geometry = self.shared.log.geometry;
        let place = |physical: &u32| geometry.segment_offset(*physical)..geometry.segment_end(*physical);
        let writer = self.writer().ok();
        [0, 1].map(|position| {
            let held = writer.as_ref().and_then(|writer| writer.checkpoints.at(position));
            let Some(held) = held else { return Vec::new() };
            let (root, start) = (held.reference.root, geometry.segment_offset(held.reference.root.physical));
            let root = start + u64::from(geometry.round_down_sector(root.offset))
                ..start + u64::from(geometry.round_up_sector(root.offset + root.len));
            held.segments.keys().map(place).chain([root]).collect()
        })
    }

    /// The bytes of the file that this store holds: the slots, the checkpoints that they name, and the log segments in place as far as their last
    /// frame goes.
    pub(crate) fn held_places(&self) -> Vec<Range<u64>> {
        let geometry = self.shared.log.geometry;
        let mut places: Vec<_> = SLOT_OFFSETS.map(|at| at..at + SLOT_LEN as u64).into();
        places.extend(self.checkpoint_places().into_iter().flatten());
        if let Ok(writer) = self.writer() {
            places.extend(writer.accounts.iter().map(|(_, account)| {
                let start = geometry.segment_offset(account.physical);
                start..start + u64::from(account.end.max(geometry.data_start()))
            }));
        }
        places
    }

    /// Where in the file the record of the newest version of a document stands.
    pub(crate) fn record_offset(&self, collection: &str, key: &Key) -> Option<u64> {
        let naming = self.shared.naming(collection).ok()?;
        let ready = self.shared.ready(&naming.documents, key.as_ref()).ok()?;
        let entry = ready.entry(&naming.documents, key.as_ref())?;
        Some(self.shared.log.segments.file_offset(entry.address()))
    }

    /// The visible collections and their ids.
    pub(crate) fn collection_ids(&self) -> Vec<(String, u32)> {
        let namings = self.shared.namings();
        namings.iter().map(|naming| (naming.name.clone(), naming.documents.id)).collect()
    }
}
