//! The root: the one map that leads to everything else in a checkpoint (F-8.7).

use super::catalog::CatalogEntry;
use super::indexes::IndexEntry;
use super::map::{MapWriter, array, bytes, read_map, uint32};
use super::table::Table;
use crate::document::Document;
use crate::document::cbor::encode;
use crate::document::cbor::head::{Head, Reader};
use crate::format::Lsn;
use crate::format::catalog::MapFault;
use crate::format::index_record::Reference;
use crate::format::superblock::CheckpointRef;
use crate::seeded::{self, Bug};

const FIELDS: [&str; 10] =
    ["lsn", "last", "log", "reserved", "segments", "catalog", "indexes", "table", "stretches", "live"];

//= spec/format.md#f-7-3-unknown-keys
//# A writer MUST keep keys of a catalog map that it does not know when it writes the entry again.
/// What a checkpoint says of itself, and all that is in it beside the trees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Root {
    /// The last commit that it contains.
    pub lsn: Lsn,
    /// The highest id ever given to a collection or an index.
    pub last: u32,
    /// Where the log stood.
    pub log: LogPosition,
    /// The physical indexes that the chain of the log had reserved (F-4.3): for the successor of the current segment, and for that
    /// one's.
    pub reserved: [Option<u32>; 2],
    /// Physical indexes of the segments in which its directory pages and leaves stand.
    pub segments: Vec<u32>,
    /// Its collections, by id.
    pub catalog: Vec<CatalogEntry>,
    /// Their indexes, by id.
    pub indexes: Vec<IndexEntry>,
    /// The log segments, by sequence.
    pub table: Table,
    /// The fields that this version does not know (F-7.3).
    pub kept: Document,
}

/// The current log segment, and where it ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogPosition {
    /// Its physical index.
    pub physical: u32,
    /// Its sequence.
    pub sequence: u64,
    /// The offset where its last frame ended.
    pub end: u32,
}

impl Root {
    pub(super) fn encode(&self) -> Vec<u8> {
        assert!(self.catalog.is_sorted_by(|a, b| a.id < b.id), "collections are in the order of their ids");
        assert!(self.indexes.is_sorted_by(|a, b| a.id < b.id), "indexes are in the order of their ids");
        let mut map = MapWriter::default();
        map.uint("lsn", self.lsn.0);
        map.uint("last", self.last.into());
        map.field("log", |out| {
            encode::head(out, encode::ARRAY, 3);
            for field in [self.log.physical.into(), self.log.sequence, self.log.end.into()] {
                encode::head(out, encode::UNSIGNED, field);
            }
        });
        map.field("reserved", |out| {
            encode::head(out, encode::ARRAY, 2);
            for physical in self.reserved {
                match physical {
                    Some(physical) => encode::head(out, encode::UNSIGNED, physical.into()),
                    None => encode::null(out),
                }
            }
        });
        let segments: Vec<u8> = self.segments.iter().flat_map(|physical| physical.to_le_bytes()).collect();
        map.field("segments", |out| encode::bytes(out, &segments));
        map.field("catalog", |out| {
            encode::head(out, encode::ARRAY, self.catalog.len() as u64);
            self.catalog.iter().for_each(|entry| out.extend_from_slice(&entry.encode()));
        });
        map.field("indexes", |out| {
            encode::head(out, encode::ARRAY, self.indexes.len() as u64);
            self.indexes.iter().for_each(|entry| out.extend_from_slice(&entry.encode()));
        });
        map.field("table", |out| encode::bytes(out, &self.table.rows));
        map.field("stretches", |out| encode::bytes(out, &self.table.stretches));
        map.field("live", |out| encode::bytes(out, &self.table.live));
        if seeded::is_on(Bug::UnknownKeysForgotten) {
            return map.encode(&Document::new());
        }
        map.encode(&self.kept)
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Root, MapFault> {
        let mut root = Root::default();
        let read = |field: &str, reader: &mut Reader<'_>| {
            match field {
                "lsn" => root.lsn = Lsn(reader.uint()?),
                "last" => root.last = uint32(reader)?,
                "log" => root.log = LogPosition::decode(reader)?,
                "reserved" => root.reserved = reserved(reader)?,
                "segments" => root.segments = indexes_of(&bytes(reader)?)?,
                "catalog" => root.catalog = entries(reader, CatalogEntry::decode)?,
                "indexes" => root.indexes = entries(reader, IndexEntry::decode)?,
                "table" => root.table.rows = bytes(reader)?,
                "stretches" => root.table.stretches = bytes(reader)?,
                "live" => root.table.live = bytes(reader)?,
                _ => return Ok(false),
            }
            Ok(true)
        };
        root.kept = read_map(reader, (&FIELDS, &[]), "the root lacks one of its fields", read)?;
        root.table = root.table.verified().map_err(MapFault::Malformed)?;
        Ok(root)
    }
}

fn entries<T>(
    reader: &mut Reader<'_>,
    decode: fn(&mut Reader<'_>) -> Result<T, MapFault>,
) -> Result<Vec<T>, MapFault> {
    (0..array(reader)?).map(|_| decode(reader)).collect()
}

fn indexes_of(bytes: &[u8]) -> Result<Vec<u32>, MapFault> {
    let (indexes, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(MapFault::Malformed("segments that are not whole indexes"));
    }
    Ok(indexes.iter().map(|index| u32::from_le_bytes(*index)).collect())
}

impl LogPosition {
    /// What a superblock says of the checkpoint of `lsn` with this root, if the log ended here.
    pub(crate) fn checkpoint(self, lsn: Lsn, root: Reference) -> CheckpointRef {
        let LogPosition { physical: replay_physical, sequence: replay_sequence, end: replay_offset } = self;
        CheckpointRef { lsn, root, replay_physical, replay_sequence, replay_offset, replay_lsn: lsn }
    }

    fn decode(reader: &mut Reader<'_>) -> Result<LogPosition, MapFault> {
        if array(reader)? != 3 {
            return Err(MapFault::Malformed("the log's position is an array of three"));
        }
        Ok(LogPosition { physical: uint32(reader)?, sequence: reader.uint()?, end: uint32(reader)? })
    }
}

fn reserved(reader: &mut Reader<'_>) -> Result<[Option<u32>; 2], MapFault> {
    if array(reader)? != 2 {
        return Err(MapFault::Malformed("the log's reservation is an array of two"));
    }
    let mut index = || match reader.head()? {
        Head::Null => Ok(None),
        Head::Int(physical) => {
            // The highest index stands for none where it is stored as such.
            let physical = u32::try_from(physical).ok().filter(|&physical| physical != u32::MAX);
            physical.map(Some).ok_or(MapFault::Malformed("a reserved index that cannot be"))
        }
        _ => Err(MapFault::Malformed("a reserved index is a number or null")),
    };
    Ok([index()?, index()?])
}
