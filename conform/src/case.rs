//! A case and its outcomes, as the manifests have them. `spec/vectors/schema.json` says the same.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::hex::Hex;
use crate::question::{Args, Asked, Change, Grouped};

/// One manifest: cases of one kind.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The version of the format that the cases are about.
    pub format: String,
    /// The name of the group, which is that of its file.
    pub group: String,
    /// What the cases show.
    pub about: String,
    /// What the flags stand for.
    pub notes: BTreeMap<String, Note>,
    /// The states that outcomes name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, State>,
    /// The cases, by rising id.
    pub cases: Vec<Case>,
}

/// What a flag stands for: a mistake that implementations make, and that the cases with the flag catch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The kind of mistake.
    pub bug_type: String,
    /// What goes wrong then.
    pub description: String,
}

/// Something to be done, and the outcomes that are right.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its number in the group, from 1.
    pub id: u32,
    /// What it shows, as a sentence.
    pub name: String,
    /// Whether the input is good.
    pub result: Verdict,
    /// The clauses that it exercises.
    pub clauses: Vec<String>,
    /// The mistakes that it catches, by their names in the notes of the group.
    pub flags: Vec<String>,
    /// What is to be done.
    pub request: Request,
    /// The outcomes that are right: any one of them.
    pub expect: Vec<Outcome>,
}

/// Whether an input is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// To be taken.
    Valid,
    /// To be refused, or to be taken for something else than it looks like.
    Invalid,
    /// An implementation may choose.
    May,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are those of the protocol, described there")]
pub enum Request {
    /// Open for reading, recover, read every document.
    Open { file: File },
    /// Open for writing, read every document, close.
    OpenWrite { file: File },
    /// Decode and check a whole document.
    DecodeDocument { bytes: Hex },
    /// Decode and check a key.
    DecodeKey { bytes: Hex },
    /// Read a JSON text as a document.
    ReadJson {
        #[serde(flatten)]
        text: Text,
    },
    /// Read a JSON text as a document with its key.
    ReadEntry {
        #[serde(flatten)]
        text: Text,
    },
    /// Write a document as JSON.
    WriteJson { bytes: Hex, mode: Mode },
    /// The order key of a value.
    OrderKey { bytes: Hex },
    /// The key that an order key stands for.
    KeyOfOrderKey { bytes: Hex },
    /// Compare two values.
    Compare { a: Hex, b: Hex },
    /// The value that a pointer leads to in a document.
    Get { bytes: Hex, pointer: String },
    /// Decode and check the definition of an index.
    DecodeDefinition { bytes: Hex },
    /// The entries that a document gives an index.
    IndexEntries { definition: Hex, limit: u64, key: Hex, bytes: Hex },
    /// Decode and check an entry of an index.
    DecodeIndexEntry { definition: Hex, limit: u64, bytes: Hex },
    /// Whether a filter admits a document, under a key if there is one.
    Filter {
        filter: String,
        bytes: Hex,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<Hex>,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        args: Args,
    },
    /// The nodes that a path selects of a value.
    Select { path: String, bytes: Hex },
    /// The keys that a query answers.
    Find {
        #[serde(flatten)]
        asked: Asked,
    },
    /// The distinct values of an expression.
    Distinct {
        of: String,
        #[serde(flatten)]
        asked: Asked,
    },
    /// The groups of a collection, each as a document.
    Group {
        #[serde(flatten)]
        grouped: Grouped,
    },
    /// The projection of a document.
    Project { bytes: Hex, paths: Vec<String> },
    /// What a JSON Patch makes of a document.
    Patch { bytes: Hex, patch: String },
    /// What a JSON Merge Patch makes of a document.
    Merge { bytes: Hex, patch: Hex },
    /// What an update makes of a document.
    Update { bytes: Hex, changes: Vec<Change> },
}

impl Request {
    /// The file that is to be opened.
    pub fn file(&self) -> Option<&File> {
        match self {
            Request::Open { file } | Request::OpenWrite { file } => Some(file),
            _ => None,
        }
    }
}

/// A JSON text, which need not be one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Text {
    /// As it is.
    #[serde(rename = "text")]
    Utf8(String),
    /// What is not UTF-8.
    #[serde(rename = "text_hex")]
    Bytes(Hex),
}

impl Text {
    /// The bytes of the text.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Text::Utf8(text) => text.as_bytes(),
            Text::Bytes(bytes) => &bytes.0,
        }
    }
}

/// How JSON is written (E-6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words of the clause")]
pub enum Mode {
    Relaxed,
    Canonical,
}

/// A file: the bytes of another, or zeros, with changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// A file of the folder; none for zeros.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Its length, if that is not that of the base; zeros are added, or its end is cut off, before the patches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// What stands where in place of what the base has: within the length.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patch: Vec<(u64, Hex)>,
}

/// What a store holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The last accepted commit, in 16 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lsn: Option<String>,
    /// By the bytes of their names.
    pub collections: Vec<Collection>,
}

/// A collection of a [`State`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collection {
    /// Its name.
    pub name: String,
    /// The next id that it gives, in decimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Key and document as they are encoded, in key order.
    pub documents: Vec<(Hex, Hex)>,
    /// Its indexes, by the bytes of their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indexes: Option<Vec<Index>>,
}

/// An index of a [`Collection`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// Its paths in normal form, behind a `-` where they are descending.
    pub on: Vec<String>,
    /// I-3
    pub unique: bool,
    /// I-2.2
    pub sparse: bool,
    /// Its filter in normal form (I-1.6), if it has one.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Its entries, in order (I-7.1).
    pub entries: Vec<Hex>,
}

/// An outcome that is right.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The state of this name.
    State(String),
    /// The file is corrupt, or a document in it is.
    Corrupt(Place),
    /// A newer format.
    Newer(Place),
    /// An older format.
    Older(Place),
    /// An unfinished creation.
    Incomplete(bool),
    /// Not a file of this format.
    NotHolotype(bool),
    /// A value, in canonical JSON.
    Value(Box<RawValue>),
    /// Bytes.
    Bytes(Hex),
    /// The entries of an index, in order.
    Entries(Vec<Hex>),
    /// A key and a document.
    Entry((Hex, Hex)),
    /// A JSON text that says this, which is canonical JSON.
    Text(Box<RawValue>),
    /// How two values compare.
    Order(Order),
    /// Nothing is there.
    None(bool),
    /// The input is refused.
    Rejected(Position),
}

/// What an answer may say of the place and clause of a refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The clauses that it may name; any, where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clauses: Vec<String>,
    /// The offset in the file; any, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

/// What an answer may say of the place of a refusal, in a text or among operations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// From 1; any, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// From 1, in bytes; any, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// The operation that fails, from 0; any, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<u64>,
}

/// How two values compare.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// `less`, `same` or `greater`.
    pub order: String,
    /// Whether they are equal.
    pub equal: bool,
}
