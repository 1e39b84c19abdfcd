//! What stands in a segment, as fields: the other half of `shape`.

use std::collections::BTreeMap;

use holotype::KeyRef;
use holotype::format::index_record::IndexRecordKind;
use holotype::format::record::Kind;
use holotype::format::segment::{SegmentHeader, SegmentKind};
use holotype::inspect::{Fate, FrameView, IndexRecordView, Inspector, RecordView, SegmentView};
use serde::Serialize;

use super::Depth;
use super::shape::{LsnPair, hex, pair};

#[derive(Debug, Serialize)]
pub(super) struct Segment {
    pub(super) physical: u32,
    pub(super) at: u64,
    pub(super) len: u32,
    pub(super) state: &'static str,
    pub(super) header: Option<Header>,
    pub(super) sequence: Option<u64>,
    pub(super) end: Option<u32>,
    pub(super) stretches: Vec<(u32, LsnPair)>,
    pub(super) bytes: BTreeMap<&'static str, u64>,
    pub(super) unreadable: u64,
    pub(super) frame_count: usize,
    pub(super) index_record_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frames: Option<Vec<Frame>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) index_records: Option<Vec<IndexRecord>>,
}

#[derive(Debug, Serialize)]
pub(super) struct Header {
    pub(super) kind: &'static str,
    pub(super) sequence: u64,
    pub(super) first_lsn: LsnPair,
    pub(super) durable_lsn: LsnPair,
    pub(super) prev_end: u32,
    pub(super) next: Option<u32>,
    pub(super) after: Option<u32>,
}

#[derive(Debug, Serialize)]
pub(super) struct Frame {
    pub(super) offset: u32,
    pub(super) len: u32,
    pub(super) standing: &'static str,
    pub(super) whole: bool,
    pub(super) body_crc: u32,
    pub(super) lsn: LsnPair,
    pub(super) durable_lag: u32,
    pub(super) body_len: u32,
    pub(super) part: u16,
    pub(super) last: bool,
    pub(super) flags: u16,
    pub(super) record_count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) records: Option<Vec<Record>>,
}

#[derive(Debug, Serialize)]
pub(super) struct Record {
    pub(super) offset: u32,
    pub(super) len: usize,
    pub(super) address: u64,
    pub(super) crc: u32,
    pub(super) kind: &'static str,
    pub(super) kind_byte: u8,
    /// None for what is no version of a document.
    pub(super) fate: Option<&'static str>,
    pub(super) collection: u32,
    pub(super) commit: u32,
    pub(super) own_lsn: Option<LsnPair>,
    pub(super) replaces: Option<Replaced>,
    pub(super) expiry: Option<i64>,
    pub(super) chunked: bool,
    pub(super) key: Option<Key>,
    pub(super) body_len: usize,
}

