//! The pages of a checkpoint segment, made right again after they were misread.

use super::entries::marks;
use super::form::{misread, u32_at};
use super::headers::Structure;
use super::seeds::PageSeed;
use super::{Lens, Mistake, SEGMENTS, View};

impl Lens {
    pub(super) fn pages(&self, view: &mut View<'_>, place: u32, lsn: u64) {
        let start = SEGMENTS + place as usize * view.segment_bytes;
        let end = view.seen.len().min(start + view.segment_bytes);
        let mut at = 64;
        while start + at + 32 <= end {
            at = match self.page(view, (start, end, at), lsn) {
                Some(sum) => {
                    if let (1, Some((before, after))) = (view.file[start + at + 16], sum.changed) {
                        view.roots.push((place, at as u32, before, after));
                    }
                    (at + sum.len).next_multiple_of(8)
                }
                None => at + 8,
            };
        }
    }

    /// Looks at the page at this offset. None if there is none.
    fn page(&self, view: &mut View<'_>, (start, end, at): (usize, usize, usize), lsn: u64) -> Option<Looked> {
        let bytes = &view.seen[start + at..end];
        let len = u32_at(bytes, 4) as usize;
        let page = bytes.get(..len).filter(|_| (32..=16_384).contains(&len))?;
        let right = PageSeed { lineage: view.weak.lineage, lsn, number: u32_at(page, 8) };
        view.weak.page(self, right, |seed| seed.sum(&page[4..]) == page[..4])?;
        let before = u32_at(page, 0);
        let mut read = page.to_vec();
        if let Some(shown) = self.entries(&read) {
            read = shown;
        } else {
            view.is_shown = false;
        }
        self.header(Structure::Page, &mut read);
        let room = &mut view.seen[start + at..end];
        // Behind a page stands another one, unless there are zeros.
        if read.len() > len && room.get(len..read.len()).is_none_or(|over| over.iter().any(|byte| *byte != 0))
        {
            view.is_shown = false;
            return Some(Looked { len, changed: None });
        }
        let written = read.len();
        room[..len.max(written)].fill(0);
        room[..written].copy_from_slice(&read);
        // The checksum is over what the reader takes for the page, and under the number that it reads there.
        let covered = Some(u32_at(room, 4) as usize).filter(|covered| (8..=room.len()).contains(covered));
        let seed = PageSeed { number: u32_at(room, 8), ..right };
        let sum = seed.sum(&room[4..covered.unwrap_or(written)]);
        room[..4].copy_from_slice(&sum);
        self.checksum(Structure::Page, 0, room);
        Some(Looked { len: len.max(written), changed: Some((before, u32::from_le_bytes(sum))) })
    }

    /// The page with its entries as they are read. None where nothing would be read so.
    fn entries(&self, page: &[u8]) -> Option<Vec<u8>> {
        let Mistake::Entry(field, misreading) = self.0 else { return Some(page.to_vec()) };
        let mut read = page.to_vec();
        // From the last one on, so that the others stay where they are.
        for (_, spot) in marks(page).into_iter().rev().filter(|(found, _)| *found == field) {
            let bytes = misread(page, spot, misreading)?;
            read.splice(spot.at..spot.at + spot.len, bytes);
        }
        let len = read.len() as u32;
        read[4..8].copy_from_slice(&len.to_le_bytes());
        Some(read)
    }
}

/// A page that was looked at.
struct Looked {
    len: usize,
    /// Its checksum before and after.
    changed: Option<(u32, u32)>,
}
