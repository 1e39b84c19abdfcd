//! A file under construction: slots (F-3), segment headers (F-4), frames (F-5). Nothing keeps a writer's rules by itself: a case places what it
//! wants to be read.

use super::entries::tuple_limit;
use super::{Record, World, crc, lsn, up, varint};

/// Where segments begin (F-2.1).
pub const SEGMENTS: usize = 16_384;
/// The lineage of every file that is made here.
pub const LINEAGE: [u8; 16] = *b"lineage of forge";
/// A frame that states nothing (F-5.4).
pub const NOTHING: u32 = u32::MAX;
/// No segment is reserved (F-4.1).
pub const NONE: u32 = u32::MAX;

/// Frame flags (F-5.1).
pub const OPENING: u16 = 1;
/// F-5.5
pub const WATERMARK: u16 = 2;
/// F-5.8
pub const SYSTEM: u16 = 4;

/// A file under construction.
#[derive(Debug, Clone)]
pub struct Forge {
    /// The bytes so far.
    pub data: Vec<u8>,
    /// F-1.6
    pub sector: u32,
    /// The length of a segment.
    pub segment_bytes: u32,
    /// Of the current segment.
    pub physical: u32,
    /// Of the current segment.
    pub sequence: u64,
    /// X: where the last frame ended, in the current segment.
    pub end: u32,
    /// The LSN placed last.
    pub last: u64,
    /// The count with which the stretch begins (F-6.2).
    pub base: u32,
    /// What is reserved behind the current segment.
    pub reserved: [u32; 2],
    /// What the commits so far amount to.
    pub world: World,
    /// Every frame so far.
    pub placed: Vec<Placed>,
    /// The log segments so far, as a checkpoint's table has them.
    pub table: Vec<Row>,
}

/// A frame that was placed.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Its commit.
    pub lsn: u64,
    /// Where it begins, in the file.
    pub at: usize,
    /// Its length, without what rounds it up.
    pub len: usize,
    /// Where the frame before it ended, in the file: X, when this one is missing.
    pub before: u64,
    /// Log addresses of its records.
    pub records: Vec<u64>,
    /// The last commit after it, and what the store holds then.
    pub after: (u64, World),
}

impl Placed {
    /// Where it ends in the file, rounded up.
    #[must_use]
    pub fn end(&self) -> u64 {
        (self.at + self.len).next_multiple_of(8) as u64
    }
}

/// A log segment, as a checkpoint's table has it (F-8.6).
#[derive(Debug, Clone)]
pub struct Row {
    /// Its number.
    pub sequence: u64,
    /// Its place.
    pub physical: u32,
    /// The LSN of the first frame in it.
    pub first: u64,
    /// Where its last frame ended.
    pub end: u32,
    /// Offset and first LSN of each stretch.
    pub stretches: Vec<(u32, u64)>,
    /// The LSN of the record that freed it.
    pub freed: u64,
}

/// What of a frame is other than the next commit would have it.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Its LSN; that of the next commit where there is none.
    pub lsn: Option<u64>,
    /// The number of the part, and whether it is the last.
    pub part: (u16, bool),
    /// F-5.1
    pub flags: u16,
    /// F-5.4
    pub lag: u32,
    /// Whether it comes behind a hand-over, at a sector boundary (F-5.3).
    pub handed_over: bool,
    /// Changes the header before its checksums are made: bytes 8..32 of it.
    pub change: fn(&mut [u8; 24]),
    /// The lineage that its checksums are seeded with.
    pub lineage: [u8; 16],
    /// Where it begins in its segment, if not where it should.
    pub at: Option<u32>,
}

impl Default for Frame {
    fn default() -> Self {
        Frame {
            lsn: None,
            part: (0, true),
            flags: 0,
            lag: NOTHING,
            handed_over: true,
            change: |_| (),
            lineage: LINEAGE,
            at: None,
        }
    }
}

/// The number of a varint in so many bytes more.
pub(super) fn longer(mut varint: Vec<u8>, more: usize) -> Vec<u8> {
    for _ in 0..more {
        *varint.last_mut().expect("a varint has a byte") |= 0x80;
        varint.push(0);
    }
    varint
}

fn set(bytes: &mut [u8], at: usize, field: &[u8]) {
    bytes[at..at + field.len()].copy_from_slice(field);
}

impl Forge {
    /// A new file of this geometry, with room for so many segments: both slots as creation leaves them, but for the length.
    #[must_use]
    pub fn new(sector: u32, segment_bytes: u32, segments: u32) -> Self {
        let mut forge = Forge {
            data: vec![0; SEGMENTS + (segments * segment_bytes) as usize],
            sector,
            segment_bytes,
            physical: 0,
            sequence: 0,
            end: sector,
            last: 0,
            base: 0,
            reserved: [1, 2],
            world: World::default(),
            placed: Vec::new(),
            table: vec![Row {
                sequence: 0,
                physical: 0,
                first: 0,
                end: sector,
                stretches: Vec::new(),
                freed: 0,
            }],
        };
        forge.slot(0, |_| ());
        forge.slot(1, |_| ());
        forge.header(0, 0, |_| ());
        forge
    }

