//! From a folder of vectors to cases and files.
//!
//! ```text
//! spec/vectors/VERSION/GROUP.json     a manifest
//! spec/vectors/VERSION/stores/*.holo  the files that its cases begin from
//! spec/vectors/VERSION/index.json     the list of both
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::case::{File, Group};
use crate::index::{Entry, INDEX, Index};

/// No vector needs a longer file: a manifest is not believed for more.
const FILE_LEN_MAX: u64 = 64 << 20;

/// The vectors of one version of the format.
#[derive(Debug)]
pub struct Vectors {
    /// The version, which is the name of the folder.
    pub version: String,
    /// The manifests, by name.
    pub groups: Vec<Group>,
    /// The files that cases begin from, by name.
    pub bases: BTreeMap<String, Vec<u8>>,
}

/// Why a folder of vectors cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with a file or folder of vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The system does not read or write it: why.
    Unreadable(String),
    /// It is not what it should be: why.
    Malformed(String),
    /// No folder of a version is in it.
    NoVersion,
    /// No manifest is in it.
    NoManifest,
    /// The list of a version is not there.
    NoIndex,
    /// It is listed, and not there.
    Missing,
    /// It is there, and not listed.
    NotListed,
    /// It is not as it was when it was listed.
    Changed {
        /// What the list says.
        listed: Entry,
        /// What it would have to say.
        found: Entry,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Unreadable(why) | Fault::Malformed(why) => f.write_str(why),
            Fault::NoVersion => f.write_str("no folder of a format version, such as 3.0, is in it"),
            Fault::NoManifest => f.write_str("no manifest is in it"),
            Fault::NoIndex => f.write_str("the list of the files of this version is missing"),
            Fault::Missing => write!(f, "{INDEX} lists this file, and it is missing"),
            Fault::NotListed => write!(f, "{INDEX} does not list this file"),
            Fault::Changed { listed, found } => {
                write!(f, "this file was changed: {INDEX} says {listed}, and it has {found}")
            }
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.fault)
    }
}

impl std::error::Error for LoadError {}

impl LoadError {
    pub(crate) fn unreadable(path: &Path, why: impl fmt::Display) -> Self {
        LoadError { path: path.to_owned(), fault: Fault::Unreadable(why.to_string()) }
    }

    pub(crate) fn malformed(path: &Path, why: impl fmt::Display) -> Self {
        LoadError { path: path.to_owned(), fault: Fault::Malformed(why.to_string()) }
    }
}

/// The vectors of every version in `folder`, the oldest first.
///
/// # Errors
/// What cannot be read, is no manifest, or is not what the list of its version says.
pub fn load(folder: &Path) -> Result<Vec<Vectors>, LoadError> {
    let versions = entries(folder)?.into_iter().filter(|path| path.is_dir());
    let found = versions.map(|path| load_version(&path)).collect::<Result<Vec<_>, _>>()?;
    if found.is_empty() {
        return Err(LoadError { path: folder.to_owned(), fault: Fault::NoVersion });
    }
    Ok(found)
}

fn load_version(folder: &Path) -> Result<Vectors, LoadError> {
    let index = Index::read(folder)?;
    let mut files = BTreeMap::new();
    for path in entries(folder)? {
        let within = if path.is_dir() { entries(&path)? } else { vec![path] };
        for path in within.into_iter().filter(|path| *path != folder.join(INDEX)) {
            let bytes = std::fs::read(&path).map_err(|error| LoadError::unreadable(&path, error))?;
            files.insert(name_within(folder, &path), bytes);
        }
    }
    // Before any of them is believed.
    index.check(folder, &files)?;
    let (mut groups, mut bases) = (Vec::new(), BTreeMap::new());
    for (name, bytes) in files {
        if name.starts_with("stores/") {
            bases.insert(name, bytes);
        } else {
            groups.push(manifest(&folder.join(name), &bytes)?);
        }
    }
    if groups.is_empty() {
        return Err(LoadError { path: folder.to_owned(), fault: Fault::NoManifest });
    }
    let version = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Vectors { version, groups, bases })
}

