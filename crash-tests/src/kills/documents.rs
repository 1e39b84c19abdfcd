//! The documents that a story fills its store with, in a file from which its workers read them again.

use std::io;
use std::path::Path;

use holotype::Document;

/// More would make every start of a worker slower and show nothing new.
const COUNT_MAX: usize = 256;

/// Writes documents from all over `documents` to a new file.
pub(super) fn write(path: &Path, documents: &[Document]) -> io::Result<()> {
    let every = documents.len().div_ceil(COUNT_MAX).max(1);
    let mut bytes = Vec::new();
    for document in documents.iter().step_by(every) {
        let encoded = document.encode();
        bytes.extend((encoded.len() as u64).to_le_bytes());
        bytes.extend(encoded);
    }
    std::fs::write(path, bytes)
}

/// Reads them.
pub(super) fn read(path: &Path) -> Result<Vec<Document>, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (mut rest, mut documents) = (&bytes[..], Vec::new());
    while let Some((len, behind)) = rest.split_first_chunk() {
        let len = usize::try_from(u64::from_le_bytes(*len)).ok();
        let (encoded, behind) = len
            .and_then(|len| behind.split_at_checked(len))
            .ok_or_else(|| format!("{}: it ends within a document", path.display()))?;
        documents.push(Document::decode(encoded).map_err(|error| format!("{}: {error}", path.display()))?);
        rest = behind;
    }
    Ok(documents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use holotype::doc;

    #[test]
    fn a_sample_from_all_over_is_read_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("documents");
        let all: Vec<Document> = (0..600).map(|n| doc! { "n": n }).collect();
        write(&path, &all).unwrap();
        let expected: Vec<Document> = all.into_iter().step_by(3).collect();
        assert_eq!(read(&path), Ok(expected));
    }

    #[test]
    fn a_file_that_was_cut_short_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("documents");
        write(&path, &[doc! { "n": 1 }]).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert!(read(&path).is_err());
    }
}
