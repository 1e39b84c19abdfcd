//! The list of the files of a version, so that none changes, goes or comes without a word.
//!
//! `index.json` stands beside the manifests and names every other file of its folder, with the number of its cases and the CRC-32C of its bytes.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::load::{Fault, LoadError};

/// The name of the list.
pub const INDEX: &str = "index.json";

/// What the list says of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// How many cases there are in a manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cases: Option<usize>,
    /// The checksum of the bytes, in eight hexadecimal digits.
    pub crc32c: String,
}

impl Entry {
    /// What is to be said of a file of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        /// All that counts of a manifest.
        #[derive(Deserialize)]
        struct Cases {
            cases: Vec<serde::de::IgnoredAny>,
        }
        let cases = serde_json::from_slice(bytes).ok().map(|Cases { cases }| cases.len());
        Entry { cases, crc32c: format!("{:08x}", crc32c::crc32c(bytes)) }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(cases) = self.cases {
            write!(f, "{cases} cases, ")?;
        }
        write!(f, "CRC-32C {}", self.crc32c)
    }
}

/// The list of one version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// By the path in the folder of the version.
    pub files: BTreeMap<String, Entry>,
}

impl Index {
    /// The list in the folder of a version.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn read(folder: &Path) -> Result<Self, LoadError> {
        let path = folder.join(INDEX);
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(LoadError { path, fault: Fault::NoIndex });
            }
            read => read.map_err(|error| LoadError::unreadable(&path, error))?,
        };
        serde_json::from_slice(&text).map_err(|error| LoadError::malformed(&path, error))
    }

    /// Holds the files of a folder against their list.
    ///
    /// # Errors
    /// The first file that is missing, is not listed, or is not as it was when it was listed.
    pub fn check(&self, folder: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<(), LoadError> {
        let wrong = |name: &str, fault| Err(LoadError { path: folder.join(name), fault });
        for (name, listed) in &self.files {
            let Some(bytes) = files.get(name) else { return wrong(name, Fault::Missing) };
            let found = Entry::of(bytes);
            if found != *listed {
                return wrong(name, Fault::Changed { listed: listed.clone(), found });
            }
        }
        match files.keys().find(|name| !self.files.contains_key(*name)) {
            Some(name) => wrong(name, Fault::NotListed),
            None => Ok(()),
        }
    }

    /// The list as a text with a line for each file.
    ///
    /// # Panics
    /// Never: a list is JSON.
    #[must_use]
    pub fn text(&self) -> String {
        let line = |(name, entry): (&String, &Entry)| {
            let [name, entry] = [serde_json::to_string(name), serde_json::to_string(entry)];
            format!("    {}: {}", name.expect("a text is JSON"), entry.expect("an entry is JSON"))
        };
        let lines: Vec<_> = self.files.iter().map(line).collect();
        format!("{{\n  \"files\": {{\n{}\n  }}\n}}\n", lines.join(",\n"))
    }
}
