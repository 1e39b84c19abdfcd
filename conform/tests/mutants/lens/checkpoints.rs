//! The index records that a slot leads to, made right again after they were misread: leaves first, the root last.

use holotype_conform::forge::index::{self, DIRECTORY, LEAF, PART};
use holotype_conform::forge::varint;

use super::fields::{IndexField, Mark, Marks, Reference};
use super::form::{Form, Spot, misread, u32_at, varint_at};
use super::seeds::IndexSeed;
use super::{Lens, Mistake, SEGMENTS, View};

/// An index record as it stands in the file.
struct Found {
    seed: IndexSeed,
    flags: u8,
    collection: u64,
    commit: u64,
    body: Vec<u8>,
}

impl Reference {
    fn bytes(self) -> Vec<u8> {
        let Reference { segment, offset, len, sum } = self;
        index::Reference { segment, offset, len, crc: sum }.bytes()
    }
}

impl Lens {
    /// Shows the checkpoint of this LSN as it is read. Answers the reference to its root as it is then.
    ///
    /// Where no record stands that the reference fits, the engine finds none either, and nothing is changed.
    pub(super) fn checkpoint(&self, view: &mut View<'_>, last: Reference, lsn: u64) -> Reference {
        if let Some(shown) = view.shown(last) {
            return shown;
        }
        let Some(parts) = self.parts(view, last, lsn) else { return last };
        let map: Vec<_> = parts.iter().flat_map(|(_, part, at)| &part.body[*at..]).copied().collect();
        let Some(mut map) = self.map(view, &map, lsn) else { return view.is_not_shown(last) };
        let mut before: Option<Reference> = None;
        for (number, (named, part, at)) in parts.iter().enumerate() {
            let is_last = number + 1 == parts.len();
            let len = if is_last { map.len() } else { (part.body.len() - at).min(map.len()) };
            let head = [varint(number as u64), before.map(Reference::bytes).unwrap_or_default()].concat();
            let body = [head, map.drain(..len).collect()].concat();
            let mut marks = Marks::from(&body, 0);
            let _ = marks.part();
            before = Some(self.written(view, *named, (PART, part), self.read(&body, &marks.found)));
        }
        before.unwrap_or(last)
    }

    /// The parts of a root from number 0 on, and where in each the bytes of the map begin.
    fn parts(&self, view: &View<'_>, last: Reference, lsn: u64) -> Option<Vec<(Reference, Found, usize)>> {
        let (mut parts, mut named, mut due) = (Vec::new(), last, None);
        loop {
            let part = self.found(view, named, PART, lsn)?;
            let mut marks = Marks::from(&part.body, 0);
            let (number, before) = marks.part()?;
            let at = marks.at;
            parts.push((named, part, at));
            if due.is_some_and(|due| due != number) {
                return None;
            }
            let Some(before) = before else { break };
            (named, due) = (before, Some(number - 1));
        }
        parts.reverse();
        Some(parts)
    }

    /// Directory entries of a record of this LSN as they are read: those of a tree, which lead to pages, or those of a page. None where that
    /// cannot be shown.
    pub(super) fn entries(
        &self,
        view: &mut View<'_>,
        bytes: &[u8],
        (kind, lsn): (u8, u64),
    ) -> Option<Vec<u8>> {
        let mut shown = Vec::new();
        let mut at = 0;
        while let Some((named, place, age)) = Marks::from(bytes, at).entry() {
            let reference = self.index_record(view, named, (kind, lsn), age);
            let mut marks = Marks::from(bytes, at);
            let _ = marks.entry();
            shown.extend([&bytes[at..place.start], &reference.bytes(), &bytes[place.end..marks.at]].concat());
            at = marks.at;
        }
        let read = shown.len();
        shown.extend(&bytes[at..]);
        let mut marks = Marks::from(&shown, 0);
        while marks.at < read && marks.entry().is_some() {}
        self.read(&shown, &marks.found)
    }

    /// Shows a page and its leaves, or a leaf. Answers the reference to it as it is then.
    fn index_record(
        &self,
        view: &mut View<'_>,
        named: Reference,
        (kind, lsn): (u8, u64),
        age: u64,
    ) -> Reference {
        if let Some(shown) = view.shown(named) {
            return shown;
        }
        let lsn = lsn.wrapping_sub(age);
        let Some(found) = self.found(view, named, kind, lsn) else { return named };
        let read = match kind {
            DIRECTORY => self.entries(view, &found.body, (LEAF, lsn)),
            _ => self.read(&found.body, &Marks::from(&found.body, 0).leaf()),
        };
        self.written(view, named, (kind, &found), read)
    }