/// The version that a record replaces.
#[derive(Debug, Serialize)]
pub(super) struct Replaced {
    pub(super) address: u64,
    pub(super) relocated: bool,
    pub(super) chunked: bool,
    /// Sequences of segments, and how many chunks die in each.
    pub(super) ended: Vec<(u64, u64)>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Key {
    Int(i64),
    Text(String),
    /// In hexadecimal.
    Bytes(String),
}

#[derive(Debug, Serialize)]
pub(super) struct IndexRecord {
    pub(super) offset: u32,
    pub(super) len: u32,
    pub(super) crc: u32,
    pub(super) kind: &'static str,
    pub(super) collection: u32,
    pub(super) lsn: LsnPair,
}

impl Segment {
    pub(super) fn of(inspector: &Inspector, view: &SegmentView, depth: Depth) -> Segment {
        let mut bytes = BTreeMap::new();
        for extent in &view.extents {
            *bytes.entry(extent.usage.name()).or_insert(0) += extent.len;
        }
        let frames = || view.frames.iter().map(|frame| Frame::of(inspector, view, frame, depth)).collect();
        Segment {
            physical: view.physical,
            at: view.at,
            len: view.len,
            state: view.state.name(),
            header: view.header.as_ref().map(Header::of),
            sequence: view.sequence,
            end: view.end,
            stretches: view.stretches.iter().map(|(offset, first)| (*offset, pair(*first))).collect(),
            bytes,
            unreadable: view.unreadable,
            frame_count: view.frames.len(),
            index_record_count: view.index_records.len(),
            frames: (depth >= Depth::Frames).then(frames),
            index_records: (depth >= Depth::Frames)
                .then(|| view.index_records.iter().map(IndexRecord::of).collect()),
        }
    }
}

impl Header {
    fn of(header: &SegmentHeader) -> Header {
        Header {
            kind: match header.kind {
                SegmentKind::Log => "log",
                SegmentKind::Index => "index",
            },
            sequence: header.sequence,
            first_lsn: pair(header.first_lsn),
            durable_lsn: pair(header.durable_lsn),
            prev_end: header.prev_end,
            next: header.next,
            after: header.after,
        }
    }
}

impl Frame {
    fn of(inspector: &Inspector, segment: &SegmentView, view: &FrameView, depth: Depth) -> Frame {
        let records = || inspector.records(segment, view).iter().map(Record::of).collect();
        Frame {
            offset: view.frame.offset,
            len: view.frame.header.frame_len(),
            standing: view.standing.name(),
            whole: view.is_whole(),
            body_crc: view.frame.header.body_crc,
            lsn: pair(view.frame.header.lsn),
            durable_lag: view.frame.header.durable_lag,
            body_len: view.frame.header.body_len,
            part: view.frame.header.part,
            last: view.frame.header.last,
            flags: view.frame.header.flags.0,
            record_count: view.frame.header.record_count,
            records: (depth >= Depth::Records).then(records),
        }
    }
}

impl Record {
    pub(super) fn of(view: &RecordView<'_>) -> Record {
        let record = &view.record;
        Record {
            offset: view.offset,
            len: record.len,
            address: view.address.0,
            crc: record.crc,
            kind: kind_name(record.kind),
            kind_byte: record.kind.byte(),
            fate: view.fate.map(Fate::name),
            collection: record.collection,
            commit: record.commit,
            own_lsn: record.own_lsn.map(pair),
            replaces: record.replaces.map(|replaced| Replaced {
                address: replaced.address().0,
                relocated: replaced.is_relocated(),
                chunked: replaced.is_chunked(),
                ended: replaced.ended().collect(),
            }),
            expiry: record.expiry,
            chunked: record.chunked,
            key: record.key.map(Key::of),
            body_len: record.body.len(),
        }
    }
}

impl Key {
    fn of(key: KeyRef<'_>) -> Key {
        match key {
            KeyRef::Int(int) => Key::Int(int),
            KeyRef::Text(text) => Key::Text(text.to_owned()),
            KeyRef::Bytes(bytes) => Key::Bytes(hex(bytes)),
        }
    }
}

/// As it is typed.
impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Key::Int(int) => write!(f, "{int}"),
            Key::Text(text) => write!(f, "{text:?}"),
            Key::Bytes(hex) => write!(f, "0x{hex}"),
        }
    }
}

impl IndexRecord {
    fn of(view: &IndexRecordView) -> IndexRecord {
        IndexRecord {
            offset: view.offset,
            len: view.len,
            crc: view.crc,
            kind: match view.kind {
                IndexRecordKind::Leaf => "leaf",
                IndexRecordKind::Directory => "directory",
                IndexRecordKind::Root => "root",
                IndexRecordKind::Patch => "patch",
            },
            collection: view.collection,
            lsn: pair(view.lsn),
        }
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Put => "put",
        Kind::Delete => "delete",
        Kind::RelocatedPut => "relocated_put",
        Kind::Chunk => "chunk",
        Kind::Catalog => "catalog",
        Kind::SegmentFreed => "segment_freed",
        Kind::Opening => "opening",
        Kind::CommitTime => "commit_time",
        Kind::Reserved(_) => "reserved",
        Kind::Skippable(_) => "skippable",
    }
}
