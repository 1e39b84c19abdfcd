//! A store of ordered trees: the documents in one, and the entries of all indexes in a second, which is written in the same transaction.
//!
//! An entry is the number of its index, the value, and the document's key, as bytes that are ordered as these are. It has no value.

use std::path::Path;

use holotype::document::RawDocument;

use super::data::{Ask, Came, Field, Item, Place, read};
use super::{Change, Indexed};
use crate::failure::{Failure, Of, Result};

/// Which tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tree {
    Documents,
    Entries,
}

/// A store of trees.
pub trait Trees: Sized {
    const NAME: &'static str;

    type Writes<'t>: Writes;
    type Reads<'t>: Reads
    where
        Self: 't;

    fn open(directory: &Path) -> Result<Self>;

    fn close(self) -> Result<()>;

    /// Does `work` in a transaction, and commits it if that says so.
    fn write(&self, work: impl FnOnce(&mut Self::Writes<'_>) -> Result<bool>) -> Result<()>;

    /// Calls `each` with all of `asks`, each in a transaction of its own.
    fn read_each(&self, asks: &[Ask], each: impl FnMut(&Self::Reads<'_>, &Ask) -> Result<()>) -> Result<()>;
}

pub trait Writes {
    /// The document under a key, as it is before the transaction.
    fn document<R>(&self, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>>;
    fn put(&mut self, tree: Tree, key: &[u8], value: &[u8]) -> Result<()>;
    fn delete(&mut self, tree: Tree, key: &[u8]) -> Result<()>;
}

pub trait Reads {
    fn document<R>(&self, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>>;

    /// The entries between two, both taken in.
    fn entries(&self, from: &[u8], to: &[u8], each: impl FnMut(&[u8]) -> Result<()>) -> Result<()>;
}

/// Such a store with indexes over these fields.
pub struct TwoTrees<T> {
    trees: T,
    fields: &'static [Field],
}

fn entry(field: Field, place: &[u8], key: [u8; 8], out: &mut Vec<u8>) {
    out.clear();
    out.push(field as u8);
    out.extend_from_slice(place);
    out.extend_from_slice(&key);
}

/// The entry of a document in one of its indexes.
fn entry_of(field: Field, document: &[u8], key: [u8; 8], out: &mut Vec<u8>) {
    let value = RawDocument::from_verified(document).get(field.name());
    match value.as_ref().and_then(|value| value.as_str()) {
        Some(text) => entry(field, text.as_bytes(), key, out),
        None => {
            let number = value.and_then(|value| value.as_i64()).unwrap_or_default();
            entry(field, &number.to_be_bytes(), key, out);
        }
    }
}

/// An end of a range of entries.
fn end(field: Field, place: &Place, key: [u8; 8], out: &mut Vec<u8>) {
    match place {
        Place::Text(text) => entry(field, text.as_bytes(), key, out),
        Place::Number(number) => entry(field, &number.to_be_bytes(), key, out),
    }
}

impl<T: Trees> TwoTrees<T> {
    fn put_item(&self, writes: &mut T::Writes<'_>, item: &Item) -> Result<()> {
        let (body, key, mut bytes) = (item.document().encode(), item.id.to_be_bytes(), Vec::new());
        writes.put(Tree::Documents, &key, &body)?;
        self.fields.iter().try_for_each(|field| {
            entry_of(*field, &body, key, &mut bytes);
            writes.put(Tree::Entries, &bytes, &[])
        })
    }

    /// Writes the entries that differ from those of the document that was there.
    fn replace_item(&self, writes: &mut T::Writes<'_>, item: &Item) -> Result<()> {
        let (body, key) = (item.document().encode(), item.id.to_be_bytes());
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for field in self.fields {
            self.old_entry(writes, *field, key, &mut old)?;
            entry_of(*field, &body, key, &mut new);
            if old != new {
                writes.delete(Tree::Entries, &old)?;
                writes.put(Tree::Entries, &new, &[])?;
            }
        }
        writes.put(Tree::Documents, &key, &body)
    }

    fn delete_item(&self, writes: &mut T::Writes<'_>, item: &Item) -> Result<()> {
        let (key, mut old) = (item.id.to_be_bytes(), Vec::new());
        for field in self.fields {
            self.old_entry(writes, *field, key, &mut old)?;
            writes.delete(Tree::Entries, &old)?;
        }
        writes.delete(Tree::Documents, &key)
    }

    fn old_entry(&self, writes: &T::Writes<'_>, field: Field, key: [u8; 8], out: &mut Vec<u8>) -> Result<()> {
        let found = writes.document(&key, |old| entry_of(field, old, key, out))?;
        found.ok_or_else(|| Failure::new(T::NAME, "replacing", "the document is not there"))
    }

    /// Shows `each` the keys of the documents that each ask is for.
    fn find(&self, asks: &[Ask], mut each: impl FnMut(&T::Reads<'_>, [u8; 8]) -> Result<()>) -> Result<()> {
        let (mut from, mut to) = (Vec::new(), Vec::new());
        self.trees.read_each(asks, |reads, ask| {
            end(ask.field, &ask.from, [0; 8], &mut from);
            end(ask.field, &ask.to, [0xff; 8], &mut to);
            reads.entries(&from, &to, |entry| {
                each(reads, entry[entry.len() - 8..].try_into().of(T::NAME, "reading an entry")?)
            })
        })
    }
}

impl<T: Trees> Indexed for TwoTrees<T> {
    const NAME: &'static str = T::NAME;

    fn open(directory: &Path, fields: &'static [Field]) -> Result<Self> {
        Ok(TwoTrees { trees: T::open(directory)?, fields })
    }

    fn close(self) -> Result<()> {
        self.trees.close()
    }

    fn insert(&mut self, items: &[Item]) -> Result<()> {
        self.trees
            .write(|writes| items.iter().try_for_each(|item| self.put_item(writes, item)).map(|()| true))
    }

    fn replace(&mut self, items: &[Item]) -> Result<()> {
        self.trees
            .write(|writes| items.iter().try_for_each(|item| self.replace_item(writes, item)).map(|()| true))
    }

    fn give_up(&mut self, change: Change, item: &Item) -> Option<Result<()>> {
        Some(self.trees.write(|writes| {
            match change {
                Change::Put => self.put_item(writes, item)?,
                Change::Replace => self.replace_item(writes, item)?,
                Change::Delete => self.delete_item(writes, item)?,
            }
            Ok(false)
        }))
    }

    fn keys(&mut self, asks: &[Ask]) -> Result<Came> {
        let mut came = Came::default();
        self.find(asks, |_, key| {
            came.add(i64::from_be_bytes(key));
            Ok(())
        })?;
        Ok(came)
    }

    fn documents(&mut self, asks: &[Ask]) -> Result<Came> {
        let mut came = Came::default();
        self.find(asks, |reads, key| {
            let missing = || Failure::new(T::NAME, "reading", "an entry of a document that is not there");
            came.add(reads.document(&key, read)?.ok_or_else(missing)?);
            Ok(())
        })?;
        Ok(came)
    }
}
