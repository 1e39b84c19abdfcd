//! The handle to a store. It wires; what a store does is in the rooms.

use std::path::Path;

use crate::collection::Collection;
use crate::core::{Core, Stats, VerifyReport};
use crate::error::Result;
use crate::options::Options;
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
pub struct Db {
    handle: Arc<Handle>,
}

#[derive(Debug)]
struct Handle {
    core: Arc<Core>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Quietly: there is nobody to tell. `Db::close` tells.
        let _ = self.core.close();
    }
}

impl Db {
    /// Opens the store in the file at `path`, or creates it there.
    ///
    /// # Errors
    /// `Locked` while another process has it, `NotHolotype`, `NewerFormat`, `Corrupt`, `Io`, `StorageFull`.
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
        let core = Core::open(Box::new(storage), options)?;
        Ok(Db { handle: Arc::new(Handle { core: Arc::new(core) }) })
    }

    /// A new store in memory, which goes with its last handle.
    pub fn in_memory() -> Db {
        Self::open_on(MemoryStorage::new(), &Options::new()).expect("memory refuses nothing")
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.handle.core
    }

    /// The collection of this name. It need not exist: the first write creates it, and until then reads say
    /// `UnknownCollection`.
    pub fn collection(&self, name: impl Into<String>) -> Collection {
        Collection::new(self.clone(), name.into())
    }

    /// The names of all collections, in the order of their bytes.
    pub fn collections(&self) -> Vec<String> {
        self.core().names()
    }

    /// Creates a collection without a document. Whether it was not there before.
    ///
    /// # Errors
    /// `InvalidName`, and what any write may say.
    pub fn create_collection(&self, name: &str) -> Result<bool> {
        self.core().create_collection(name, self.core().options.durability)
    }

    /// Drops a collection with all its documents, in one step however many they are. Whether there was one.
    ///
    /// # Errors
    /// What any write may say.
    pub fn drop_collection(&self, name: &str) -> Result<bool> {
        self.core().drop_collection(name, self.core().options.durability)
    }

    /// Gives a collection another name. Whether there was one.
    ///
    /// # Errors
    /// `InvalidName` also where `to` is the name of a collection already; and what any write may say.
    pub fn rename_collection(&self, name: &str, to: &str) -> Result<bool> {
        self.core().rename_collection(name, to, self.core().options.durability)
    }

    /// Makes durable every commit that returned before this call, whatever its class.
    ///
    /// # Errors
    /// `Io` when the disk refuses; the handle then writes no more. `StorageFull` where that is all.
    pub fn flush(&self) -> Result<()> {
        self.core().flush().map(|_| ())
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
        self.core().close()
    }

    /// A copy that shares nothing with this store and goes on from its present state on `storage`, a copy of its disk. For
    /// exhaustive checks, which try many futures of one past.
    #[cfg(feature = "testing")]
    pub fn fork(&self, storage: impl Storage + 'static) -> Db {
        let core = self.core().fork(Box::new(storage));
        Db { handle: Arc::new(Handle { core: Arc::new(core) }) }
    }
}
