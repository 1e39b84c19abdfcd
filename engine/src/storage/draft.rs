//! A file in the making: under a name of its own beside the one that it is to have, until it is whole and durable.

use std::io;
use std::path::{Path, PathBuf};

use super::file::io_error;
use super::{Access, FileStorage, Storage};
use crate::error::{Error, Result};
use crate::sync::Arc;

/// A file that is written under a temporary name. Unless it is finished, nothing of it stays.
#[derive(Debug)]
pub(crate) struct Draft {
    storage: Arc<FileStorage>,
    temporary: PathBuf,
    path: PathBuf,
    /// Whether there is a file of the final name that is to go.
    replaces: bool,
    finished: bool,
}

impl Draft {
    /// Begins an empty file that will be named `path`; where `replaces` is such a file, in the place of that one.
    ///
    /// # Errors
    /// `CannotOpen` where there is another file of that name; `Locked` where somebody else is about to write it; and as
    /// [`FileStorage::open`].
    pub(crate) fn begin(path: &Path, replaces: Option<&Path>) -> Result<Draft> {
        let is_replaced = replaces.is_some_and(|replaced| is_same_file(replaced, path));
        if !is_replaced && path.symlink_metadata().is_ok() {
            return Err(exists(path));
        }
        let what = "it does not end in the name of a file";
        let name = path.file_name().ok_or(Error::CannotOpen { path: path.to_owned(), what })?;
        let mut temporary = name.to_owned();
        temporary.push(".partial");
        let temporary = path.with_file_name(temporary);
        remove_leftover(&temporary)?;
        let storage = FileStorage::open(&temporary, Access::ReadWrite { create: true, create_new: true })?;
        let (storage, path) = (Arc::new(storage), path.to_owned());
        Ok(Draft { storage, temporary, path, replaces: is_replaced, finished: false })
    }

    /// What is written. Its name is temporary for as long as the draft is not finished.
    pub(crate) fn storage(&self) -> &Arc<FileStorage> {
        &self.storage
    }

    //= spec/space.md#p-10-3-order
    //# A backup MUST NOT replace a file, unless it is the earlier backup that it was asked to go on from.
    //= spec/space.md#p-10-3-order
    //# A backup that fails or is interrupted leaves nothing under its own name.
    /// Gives the file its name. What was written to it is durable already; now the name is, too.
    pub(crate) fn finish(mut self) -> Result<()> {
        if self.replaces {
            // A disk that refuses shows it while the earlier file still has the name.
            self.sync_name()?;
            self.rename()?;
        } else {
            self.name_anew()?;
        }
        self.finished = true;
        self.sync_name().inspect_err(|_| {
            if !self.replaces {
                let _ = std::fs::remove_file(&self.path);
            }
        })
    }

    fn sync_name(&self) -> Result<()> {
        let synced = self.storage.sync_directory();
        synced.map_err(|source| io_error("make durable the name of", &self.path, source))
    }

    fn rename(&self) -> Result<()> {
        std::fs::rename(&self.temporary, &self.path).map_err(|source| io_error("name", &self.path, source))
    }

    /// A link fails where there is a file of that name by now; a rename would replace it. Not every file system has links.
    fn name_anew(&self) -> Result<()> {
        match std::fs::hard_link(&self.temporary, &self.path) {
            Ok(()) => {
                // The file has its name; that it has another for now does no harm.
                let _ = std::fs::remove_file(&self.temporary);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(exists(&self.path)),
            Err(_) if self.path.symlink_metadata().is_ok() => Err(exists(&self.path)),
            Err(_) => self.rename(),
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.finished {
            // Nobody is there to tell, and the next draft of that name begins it anew.
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

/// What a killed process left behind is of no use to anybody; what is being written is locked. It is removed and not emptied: the bytes may
/// be those of a file that got its name just before the process ended.
fn remove_leftover(temporary: &Path) -> Result<()> {
    match FileStorage::open(temporary, Access::ReadWrite { create: false, create_new: false }) {
        Ok(_) => std::fs::remove_file(temporary).map_err(|source| io_error("remove", temporary, source)),
        Err(Error::NotFound { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

fn exists(path: &Path) -> Error {
    Error::CannotOpen { path: path.to_owned(), what: "it exists already" }
}

/// Whether both paths lead to one file that is there.
fn is_same_file(a: &Path, b: &Path) -> bool {
    let is_link = b.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b && !is_link,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).expect("it is there");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_draft_has_its_name_when_it_is_finished_and_leaves_nothing_before() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a");
        drop(Draft::begin(&path, None).expect("the name is free"));
        assert_eq!(names_in(directory.path()), Vec::<String>::new());
        let draft = Draft::begin(&path, None).expect("the name is free");
        draft.storage().write_at(0, b"whole").expect("there is room");
        assert_eq!(names_in(directory.path()), ["a.partial"]);
        draft.finish().expect("nothing hinders it");
        assert_eq!(names_in(directory.path()), ["a"]);
        assert_eq!(std::fs::read(&path).expect("it is there"), b"whole");
    }

    #[test]
    fn a_draft_replaces_only_the_file_that_it_was_told_to() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a");
        std::fs::write(&path, b"old").expect("there is room");
        let other = directory.path().join("b");
        let refused = Draft::begin(&path, Some(&other)).expect_err("there is a file of that name");
        assert!(matches!(refused, Error::CannotOpen { .. }), "{refused}");
        let draft = Draft::begin(&path, Some(&path)).expect("it may be replaced");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"old");
        draft.finish().expect("nothing hinders it");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"");
    }

    #[test]
    fn a_file_that_comes_in_between_is_not_replaced() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a");
        let draft = Draft::begin(&path, None).expect("the name is free");
        std::fs::write(&path, b"new").expect("there is room");
        assert!(matches!(draft.finish(), Err(Error::CannotOpen { .. })));
        assert_eq!(std::fs::read(&path).expect("it is there"), b"new");
        assert_eq!(names_in(directory.path()), ["a"]);
    }

    //= spec/space.md#p-10-3-order
    //= type=test
    //# A backup that fails or is interrupted leaves nothing under its own name.
    #[cfg(unix)]
    #[test]
    fn a_name_that_cannot_be_made_durable_is_not_given() {
        let directory = tempfile::tempdir().expect("a directory");
        let [was, is, link] = ["was", "is", "link"].map(|name| directory.path().join(name));
        let point_to = |target: &Path| {
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(target, &link).expect("the name is free");
        };
        let path = link.join("a");
        for is_there in [false, true] {
            std::fs::create_dir(&was).expect("the name is free");
            point_to(&was);
            if is_there {
                std::fs::write(&path, b"old").expect("there is room");
            }
            let draft = Draft::begin(&path, is_there.then_some(&*path)).expect("the name is free");
            // The directory that is to be synced is not found any more.
            std::fs::rename(&was, &is).expect("the name is free");
            point_to(&is);
            let finished = draft.finish();
            assert!(matches!(finished, Err(Error::Io { .. })), "{finished:?}");
            let expected: &[&str] = if is_there { &["a"] } else { &[] };
            assert_eq!(names_in(&is), expected);
            assert!(!is_there || std::fs::read(&path).expect("it is there") == b"old");
            std::fs::remove_dir_all(&is).expect("it is there");
        }
    }
}
