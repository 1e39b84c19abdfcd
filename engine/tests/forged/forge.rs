//! A store's file, edited so that every checksum holds.

use std::sync::Arc;

use holotype::format::checkpoint::{Checkpoint, IndexSource, Root};
use holotype::format::checksum::{crc, crc_append};
use holotype::format::frame::{
    CLAIMS_NOTHING, FRAME_HEADER_LEN, FrameFlags, FrameHeader, SegmentSeed, parse_header_at, write_header,
};
use holotype::format::index_record::{IndexPlace, IndexRecord, IndexRecordKind, Reference};
use holotype::format::record::{self, Kind, RecordParts, RecordSeed};
use holotype::format::segment::{SegmentHeader, SegmentKind};
use holotype::format::superblock::{SLOT_LEN, SLOT_OFFSETS, Slot, Superblock, parse_slot};
use holotype::format::{Lsn, round_up_8};
use holotype::storage::{MemoryStorage, Storage};
use holotype::{Background, Db, Document, Durability, Error, KeyRef, Options, Result, Value, doc};

pub(crate) fn options() -> Options {
    Options::new().sector(64).segment_bytes(4096).seed(7).background(Background::Manual)
}

pub(crate) fn n(value: i64) -> Document {
    doc! { "n": value }
}

/// A file for who reads checkpoints.
struct Bytes<'a>(&'a [u8]);

impl IndexSource for Bytes<'_> {
    fn file_len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> Result<()> {
        out.copy_from_slice(&self.0[at as usize..][..out.len()]);
        Ok(())
    }
}

/// Where the log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) physical: u32,
    pub(crate) sequence: u64,
    /// Where the last frame begins, and where it ends.
    pub(crate) start: u32,
    pub(crate) offset: u32,
    pub(crate) lsn: Lsn,
}

/// A frame to be placed.
#[derive(Debug, Clone)]
pub(crate) struct Frame<'a> {
    pub(crate) lsn: Lsn,
    /// What the frame states to be durable, as far behind itself; nothing where it is not said.
    pub(crate) durable_lag: u32,
    pub(crate) flags: FrameFlags,
    pub(crate) part: u16,
    pub(crate) last: bool,
    /// The count with which its stretch begins.
    pub(crate) base: u32,
    pub(crate) records: Vec<RecordParts<'a>>,
    /// Whether the checksum of the body is that of these records.
    pub(crate) is_whole: bool,
    /// How many records more it says that it has.
    pub(crate) more: u32,
}

impl<'a> Frame<'a> {
    pub(crate) fn new(lsn: Lsn, records: Vec<RecordParts<'a>>) -> Frame<'a> {
        let flags = FrameFlags::NONE;
        Frame {
            lsn,
            durable_lag: CLAIMS_NOTHING,
            flags,
            part: 0,
            last: true,
            base: 1,
            records,
            is_whole: true,
            more: 0,
        }
    }

    /// A frame of no records that states everything before it to be durable.
    pub(crate) fn claiming(lsn: Lsn) -> Frame<'a> {
        Frame { durable_lag: 1, ..Frame::new(lsn, Vec::new()) }
    }
}

/// A record without a key.
pub(crate) fn nameless(kind: Kind, body: &[u8]) -> RecordParts<'_> {
    let (own_lsn, replaces, expiry, key) = (None, None, None, None);
    RecordParts { kind, collection: 0, commit: 0, own_lsn, replaces, expiry, chunked: false, key, body }
}

/// A put into the first collection.
pub(crate) fn put(key: i64, body: &[u8]) -> RecordParts<'_> {
    RecordParts { collection: 1, key: Some(KeyRef::Int(key)), ..nameless(Kind::Put, body) }
}

pub(crate) fn read_all(disk: &MemoryStorage) -> Vec<u8> {
    let mut bytes = vec![0; disk.len().expect("memory has a length") as usize];
    let mut done = 0;
    while done < bytes.len() {
        done += disk.read_at(done as u64, &mut bytes[done..]).expect("memory can be read");
    }
    bytes
}

/// The file of a store that was left open.
#[derive(Debug, Clone)]
pub(crate) struct Forge {
    pub(crate) bytes: Vec<u8>,
}

impl Forge {
    /// The documents 1 and 2 in the collection `c`, both durable.
    pub(crate) fn new() -> Forge {
        Self::of(&options(), |db| {
            for key in 1..=2 {
                db.collection("c").put(key, n(key)).expect("there is room");
            }
        })
    }

