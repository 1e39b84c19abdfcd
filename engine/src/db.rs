//! The handle to a store. It wires; what a store does is in the rooms.

mod handles;

use std::ops::ControlFlow;
use std::path::Path;

use crate::core::{CompactProgress, CompactReport, Core, Effort, Location, Stats, Stepped, VerifyReport};
use crate::doc_ref::DocRef;
use crate::error::Result;
use crate::options::{Durability, Options};
use crate::pipeline::{SnapshotInfo, Store};
use crate::storage::{Access, FileStorage, MemoryStorage, Storage};
use crate::sync::Arc;

/// An open store. Clones share it; the last one to go closes it.
///
/// Every method takes `&self`, from any thread. One writer at a time changes the store; readers wait for nobody.
///
/// ```
/// use holotype::{Db, doc};
///
/// let directory = tempfile::tempdir()?;
/// let db = Db::open(directory.path().join("library.holo"))?;
/// let books = db.collection("books");
/// let id = books.insert(doc! { "title": "On the Origin of Species", "year": 1859 })?; // durable on return
/// let book = books.get(&id)?.expect("it was just put there");
/// assert_eq!(book.get("year").and_then(|year| year.as_i64()), Some(1859));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Db(Arc<Handle>);

#[derive(Debug)]
struct Handle {
    store: Arc<Store>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Quietly: there is nobody to tell. `Db::close` tells.
        let _ = self.store.close();
    }
}

impl Db {
    /// Opens the store in the file at `path`, or creates it there.
    ///
    /// # Errors
    /// `Locked` while another process has it, `NotHolotype`, `NewerFormat`, `OlderFormat`, `Corrupt`, `Io`, `StorageFull`.
    pub fn open(path: impl AsRef<Path>) -> Result<Db> {
        Self::open_with(path, &Options::new())
    }

    /// Opens the store in the file at `path` as `options` say.
    ///
    /// # Errors
    /// As [`Db::open`]; `NotFound` where there is no file and the options do not ask to create one, `Incomplete` for an unfinished
    /// creation opened for reading only, `InvalidOption`.
    pub fn open_with(path: impl AsRef<Path>, options: &Options) -> Result<Db> {
        options.validate()?;
        let access = if options.read_only {
            Access::ReadOnly
        } else {
            Access::ReadWrite { create: options.create, create_new: false }
        };
        let storage = FileStorage::open(path.as_ref(), access)?;
        Self::open_on(storage, options)
    }

    /// Opens the store on a storage of the caller's own, or creates it there.
    ///
    /// # Errors
    /// As [`Db::open_with`].
    pub fn open_on(storage: impl Storage + 'static, options: &Options) -> Result<Db> {
        Core::open(Box::new(storage), options).map(Self::over)
    }

    pub(crate) fn over(core: Core) -> Db {
        Db(Arc::new(Handle { store: Arc::new(Store::new(core)) }))
    }

    /// A new store in memory, which goes with its last handle.
    pub fn in_memory() -> Db {
        Self::open_on(MemoryStorage::new(), &Options::new()).expect("memory refuses nothing")
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.0.store
    }

    pub(crate) fn core(&self) -> &Core {
        &self.0.store.core
    }

    fn durability(&self) -> Durability {
        self.core().shared.options.durability
    }

    /// The names of all collections, in the order of their bytes.
    pub fn collections(&self) -> Vec<String> {
        self.core().shared.names()
    }

    /// Creates a collection without a document. Whether it was not there before.
    ///
    /// # Errors
    /// `InvalidName`, and what any write may say.
    pub fn create_collection(&self, name: &str) -> Result<bool> {
        self.store().autocommit(self.durability(), |txn| txn.create_collection(name))
    }

    /// Drops a collection with all its documents, in one step however many they are. Whether there was one.
    ///
    /// # Errors
    /// What any write may say.
    pub fn drop_collection(&self, name: &str) -> Result<bool> {
        self.store().autocommit(self.durability(), |txn| txn.drop_collection(name))
    }

    /// Gives a collection another name. Whether there was one.
    ///
    /// # Errors
    /// `InvalidName` also where `to` is the name of a collection already; and what any write may say.
    pub fn rename_collection(&self, name: &str, to: &str) -> Result<bool> {
        self.store().autocommit(self.durability(), |txn| txn.rename_collection(name, to))
    }

