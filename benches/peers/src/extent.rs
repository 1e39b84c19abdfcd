//! How many bytes the files of a store take.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::failure::{Of, Result};

/// The unit in which the system counts what is allocated, whatever the file system's blocks are.
const BLOCK_BYTES: u64 = 512;

/// The files of a store together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// The sum of their lengths.
    pub len: u64,
    /// What the disk keeps for them.
    pub allocated: u64,
}

/// All files in `directory`, and in the directories in it.
pub fn of(who: &'static str, directory: &Path) -> Result<Extent> {
    let mut extent = Extent::default();
    add(directory, &mut extent).of(who, "looking at its files")?;
    Ok(extent)
}

fn add(directory: &Path, extent: &mut Extent) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = match entry.metadata() {
            // A store may delete a file of its own between the list and the look.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            metadata => metadata?,
        };
        if metadata.is_dir() {
            add(&entry.path(), extent)?;
        } else {
            extent.len += metadata.len();
            extent.allocated += metadata.blocks() * BLOCK_BYTES;
        }
    }
    Ok(())
}

/// A size in a table.
pub fn mebibytes(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / (1 << 20) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_directories_below_count_too() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("below")).unwrap();
        std::fs::write(directory.path().join("one"), [7; 5_000]).unwrap();
        std::fs::write(directory.path().join("below/two"), [7; 3_000]).unwrap();
        let extent = of("a store", directory.path()).unwrap();
        assert_eq!(extent.len, 8_000);
        assert_eq!(extent.allocated % BLOCK_BYTES, 0);
    }

    #[test]
    fn a_directory_that_is_not_there_is_a_failure_of_the_store() {
        let directory = tempfile::tempdir().unwrap();
        assert!(of("a store", &directory.path().join("gone")).is_err());
    }
}