    pub(crate) fn of(options: &Options, fill: impl FnOnce(&Db)) -> Forge {
        let disk = Arc::new(MemoryStorage::new());
        let db = Db::open_on(Arc::clone(&disk), &options.clone().durability(Durability::Synced));
        let db = db.expect("a new store");
        fill(&db);
        Forge { bytes: read_all(&disk) }
    }

    /// Room for so many segments.
    pub(crate) fn lengthened(mut self, segments: u32) -> Forge {
        let len = self.newest().geometry.segment_end(segments - 1) as usize;
        self.bytes.resize(len.max(self.bytes.len()), 0);
        self
    }

    /// A disk with the file.
    pub(crate) fn disk(&self) -> Arc<MemoryStorage> {
        let disk = MemoryStorage::new();
        let mut done = 0;
        while done < self.bytes.len() {
            done += disk.write_at(done as u64, &self.bytes[done..]).expect("memory takes all");
        }
        Arc::new(disk)
    }

    pub(crate) fn open_with(&self, options: &Options) -> Result<Db> {
        Db::open_on(self.disk(), options)
    }

    pub(crate) fn open(&self) -> Result<Db> {
        self.open_with(&options())
    }

    /// The keys of the collection `c`, once the file is opened.
    pub(crate) fn keys(&self) -> Vec<String> {
        let db = self.open().expect("the file is as it should be");
        let report = db.verify(true).expect("it can be read");
        assert!(report.is_clean(), "{:?}", report.problems);
        db.collection("c").keys(..).expect("it is there").map(|key| key.expect("sound").to_string()).collect()
    }

    #[track_caller]
    pub(crate) fn assert_corrupt(&self, what: &str) {
        self.assert_refused(what, |error| matches!(error, Error::Corrupt(_)));
    }

    #[track_caller]
    pub(crate) fn assert_newer(&self, what: &str) {
        self.assert_refused(what, |error| matches!(error, Error::NewerFormat { .. }));
    }

    #[track_caller]
    pub(crate) fn assert_older(&self, what: &str) {
        self.assert_refused(what, |error| matches!(error, Error::OlderFormat { .. }));
    }

    //= spec/versions.md#c-2-4-refused-is-not-corrupt
    //# A reader MUST NOT change a file that it refuses.
    /// It is refused for this reason, and left as it is.
    #[track_caller]
    fn assert_refused(&self, what: &str, is_reason: impl Fn(&Error) -> bool) {
        let disk = self.disk();
        let opened = Db::open_on(Arc::clone(&disk), &options()).map(|db| db.stats());
        assert!(opened.as_ref().is_err_and(is_reason), "{what}: {opened:?}");
        assert!(read_all(&disk) == self.bytes, "{what}: the file was written to");
    }

    fn slot(&self, index: usize) -> Superblock {
        let at = SLOT_OFFSETS[index] as usize;
        let bytes = self.bytes[at..at + SLOT_LEN].try_into().expect("a slot has its length");
        match parse_slot(bytes, index) {
            Slot::Valid(slot) => *slot,
            other => panic!("slot {index}: {other:?}"),
        }
    }

    pub(crate) fn newest(&self) -> Superblock {
        let [a, b] = [0, 1].map(|index| self.slot(index));
        if a.generation > b.generation { a } else { b }
    }

    /// The index of the newest slot.
    pub(crate) fn newest_index(&self) -> usize {
        self.newest().slot()
    }

    pub(crate) fn change_newest(&mut self, change: impl FnOnce(&mut Superblock)) {
        let mut slot = self.newest();
        change(&mut slot);
        let at = SLOT_OFFSETS[slot.slot()] as usize;
        self.bytes[at..at + SLOT_LEN].copy_from_slice(&slot.encode());
    }

    /// Changes bytes of a slot, whatever they mean.
    pub(crate) fn patch_slot(&mut self, index: usize, at: usize, with: &[u8]) {
        let start = SLOT_OFFSETS[index] as usize;
        let slot = &mut self.bytes[start..start + SLOT_LEN];
        slot[at..at + with.len()].copy_from_slice(with);
        let sum = crc(&slot[..508]);
        slot[508..].copy_from_slice(&sum.to_le_bytes());
    }

    /// The root of the newest checkpoint, or of the one before.
    pub(crate) fn root(&self, position: usize) -> Root {
        let slot = self.newest();
        let reference = slot.checkpoints[position].expect("it is named");
        let source = Bytes(&self.bytes);
        let checkpoint = Checkpoint::open(&source, slot.geometry, &slot.lineage, &reference);
        checkpoint.expect("it is sound").root().clone()
    }