/// The name of a file as lists and manifests have it.
fn name_within(folder: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(folder).unwrap_or(path).iter();
    parts.map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// What is in a folder, but for what its name hides.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let found = std::fs::read_dir(folder).map_err(|error| LoadError::unreadable(folder, error))?;
    let mut paths = found
        .map(|entry| entry.map(|entry| entry.path()).map_err(|error| LoadError::unreadable(folder, error)))
        .collect::<Result<Vec<_>, _>>()?;
    paths.retain(|path| !path.file_name().unwrap_or_default().to_string_lossy().starts_with('.'));
    paths.sort();
    Ok(paths)
}

fn manifest(path: &Path, bytes: &[u8]) -> Result<Group, LoadError> {
    let group: Group = serde_json::from_slice(bytes).map_err(|error| LoadError::malformed(path, error))?;
    if !group.cases.is_sorted_by(|a, b| a.id < b.id) {
        return Err(LoadError::malformed(path, "the ids of the cases do not rise"));
    }
    Ok(group)
}

impl Vectors {
    /// How many cases there are.
    pub fn case_count(&self) -> usize {
        self.groups.iter().map(|group| group.cases.len()).sum()
    }

    /// The bytes of the file that a case describes.
    ///
    /// # Errors
    /// What the description asks for and cannot be had.
    pub fn bytes_of(&self, file: &File) -> Result<Vec<u8>, String> {
        let mut bytes = match &file.base {
            Some(base) => self.bases.get(base).ok_or_else(|| format!("there is no file {base}"))?.clone(),
            None => Vec::new(),
        };
        if let Some(length) = file.length {
            if length > FILE_LEN_MAX {
                return Err(format!("a file of {length} bytes is longer than a vector may be"));
            }
            bytes.resize(length as usize, 0);
        }
        for (offset, patch) in &file.patch {
            let range = usize::try_from(*offset)
                .ok()
                .and_then(|start| Some(start..start.checked_add(patch.0.len())?));
            let place = range.and_then(|range| bytes.get_mut(range));
            place
                .ok_or_else(|| format!("a patch at {offset} lies beyond the end"))?
                .copy_from_slice(&patch.0);
        }
        Ok(bytes)
    }
}

/// The description of `bytes` as what is changed of `base`.
#[must_use]
pub fn describe(base: Option<(&str, &[u8])>, bytes: &[u8]) -> File {
    /// Runs of changed bytes with fewer unchanged ones between them are one patch.
    const GAP: usize = 8;
    let (name, before) = base.map_or((None, [].as_slice()), |(name, before)| (Some(name.to_owned()), before));
    let mut patch: Vec<(u64, Vec<u8>)> = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        if before.get(at).copied().unwrap_or(0) == *byte {
            continue;
        }
        match patch.last_mut() {
            Some((start, run)) if at - (*start as usize + run.len()) < GAP => {
                run.extend_from_slice(&bytes[*start as usize + run.len()..=at]);
            }
            _ => patch.push((at as u64, vec![*byte])),
        }
    }
    let patch = patch.into_iter().map(|(at, run)| (at, run.into())).collect();
    let length = (base.is_none() || before.len() != bytes.len()).then_some(bytes.len() as u64);
    File { base: name, length, patch }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_description_says() {
        let base: Vec<u8> = (0..200).map(|n| n as u8).collect();
        let vectors = Vectors {
            version: "3.0".into(),
            groups: Vec::new(),
            bases: BTreeMap::from([("stores/a.holo".to_owned(), base.clone())]),
        };
        let mut changed = base.clone();
        (changed[7], changed[10], changed[150]) = (0, 99, 3);
        for bytes in [&changed[..], &changed[..120], &[changed.clone(), vec![0, 5]].concat()] {
            let described = describe(Some(("stores/a.holo", &base)), bytes);
            assert!(described.patch.len() <= 3, "{described:?}");
            assert_eq!(vectors.bytes_of(&described).as_deref(), Ok(bytes));
            assert_eq!(vectors.bytes_of(&describe(None, bytes)).as_deref(), Ok(bytes));
        }
    }

    #[test]
    fn a_patch_beyond_the_end_is_an_error_and_not_a_panic() {
        let vectors = Vectors { version: "3.0".into(), groups: Vec::new(), bases: BTreeMap::new() };
        for offset in [4, u64::MAX] {
            let file = File { base: None, length: Some(4), patch: vec![(offset, vec![1].into())] };
            assert!(vectors.bytes_of(&file).is_err());
        }
        let endless = File { base: None, length: Some(u64::MAX), patch: Vec::new() };
        assert!(vectors.bytes_of(&endless).is_err());
    }
}
