//! Copies of a store between any two calls, for checks that try many futures of one past.

use crate::cache::Cache;
use crate::index::Documents;
use crate::log::Log;
use crate::storage::Storage;
use crate::sync::{Arc, Mutex, RwLock, lock, read};
use crate::txn::Registered;

use super::{Core, Draft};

/// Copies of documents, each made once: what shares documents here (two names after a rename, a pending commit) shares their copy there.
#[derive(Default)]
struct Copies(Vec<Arc<Documents>>);

impl Copies {
    fn of(&mut self, documents: &Arc<Documents>) -> Arc<Documents> {
        let known = self.0.iter().find(|copy| copy.id == documents.id);
        known.map(Arc::clone).unwrap_or_else(|| {
            let copy = Arc::new(documents.fork());
            self.0.push(Arc::clone(&copy));
            copy
        })
    }
}

impl Core {
    /// A copy that shares nothing with this one and goes on from here on `storage`, which is a copy of the disk.
    pub(crate) fn fork(&self, storage: Box<dyn Storage>) -> Core {
        let writer = self.writer.as_ref().map(lock);
        let mut copies = Copies::default();
        let mut copy_of = |documents: &Arc<Documents>| copies.of(documents);
        Core {
            log: Log {
                storage: self.log.storage.fork(storage),
                geometry: self.log.geometry,
                segments: self.log.segments.fork(),
                tail: self.log.tail.fork(),
                // What was cached is read again: the copy's disk holds it.
                cache: Cache::new(self.options.cache_bytes.unwrap_or(0)),
            },
            catalog: RwLock::new(read(&self.catalog).fork(&mut copy_of)),
            visibility: Arc::new(self.visibility.fork(&mut copy_of)),
            writer: writer.map(|writer| Mutex::new(writer.fork())),
            options: self.options.clone(),
        }
    }

    /// The snapshot `id` of the store that this is a copy of.
    pub(crate) fn registered(&self, id: u64) -> Option<Registered> {
        self.visibility.registered(id)
    }

    /// A copy of a transaction of the store that this is a copy of.
    pub(crate) fn fork_draft(&self, draft: &Draft) -> Draft {
        let mut copies = Copies(read(&self.catalog).documents().cloned().collect());
        draft.fork(&mut |documents| copies.of(documents))
    }
}
