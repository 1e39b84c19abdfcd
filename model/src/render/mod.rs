//! How values, operations and outcomes look in a report: one line, however large they are.

mod index;

use std::fmt::{self, Display, Formatter, Write};
use std::ops::Bound;

use crate::encoded::document_len;
use crate::index::{Definition, Place, Shown as ShownEntry};
use crate::key::{Key, KeyRange, Prefix};
use crate::model::Ending;
use crate::op::{Durability, Op};
use crate::outcome::{Failure, Outcome, Refusal};
use crate::value::{Document, Value};
use index::Components;

/// Text and bytes longer than this are shown by their beginning and their length.
const SHOWN_MAX: usize = 16;
/// Lists longer than this are shown by their beginning and their length.
const LISTED_MAX: usize = 12;

impl Display for Key {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Key::Int(int) => write!(f, "{int}"),
            Key::Text(text) => write_text(f, text),
            Key::Bytes(bytes) => write_bytes(f, bytes),
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(bool) => write!(f, "{bool}"),
            Value::Int(int) => write!(f, "{int}"),
            Value::Float(float) => write!(f, "{float:?}"),
            Value::Text(text) => write_text(f, text),
            Value::Bytes(bytes) => write_bytes(f, bytes),
            Value::Array(items) => write_list(f, '[', ']', items.iter().map(Value::to_string)),
            Value::Object(fields) => write_document(f, fields),
        }
    }
}

impl Display for Durability {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Display for Ending {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ending::Close => "close",
            Ending::Kill => "kill",
            Ending::PowerCut => "power cut",
        })
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Failure::StorageFull => f.write_str("no room"),
            Failure::Poisoned => f.write_str("no writes after an unknown outcome"),
            Failure::Corrupt(what) => write!(f, "corrupt: {what}"),
            Failure::Other(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Failure {}

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Done => f.write_str("done"),
            Outcome::Key(key) => write!(f, "key {key}"),
            Outcome::Keys(keys) => {
                f.write_str("keys ")?;
                write_list(f, '[', ']', keys.iter().map(Key::to_string))
            }
            Outcome::Document(None) => f.write_str("no document"),
            Outcome::Document(Some(document)) => write_document(f, document),
            Outcome::Bool(bool) => write!(f, "{bool}"),
            Outcome::Updated { matched, changed } => {
                write!(f, "matched {matched}, changed {changed}")
            }
            Outcome::Count(count) => write!(f, "{count}"),
            Outcome::Entries(entries) => {
                f.write_str("entries ")?;
                let entry = |(key, document): &(Key, Document)| format!("{key}: {}", Shown(document));
                write_list(f, '[', ']', entries.iter().map(entry))
            }
            Outcome::Names(names) => {
                f.write_str("names ")?;
                write_list(f, '[', ']', names.iter().map(|name| format!("{name:?}")))
            }
            Outcome::Indexes(indexes) => {
                f.write_str("indexes ")?;
                let index = |(name, definition): &(String, Definition)| format!("{name:?} {definition}");
                write_list(f, '[', ']', indexes.iter().map(index))
            }
            Outcome::IndexEntries(entries) => {
                f.write_str("index entries ")?;
                write_list(f, '[', ']', entries.iter().map(ShownEntry::to_string))
            }
            Outcome::IndexDocuments(entries) => {
                f.write_str("index entries ")?;
                let entry =
                    |(entry, document): &(ShownEntry, Document)| format!("{entry}: {}", Shown(document));
                write_list(f, '[', ']', entries.iter().map(entry))
            }
            Outcome::Refused(reason) => write!(f, "refused: {reason}"),
            Outcome::Unknown => f.write_str("unknown"),
            Outcome::Failed(failure) => write!(f, "failed: {failure}"),
        }
    }
}

impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Op::Inside(op) => f.write_str("inside: ").and_then(|()| op.write_without_class(f)),
            Op::Through { snapshot, op } => write!(f, "through {snapshot}: {op}"),
            Op::RollbackTo { savepoint } => write!(f, "roll back to {savepoint}"),
            Op::Release { snapshot } => write!(f, "release {snapshot}"),
            _ => {
                self.write_without_class(f)?;
                self.durability().map_or(Ok(()), |durability| write!(f, " {durability}"))
            }
        }
    }
}