    /// Changes bytes in a row of the segment table of the newest checkpoint.
    pub(crate) fn change_row(&mut self, row: usize, at: usize, with: &[u8]) {
        self.change_root("table", |table| {
            table[row * 40 + at..][..with.len()].copy_from_slice(with);
        });
    }

    /// Changes a byte string in the root of the newest checkpoint, which is as long as it was, and makes all checksums right.
    pub(crate) fn change_root(&mut self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let slot = self.newest();
        let newest = slot.checkpoints[0].expect("there is a checkpoint");
        let mut parts = vec![newest.root];
        let mut map = Vec::new();
        // Numbers have one byte here.
        loop {
            let last = *parts.last().expect("there is one");
            let (record, _) = self.index_record(last, newest.lsn);
            let mut rest = &record.body[1..];
            let before = (record.body[0] > 0).then(|| Reference::take(&mut rest).expect("one is due"));
            map = [rest, &map].concat();
            match before {
                Some(before) => parts.push(before),
                None => break,
            }
        }
        let mut root = Document::decode(&map).expect("a map is a document");
        let Some(Value::Bytes(mut bytes)) = root.remove(name) else { panic!("{name} is a byte string") };
        change(&mut bytes);
        root.insert(name, Value::Bytes(bytes));
        let changed = root.encode();
        assert_eq!(changed.len(), map.len(), "what stands behind it stays where it is");
        let mut rest = &changed[..];
        let mut before: Option<Reference> = None;
        for (number, mut part) in (0..).zip(parts.into_iter().rev()) {
            let mut body = vec![number];
            if let Some(before) = before {
                before.put(&mut body);
            }
            let (record, _) = self.index_record(part, newest.lsn);
            let (piece, behind) = rest.split_at(record.body.len() - body.len());
            rest = behind;
            body.extend_from_slice(piece);
            let (commit, mut bytes) = (record.commit, Vec::new());
            let kind = IndexRecordKind::Root;
            let (physical, offset, lineage, lsn) = (part.physical, part.offset, &slot.lineage, newest.lsn);
            let place = IndexPlace { lineage, physical, offset, lsn };
            part.crc = IndexRecord { kind, collection: 0, commit, body: &body }.encode(&place, &mut bytes);
            let at = part.at(slot.geometry) as usize;
            self.bytes[at..at + bytes.len()].copy_from_slice(&bytes);
            before = Some(part);
        }
        self.change_newest(|slot| {
            let newest = slot.checkpoints[0].as_mut().expect("there is a checkpoint");
            newest.root = before.expect("there is one");
        });
    }

    /// The record that a reference leads to, of the checkpoint at `lsn`; and its bytes.
    pub(crate) fn index_record(&self, reference: Reference, lsn: Lsn) -> (IndexRecord<'_>, &[u8]) {
        let slot = self.newest();
        let Reference { physical, offset, len, .. } = reference;
        let bytes = &self.bytes[reference.at(slot.geometry) as usize..][..len as usize];
        let place = IndexPlace { lineage: &slot.lineage, physical, offset, lsn };
        (IndexRecord::parse(bytes, &place).expect("it is sound").0, bytes)
    }

    /// The index records of one kind that the checkpoint at `lsn` wrote.
    pub(crate) fn index_records(&self, lsn: Lsn, kind: IndexRecordKind) -> Vec<Reference> {
        let (slot, mut found) = (self.newest(), Vec::new());
        for physical in 0..slot.geometry.segments_within(self.bytes.len() as u64) {
            let Some(header) = self.header(physical).filter(|header| header.kind == SegmentKind::Index)
            else {
                continue;
            };
            for offset in (slot.geometry.data_start()..slot.geometry.segment_bytes()).step_by(8) {
                let rest = &self.bytes[self.segment_at(physical)..][..slot.geometry.segment_bytes() as usize];
                let mut place =
                    IndexPlace { lineage: &slot.lineage, physical, offset, lsn: header.first_lsn };
                let record = IndexRecord::find(&rest[offset as usize..], &mut place);
                if let Ok((record, extent)) = record
                    && (place.lsn, record.kind) == (lsn, kind)
                {
                    found.push(Reference { physical, offset, len: extent.len as u32, crc: extent.crc });
                }
            }
        }
        found
    }

    fn segment_at(&self, physical: u32) -> usize {
        self.newest().geometry.segment_offset(physical) as usize
    }

    pub(crate) fn header(&self, physical: u32) -> Option<SegmentHeader> {
        SegmentHeader::parse(self.bytes.get(self.segment_at(physical)..)?, &self.newest().lineage, physical)
    }