    /// A store that was opened once: incarnation 1, and its opening frame.
    #[must_use]
    pub fn opened(sector: u32, segment_bytes: u32, segments: u32) -> Self {
        let mut forge = Forge::new(sector, segment_bytes, segments);
        forge.slot(2, |slot| set(slot, 360, &1u32.to_le_bytes()));
        forge.open(1);
        forge
    }

    /// Writes the slot of a generation, with both checkpoints absent, after `change`.
    pub fn slot(&mut self, generation: u64, change: impl FnOnce(&mut [u8])) {
        let len = self.data.len() as u64;
        self.slot_in((generation % 2) as usize, generation, |slot| {
            set(slot, 376, &len.to_le_bytes());
            change(slot);
        });
    }

    /// The same in any of the two places.
    pub fn slot_in(&mut self, index: usize, generation: u64, change: impl FnOnce(&mut [u8])) {
        let mut slot = vec![0; 512];
        set(&mut slot, 0, b"HOLOTYPE");
        set(&mut slot, 8, &3u16.to_le_bytes());
        slot[12] = 1;
        set(&mut slot, 40, &self.sector.to_le_bytes());
        set(&mut slot, 44, &self.segment_bytes.to_le_bytes());
        set(&mut slot, 48, &LINEAGE);
        set(&mut slot, 64, b"instance of file");
        set(&mut slot, 352, &generation.to_le_bytes());
        change(&mut slot);
        let sum = crc(&[&slot[..508]]);
        set(&mut slot, 508, &sum.to_le_bytes());
        set(&mut self.data, 4096 * index, &slot);
    }

    /// Writes the header of the current segment, after `change`.
    pub fn header(&mut self, first: u64, prev_end: u32, change: impl FnOnce(&mut [u8])) {
        let mut header = vec![0; 60];
        set(&mut header, 0, b"HLOG");
        header[4] = 1;
        set(&mut header, 8, &self.sequence.to_le_bytes());
        set(&mut header, 16, &first.to_le_bytes());
        set(&mut header, 32, &prev_end.to_le_bytes());
        set(&mut header, 36, &self.reserved[0].to_le_bytes());
        set(&mut header, 40, &self.reserved[1].to_le_bytes());
        set(&mut header, 44, &LINEAGE);
        change(&mut header);
        let sum = crc(&[&self.physical.to_le_bytes(), &header]);
        header.extend(sum.to_le_bytes());
        let start = self.start();
        set(&mut self.data, start, &header);
    }

    /// Where the current segment begins in the file.
    #[must_use]
    pub fn start(&self) -> usize {
        SEGMENTS + self.physical as usize * self.segment_bytes as usize
    }

    /// X in the file.
    #[must_use]
    pub fn x(&self) -> u64 {
        self.start() as u64 + u64::from(self.end)
    }

    /// The log address of an offset in the current segment.
    #[must_use]
    pub fn address(&self, offset: u32) -> u64 {
        self.sequence * u64::from(self.segment_bytes) + u64::from(offset)
    }

    /// Goes on in the next segment, whose first frame will be of the commit `first`.
    pub fn segment(&mut self, first: u64) {
        let after = self.reserved[1];
        self.segment_with(first, after + 1, |_| ());
    }

    /// The same, with another segment reserved behind it and another header.
    pub fn segment_with(&mut self, first: u64, after: u32, change: impl FnOnce(&mut [u8])) {
        let prev_end = self.end;
        self.table.last_mut().expect("there is segment 0").end = prev_end;
        self.physical = self.reserved[0];
        self.reserved = [self.reserved[1], after];
        self.sequence += 1;
        (self.end, self.base) = (self.sector, first as u32);
        let needed = self.start() + self.segment_bytes as usize;
        if self.data.len() < needed {
            self.data.resize(needed, 0);
        }
        self.header(first, prev_end, change);
        let (sequence, physical, end) = (self.sequence, self.physical, self.sector);
        self.table.push(Row { sequence, physical, first, end, stretches: vec![(end, first)], freed: 0 });
    }

    /// Where the next frame goes in the current segment (F-5.2, F-5.3).
    #[must_use]
    pub fn place(&self, handed_over: bool) -> u32 {
        if handed_over {
            return up(self.end, self.sector);
        }
        let at = up(self.end, 8);
        let left = self.sector - at % self.sector;
        if left < 32 { at + left } else { at }
    }

    /// Whether a frame of a body of so many bytes has room in the current segment.
    #[must_use]
    pub fn has_room(&self, body: usize) -> bool {
        self.place(true) as usize + 32 + body <= self.segment_bytes as usize
    }

