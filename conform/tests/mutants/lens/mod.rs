//! What a reader sees who misreads one field, or checks a checksum without a part of its seed.
//!
//! The lens rewrites a file to what such a reader would have read, and makes the checksums right again, so that the engine, which reads
//! rightly, takes it as that reader would.
//!
//! | module | what it looks at |
//! |---|---|
//! | [`headers`] | the fields of slots, segment headers and frame headers |
//! | [`records`] | the fields of records, and where they stand |
//! | [`fields`] | the fields of index records, and where they stand |
//! | [`form`] | numbers in their forms, read wrongly |
//! | [`log`] | the frames of a segment, made right again |
//! | [`checkpoints`] | the index records of a checkpoint, made right again |
//! | [`maps`] | the map of a root |
//! | [`seeds`] | what checksums are seeded with, and what else they might be |

mod checkpoints;
pub(crate) mod fields;
mod form;
pub(crate) mod headers;
mod log;
mod maps;
pub(crate) mod records;
pub(crate) mod seeds;

use holotype_conform::forge::crc;

use fields::{IndexField, Reference};
use form::u32_at;
use headers::{Check, Field, Structure};
use records::RecordField;
use seeds::{Seed, Weak};

/// How a field is misread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misreading {
    /// A byte further on; in an array, an item further on.
    Shifted,
    /// Its bytes, or groups of seven bits, in the opposite order.
    Reversed,
    /// Not at all.
    Zero,
    /// One more than it says.
    Off,
    /// In half of its width; a varint in one byte.
    Narrow,
}

/// Every way to misread a field.
pub(crate) const MISREADINGS: [Misreading; 5] =
    [Misreading::Shifted, Misreading::Reversed, Misreading::Zero, Misreading::Off, Misreading::Narrow];

/// What is wrong with a reader.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mistake {
    /// Nothing.
    None,
    /// It takes the older slot.
    OlderSlot,
    /// It misreads a field of a header.
    Header(&'static Field, Misreading),
    /// It misreads a field of records.
    Record(RecordField, Misreading),
    /// It misreads a field of index records.
    Index(IndexField, Misreading),
    /// It leaves a part out of the seed of a checksum.
    Seed(Seed),
    /// It does not ask whether a header is what it must be.
    Unchecked(Check),
    /// It looks for claims at every multiple of this, and not of 8.
    ClaimsAtMultiplesOf(usize),
}

/// What stands between a file and its reader.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lens(pub(crate) Mistake);

const SLOTS: [usize; 2] = [0, 4096];
const SEGMENTS: usize = 16_384;

/// A file that is being looked at.
struct View<'a> {
    file: &'a [u8],
    seen: Vec<u8>,
    weak: Weak,
    segment_bytes: usize,
    /// The references to index records that are shown, and what they are now.
    records: Vec<(Reference, Reference)>,
    /// Whether all that would be read wrongly can be shown in the room that it has.
    is_shown: bool,
}

impl Lens {
    /// The file as a reader with this lens takes it; none where the file has no room to show it.
    pub(crate) fn look(&self, file: &[u8]) -> Option<Vec<u8>> {
        let Some((lineage, segment_bytes)) = geometry(file) else { return Some(file.to_vec()) };
        let weak = Weak::of(file, lineage, segment_bytes);
        let mut view =
            View { file, seen: file.to_vec(), weak, segment_bytes, records: Vec::new(), is_shown: true };
        let count = file.len().saturating_sub(SEGMENTS).div_ceil(segment_bytes);
        for place in 0..count as u32 {
            self.segment(&mut view, place);
        }
        for slot in SLOTS {
            self.slot(&mut view, slot);
        }
        view.is_shown.then_some(view.seen)
    }

