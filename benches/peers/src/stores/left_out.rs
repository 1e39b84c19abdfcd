//! Which stores take no part in what, and why: so that none is missing without a word.

use super::{Lack, Store};
use crate::stores::each_reader;

/// A store that takes no part in something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub who: String,
    pub of: String,
    pub why: String,
}

impl LeftOut {
    pub fn new(who: &str, of: &str, why: &str) -> Self {
        LeftOut { who: who.to_owned(), of: of.to_owned(), why: why.to_owned() }
    }
}

/// The features that bring a store along, the store, and whether it is here.
const FEATURES: [(&str, &str, bool); 4] = [
    ("byodb", "byodb-rust 0.2", cfg!(feature = "byodb")),
    ("dbx", "DBX 0.2, on the disk and in memory", cfg!(feature = "dbx")),
    ("native_db", "native_db 0.8", cfg!(feature = "native_db")),
    ("toondb", "ToonDB 0.3", cfg!(feature = "toondb")),
];

const KEPT: &str = "writes kept in memory";
const WRITTEN: &str = "writes handed to the system";
const DURABLE: &str = "durable writes";

/// Classes that a store which is here does not have.
const CLASSES: [(&str, &str, &str); 18] = [
    (
        "bison-db 1.0",
        "all but `load`, `open`, `indexes`, and rows of one field in `queries`",
        "it gives ids itself, and one thread may use it",
    ),
    ("redb 4.5", WRITTEN, "a commit that is not synced stays in its cache"),
    (
        "sled 0.34",
        DURABLE,
        "its flush ends in sync_file_range, which leaves what is in the disk's own cache there",
    ),
    ("native_db 0.8", "writes that are not durable", "it has no commit without a sync"),
    ("byodb-rust 0.2", "writes that are not durable", "it has no commit without a sync"),
    ("ToonDB 0.3", WRITTEN, "without a sync, a commit's last record stays in the process"),
    ("DBX 0.2", DURABLE, "its level `Full` leaves the sync to a thread of its own and returns before it"),
    ("fjall 3.1, SQLite, LMDB", KEPT, "each write is handed to the system"),
    (
        "native_db 0.8, byodb-rust 0.2",
        "`space` beyond 10,000 documents",
        "each commit is synced: to replace 100,000 documents ten times would take an hour",
    ),
    ("sled 0.34", "`snapshots`", "it keeps no state for a reader"),
    ("DBX 0.2", "`snapshots`", "a snapshot shows only what was put with a version"),
    ("DBX 0.2", "`readers`, `space`", "it is asked for the same in `reads`, `writes` and `footprint`"),
    ("ToonDB 0.3", "`readers`, `snapshots`, `space`, `amplification`", "documents are replaced there"),
    (
        "bbolt 1.4",
        "rows that decode documents, and the workloads before there were rows",
        "its program is in Go and does all of a row by itself; it reads bytes, and decoding is code of ours in Rust",
    ),
    (
        "CSharpDB",
        "everything",
        "it needs .NET; `faithful` has what its collections are asked for, of the stores that are here",
    ),
    (
        "all but Holotype",
        "`cleaning`, `small`, `memory`, and `amplification` by how full a file is",
        "they hold Holotype to its own goals; `footprint` has memory, files and opening of all",
    ),
    (
        "all but Holotype, SQLite and bison-db",
        "`queries`, `updates`",
        "they find documents by keys alone: what is left is a loop over a scan, as in `scans`",
    ),
    ("SochDB", "everything", "the same store as ToonDB under a later name and another licence"),
];

/// Whatever is known before a store runs. `go` says why the program for bbolt is not there, if it is not.
pub fn known(go: Option<&str>) -> Vec<LeftOut> {
    let off = FEATURES.iter().filter(|(_, _, here)| !here);
    let mut all: Vec<LeftOut> = off
        .map(|(feature, who, _)| {
            LeftOut::new(who, "everything", &format!("the feature `{feature}` is switched off"))
        })
        .collect();
    all.extend(go.map(|why| LeftOut::new("bbolt", "everything", why)));
    all.extend(CLASSES.iter().map(|(who, of, why)| LeftOut::new(who, of, why)));
    macro_rules! add {
        ($store:ty) => {
            all.extend(lacks_of::<$store>())
        };
    }
    each_reader!(add);
    all
}

fn lacks_of<S: Store>() -> Vec<LeftOut> {
    let lack = |lack: &Lack| match lack {
        Lack::Reopened(why) => LeftOut::new(S::NAME, "opening again, files, cold reads", why),
        Lack::Replaced(why) => LeftOut::new(S::NAME, "updates and all that follows them", why),
        Lack::ScannedAtOnce(why) => LeftOut::new(S::NAME, "scans by several threads", why),
        Lack::Deleted(why) => LeftOut::new(S::NAME, "deletes and all that follows them", why),
    };
    let mut all: Vec<LeftOut> = S::LACKS.iter().map(lack).collect();
    if S::VALUE_MAX < usize::MAX {
        let why = format!("it takes no value above {} bytes", S::VALUE_MAX);
        all.push(LeftOut::new(S::NAME, "documents of 1,000 bytes and more", &why));
    }
    all
}

impl Lack {
    /// Whether `S` lacks what one of these stands for.
    pub fn any<S: Store>(of: impl Fn(&Lack) -> bool) -> bool {
        S::LACKS.iter().any(of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_is_switched_off_is_named_and_one_that_is_here_is_not() {
        let all = known(Some("Go is not here"));
        for (feature, who, here) in FEATURES {
            let named = all.iter().any(|left| left.who == who && left.why.contains(feature));
            assert_eq!(named, !here, "{feature}");
        }
        assert!(all.iter().any(|left| left.who == "bbolt" && left.why == "Go is not here"));
        assert!(!known(None).iter().any(|left| left.who == "bbolt"));
    }
}
