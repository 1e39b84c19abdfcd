//! Documents, the indexes over them, and what is asked of them.

use holotype::Document;

use super::data::{self, Item};
use super::questions::Question;
use super::table::{fields, filters, groups, nested, payload, small, sorts, sums};

pub struct Set {
    pub name: &'static str,
    /// There are no more documents than these.
    pub most: u64,
    pub document: fn(&Item) -> Document,
    pub indexes: &'static [Index],
    /// What SQLite has in the place of an index that fans out: a table of the items, filled from the documents.
    pub tables: &'static str,
    pub questions: &'static [&'static [Question]],
}

pub struct Index {
    pub name: &'static str,
    pub paths: &'static [&'static str],
    pub unique: bool,
}

impl Index {
    /// Whether it has an entry for each item of an array.
    pub fn fans_out(&self) -> bool {
        self.paths.iter().any(|path| path.contains("[*]"))
    }
}

const fn index(name: &'static str, paths: &'static [&'static str]) -> Index {
    Index { name, paths, unique: false }
}

pub static SETS: [Set; 5] = [
    Set {
        name: "queries",
        // More would have no pair of their own.
        most: 200_000,
        document: data::flat,
        indexes: &[
            index("value", &["$.value"]),
            index("category", &["$.category", "$.value"]),
            index("groups", &["$.group"]),
            index("a", &["$.a"]),
            index("ab", &["$.a", "$.b"]),
            Index { unique: true, ..index("ab_unique", &["$.a", "$.b"]) },
        ],
        tables: "",
        questions: &[filters::QUESTIONS, sorts::QUESTIONS, sums::QUESTIONS, groups::QUESTIONS],
    },
    Set {
        name: "queries of a few documents",
        most: 1_000,
        document: data::flat,
        indexes: &[index("category", &["$.category"])],
        tables: "",
        questions: &[small::QUESTIONS],
    },
    Set {
        name: "queries by parts of all forms",
        most: 10_000,
        document: data::nested,
        indexes: &[
            index("n", &["$.n"]),
            index("text", &["$.text"]),
            index("city", &["$.address.city"]),
            index("tags", &["$.tags[*]"]),
            index("sku", &["$.orders[*].sku"]),
            index("guid", &["$.guid"]),
            index("day", &["$.day"]),
        ],
        tables: "CREATE TABLE tags (tag TEXT, id INTEGER, PRIMARY KEY (tag, id)) WITHOUT ROWID;
CREATE TABLE skus (sku TEXT, id INTEGER, PRIMARY KEY (sku, id)) WITHOUT ROWID;
INSERT OR IGNORE INTO tags SELECT item.value, bench.id FROM bench, json_each(doc, '$.tags') AS item;
INSERT OR IGNORE INTO skus SELECT item.value ->> '$.sku', bench.id FROM bench, json_each(doc, '$.orders') AS item;",
        questions: &[nested::QUESTIONS],
    },
    Set {
        name: "queries beside a long text",
        most: 10_000,
        document: data::long,
        indexes: &[index("name", &["$.name"])],
        tables: "",
        questions: &[payload::QUESTIONS],
    },
    Set {
        name: "queries of one document of many fields",
        most: 1,
        document: data::wide,
        indexes: &[],
        tables: "",
        questions: &[fields::QUESTIONS],
    },
];