impl Op {
    fn write_without_class(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.verb())?;
        if let Some(collection) = self.collection() {
            f.write_char(' ')?;
            write_text(f, collection)?;
        }
        if let Some(index) = self.index() {
            write!(f, " {index:?}")?;
        }
        match self {
            Op::CreateIndex { definition, .. } | Op::ReplaceIndex { definition, .. } => {
                write!(f, " {definition}")?;
            }
            Op::RenameIndex { to, .. } => write!(f, " to {to:?}")?,
            Op::IndexScan { range, after, reverse, limit, .. }
            | Op::IndexDocuments { range, after, reverse, limit, .. } => {
                write!(f, " {range}")?;
                after
                    .iter()
                    .try_for_each(|Place { tuple, key }| write!(f, " after {}@{key}", Components(tuple)))?;
                write!(f, "{}", Way(*reverse, *limit))?;
            }
            Op::IndexCount { range, .. } => write!(f, " {range}")?,
            Op::PutMany { entries, .. } => {
                let entry = |(key, document): &(Key, Document)| format!("{key}: {}", Shown(document));
                f.write_char(' ')?;
                write_list(f, '[', ']', entries.iter().map(entry))?;
            }
            Op::InsertMany { documents, .. } => {
                f.write_char(' ')?;
                write_list(f, '[', ']', documents.iter().map(|document| Shown(document).to_string()))?;
            }
            Op::RenameCollection { to, .. } => {
                f.write_str(" to ")?;
                write_text(f, to)?;
            }
            Op::Keys { range, reverse, limit, .. } | Op::Scan { range, reverse, limit, .. } => {
                write!(f, " {}{}", Bounds(range), Way(*reverse, *limit))?;
            }
            Op::ScanPrefix { prefix, reverse, limit, .. } => {
                f.write_char(' ')?;
                match prefix {
                    Prefix::Text(text) => write_text(f, text)?,
                    Prefix::Bytes(bytes) => write_bytes(f, bytes)?,
                }
                write!(f, "*{}", Way(*reverse, *limit))?;
            }
            Op::Update { key, by, .. } => write!(f, " {key} by {by:?}")?,
            Op::InsertOnConflict { key, document, on_conflict, .. } => {
                write!(f, " {key} {} or {on_conflict:?}", Shown(document))?;
            }
            Op::UpdateMany { filter, by, .. } => write!(f, " where {filter:?} by {by:?}")?,
            Op::DeleteMany { filter, .. } => write!(f, " where {filter:?}")?,
            _ => {
                self.keys().iter().try_for_each(|key| write!(f, " {key}"))?;
                self.documents().iter().try_for_each(|document| write!(f, " {}", Shown(document)))?;
            }
        }
        Ok(())
    }

    fn verb(&self) -> &'static str {
        match self {
            Op::Insert { .. } => "insert",
            Op::InsertMany { .. } => "insert many",
            Op::Put { .. } => "put",
            Op::PutMany { .. } => "put many",
            Op::InsertWithKey { .. } => "insert with key",
            Op::Replace { .. } => "replace",
            Op::Delete { .. } => "delete",
            Op::CreateCollection { .. } => "create",
            Op::DropCollection { .. } => "drop",
            Op::ClearCollection { .. } => "clear",
            Op::RenameCollection { .. } => "rename",
            Op::Get { .. } => "get",
            Op::Contains { .. } => "contains",
            Op::Len { .. } => "len",
            Op::Keys { .. } => "keys",
            Op::Scan { .. } => "scan",
            Op::ScanPrefix { .. } => "scan prefix",
            Op::Collections => "collections",
            Op::CreateIndex { .. } => "create index",
            Op::ReplaceIndex { .. } => "replace index",
            Op::DropIndex { .. } => "drop index",
            Op::RenameIndex { .. } => "rename index",
            Op::Indexes { .. } => "indexes",
            Op::IndexScan { .. } => "index scan",
            Op::IndexDocuments { .. } => "index documents",
            Op::IndexCount { .. } => "index count",
            Op::ReplaceIf { .. } => "replace if unchanged",
            Op::Update { .. } => "update",
            Op::InsertOnConflict { .. } => "insert on conflict",
            Op::UpdateMany { .. } => "update many",
            Op::DeleteMany { .. } => "delete many",
            Op::DeleteIf { .. } => "delete if unchanged",
            Op::Begin => "begin",
            Op::Inside(_) => "inside",
            Op::Savepoint => "savepoint",
            Op::RollbackTo { .. } => "roll back to",
            Op::Commit { .. } => "commit",
            Op::Rollback => "roll back",
            Op::TakeSnapshot => "take snapshot",
            Op::Through { .. } => "through",
            Op::Release { .. } => "release",
            Op::Flush => "flush",
            Op::Checkpoint => "checkpoint",
            Op::Clean => "clean",
            Op::Compact => "compact",
            Op::Verify => "verify",
        }
    }
}

