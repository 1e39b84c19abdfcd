//! A file of the operating system: the engine's one door to it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::Storage;
use crate::error::{Error, Result};
use crate::sync::Arc;

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading. Other readers may have it open too; a writer may not.
    ReadOnly,
    /// Reading and writing, with nobody else.
    ReadWrite {
        /// Creates the file if it does not exist.
        create: bool,
        /// Creates the file, and refuses one that exists.
        create_new: bool,
    },
}

/// An open, locked file. The lock goes with the value.
///
/// One handle at a time may write, in this process or another: opening a file that is held elsewhere is
/// [`Error::Locked`]. Handles that only read share it.
#[derive(Debug)]
pub struct FileStorage {
    file: File,
    /// Absolute and without links, so that its parent is the directory that names it, wherever the process goes.
    path: PathBuf,
    created: bool,
}

impl FileStorage {
    //= spec/media.md#m-1-4-exclusion
    //# A storage that is open for writing MUST keep every other handle from the file, in this process and in
    //# others, until it is closed; the operating system drops its lock with the process.
    /// Opens the file at `path` and locks it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] names the file, or the directory it was to be created in. [`Error::Locked`]: somebody else has
    /// it open. [`Error::CannotOpen`]: it is not a regular file, its permissions forbid it, or it exists and was to be
    /// created. [`Error::Io`]: anything else that the operating system says.
    pub fn open(path: impl AsRef<Path>, access: Access) -> Result<Self> {
        let path = path.as_ref();
        let locked = || Error::Locked { path: path.to_owned() };
        for _ in 0..REPLACED_MAX {
            refuse_what_is_no_file(path)?;
            let (file, created) =
                open_or_create(path, access).map_err(|error| refusal(path, access, error))?;
            let lock = match access {
                Access::ReadOnly => file.try_lock_shared(),
                Access::ReadWrite { .. } => file.try_lock(),
            };
            lock.map_err(|error| match error {
                TryLockError::WouldBlock => locked(),
                TryLockError::Error(source) => io_error("lock", path, source),
            })?;
            // The file that was opened may have lost its name to another one before it was locked.
            if has_name(&file, path).map_err(|source| io_error("look up", path, source))? {
                let path = path.canonicalize().map_err(|source| io_error("look up", path, source))?;
                return Ok(FileStorage { file, path, created });
            }
        }
        Err(locked())
    }

    /// Opens the file at `path` for looking at it only: whoever has it locked is neither asked nor hindered, so that what is read may be in
    /// the midst of a change. Where locks keep others from reading, as on Windows, a file that is held reads as one whose disk refuses.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), but for [`Error::Locked`].
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn open_unlocked(path: &Path) -> Result<Self> {
        refuse_what_is_no_file(path)?;
        let access = Access::ReadOnly;
        let (file, created) = open_or_create(path, access).map_err(|error| refusal(path, access, error))?;
        let path = path.canonicalize().map_err(|source| io_error("look up", path, source))?;
        Ok(FileStorage { file, path, created })
    }

    /// Whether opening created the file. If so, its name is durable only after
    /// [`sync_directory`](Storage::sync_directory).
    pub fn created(&self) -> bool {
        self.created
    }

    /// Where the file is: an absolute path without links.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for FileStorage {
    /// Ends the lock itself: what another thread starts meanwhile may hold a copy of the handle for a moment, and with it the lock that ends
    /// with the last of them.
    fn drop(&mut self) {
        // Of one that fails, the system ends the lock with the handles.
        _ = self.file.unlock();
    }
}

/// Asked before opening: opening a pipe would wait for its other end, and a directory can be opened for reading.
fn refuse_what_is_no_file(path: &Path) -> Result<()> {
    let what = match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => "it is a directory",
        Ok(metadata) if !metadata.is_file() => "it is not a regular file",
        // Whatever is wrong, opening says it too.
        _ => return Ok(()),
    };
    Err(Error::CannotOpen { path: path.to_owned(), what })
}

/// A file that is replaced so often while it is opened is somebody else's.
const REPLACED_MAX: u32 = 100;

