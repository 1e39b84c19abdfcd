//! What a reader sees who misreads one field.

use holotype_conform::forge::crc;

/// Where a field stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Structure {
    Slot,
    Segment,
    Frame,
}

/// A field of one of the tables of `format.md`.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    structure: Structure,
    at: usize,
    len: usize,
    has_order: bool,
}

const fn field(name: &'static str, structure: Structure, at: usize, len: usize) -> Field {
    Field { name, structure, at, len, has_order: len > 1 }
}

/// A mask of which no bit is known: whichever bit is set, the file is refused.
const fn mask(name: &'static str, structure: Structure, at: usize, len: usize) -> Field {
    Field { name, structure, at, len, has_order: false }
}

/// Every field whose meaning a reader uses: F-3.1, F-4.1, F-5.1.
pub(crate) const FIELDS: &[Field] = &[
    field("the slot's major version", Structure::Slot, 8, 2),
    field("the slot's checksum kind", Structure::Slot, 12, 1),
    mask("the slot's incompatible features", Structure::Slot, 16, 8),
    field("the slot's sector", Structure::Slot, 40, 4),
    field("the slot's segment length", Structure::Slot, 44, 4),
    field("the slot's incarnation", Structure::Slot, 360, 4),
    field("the slot's durable LSN", Structure::Slot, 368, 8),
    field("the slot's file length", Structure::Slot, 376, 8),
    field("the newest checkpoint's LSN", Structure::Slot, 384, 8),
    field("the newest checkpoint's root segment", Structure::Slot, 392, 4),
    field("the newest checkpoint's root offset", Structure::Slot, 396, 4),
    field("the newest checkpoint's root checksum", Structure::Slot, 400, 4),
    field("the newest checkpoint's replay segment", Structure::Slot, 404, 4),
    field("the newest checkpoint's replay sequence", Structure::Slot, 408, 8),
    field("the newest checkpoint's replay offset", Structure::Slot, 416, 4),
    field("the newest checkpoint's replay LSN", Structure::Slot, 424, 8),
    field("the segment's kind", Structure::Segment, 4, 1),
    field("the segment's sequence", Structure::Segment, 8, 8),
    field("the segment's first LSN", Structure::Segment, 16, 8),
    field("the segment's durable LSN", Structure::Segment, 24, 8),
    field("the segment's prev_end", Structure::Segment, 32, 4),
    field("the segment's next", Structure::Segment, 36, 4),
    field("the segment's after", Structure::Segment, 40, 4),
    field("the frame's LSN", Structure::Frame, 8, 8),
    field("the frame's durable lag", Structure::Frame, 16, 4),
    field("the frame's body length", Structure::Frame, 20, 4),
    field("the frame's part number", Structure::Frame, 24, 2),
    field("the frame's flags", Structure::Frame, 26, 2),
    field("the frame's record count", Structure::Frame, 28, 4),
];

impl Field {
    /// Whether it is a mistake to misread the field so.
    pub(crate) fn bears(&self, misreading: Misreading) -> bool {
        misreading != Misreading::Reversed || self.has_order
    }
}

/// How a field is misread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misreading {
    /// A byte further on.
    Shifted,
    /// Most significant byte first.
    Reversed,
    /// Not at all.
    Zero,
}

/// What stands between a file and its reader.
#[derive(Debug)]
pub(crate) struct Lens {
    misread: Option<(&'static Field, Misreading)>,
    older_first: bool,
    without_place: bool,
}

const SLOTS: [usize; 2] = [0, 4096];
const SEGMENTS: usize = 16_384;
/// No vector has more segments in a file.
const PLACES_MAX: u32 = 128;

impl Lens {
    pub(crate) const fn clear() -> Lens {
        Lens { misread: None, older_first: false, without_place: false }
    }

    pub(crate) const fn on(field: &'static Field, misreading: Misreading) -> Lens {
        Lens { misread: Some((field, misreading)), ..Lens::clear() }
    }

    pub(crate) const fn older_slot_first() -> Lens {
        Lens { older_first: true, ..Lens::clear() }
    }

    pub(crate) const fn without_the_place() -> Lens {
        Lens { without_place: true, ..Lens::clear() }
    }

    /// The file as a reader with this lens takes it.
    pub(crate) fn look(&self, file: &[u8]) -> Vec<u8> {
        let mut seen = file.to_vec();
        let Some((lineage, segment_bytes)) = geometry(file) else { return seen };
        let count = file.len().saturating_sub(SEGMENTS).div_ceil(segment_bytes);
        for place in 0..count as u32 {
            self.segment(
                file,
                &mut seen,
                (place, SEGMENTS + place as usize * segment_bytes),
                &lineage,
                segment_bytes,
            );
        }
        for slot in SLOTS {
            self.slot(&mut seen, slot);
        }
        seen
    }