    /// The document that stands, or stood, at a place that [`watch`](Self::watch) gave. None where the log no longer has it.
    ///
    /// # Errors
    /// `Corrupt` where the record is damaged; `Io`.
    pub fn document_at(&self, location: Location) -> Result<Option<DocRef>> {
        Ok(self.core().shared.document_at(location)?.map(DocRef::new))
    }

    /// The snapshots that are held now, the oldest first; those of running scans are among them.
    pub fn snapshots(&self) -> Vec<SnapshotInfo> {
        self.store().live_snapshots()
    }

    /// Makes durable every commit that returned before this call, whatever its class.
    ///
    /// # Errors
    /// `Io` when the disk refuses; the handle then writes no more. `StorageFull` where that is all: then nothing that had returned before is lost,
    /// and commits of others that were still waiting may have been taken back.
    pub fn flush(&self) -> Result<()> {
        self.store().flush()
    }

    /// Takes a checkpoint now, so that opening the store again need not read the log before it. One is taken by itself now and then
    /// ([`Options::checkpoint_bytes`]), and when a store is closed. Reads and writes go on meanwhile.
    ///
    /// # Errors
    /// As [`Db::flush`]. The checkpoints before are as good as they were then.
    pub fn checkpoint(&self) -> Result<()> {
        self.store().checkpoint()
    }

    /// Takes one bounded step of what is due to keep the file small and opening quick; whether there may be more. A thread does this by itself,
    /// unless the store was opened with [`Background::Manual`](crate::Background::Manual). While a transaction is open, there is nothing to be done.
    ///
    /// ```
    /// # use holotype::{Background, Db, Options};
    /// # let directory = tempfile::tempdir()?;
    /// let db = Db::open_with(directory.path().join("notes.holo"), &Options::new().background(Background::Manual))?;
    /// while db.maintain()? {}
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Db::flush`].
    pub fn maintain(&self) -> Result<bool> {
        Ok(self.store().step(Effort::Rest)? == Stepped::Done)
    }

    /// Makes the file as small as it gets: dead space is gone, and its end is cut off. Reads and writes go on meanwhile. Where it is interrupted, by
    /// whatever it is, the store is as good as before, and another call goes on from there.
    ///
    /// Short documents that stand in another order than their keys' are put into that, where all of them have room in the cache and the file may
    /// grow by as much meanwhile: scans of them take a third of the time afterwards.
    ///
    /// # Errors
    /// `WriterBusy` while a transaction is open for longer than [`Options::write_wait`]; as [`Db::flush`].
    pub fn compact(&self) -> Result<CompactReport> {
        self.compact_with(|_| ControlFlow::Continue(()))
    }

    /// As [`compact`](Self::compact); `progress` is told after each step, and may end it.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// # use holotype::Db;
    /// # let directory = tempfile::tempdir()?;
    /// let db = Db::open(directory.path().join("notes.holo"))?;
    /// let began = std::time::Instant::now();
    /// let report = db.compact_with(|progress| match began.elapsed().as_secs() {
    ///     0..60 => ControlFlow::Continue(()),
    ///     _ => ControlFlow::Break(()),
    /// })?;
    /// assert!(report.is_complete && report.bytes_after <= report.bytes_before);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`compact`](Self::compact).
    pub fn compact_with(
        &self,
        progress: impl FnMut(&CompactProgress) -> ControlFlow<()>,
    ) -> Result<CompactReport> {
        self.store().compact(progress)
    }

    /// Numbers about the store as it is now.
    pub fn stats(&self) -> Stats {
        self.core().stats()
    }

    /// Checks that every document can be read and stands where the index says; with `deep`, also that every byte of the log is
    /// as it was written. Lists all that is wrong, not just the first.
    ///
    /// # Errors
    /// What keeps the check itself from being done, such as a failed read.
    pub fn verify(&self, deep: bool) -> Result<VerifyReport> {
        self.core().verify(deep)
    }

    /// Makes everything durable, marks the store as closed and reports what went wrong. Other clones can read on; what they
    /// write is refused with `Closed`.
    ///
    /// # Errors
    /// As [`Db::flush`].
    pub fn close(self) -> Result<()> {
        self.store().close()
    }
}