/// Whether this is the file that `path` leads to.
#[cfg(unix)]
fn has_name(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let place = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    match std::fs::metadata(path) {
        Ok(named) => Ok(place(named) == place(file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// There, an open file keeps its name.
#[cfg(not(unix))]
fn has_name(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

fn open_or_create(path: &Path, access: Access) -> io::Result<(File, bool)> {
    let Access::ReadWrite { create, create_new } = access else {
        return Ok((OpenOptions::new().read(true).open(path)?, false));
    };
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    if create || create_new {
        match options.clone().create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !create_new => {}
            created => return Ok((created?, true)),
        }
    }
    Ok((options.open(path)?, false))
}

fn refusal(path: &Path, access: Access, error: io::Error) -> Error {
    let cannot = |what| Error::CannotOpen { path: path.to_owned(), what };
    match error.kind() {
        io::ErrorKind::NotFound => match (access, directory_of(path)) {
            (Access::ReadWrite { create, create_new }, Some(directory))
                if (create || create_new) && !directory.exists() =>
            {
                Error::NotFound { path: directory.to_owned() }
            }
            _ => Error::NotFound { path: path.to_owned() },
        },
        io::ErrorKind::AlreadyExists => cannot("it exists already"),
        io::ErrorKind::IsADirectory => cannot("it is a directory"),
        io::ErrorKind::NotADirectory => cannot("a part of the path is not a directory"),
        io::ErrorKind::PermissionDenied => cannot("its permissions do not allow it"),
        io::ErrorKind::ReadOnlyFilesystem => cannot("its file system is read-only"),
        _ => io_error("open", path, error),
    }
}

/// The directory that holds `path`: "." for a bare name, none for a root.
fn directory_of(path: &Path) -> Option<&Path> {
    let parent = path.parent()?;
    Some(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
}

pub(super) fn io_error(what: &str, path: &Path, source: io::Error) -> Error {
    Error::Io { operation: format!("{what} {}", path.display()), source: Arc::new(source) }
}

impl Storage for FileStorage {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, out, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        match std::os::windows::fs::FileExt::seek_read(&self.file, out, offset) {
            // There, a read that begins beyond the end is an error (38, ERROR_HANDLE_EOF).
            Err(error) if error.raw_os_error() == Some(38) => Ok(0),
            read => read,
        }
    }

    #[cfg(unix)]
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(&self.file, bytes, offset)
    }

    #[cfg(windows)]
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_write(&self.file, bytes, offset)
    }

    // The length is among what a data sync covers: without it the data could not be read back.
    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn sync_directory(&self) -> io::Result<()> {
        match directory_of(&self.path) {
            // Windows has no call for it, and commits names with its own log.
            Some(directory) if cfg!(unix) => File::open(directory)?.sync_all(),
            _ => Ok(()),
        }
    }

    fn scratch(&self) -> io::Result<Option<Box<dyn Storage>>> {
        // The name is free again at once, but for another thread that is as far as this one.
        for number in 0.. {
            let mut path = self.path.clone().into_os_string();
            path.push(format!(".sort-{}-{number}", std::process::id()));
            let path = PathBuf::from(path);
            match create_without_a_name(&path) {
                Ok(file) => return Ok(Some(Box::new(FileStorage { file, path, created: false }))),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < u16::MAX => {}
                Err(error) => return Err(error),
            }
        }
        unreachable!("the loop ends by returning")
    }
}

/// A file that goes with its handle, and with the process.
#[cfg(not(windows))]
fn create_without_a_name(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

/// A file that goes with its handle, and with the process.
#[cfg(windows)]
fn create_without_a_name(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
    options.open(path)
}

const CACHE_BYTES_MIN: u64 = 64 << 20;

/// How much memory a cache may take when nobody said: a quarter of what this process may use, and at least 64 MiB. The system is asked
/// once: its answer takes longer to write and to read than a small store takes to open.
pub(crate) fn default_cache_bytes() -> usize {
    // Not one of the checkers' own: what it holds is the same whoever asks first.
    static BYTES: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *BYTES.get_or_init(asked_cache_bytes)
}

fn asked_cache_bytes() -> usize {
    // The limit of a container, then the memory of the machine; elsewhere than on Linux neither file exists.
    let limit = |path| std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| memory_total(&text));
    let granted = limit("/sys/fs/cgroup/memory.max").into_iter().chain(machine).min().unwrap_or(0);
    usize::try_from((granted / 4).max(CACHE_BYTES_MIN)).unwrap_or(usize::MAX / 4)
}

/// Bytes, from a line like `MemTotal:       16314568 kB`.
fn memory_total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_the_handle_does_not_keep_the_lock() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.holo");
        for access in [Access::ReadWrite { create: true, create_new: false }, Access::ReadOnly] {
            let storage = FileStorage::open(&path, access).unwrap();
            // As a process has one that was started and runs its own program not yet.
            let copy = storage.file.try_clone().unwrap();
            drop(storage);
            FileStorage::open(&path, Access::ReadWrite { create: false, create_new: false }).unwrap();
            drop(copy);
        }
    }

    //= spec/media.md#m-1-4-exclusion
    //= type=test
    //# A storage that is open for writing MUST keep every other handle from the file, in this process and in
    //# others, until it is closed; the operating system drops its lock with the process.
    #[cfg(unix)]
    #[test]
    fn a_file_that_loses_its_name_before_it_is_locked_is_not_the_one_that_is_opened() {
        let directory = tempfile::tempdir().unwrap();
        let [path, other] = ["a.holo", "b.holo"].map(|name| directory.path().join(name));
        let access = Access::ReadWrite { create: true, create_new: false };
        let (file, _) = open_or_create(&path, access).unwrap();
        assert!(has_name(&file, &path).unwrap());
        std::fs::write(&other, b"other").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert!(!has_name(&file, &path).unwrap(), "another file has its name");
        std::fs::remove_file(&path).unwrap();
        assert!(!has_name(&file, &path).unwrap(), "nothing has it");
        std::fs::write(&path, b"first").unwrap();
        std::thread::scope(|scope| {
            let backups = scope.spawn(|| {
                for _ in 0..2_000 {
                    // As a backup that takes the place of an earlier one.
                    let Ok(_earlier) = FileStorage::open(&path, Access::ReadOnly) else { continue };
                    std::fs::write(&other, b"other").unwrap();
                    std::fs::rename(&other, &path).unwrap();
                }
            });
            while !backups.is_finished() {
                match FileStorage::open(&path, access) {
                    Ok(opened) => assert!(has_name(&opened.file, &path).unwrap()),
                    Err(error) => assert!(matches!(error, Error::Locked { .. }), "{error}"),
                }
            }
        });
    }

    #[test]
    fn the_memory_of_the_machine_is_read_in_kibibytes() {
        assert_eq!(memory_total("MemFree: 7 kB\nMemTotal:       16314568 kB\n"), Some(16_314_568 << 10));
        assert_eq!(memory_total("MemTotal: many kB\n"), None);
        assert!(default_cache_bytes() as u64 >= CACHE_BYTES_MIN);
    }
}