    /// Places a frame of these records. Answers their log addresses.
    pub fn frame(&mut self, records: &[Record], frame: &Frame) -> Vec<u64> {
        let at = frame.at.unwrap_or_else(|| self.place(frame.handed_over));
        let lsn = frame.lsn.unwrap_or(self.last + 1);
        let (mut body, mut sums, mut addresses) = (Vec::new(), Vec::new(), Vec::new());
        for record in records {
            let offset = at + 32 + body.len() as u32;
            addresses.push(self.address(offset));
            let bytes = self.record(record, offset, lsn, &frame.lineage);
            sums.extend_from_slice(&bytes[..4]);
            body.extend(bytes);
            let limit = tuple_limit(self.sector, self.segment_bytes);
            record.carry_out(&mut self.world, addresses[addresses.len() - 1], limit);
        }
        let header = self.frame_header(frame, (at, lsn), (&body, &sums), records.len() as u32);
        let start = self.start() + at as usize;
        set(&mut self.data, start, &header);
        set(&mut self.data, start + 32, &body);
        let before = self.placed.last().map_or((SEGMENTS as u64) + u64::from(self.sector), Placed::end);
        self.end = up(at + 32 + body.len() as u32, 8);
        self.last = lsn;
        let (len, records, after) = (32 + body.len(), addresses.clone(), (lsn, self.world.clone()));
        self.placed.push(Placed { lsn, at: start, len, before, records, after });
        self.table.last_mut().expect("there is segment 0").end = self.end;
        addresses
    }

    fn frame_header(
        &self,
        frame: &Frame,
        (at, lsn): (u32, u64),
        (body, sums): (&[u8], &[u8]),
        count: u32,
    ) -> Vec<u8> {
        let (number, is_last) = frame.part;
        let mut fields = [0; 24];
        set(&mut fields, 0, &lsn.to_le_bytes());
        set(&mut fields, 8, &frame.lag.to_le_bytes());
        set(&mut fields, 12, &(body.len() as u32).to_le_bytes());
        set(&mut fields, 16, &(number | u16::from(is_last) << 15).to_le_bytes());
        set(&mut fields, 18, &frame.flags.to_le_bytes());
        set(&mut fields, 20, &count.to_le_bytes());
        (frame.change)(&mut fields);
        let seed = [&frame.lineage[..], &self.sequence.to_le_bytes(), &at.to_le_bytes()].concat();
        let body_sum = crc(&[&seed, &fields, sums]).to_le_bytes();
        let header_sum = crc(&[&seed, &body_sum, &fields]).to_le_bytes();
        [&header_sum[..], &body_sum, &fields].concat()
    }

    /// The bytes of a record at an offset of the current segment (F-6.1).
    #[must_use]
    pub fn record(&self, record: &Record, offset: u32, lsn: u64, lineage: &[u8; 16]) -> Vec<u8> {
        let commit = (lsn as u32).wrapping_sub(self.base).wrapping_add(record.commit_off);
        let [collection, commit] = [record.collection, commit].map(u64::from);
        let [collection, commit] = [collection + record.beyond[0], commit + record.beyond[1]];
        let named = record.named(&self.world, self.segment_bytes);
        let flags = record.flags | u8::from(named.is_some());
        let front =
            || [varint(collection), varint(commit), record.own.clone(), named.clone().unwrap_or_default()];
        let fields = || [front().concat(), record.rest.clone()].concat();
        let payload = record.payload.clone().unwrap_or_else(fields);
        let length = longer(varint(payload.len() as u64), record.length_more);
        let later = [vec![record.kind, flags], length, payload].concat();
        let incarnation = (lsn >> 32) as u32;
        let seed =
            [&lineage[..], &incarnation.to_le_bytes(), &self.sequence.to_le_bytes(), &offset.to_le_bytes()];
        let sum = crc(&[&seed.concat(), &later]);
        [&sum.to_le_bytes()[..], &later].concat()
    }

    /// Places the next commit, of one part, behind a hand-over.
    pub fn commit(&mut self, records: &[Record]) -> Vec<u64> {
        self.frame(records, &Frame::default())
    }

    /// Places the opening frame of an incarnation, which names L and X.
    pub fn open(&mut self, incarnation: u32) {
        let names = Record::opening(self.last, self.address(self.end));
        self.open_naming(incarnation, names);
    }

    /// The same with another record.
    pub fn open_naming(&mut self, incarnation: u32, names: Record) {
        let at = self.place(true);
        let row = self.table.last_mut().expect("there is segment 0");
        let first = lsn(incarnation, 1);
        if row.first == 0 {
            row.first = first;
        }
        if row.stretches.iter().all(|(offset, _)| *offset != at) {
            row.stretches.push((at, first));
        }
        self.base = 1;
        self.frame(&[names], &Frame { lsn: Some(first), flags: OPENING | SYSTEM, ..Frame::default() });
    }

    /// The state after the last commit.
    #[must_use]
    pub fn state(&self) -> crate::case::State {
        self.world.state(self.last)
    }
}
