//! The real file: opening, locking, and bytes.

use std::fs;
use std::path::Path;

use holotype::Error;
use holotype::storage::{Access, FileStorage, MemoryStorage, Storage};

const CREATE: Access = Access::ReadWrite { create: true, create_new: false };
const EXISTING: Access = Access::ReadWrite { create: false, create_new: false };
const NEW: Access = Access::ReadWrite { create: true, create_new: true };

/// Runs a test in a directory of its own.
fn in_directory(test: impl FnOnce(&Path)) {
    let directory = tempfile::tempdir().unwrap();
    test(directory.path());
}

//= spec/media.md#m-1-1-reading-what-was-written
//# A read MUST return the bytes that the earlier calls of the same handle left there, whether they were
//# synced or not.
//= spec/media.md#m-1-2-range
//# A write MUST NOT change a byte outside its range.
//= spec/media.md#m-1-3-extension
//# Bytes between the old end of a file and a new one MUST read as zeros until they are written.
#[test]
fn both_kinds_of_storage_behave_as_a_file_does() {
    in_directory(|directory| {
        let file = FileStorage::open(directory.join("a"), CREATE).unwrap();
        let memory = MemoryStorage::new();
        let boxed: Box<dyn Storage> = Box::new(std::sync::Arc::new(MemoryStorage::new()));
        for storage in [&file as &dyn Storage, &memory, &boxed] {
            assert!(storage.is_empty().unwrap());
            // Far apart, so that whole pages between were never written.
            assert_eq!(storage.write_at(100_000, b"end").unwrap(), 3);
            assert_eq!(storage.len().unwrap(), 100_003);
            let mut bytes = vec![9; 100_100];
            assert_eq!(storage.read_at(0, &mut bytes).unwrap(), 100_003);
            assert!(bytes[..100_000].iter().all(|byte| *byte == 0));
            assert_eq!(bytes[100_000..100_004], *b"end\x09");
            assert_eq!(storage.read_at(100_003, &mut bytes).unwrap(), 0);
            assert_eq!(storage.read_at(1 << 40, &mut bytes).unwrap(), 0);
            // What was cut off does not come back.
            storage.set_len(100_001).unwrap();
            storage.set_len(200_000).unwrap();
            let mut tail = [9; 3];
            assert_eq!(storage.read_at(100_000, &mut tail).unwrap(), 3);
            assert_eq!(tail, *b"e\0\0");
            storage.sync().unwrap();
            storage.sync_directory().unwrap();
            assert_eq!(storage.len().unwrap(), 200_000);
        }
    });
}

#[test]
fn a_file_keeps_its_bytes_and_says_whether_it_is_new() {
    in_directory(|directory| {
        let path = directory.join("a");
        let file = FileStorage::open(&path, CREATE).unwrap();
        assert!(file.created());
        file.write_at(0, b"kept").unwrap();
        drop(file);
        let file = FileStorage::open(&path, CREATE).unwrap();
        assert!(!file.created());
        assert_eq!(file.path(), path.canonicalize().unwrap());
        let mut bytes = [0; 4];
        file.read_at(0, &mut bytes).unwrap();
        assert_eq!(bytes, *b"kept");
    });
}

//= spec/media.md#m-1-4-exclusion
//# A storage that is open for writing MUST keep every other handle from the file, in this process and in
//# others, until it is closed; the operating system drops its lock with the process.
#[test]
fn a_writer_shares_with_nobody_and_readers_share() {
    in_directory(|directory| {
        let path = directory.join("a");
        let locked = |access| match FileStorage::open(&path, access) {
            Err(Error::Locked { path: named }) => named == path,
            Ok(_) => false,
            Err(other) => panic!("{other}"),
        };
        let writer = FileStorage::open(&path, CREATE).unwrap();
        assert!(locked(EXISTING) && locked(CREATE) && locked(Access::ReadOnly));
        drop(writer);
        let reader = FileStorage::open(&path, Access::ReadOnly).unwrap();
        assert!(!locked(Access::ReadOnly));
        assert!(locked(EXISTING));
        drop(reader);
        assert!(!locked(EXISTING));
    });
}

#[test]
fn a_reader_cannot_write() {
    in_directory(|directory| {
        let path = directory.join("a");
        fs::write(&path, b"text").unwrap();
        let reader = FileStorage::open(&path, Access::ReadOnly).unwrap();
        assert!(reader.write_at(0, b"x").is_err());
        assert!(reader.set_len(0).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"text");
    });
}

#[test]
fn what_is_missing_is_named() {
    in_directory(|directory| {
        let missing = directory.join("missing");
        for access in [Access::ReadOnly, EXISTING] {
            let error = FileStorage::open(&missing, access).unwrap_err();
            assert!(matches!(&error, Error::NotFound { path } if *path == missing), "{error}");
        }
        assert!(!missing.exists());
        let error = FileStorage::open(missing.join("a"), CREATE).unwrap_err();
        assert!(matches!(&error, Error::NotFound { path } if *path == missing), "the directory: {error}");
    });
}

#[test]
fn what_is_no_file_is_refused_with_the_reason() {
    in_directory(|directory| {
        let file = directory.join("a");
        fs::write(&file, b"text").unwrap();
        let reason = |path: &Path, access| match FileStorage::open(path, access).unwrap_err() {
            Error::CannotOpen { what, .. } => what,
            other => panic!("{other}"),
        };
        for access in [Access::ReadOnly, EXISTING, CREATE] {
            assert_eq!(reason(directory, access), "it is a directory");
        }
        assert_eq!(reason(&file, NEW), "it exists already");
        assert_eq!(reason(&file.join("b"), CREATE), "a part of the path is not a directory");
        assert_eq!(fs::read(&file).unwrap(), b"text");
    });
}

#[cfg(unix)]
#[test]
fn a_device_is_refused_and_not_waited_for() {
    let error = FileStorage::open("/dev/null", CREATE).unwrap_err();
    assert!(matches!(error, Error::CannotOpen { what: "it is not a regular file", .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn the_directory_that_is_synced_is_the_one_behind_a_link() {
    in_directory(|directory| {
        let (behind, link) = (directory.join("behind"), directory.join("link"));
        fs::create_dir(&behind).unwrap();
        fs::write(behind.join("a"), b"text").unwrap();
        std::os::unix::fs::symlink(behind.join("a"), &link).unwrap();
        let file = FileStorage::open(&link, EXISTING).unwrap();
        assert_eq!(file.path().parent().unwrap(), behind.canonicalize().unwrap());
        file.sync_directory().unwrap();
    });
}