    fn slot(&self, view: &mut View<'_>, start: usize) {
        let needs_magic = !matches!(self.0, Mistake::Unchecked(Check::SlotMagic));
        let is_taken = |slot: &&[u8]| sum_holds(slot) && (slot.starts_with(MAGIC) || !needs_magic);
        if let Some(slot) = view.file.get(start..start + 512).filter(is_taken) {
            let references = [384, 432].map(|at| {
                let [segment, offset, sum, len] = [8, 12, 16, 36].map(|field| u32_at(slot, at + field));
                let reference = Reference { segment, offset, len, sum };
                (at, self.checkpoint(view, reference, form::u64_at(slot, at)))
            });
            let slot = &mut view.seen[start..start + 512];
            for (at, shown) in references {
                slot[at + 16..at + 20].copy_from_slice(&shown.sum.to_le_bytes());
                slot[at + 36..at + 40].copy_from_slice(&shown.len.to_le_bytes());
            }
            self.header(Structure::Slot, slot);
            if matches!(self.0, Mistake::OlderSlot) {
                // One less than all ones is even: who was first is last, and each slot stays in its place.
                let generation = form::u64_at(slot, 352);
                slot[352..360].copy_from_slice(&(u64::MAX - 1).wrapping_sub(generation).to_le_bytes());
            }
            match self.0 {
                Mistake::Unchecked(Check::SlotMagic) => slot[..8].copy_from_slice(MAGIC),
                // Twice as much, and one more in the second place: each slot is in its place, and who was first is first.
                Mistake::Unchecked(Check::SlotPlace) => {
                    let generation = form::u64_at(slot, 352).wrapping_mul(2) + u64::from(start > 0);
                    slot[352..360].copy_from_slice(&generation.to_le_bytes());
                }
                _ => {}
            }
            let sum = crc(&[&slot[..508]]);
            slot[508..].copy_from_slice(&sum.to_le_bytes());
            self.checksum(Structure::Slot, 508, slot);
        }
    }

    fn segment(&self, view: &mut View<'_>, place: u32) {
        let start = SEGMENTS + place as usize * view.segment_bytes;
        let Some(header) = view.file.get(start..start + 64) else { return };
        let sealed_at =
            |place: u32| crc(&[&place.to_le_bytes(), &header[..60]]).to_le_bytes() == header[60..];
        let is_weak = matches!(self.0, Mistake::Seed(Seed::SegmentPlace));
        if !(sealed_at(place) || is_weak && (0..seeds::PLACES_MAX).any(sealed_at)) {
            return;
        }
        if header[4] == 1 {
            let sequence = form::u64_at(header, 8);
            self.frames(view, start, sequence);
            if let Mistake::ClaimsAtMultiplesOf(step) = self.0 {
                log::hide_claims(view, start, sequence, step);
            }
        }
        let header = &mut view.seen[start..start + 64];
        self.header(Structure::Segment, header);
        match self.0 {
            // The magic of a log segment where the kind is that of one, and the other way round.
            Mistake::Unchecked(Check::SegmentMagic) if header[4] == 1 => header[..4].copy_from_slice(b"HLOG"),
            Mistake::Unchecked(Check::SegmentKind) if header.starts_with(b"HLOG") => header[4] = 1,
            Mistake::Unchecked(Check::SegmentLineage) => header[44..60].copy_from_slice(&view.weak.lineage),
            _ => {}
        }
        let sum = crc(&[&place.to_le_bytes(), &header[..60]]);
        header[60..].copy_from_slice(&sum.to_le_bytes());
        self.checksum(Structure::Segment, 60, header);
    }

    fn header(&self, structure: Structure, bytes: &mut [u8]) {
        if let Mistake::Header(field, misreading) = self.0
            && field.structure == structure
            && !field.is_checksum
        {
            form::misread_fixed(bytes, field.at, field.len, misreading);
        }
    }

    /// Misreads a checksum, after what it covers.
    fn checksum(&self, structure: Structure, at: usize, bytes: &mut [u8]) {
        if let Mistake::Header(field, misreading) = self.0
            && (field.structure, field.at, field.is_checksum) == (structure, at, true)
        {
            form::misread_fixed(bytes, field.at, field.len, misreading);
        }
    }
}

const MAGIC: &[u8] = b"HOLOTYPE";

fn slot_is_sealed(slot: &[u8]) -> bool {
    slot.starts_with(MAGIC) && sum_holds(slot)
}

fn sum_holds(slot: &[u8]) -> bool {
    crc(&[&slot[..508]]).to_le_bytes() == slot[508..]
}

/// Lineage and segment length, as the first slot has them that is whole and could be right.
fn geometry(file: &[u8]) -> Option<([u8; 16], usize)> {
    let slots = SLOTS.iter().filter_map(|start| file.get(*start..*start + 512));
    let mut good = slots.filter(|slot| slot_is_sealed(slot) && (512..=64 << 20).contains(&u32_at(slot, 44)));
    good.next().map(|slot| (slot[48..64].try_into().expect("16 bytes"), u32_at(slot, 44) as usize))
}
