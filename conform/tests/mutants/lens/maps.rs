//! The map of a root (F-8.7), and what is in it: maps of collections and indexes, rows, trees.

use holotype_conform::forge::cbor;
use holotype_conform::forge::index::DIRECTORY;

use super::fields::{self, IndexField, Mark, Rows};
use super::form::{Form, Spot, head_at, item_len, misread_fixed};
use super::{Lens, Mistake, View};

use IndexField as F;

/// Which map it is.
#[derive(Clone, Copy)]
enum Map {
    Root,
    Collection,
    Index,
}

impl Lens {
    /// The root's map as it is read; none where that cannot be shown.
    pub(super) fn map(&self, view: &mut View<'_>, map: &[u8], lsn: u64) -> Option<Vec<u8>> {
        let len = item_len(map, 0).unwrap_or(0);
        let read = self.fields(view, &map[..len], Map::Root, lsn)?;
        Some([&read, &map[len..]].concat())
    }

    /// A map as it is read. What is none stays as it is: the engine refuses it as well.
    fn fields(&self, view: &mut View<'_>, map: &[u8], which: Map, lsn: u64) -> Option<Vec<u8>> {
        let Some((5, count, len)) = head_at(map, 0) else { return Some(map.to_vec()) };
        let (mut read, mut at) = (map[..len].to_vec(), len);
        for _ in 0..count {
            let name = &map[at..at + item_len(map, at)?];
            at += name.len();
            let value = &map[at..at + item_len(map, at)?];
            at += value.len();
            read.extend(name);
            read.extend(self.value(view, (&name[1..], value), which, lsn)?);
        }
        Some(read)
    }

    fn value(
        &self,
        view: &mut View<'_>,
        (name, value): (&[u8], &[u8]),
        which: Map,
        lsn: u64,
    ) -> Option<Vec<u8>> {
        match (which, name) {
            (Map::Root, b"lsn") => self.number(value, F::RootLsn),
            (Map::Root, b"last") => self.number(value, F::RootLast),
            (Map::Root, b"log") => self.numbers(value, &[F::LogPlace, F::LogSequence, F::LogEnd]),
            (Map::Root, b"reserved") => self.numbers(value, &[F::ReservedNext, F::ReservedAfter]),
            (Map::Root, b"segments") => self.rows(value, &fields::SEGMENTS),
            (Map::Root, b"table") => self.rows(value, &fields::TABLE),
            (Map::Root, b"stretches") => self.rows(value, &fields::STRETCHES),
            (Map::Root, b"live") => self.rows(value, &fields::LIVE),
            (Map::Root, b"catalog") => self.maps(view, value, Map::Collection, lsn),
            (Map::Root, b"indexes") => self.maps(view, value, Map::Index, lsn),
            (Map::Collection, b"id") => self.number(value, F::CatalogId),
            (Map::Collection, b"next") => self.number(value, F::CatalogNext),
            (Map::Collection, b"count") => self.number(value, F::CatalogCount),
            (Map::Index, b"id") => self.number(value, F::IndexId),
            (Map::Index, b"of") => self.number(value, F::IndexOf),
            (Map::Index, b"count") => self.number(value, F::IndexCount),
            (Map::Collection | Map::Index, b"tree") => match string(value) {
                Some(tree) => Some(cbor::bytes(&self.entries(view, tree, (DIRECTORY, lsn))?)),
                None => Some(value.to_vec()),
            },
            _ => Some(value.to_vec()),
        }
    }

    /// An array of maps.
    fn maps(&self, view: &mut View<'_>, array: &[u8], which: Map, lsn: u64) -> Option<Vec<u8>> {
        let Some(items) = items(array) else { return Some(array.to_vec()) };
        let mut read = array[..items.first().map_or(array.len(), |first| first.at)].to_vec();
        for Item { at, len } in items {
            read.extend(self.fields(view, &array[at..at + len], which, lsn)?);
        }
        Some(read)
    }

    /// Rows of fixed width.
    fn rows(&self, value: &[u8], rows: &Rows) -> Option<Vec<u8>> {
        let Mistake::Index(field, misreading) = self.0 else { return Some(value.to_vec()) };
        let of_it = rows.fields.iter().find(|(of, ..)| *of == field);
        let Some((content, (_, at, len))) = string(value).zip(of_it) else { return Some(value.to_vec()) };
        let mut read = value.to_vec();
        let head = value.len() - content.len();
        for start in (0..content.len() / rows.len).map(|row| head + row * rows.len) {
            // Where a row is the field alone, there are bytes beside it in the whole only.
            let within = if rows.len == *len { 0..value.len() } else { start..start + rows.len };
            let at = start - within.start + at;
            misread_fixed(&mut read[within], at, *len, misreading);
        }
        Some(read)
    }

    /// A CBOR unsigned integer; whatever else stands there stays as it is.
    fn number(&self, value: &[u8], field: IndexField) -> Option<Vec<u8>> {
        let marks = number(value, Item { at: 0, len: value.len() }, (field, None));
        self.read(value, &marks.into_iter().collect::<Vec<_>>())
    }

    /// Numbers in an array.
    fn numbers(&self, array: &[u8], fields: &[IndexField]) -> Option<Vec<u8>> {
        let items = items(array).unwrap_or_default();
        let mark = |(n, (field, item)): (usize, (&IndexField, &Item))| {
            // The last item has none behind it: it is read where the one before stands.
            let behind = items.get(n + 1).or_else(|| items.get(n.wrapping_sub(1))).map(|item| item.at);
            number(array, *item, (*field, behind))
        };
        let marks: Vec<_> = fields.iter().zip(&items).enumerate().filter_map(mark).collect();
        self.read(array, &marks)
    }
}

#[derive(Clone, Copy)]
struct Item {
    at: usize,
    len: usize,
}

fn number(
    bytes: &[u8],
    Item { at, len }: Item,
    (field, behind): (IndexField, Option<usize>),
) -> Option<Mark> {
    let (major, ..) = head_at(bytes, at)?;
    (major == 0).then_some((field, Spot { at, len, form: Form::Cbor(behind) }))
}

/// The items of an array.
fn items(array: &[u8]) -> Option<Vec<Item>> {
    let (4, count, mut at) = head_at(array, 0)? else { return None };
    let mut items = Vec::new();
    for _ in 0..count {
        let len = item_len(array, at)?;
        items.push(Item { at, len });
        at += len;
    }
    Some(items)
}

/// What a byte string holds, if its head is the shortest.
fn string(value: &[u8]) -> Option<&[u8]> {
    let (2, _, len) = head_at(value, 0)? else { return None };
    let content = value.get(len..)?;
    (cbor::bytes(content) == value).then_some(content)
}
