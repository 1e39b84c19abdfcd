//! The file system that the stores' files are on.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};
use tempfile::TempDir;

use crate::failure::{Of, Result};

/// Where the system tells what is mounted where.
const MOUNTS: &str = "/proc/self/mounts";

/// The type of the file system that `directory` is on, as the system names it.
pub fn file_system(directory: &Path) -> Result<String> {
    let directory = directory.canonicalize().of("the directory of the files", "looking for it")?;
    let mounts = std::fs::read_to_string(MOUNTS).of("the system", "telling what is mounted")?;
    Ok(longest_mount(&mounts, &directory).unwrap_or("unknown").to_owned())
}

/// A directory for the files of one trial, which goes with them.
pub fn files_of(who: &'static str, directory: &Path) -> Result<TempDir> {
    tempfile::tempdir_in(directory).of(who, "making a directory for its files")
}

/// Has every file in `directory`, and in the directories in it, written to the disk.
pub fn sync(who: &'static str, directory: &Path) -> Result<()> {
    for_each_file(directory, &|file| file.sync_all()).of(who, "syncing its files")
}

/// Calls `work` with every file in `directory` and in the directories in it. A store may delete one of its own meanwhile.
pub fn for_each_file(directory: &Path, work: &impl Fn(&File) -> io::Result<()>) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            for_each_file(&path, work)?;
            continue;
        }
        match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            file => work(&file?)?,
        }
    }
    Ok(())
}

/// The account that the disk under a directory keeps of itself.
pub struct Disk {
    account: PathBuf,
}

impl Disk {
    /// None where the system does not tell, as of a file system of several disks or of none.
    pub fn under(directory: &Path) -> Option<Self> {
        let device = std::fs::metadata(directory).ok()?.dev();
        let account = format!("/sys/dev/block/{}:{}/stat", major(device), minor(device));
        let disk = Disk { account: account.into() };
        disk.sectors().is_some().then_some(disk)
    }

    pub fn account(&self) -> &Path {
        &self.account
    }

    /// The bytes that it has written so far, whoever asked for it.
    pub fn written(&self) -> u64 {
        self.sectors().unwrap_or_default() * SECTOR_BYTES
    }

    fn sectors(&self) -> Option<u64> {
        let told = std::fs::read_to_string(&self.account).ok()?;
        told.split_whitespace().nth(SECTORS_WRITTEN)?.parse().ok()
    }
}

/// Where the number of sectors written stands in the account, and what the system calls a sector, whatever the disk has.
const SECTORS_WRITTEN: usize = 6;
const SECTOR_BYTES: u64 = 512;

/// The type of the mount closest above `directory`; of two at one place, the later hides the earlier.
fn longest_mount<'m>(mounts: &'m str, directory: &Path) -> Option<&'m str> {
    let mount = |line: &'m str| {
        let mut fields = line.split(' ').skip(1);
        Some((Path::new(fields.next()?), fields.next()?))
    };
    let above = mounts.lines().filter_map(mount).filter(|(at, _)| directory.starts_with(at));
    above.max_by_key(|(at, _)| at.components().count()).map(|(_, kind)| kind)
}

/// Whether files there are gone with the power, whatever is synced.
pub fn is_in_memory(file_system: &str) -> bool {
    matches!(file_system, "tmpfs" | "ramfs")
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "/dev/a / ext4 rw 0 0\ntmpfs /dev/shm tmpfs rw 0 0\n/dev/b /dev xfs rw 0 0\n";

    #[test]
    fn the_closest_mount_above_a_directory_counts() {
        let kind = |directory: &str| longest_mount(EXAMPLE, Path::new(directory));
        assert_eq!(kind("/dev/shm/peers"), Some("tmpfs"));
        assert_eq!(kind("/dev/shmem"), Some("xfs"));
        assert_eq!(kind("/tmp"), Some("ext4"));
    }

    #[test]
    fn a_disk_that_tells_counts_what_was_synced() {
        let directory = tempfile::tempdir().unwrap();
        let Some(disk) = Disk::under(directory.path()) else { return };
        let before = disk.written();
        std::fs::write(directory.path().join("file"), vec![7; 4 << 20]).unwrap();
        sync("a store", directory.path()).unwrap();
        assert!(disk.written() >= before + (4 << 20), "{before} before, {} after", disk.written());
    }

    #[test]
    fn files_below_a_directory_are_found_once_each() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("below")).unwrap();
        std::fs::write(directory.path().join("one"), [7; 5]).unwrap();
        std::fs::write(directory.path().join("below/two"), [7; 3]).unwrap();
        let len = std::cell::Cell::new(0);
        let add = |file: &File| {
            len.set(len.get() + file.metadata()?.len());
            Ok(())
        };
        for_each_file(directory.path(), &add).unwrap();
        assert_eq!(len.get(), 8);
        assert!(sync("a store", &directory.path().join("gone")).is_err());
    }

    #[test]
    fn a_file_system_in_memory_is_told_from_one_on_a_disk() {
        assert!(is_in_memory("tmpfs") && !is_in_memory("ext4"));
    }
}