/// A document inside a line.
struct Shown<'a>(&'a Document);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_document(f, self.0)
    }
}

struct Bounds<'a>(&'a KeyRange);

impl Display for Bounds<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0.from {
            Bound::Included(key) => write!(f, "[{key}")?,
            Bound::Excluded(key) => write!(f, "({key}")?,
            Bound::Unbounded => f.write_char('(')?,
        }
        f.write_str("..")?;
        match &self.0.to {
            Bound::Included(key) => write!(f, "{key}]"),
            Bound::Excluded(key) => write!(f, "{key})"),
            Bound::Unbounded => f.write_char(')'),
        }
    }
}

/// Direction and limit of a scan, where they are not the usual ones.
struct Way(bool, Option<usize>);

impl Display for Way {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0 {
            f.write_str(" reverse")?;
        }
        self.1.map_or(Ok(()), |limit| write!(f, " limit {limit}"))
    }
}

fn write_document(f: &mut Formatter<'_>, document: &Document) -> fmt::Result {
    write_list(f, '{', '}', document.iter().map(|(name, value)| format!("{name}: {value}")))?;
    let len = document_len(document);
    if len > SHOWN_MAX { write!(f, "#{len}") } else { Ok(()) }
}

fn write_text(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((cut, _)) => write!(f, "{:?}..#{}", &text[..cut], text.len()),
        None => write!(f, "{text:?}"),
    }
}

fn write_bytes(f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_str("0x")?;
    bytes.iter().take(SHOWN_MAX).try_for_each(|byte| write!(f, "{byte:02x}"))?;
    if bytes.len() > SHOWN_MAX { write!(f, "..#{}", bytes.len()) } else { Ok(()) }
}

fn write_list(
    f: &mut Formatter<'_>,
    open: char,
    close: char,
    mut items: impl ExactSizeIterator<Item = String>,
) -> fmt::Result {
    let len = items.len();
    let shown: Vec<String> = items.by_ref().take(LISTED_MAX).collect();
    write!(f, "{open}{}", shown.join(", "))?;
    if len > LISTED_MAX {
        write!(f, ", ..#{len}")?;
    }
    f.write_char(close)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_one_short_line_however_large_its_document() {
        let document = Document::from([("blob".to_owned(), Value::Bytes(vec![7; 5000]))]);
        let put =
            Op::Put { collection: "a".into(), key: Key::from("k"), document, durability: Durability::Synced };
        assert_eq!(
            put.to_string(),
            format!("put \"a\" \"k\" {{blob: 0x{}..#5000}}#5009 Synced", "07".repeat(16))
        );
    }

    #[test]
    fn bounds_direction_and_limit_are_shown() {
        let range = KeyRange { from: Bound::Excluded(Key::Int(1)), to: Bound::Included(Key::from("z")) };
        let scan = Op::Scan { collection: "a".into(), range, reverse: true, limit: Some(3) };
        assert_eq!(scan.to_string(), "scan \"a\" (1..\"z\"] reverse limit 3");
    }
}