    pub(crate) fn set_header(&mut self, physical: u32, header: SegmentHeader) {
        let (at, lineage) = (self.segment_at(physical), self.newest().lineage);
        let bytes = header.encode(&lineage, physical);
        self.bytes[at..at + bytes.len()].copy_from_slice(&bytes);
    }

    /// The value of the newest put of a key in a log of one segment (F-6.6).
    pub(crate) fn value(&self, key: i64) -> u64 {
        let (slot, end) = (self.newest(), self.end());
        let seed = RecordSeed::new(&slot.lineage, end.lsn.incarnation(), end.sequence);
        let segment = &self.bytes[self.segment_at(end.physical)..];
        let is_put = |at: &u32| {
            let record = record::parse(&segment[*at as usize..], seed.at(*at));
            record.is_ok_and(|record| record.kind == Kind::Put && record.key == Some(KeyRef::Int(key)))
        };
        let at = (64..end.offset).rev().find(is_put).expect("it was put");
        slot.geometry.address(end.sequence, at).0 * 4
    }

    /// Where the last frame of the log ends.
    pub(crate) fn end(&self) -> End {
        let slot = self.newest();
        let segments = slot.geometry.segments_within(self.bytes.len() as u64);
        let logs = (0..segments).filter_map(|physical| {
            let header = self.header(physical)?;
            (header.kind == SegmentKind::Log).then_some((header.sequence, physical))
        });
        let (sequence, physical) = logs.max().expect("the log has a segment");
        let (at, seed) = (self.segment_at(physical), SegmentSeed::for_segment(&slot.lineage, sequence));
        let mut end = None;
        let mut offset = slot.geometry.data_start();
        while let Some(bytes) = self.bytes.get(at + offset as usize..)
            && offset < slot.geometry.segment_bytes()
        {
            offset = match parse_header_at(bytes, offset, &seed, slot.geometry.segment_bytes()) {
                Some(header) => {
                    let after = round_up_8(offset + FRAME_HEADER_LEN as u32 + header.body_len);
                    end = Some(End { physical, sequence, start: offset, offset: after, lsn: header.lsn });
                    after
                }
                None => offset + 8,
            };
        }
        end.expect("the log has a frame")
    }

    /// Puts `frame` behind the end of the log.
    pub(crate) fn append(&mut self, frame: &Frame<'_>) -> Vec<u32> {
        let end = self.end();
        let offset = self.newest().geometry.place(end.offset).expect("the segment has room");
        self.place(end, offset, frame)
    }

    /// Puts `frame` at an offset of a segment; returns where its records stand.
    pub(crate) fn place(&mut self, segment: End, offset: u32, frame: &Frame<'_>) -> Vec<u32> {
        let slot = self.newest();
        let record_seed = RecordSeed::new(&slot.lineage, frame.lsn.incarnation(), segment.sequence);
        let (mut bytes, mut offsets, mut crcs) = (vec![0; FRAME_HEADER_LEN], Vec::new(), Vec::new());
        for record in &frame.records {
            let at = offset + bytes.len() as u32;
            offsets.push(at);
            let commit = record.commit + frame.lsn.count() - frame.base;
            crcs.push(RecordParts { commit, ..*record }.encode(record_seed.at(at), &mut bytes));
        }
        let header = FrameHeader {
            body_crc: 0,
            lsn: frame.lsn,
            durable_lag: frame.durable_lag,
            body_len: (bytes.len() - FRAME_HEADER_LEN) as u32,
            part: frame.part,
            last: frame.last,
            flags: frame.flags,
            record_count: crcs.len() as u32,
        };
        let seed = SegmentSeed::for_segment(&slot.lineage, segment.sequence).at(offset);
        let wrong = u32::from(!frame.is_whole);
        let sums: Vec<u32> = crcs.into_iter().map(|crc| crc ^ wrong).collect();
        write_header(&mut bytes, &header, seed, sums.iter().copied());
        let count = header.record_count.wrapping_add(frame.more);
        bytes[28..32].copy_from_slice(&count.to_le_bytes());
        let body = sums
            .iter()
            .fold(crc_append(seed, &bytes[8..32]), |body, sum| crc_append(body, &sum.to_le_bytes()));
        bytes[4..8].copy_from_slice(&body.to_le_bytes());
        let sum = crc_append(seed, &bytes[4..32]);
        bytes[..4].copy_from_slice(&sum.to_le_bytes());
        let at = self.segment_at(segment.physical) + offset as usize;
        self.bytes[at..at + bytes.len()].copy_from_slice(&bytes);
        offsets
    }
}
