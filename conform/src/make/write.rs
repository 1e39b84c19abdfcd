//! Writing the vectors: what is listed stays as it is.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use super::{VERSION, is_written_by_the_engine};
use crate::index::{Entry, INDEX, Index};
use crate::load::{Fault, LoadError};

/// Why nothing was written, or not all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteError {
    /// These files are listed, and would be others now.
    WouldChange(Vec<String>),
    /// The list or a file.
    File(LoadError),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::WouldChange(names) => write!(
                f,
                "{VERSION}/{INDEX} lists what would change now: {}. Nothing was written; take out of the list by hand what may change",
                names.join(", ")
            ),
            WriteError::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for WriteError {}

impl From<LoadError> for WriteError {
    fn from(error: LoadError) -> Self {
        WriteError::File(error)
    }
}

/// Writes those of the files `made` that the list of their version does not name, and names them there. Answers their names.
///
/// A file that the engine wrote is listed as it stands, if it is there: another engine writes other stores.
///
/// # Errors
/// Nothing is written if a file that is listed would change; and what cannot be read or written.
pub fn write(root: &Path, made: &BTreeMap<String, Vec<u8>>) -> Result<Vec<String>, WriteError> {
    let folder = root.join(VERSION);
    let mut index = match Index::read(&folder) {
        Err(LoadError { fault: Fault::NoIndex, .. }) => Index::default(),
        read => read?,
    };
    let within = |name: &str| name.strip_prefix(VERSION).unwrap_or(name).trim_start_matches('/').to_owned();
    let would_change = |(name, bytes): &(&String, &Vec<u8>)| {
        !is_written_by_the_engine(name)
            && index.files.get(&within(name)).is_some_and(|listed| *listed != Entry::of(bytes))
    };
    let changed: Vec<_> = made.iter().filter(would_change).map(|(name, _)| name.clone()).collect();
    if !changed.is_empty() {
        return Err(WriteError::WouldChange(changed));
    }
    let mut written = Vec::new();
    for (name, bytes) in made {
        if index.files.contains_key(&within(name)) {
            continue;
        }
        let path = root.join(name);
        let entry = if is_written_by_the_engine(name) && path.exists() {
            Entry::of(&std::fs::read(&path).map_err(|error| LoadError::unreadable(&path, error))?)
        } else {
            put(&path, bytes)?;
            Entry::of(bytes)
        };
        index.files.insert(within(name), entry);
        written.push(name.clone());
    }
    put(&folder.join(INDEX), index.text().as_bytes())?;
    Ok(written)
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), LoadError> {
    let parent = path.parent().unwrap_or(path);
    std::fs::create_dir_all(parent).map_err(|error| LoadError::unreadable(parent, error))?;
    std::fs::write(path, bytes).map_err(|error| LoadError::unreadable(path, error))
}
