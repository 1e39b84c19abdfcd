//! What is asked of a store, as lists that are made before the clock starts: so that every store, in this program or in another, is
//! asked for the same.

use std::sync::LazyLock;

use holotype::{Document, Value, doc};

use crate::contents::{first, updated};
use crate::ycsb::documents;
use crate::ycsb::keys::Random;

/// Which document is put under an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Make {
    /// The small document.
    First,
    /// The small document with other bytes.
    Updated,
    /// One with a value of so many bytes.
    Sized(usize),
    /// One with a value of up to 960 bytes, by its id.
    Varied,
    /// The small document, or one with a value of a thousand bytes, in one of many versions, each of other bytes.
    Version { is_long: bool, version: u16 },
}

/// The longest value of [`Make::Varied`]: the document around it still is one of at most a thousand bytes.
const VARIED: usize = 960;

impl Make {
    pub fn document(self, id: u64) -> Document {
        match self {
            Make::First => first(id),
            Make::Updated => updated(id),
            Make::Version { is_long: true, version } => documents::version(id, version),
            Make::Version { is_long: false, version } => {
                let letter = |at: u16| char::from(b'a' + (at % 26) as u8).to_string();
                let tags = vec![Value::from(letter(version)), Value::from(letter(version / 26))];
                doc! { "id": id as i64, "name": "benchmark user", "active": true, "score": 87.5, "tags": tags }
            }
            Make::Varied => {
                Make::Sized((id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % VARIED + 1).document(id)
            }
            Make::Sized(len) => {
                let step = (id % 251) as u8 | 1;
                let value = (0..len).scan(id as u8, |byte, _| {
                    *byte = byte.wrapping_mul(5).wrapping_add(step);
                    Some(*byte)
                });
                doc! { "id": id as i64, "value": Value::Bytes(value.collect()) }
            }
        }
    }
}

/// What is done with a document that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// It is seen and not read: its length is added up.
    Unread,
    /// Each byte of it is added up.
    Raw,
    /// It is decoded, all of it.
    Decode,
    /// It becomes a type of the application's.
    Typed,
    /// One field is read where it lies.
    Field,
    /// One field is read where it lies; where it says that the document is one of so many in a hundred, all of it is decoded.
    Filter(u64),
    /// An entry of [`Naming::Entry`] becomes the application's type.
    Entry,
    /// As [`Form::Entry`]; then those of the first category count.
    EntryThenFilter,
    /// The category of an entry is read where it lies; those of the first become the application's type.
    FilterThenEntry,
}

/// What one thread does, call by call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Each list is a commit.
    Put(Vec<Vec<u64>>, Make),
    PutNamed(Vec<Vec<u64>>, Naming),
    Delete(Vec<u64>),
    /// Each list is a commit.
    DeleteNamed(Vec<Vec<u64>>, Naming),
    Get(Vec<u64>, Form),
    GetNamed(Vec<u64>, Naming, Form),
    /// Asks for ids that are not there.
    Miss(Vec<u64>),
    MissNamed(Vec<u64>),
    Count(usize),
    CountNamed(usize),
    /// All documents, so many times.
    Scan(Form, usize),
    /// From each of these ids on, so many documents.
    Ranges(Vec<u64>, usize),
    /// From each of these names on, so many documents, in this form.
    RangesNamed(Vec<String>, usize, Form),
    Prefixes(Vec<String>),
}

/// How documents get their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// Each has its own.
    User,
    /// Each has its own, of ten bytes.
    Short,
    /// As ToonDB's own benches name them: twenty characters cut down to sixteen, so that up to ten thousand documents share one.
    Cut,
    /// As redb's own benches have them: 24 bytes in no order. They are drawn from letters, digits and two signs more.
    Random,
    /// As the collections of CSharpDB's benches have them.
    Entry,
    /// As [`Naming::Entry`], for what is put beside what was there before.
    NewEntry,
}

/// How many bytes a name of [`Naming::Random`] has, and the value under it.
const RANDOM_NAME: usize = 24;
pub const RANDOM_VALUE: usize = 150;

/// What names of [`Naming::Random`] are made of, and how many of them follow from one word.
const LETTERS: &[u8; 64] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
const WORD_LETTERS: usize = 8;

/// What values of [`Naming::Random`] are cut from: to draw each byte anew takes longer than some stores do.
static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut random = Random::new(3);
    (0..NOISE).map(|_| random.word() as u8).collect()
});
const NOISE: usize = 1 << 16;

/// The categories of [`Naming::Entry`], in turn.
pub const CATEGORIES: [&str; 5] = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"];

impl Naming {
    pub fn name(self, id: u64) -> String {
        match self {
            Naming::User => format!("user-{id:08}"),
            Naming::Short => format!("u-{id:08}"),
            Naming::Cut => format!("key_{id:016}")[..16].to_owned(),
            Naming::Random => {
                let mut random = Random::new(id);
                let words = std::iter::repeat_with(|| random.word()).take(RANDOM_NAME / WORD_LETTERS);
                let letters = |word: u64| {
                    (0..WORD_LETTERS).map(move |at| char::from(LETTERS[(word >> (at * 8)) as usize % 64]))
                };
                words.flat_map(letters).collect()
            }
            Naming::Entry => format!("doc:{id}"),
            Naming::NewEntry => format!("doc:new:{id}"),
        }
    }

    /// Those that share a name have one content, so that it does not matter who comes last.
    pub fn document(self, id: u64) -> Document {
        match self {
            Naming::User | Naming::Short => first(id),
            Naming::Cut => first(1),
            Naming::Random => {
                let from = Random::new(!id).below((NOISE - RANDOM_VALUE) as u64) as usize;
                doc! { "value": Value::Bytes(BYTES[from..from + RANDOM_VALUE].to_vec()) }
            }
            Naming::Entry | Naming::NewEntry => {
                doc! { "Name": format!("User_{id}"), "Value": id as i64, "Category": Naming::category(id) }
            }
        }
    }

    /// Of an entry.
    pub fn category(id: u64) -> &'static str {
        CATEGORIES[(id % CATEGORIES.len() as u64) as usize]
    }
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Threads do this at once, and it is a row of this name; or it has no name and only prepares.
    Do(String, Vec<Work>),
    /// The store is closed and opened again.
    Reopen,
    /// The store cleans up as well as it can, and is opened again.
    Clean,
}

impl Step {
    pub fn row(name: impl Into<String>, works: Vec<Work>) -> Self {
        Step::Do(name.into(), works)
    }

    pub fn prepare(work: Work) -> Self {
        Step::Do(String::new(), vec![work])
    }
}

/// These ids in commits of so many.
pub fn commits(ids: impl IntoIterator<Item = u64>, each: usize) -> Vec<Vec<u64>> {
    let ids: Vec<u64> = ids.into_iter().collect();
    ids.chunks(each).map(<[u64]>::to_vec).collect()
}

/// What a step came to, whoever did it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    /// Documents that were put, deleted, returned or counted, and ids that were found missing.
    pub documents: u64,
    /// What the documents that came back add up to, in the form that was asked for.
    pub sum: u64,
}

impl Done {
    pub fn add(&mut self, other: Done) {
        self.documents += other.documents;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}
