//! The face of backup.

use std::ops::ControlFlow;
use std::path::Path;

use crate::core::{BackupProgress, BackupReport};
use crate::db::Db;
use crate::error::{Error, Result};
use crate::storage::{Access, Draft, FailStop, FileStorage};

impl Db {
    /// Copies the store, as it is now, into a new file at `path`, while others go on reading and writing. Every document in the copy is checked
    /// before it takes its name. The copy is a store like any other. Until then it is called `path` with `.partial` behind it. A process that
    /// is killed leaves that file, which the next backup to `path` replaces.
    ///
    /// ```
    /// # use holotype::{Db, doc};
    /// # let directory = tempfile::tempdir()?;
    /// # let (path, monday, tuesday) = (directory.path().join("a"), directory.path().join("b"), directory.path().join("c"));
    /// let db = Db::open(&path)?;
    /// let notes = db.collection("notes");
    /// notes.put("a", doc! { "n": 1 })?;
    /// db.backup(&monday)?;
    /// notes.put("a", doc! { "n": 2 })?;
    /// db.backup_from(&monday, &tuesday)?; // reads only what has changed
    /// let before = Db::open(&monday)?.collection("notes").get("a")?.expect("it was there then");
    /// assert_eq!(before.get("n").and_then(|n| n.as_i64()), Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `CannotOpen` where there is a file at `path`; `Corrupt` where something that the copy needs is damaged; `StorageFull`, `Io`; and as
    /// [`Db::flush`]. Nothing is left behind then, and the store is as it was.
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<BackupReport> {
        self.backup_with(path, |_| ControlFlow::Continue(()))
    }

    /// As [`backup`](Self::backup); `progress` is told after each segment, and may end it: then there is no backup.
    ///
    /// # Errors
    /// As [`backup`](Self::backup).
    pub fn backup_with(
        &self,
        path: impl AsRef<Path>,
        progress: impl FnMut(&BackupProgress) -> ControlFlow<()>,
    ) -> Result<BackupReport> {
        let draft = Draft::begin(path.as_ref(), None)?;
        self.back_up(draft, None, progress)
    }

    /// As [`backup`](Self::backup), reading from the store only what the backup at `earlier` does not have. `path` may be that of `earlier`, which is
    /// then replaced in one step.
    ///
    /// # Errors
    /// `InvalidOption` where `earlier` is not a backup of this very store, or was written to since; `EarlierBackup` where it cannot be
    /// read; and as [`backup`](Self::backup).
    pub fn backup_from(&self, earlier: impl AsRef<Path>, path: impl AsRef<Path>) -> Result<BackupReport> {
        self.backup_from_with(earlier, path, |_| ControlFlow::Continue(()))
    }

    /// As [`backup_from`](Self::backup_from), with a `progress` as in [`backup_with`](Self::backup_with).
    ///
    /// # Errors
    /// As [`backup_from`](Self::backup_from).
    pub fn backup_from_with(
        &self,
        earlier: impl AsRef<Path>,
        path: impl AsRef<Path>,
        progress: impl FnMut(&BackupProgress) -> ControlFlow<()>,
    ) -> Result<BackupReport> {
        let earlier = earlier.as_ref();
        // First of all: what a killed backup left under its temporary name may be another name of `earlier`, and could not be
        // locked once that is open here.
        let draft = Draft::begin(path.as_ref(), Some(earlier))?;
        let storage = FileStorage::open(earlier, Access::ReadOnly).map_err(Error::of_earlier_backup)?;
        let earlier = FailStop::new(Box::new(storage));
        self.back_up(draft, Some(&earlier), progress)
    }

    fn back_up(
        &self,
        draft: Draft,
        earlier: Option<&FailStop>,
        progress: impl FnMut(&BackupProgress) -> ControlFlow<()>,
    ) -> Result<BackupReport> {
        let report = self.store().backup(draft.storage(), earlier, progress)?;
        if report.is_complete {
            draft.finish()?;
        }
        Ok(report)
    }

    /// As [`backup_from`](Self::backup_from), between storages of the caller's own: `destination` is empty.
    ///
    /// # Errors
    /// As [`backup_from`](Self::backup_from). What was written to `destination` until then is not to be used.
    #[cfg(feature = "testing")]
    pub fn backup_to<S: crate::storage::Storage + 'static>(
        &self,
        destination: &crate::sync::Arc<S>,
        earlier: Option<Box<dyn crate::storage::Storage>>,
    ) -> Result<BackupReport> {
        self.backup_to_with(destination, earlier, |_| ControlFlow::Continue(()))
    }

    /// As [`backup_to`](Self::backup_to), with a `progress` as in [`backup_with`](Self::backup_with).
    ///
    /// # Errors
    /// As [`backup_to`](Self::backup_to).
    #[cfg(feature = "testing")]
    pub fn backup_to_with<S: crate::storage::Storage + 'static>(
        &self,
        destination: &crate::sync::Arc<S>,
        earlier: Option<Box<dyn crate::storage::Storage>>,
        progress: impl FnMut(&BackupProgress) -> ControlFlow<()>,
    ) -> Result<BackupReport> {
        let earlier = earlier.map(FailStop::new);
        self.store().backup(destination, earlier.as_ref(), progress)
    }
}
