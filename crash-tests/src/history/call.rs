//! What threads ask of the store, and what they are answered.

use std::fmt;

use holotype::Durability;
use holotype_model::Key;

/// What a document holds: a number to count with, and who put it there. No two calls put equal documents, so each read names
/// the call that it read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Doc {
    /// The number.
    pub n: i64,
    /// The call.
    pub by: u32,
}

/// One call of one thread; with a transaction, all of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// Its name in this history. 0 is what filled the store.
    pub id: u32,
    /// The class of its commit, if it makes one.
    pub class: Durability,
    /// What it does.
    pub op: Op,
}

/// What a call does. Numbers are those of the documents that it puts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Op {
    /// Reads one document.
    Get(Key),
    /// Asks for one key.
    Contains(Key),
    /// Reads them all.
    Scan,
    /// Makes the index of the numbers.
    MakeIndex,
    /// Ends it.
    DropIndex,
    /// Makes the unique index of the numbers.
    MakeUnique,
    /// Ends it.
    DropUnique,
    /// Reads all documents in the order of the index.
    ByNumber,
    /// Puts a document whether there was one or not.
    Put(Key, i64),
    /// Puts several in one commit.
    PutMany(Vec<(Key, i64)>),
    /// Puts a document under the next id.
    Insert(i64),
    /// Puts a document under a free key.
    InsertWithKey(Key, i64),
    /// Puts a document in the place of another.
    Replace(Key, i64),
    /// Adds to the number of a document where it is.
    Add(Key, i64),
    /// Adds to the number of every document that has at least the first one.
    AddToMany(i64, i64),
    /// Takes one away.
    Delete(Key),
    /// Takes every document away whose number is below this one.
    DeleteMany(i64),
    /// Takes all away.
    Clear,
    /// Makes all durable.
    Flush,
    /// Takes a snapshot, and reads all of it: once now, which is the answer, and again later.
    Snapshot,
    /// A transaction: reads two documents, and moves a number from one to the other where there is as much.
    Transfer {
        /// From where.
        from: Key,
        /// To where.
        to: Key,
        /// How much.
        amount: i64,
    },
    /// A transaction: reads two documents, and takes from one what both together have.
    Spend {
        /// From where.
        from: Key,
        /// Whose number counts as well.
        beside: Key,
        /// How much.
        amount: i64,
    },
    /// Reads a document, and replaces it by one with the next number if it is still the same; else begins again.
    Increment(Key),
    /// Reads a document, and deletes it if it is still the same; else begins again.
    Take(Key),
    /// A transaction that puts several documents, reads them all, and is rolled back.
    RollBack(Vec<(Key, i64)>),
    /// A transaction that puts the first document, then the others, reads them all, goes back to behind the first, and commits.
    GoBack((Key, i64), Vec<(Key, i64)>),
    /// Cuts the power, on a copy of the disk, and reads all that is there when the store is opened on it.
    Cut,
    /// Reads all that is there when the store was closed and opened.
    Reopen,
}

/// What a call is answered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It is done.
    Done,
    /// Whether there was one.
    Was(bool),
    /// How many documents there were to change.
    Count(u64),
    /// The document, if there is one.
    Found(Option<Doc>),
    /// Two of them.
    FoundBoth([Option<Doc>; 2]),
    /// All of them, in order.
    All(Vec<(Key, Doc)>),
    /// The new key.
    Key(Key),
    /// Refused: there is a document under the key.
    Taken,
    /// Refused: there is no index.
    NoIndex,
    /// Refused: two documents would have one number, where only one may.
    Twice,
}

impl Op {
    /// Whether it may make a commit.
    pub fn is_write(&self) -> bool {
        use Op::*;
        match self {
            Put(..) | PutMany(_) | Insert(_) | InsertWithKey(..) | Replace(..) | Delete(_) | Clear => true,
            Add(..) | AddToMany(..) | DeleteMany(_) => true,
            Transfer { .. } | Spend { .. } | Increment(_) | Take(_) | GoBack(..) => true,
            MakeIndex | DropIndex | MakeUnique | DropUnique => true,
            ByNumber => false,
            Get(_) | Contains(_) | Scan | Flush | Snapshot | RollBack(_) | Cut | Reopen => false,
        }
    }
}

