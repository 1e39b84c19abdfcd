//! Which entries of indexes a transaction has made or taken away, and how entries are looked up.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::document::{Key, KeyRef};
use crate::error::Result;
use crate::index::{Documents, Entries, KeyRange};
use crate::log::{Batch, EntryChange};
use crate::secondary::EntryList;

use super::super::shared::Shared;

/// The entries of a document before and after a write; kept for their buffers.
#[derive(Debug, Default)]
pub(super) struct BeforeAndAfter {
    pub(super) before: EntryList,
    pub(super) after: EntryList,
}

/// Which entries a transaction has made or taken away, by index: asked before the index itself.
#[derive(Debug, Clone, Default)]
pub(super) struct EntryOverlay {
    /// Whether the entry is there.
    last: BTreeMap<(u32, Box<[u8]>), bool>,
    /// What each change of the batch found here, as far as they were entered.
    found: Vec<Option<bool>>,
}

impl EntryOverlay {
    pub(super) fn clear(&mut self) {
        if !self.found.is_empty() {
            self.last.clear();
            self.found.clear();
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.found.len() * (size_of::<Option<bool>>() + size_of::<(u32, Box<[u8]>)>() * 2)
    }

    /// Enters the changes that have been made since.
    pub(super) fn enter_all(&mut self, batch: &Batch) {
        while self.found.len() < batch.entries.len() {
            let EntryChange { target, entry, is_there, .. } = batch.entries.get(self.found.len());
            self.found.push(self.last.insert((target.entries.id, entry.into()), is_there));
        }
    }

    /// Forgets the changes from number `len` on, which the batch still has.
    pub(super) fn truncate(&mut self, batch: &Batch, len: usize) {
        while self.found.len() > len {
            let found = self.found.pop().expect("there is one more");
            let EntryChange { target, entry, .. } = batch.entries.get(self.found.len());
            let key = (target.entries.id, entry.into());
            match found {
                Some(found) => self.last.insert(key, found),
                None => self.last.remove(&key),
            };
        }
    }

    /// The entries of an index that were changed and begin with `beginning`, in order.
    pub(super) fn beginning_with<'o>(
        &'o self,
        id: u32,
        beginning: &'o [u8],
    ) -> impl Iterator<Item = (&'o [u8], bool)> + 'o {
        let from = (id, Box::from(beginning));
        let changed = self.last.range(from..).map(|((of, entry), is_there)| (*of, &**entry, *is_there));
        let changed = changed.take_while(move |(of, entry, _)| *of == id && entry.starts_with(beginning));
        changed.map(|(_, entry, is_there)| (entry, is_there))
    }

    /// The entries of an index that were changed and lie in `range`.
    pub(super) fn in_range(&self, id: u32, range: &KeyRange) -> BTreeMap<Key, bool> {
        let from = match &range.from {
            Bound::Included(Key::Bytes(from)) | Bound::Excluded(Key::Bytes(from)) => from.clone(),
            _ => Box::default(),
        };
        let changed = self.last.range((id, from)..).take_while(|((of, _), _)| *of == id);
        let changed = changed.map(|((_, entry), is_there)| (Key::Bytes(entry.clone()), *is_there));
        let up_to = KeyRange { from: Bound::Unbounded, to: range.to.clone() };
        let changed = changed.take_while(|(entry, _)| up_to.contains(entry));
        changed.filter(|(entry, _)| range.contains(entry)).collect()
    }
}

/// Entries looked up at a time: few first, since mostly there are few.
const AT_ONCE_FIRST: usize = 4;
const AT_ONCE_MAX: usize = 256;

/// The entries that begin with these bytes after the newest commit.
pub(in crate::core) fn indexed(
    shared: &Shared,
    entries: &Documents,
    beginning: &[u8],
) -> Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    each_indexed(shared, entries, beginning, |entry| {
        found.push(entry.to_vec());
        Ok(())
    })?;
    Ok(found)
}

pub(super) fn each_indexed(
    shared: &Shared,
    entries: &Documents,
    beginning: &[u8],
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut range = KeyRange::bytes_prefix(beginning);
    let (mut page, mut limit) = (Entries::default(), AT_ONCE_FIRST);
    loop {
        shared.page(entries, &range, false, limit, &mut page)?;
        page.iter().try_for_each(|(key, _)| match key {
            KeyRef::Bytes(entry) => each(entry),
            KeyRef::Int(_) | KeyRef::Text(_) => Ok(()),
        })?;
        match page.last_key() {
            Some(last) if page.len() >= limit => range = range.beyond(&last.to_key(), false),
            _ => return Ok(()),
        }
        page.clear();
        limit = AT_ONCE_MAX;
    }
}