    fn slot(&self, seen: &mut [u8], start: usize) {
        let Some(slot) = seen.get_mut(start..start + 512).filter(|slot| slot_is_sealed(slot)) else { return };
        self.misread(Structure::Slot, slot);
        if self.older_first {
            // One less than all ones is even: who was first is last, and each slot stays in its place.
            let generation = u64_at(slot, 352);
            slot[352..360].copy_from_slice(&(u64::MAX - 1).wrapping_sub(generation).to_le_bytes());
        }
        let sum = crc(&[&slot[..508]]);
        slot[508..].copy_from_slice(&sum.to_le_bytes());
    }

    fn segment(
        &self,
        file: &[u8],
        seen: &mut [u8],
        (place, start): (u32, usize),
        lineage: &[u8],
        segment_bytes: usize,
    ) {
        let Some(header) = file.get(start..start + 64) else { return };
        let sealed_at =
            |place: u32| crc(&[&place.to_le_bytes(), &header[..60]]).to_le_bytes() == header[60..];
        let fits = sealed_at(place) || self.without_place && (0..PLACES_MAX).any(sealed_at);
        if !fits {
            return;
        }
        let end = file.len().min(start + segment_bytes);
        if header[4] == 1 {
            let sequence = header[8..16].to_vec();
            for at in (64..end - start).step_by(8) {
                self.frame(&mut seen[start..end], at, &[lineage, &sequence].concat());
            }
        }
        let header = &mut seen[start..start + 64];
        self.misread(Structure::Segment, header);
        let sum = crc(&[&place.to_le_bytes(), &header[..60]]);
        header[60..].copy_from_slice(&sum.to_le_bytes());
    }

    fn frame(&self, segment: &mut [u8], at: usize, seed: &[u8]) {
        let Some(header) = segment.get(at..at + 32) else { return };
        let seed = [seed, &(at as u32).to_le_bytes()].concat();
        let is_sealed = |header: &[u8]| crc(&[&seed, &header[4..]]).to_le_bytes() == header[..4];
        if !is_sealed(header) {
            return;
        }
        let len = u32_at(header, 20) as usize;
        let sums = segment.get(at + 32..at + 32 + len).map_or(Vec::new(), record_sums);
        let fits = crc(&[&seed, &header[8..], &sums]).to_le_bytes() == header[4..8];
        let header = &mut segment[at..at + 32];
        self.misread(Structure::Frame, header);
        if fits {
            let body = crc(&[&seed, &header[8..], &sums]);
            header[4..8].copy_from_slice(&body.to_le_bytes());
        }
        let sum = crc(&[&seed, &header[4..]]);
        header[..4].copy_from_slice(&sum.to_le_bytes());
    }

    fn misread(&self, structure: Structure, bytes: &mut [u8]) {
        let Some((field, misreading)) = self.misread.filter(|(field, _)| field.structure == structure) else {
            return;
        };
        let (start, end) = (field.at, field.at + field.len);
        match misreading {
            // The last field of a structure has nothing behind it: it is read a byte before its place.
            Misreading::Shifted if end < bytes.len() => bytes.copy_within(start + 1..end + 1, start),
            Misreading::Shifted => bytes.copy_within(start - 1..end - 1, start),
            Misreading::Reversed => bytes[start..end].reverse(),
            Misreading::Zero => bytes[start..end].fill(0),
        }
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn slot_is_sealed(slot: &[u8]) -> bool {
    slot.starts_with(b"HOLOTYPE") && crc(&[&slot[..508]]).to_le_bytes() == slot[508..]
}

/// Lineage and segment length, as the first slot has them that is whole and could be right.
fn geometry(file: &[u8]) -> Option<(Vec<u8>, usize)> {
    let slots = SLOTS.iter().filter_map(|start| file.get(*start..*start + 512));
    let mut good = slots.filter(|slot| slot_is_sealed(slot) && (512..=64 << 20).contains(&u32_at(slot, 44)));
    good.next().map(|slot| (slot[48..64].to_vec(), u32_at(slot, 44) as usize))
}

/// The checksum fields of the records of a body, one behind the other.
fn record_sums(mut body: &[u8]) -> Vec<u8> {
    let mut sums = Vec::new();
    while body.len() > 6 {
        sums.extend_from_slice(&body[..4]);
        let (mut len, mut at, mut shift) = (0usize, 6, 0);
        while let Some(byte) = body.get(at).filter(|_| shift < 28) {
            len |= usize::from(byte & 0x7f) << shift;
            (at, shift) = (at + 1, shift + 7);
            if byte & 0x80 == 0 {
                break;
            }
        }
        body = body.get(at + len..).unwrap_or_default();
    }
    sums
}