/// Writes several things with a comma between them.
fn list<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    show: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        show(f, item)?;
    }
    Ok(())
}

/// A key as one writes it in code.
pub(super) fn show(key: &Key) -> String {
    match key {
        Key::Int(int) => int.to_string(),
        Key::Text(text) => format!("{text:?}"),
        Key::Bytes(bytes) => format!("{bytes:02x?}"),
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:<4}", self.id)?;
        match &self.op {
            Op::Get(key) => write!(f, "get {}", show(key)),
            Op::Contains(key) => write!(f, "contains {}", show(key)),
            Op::Scan => write!(f, "scan"),
            Op::MakeIndex => write!(f, "make the index"),
            Op::DropIndex => write!(f, "drop the index"),
            Op::MakeUnique => write!(f, "make the unique index"),
            Op::DropUnique => write!(f, "drop the unique index"),
            Op::ByNumber => write!(f, "scan by the index"),
            Op::Put(key, n) => write!(f, "put {} = {n}", show(key)),
            Op::PutMany(entries) | Op::RollBack(entries) => {
                f.write_str(if self.op.is_write() { "put_many " } else { "roll back put_many " })?;
                list(f, entries, |f, (key, n)| write!(f, "{} = {n}", show(key)))
            }
            Op::Insert(n) => write!(f, "insert {n}"),
            Op::InsertWithKey(key, n) => write!(f, "insert_with_key {} = {n}", show(key)),
            Op::Replace(key, n) => write!(f, "replace {} = {n}", show(key)),
            Op::Add(key, amount) => write!(f, "add {amount} to {}", show(key)),
            Op::AddToMany(least, amount) => write!(f, "add {amount} to each of {least} and more"),
            Op::Delete(key) => write!(f, "delete {}", show(key)),
            Op::DeleteMany(below) => write!(f, "delete each below {below}"),
            Op::Clear => write!(f, "clear"),
            Op::Flush => write!(f, "flush"),
            Op::Snapshot => write!(f, "snapshot"),
            Op::Transfer { from, to, amount } => {
                write!(f, "transfer {amount} from {} to {}", show(from), show(to))
            }
            Op::Spend { from, beside, amount } => {
                write!(f, "spend {amount} from {} if it and {} have it", show(from), show(beside))
            }
            Op::Increment(key) => write!(f, "increment {}", show(key)),
            Op::Take(key) => write!(f, "take {}", show(key)),
            Op::GoBack((key, n), others) => {
                write!(f, "put {} = {n}, savepoint, put_many ", show(key))?;
                list(f, others, |f, (key, n)| write!(f, "{} = {n}", show(key)))?;
                f.write_str(", go back")
            }
            Op::Cut => write!(f, "power cut, open, scan"),
            Op::Reopen => write!(f, "close, open, scan"),
        }?;
        if self.op.is_write() { write!(f, " ({:?})", self.class) } else { Ok(()) }
    }
}

impl fmt::Display for Doc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by #{}", self.n, self.by)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = |f: &mut fmt::Formatter<'_>, found: &Option<Doc>| match found {
            Some(doc) => write!(f, "{doc}"),
            None => f.write_str("nothing"),
        };
        match self {
            Answer::Done => f.write_str("done"),
            Answer::Was(was) => write!(f, "{was}"),
            Answer::Count(count) => write!(f, "{count} of them"),
            Answer::Found(doc) => found(f, doc),
            Answer::FoundBoth(both) => list(f, both, found),
            Answer::All(entries) if entries.is_empty() => f.write_str("nothing at all"),
            Answer::All(entries) => list(f, entries, |f, (key, doc)| write!(f, "{} = {doc}", show(key))),
            Answer::Key(key) => f.write_str(&show(key)),
            Answer::Taken => f.write_str("refused: the key is taken"),
            Answer::NoIndex => f.write_str("refused: no such index"),
            Answer::Twice => f.write_str("refused: a number twice"),
        }
    }
}