    /// The record that a reader with this lens takes for the one that `named` leads to.
    fn found(&self, view: &View<'_>, named: Reference, kind: u8, lsn: u64) -> Option<Found> {
        let Reference { segment, offset, len, .. } = named;
        let start = view.start_of(named);
        let raw = view.file.get(start..start + len as usize)?;
        if offset as usize + raw.len() > view.segment_bytes {
            return None;
        }
        if raw.len() < 9 || raw[4] != kind || u32_at(raw, 0) != named.sum {
            return None;
        }
        let right = IndexSeed { lineage: view.weak.lineage, segment, lsn, offset };
        view.weak.index(self, right, |seed| seed.sum(&raw[4..]) == raw[..4])?;
        let mut at = 6;
        let mut number = || {
            let (number, len) = varint_at(raw, at)?;
            at += len;
            Some((number, at))
        };
        let (len, behind) = number()?;
        let ((collection, _), (commit, body)) = (number()?, number()?);
        let is_whole = usize::try_from(len).is_ok_and(|len| len == raw.len() - behind);
        is_whole.then(|| Found { seed: right, flags: raw[5], collection, commit, body: raw[body..].to_vec() })
    }

    /// Writes a record with the body that is read, if there is one and it has room. Answers the reference to it.
    fn written(
        &self,
        view: &mut View<'_>,
        named: Reference,
        (kind, found): (u8, &Found),
        body: Option<Vec<u8>>,
    ) -> Reference {
        let Some(body) = body else { return view.is_not_shown(named) };
        let rest = [varint(found.collection), varint(found.commit), body].concat();
        let raw = [vec![0, 0, 0, 0, kind, found.flags], varint(rest.len() as u64), rest].concat();
        let mut marks = Marks::from(&raw, 4);
        let _ = marks.header();
        let Some(mut raw) = self.read(&raw, &marks.found) else { return view.is_not_shown(named) };
        let sum = found.seed.sum(&raw[4..]);
        raw[..4].copy_from_slice(&sum);
        let shown = Reference { len: raw.len() as u32, sum: u32::from_le_bytes(sum), ..named };
        // A reader that misreads the field has the right checksum in the reference.
        let checksum = (IndexField::Checksum, Spot { at: 0, len: 4, form: Form::Fixed });
        let Some(raw) = self.read(&raw, &[checksum]) else { return view.is_not_shown(named) };
        let (start, len) = (view.start_of(named), named.len as usize);
        let end = view.seen.len().min(start - named.offset as usize + view.segment_bytes);
        // Behind a record stands another one, unless there are zeros.
        let room = (raw.len().max(len) <= end - start).then(|| &mut view.seen[start..end]);
        let is_free = |room: &[u8]| raw.len() <= len || room[len..raw.len()].iter().all(|byte| *byte == 0);
        let Some(room) = room.filter(|room| is_free(room)) else { return view.is_not_shown(named) };
        room[..len].fill(0);
        room[..raw.len()].copy_from_slice(&raw);
        view.records.push((named, shown));
        shown
    }

    /// The bytes with these fields as they are read; none where nothing would be read so.
    pub(super) fn read(&self, bytes: &[u8], marks: &[Mark]) -> Option<Vec<u8>> {
        let mut read = bytes.to_vec();
        let Mistake::Index(field, misreading) = self.0 else { return Some(read) };
        // From the last one on, so that the others stay where they are.
        for (_, spot) in marks.iter().rev().filter(|(found, _)| *found == field) {
            let bytes = misread(bytes, *spot, misreading)?;
            read.splice(spot.at..spot.at + spot.len, bytes);
        }
        Some(read)
    }
}

impl View<'_> {
    /// Where the record stands in the file.
    fn start_of(&self, named: Reference) -> usize {
        SEGMENTS + named.segment as usize * self.segment_bytes + named.offset as usize
    }

    /// The reference to a record that has been shown.
    fn shown(&self, named: Reference) -> Option<Reference> {
        self.records.iter().find(|(was, _)| *was == named).map(|(_, shown)| *shown)
    }

    fn is_not_shown(&mut self, named: Reference) -> Reference {
        self.is_shown = false;
        named
    }
}
