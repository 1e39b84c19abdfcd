//! Opening a store by its path.

use std::path::{Path, PathBuf};

use holotype::{Db, Error, Options};

use crate::exit::{Failure, Result};
use crate::wait;

/// A store, and the path that messages name it by.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) db: Db,
    path: PathBuf,
}

impl Store {
    /// For reading only: nothing in the file changes, and other readers can have it at the same time.
    pub(crate) fn open_to_read(path: &Path) -> Result<Self> {
        Self::open(path, &Options::new().read_only(true).create(false))
            .map_err(|error| Failure::store(path, &error))
    }

    /// For writing; there must be one.
    pub(crate) fn open_to_write(path: &Path) -> Result<Self> {
        Self::open(path, &Options::new().create(false)).map_err(|error| Failure::store(path, &error))
    }

    /// As [`open_to_write`](Self::open_to_write), to be copied.
    pub(crate) fn open_to_copy(path: &Path) -> Result<Self> {
        Self::open(path, &Options::new().create(false)).map_err(|error| Failure::source(path, &error))
    }

    /// For writing; `None` where there is no file yet, or no more than an unfinished creation.
    pub(crate) fn open_if_there(path: &Path) -> Result<Option<Self>> {
        match Self::open(path, &Options::new().create(false)) {
            Ok(store) => Ok(Some(store)),
            Err(Error::NotFound { .. } | Error::Incomplete) => Ok(None),
            Err(error) => Err(Failure::store(path, &error)),
        }
    }

    /// For writing; created if there is none. A store in memory takes the `first` change before: one that is refused leaves
    /// no file.
    pub(crate) fn open_or_create(
        path: &Path,
        first: impl FnOnce(&Db) -> holotype::Result<()>,
    ) -> Result<Self> {
        if let Some(store) = Self::open_if_there(path)? {
            return Ok(store);
        }
        let created = first(&Db::in_memory()).and_then(|()| Self::open(path, &Options::new()));
        created.map_err(|error| Failure::store(path, &error))
    }

    fn open(path: &Path, options: &Options) -> holotype::Result<Self> {
        let db = wait::until_unlocked(|| Db::open_with(path, options))?;
        Ok(Store { db, path: path.to_owned() })
    }

    /// A failure of this store.
    pub(crate) fn failure(&self, error: &Error) -> Failure {
        Failure::store(&self.path, error)
    }

    /// Closes the store, and tells what a silent end would not.
    pub(crate) fn close(self) -> Result<()> {
        self.db.close().map_err(|error| Failure::store(&self.path, &error))
    }
}
