//! The root: the one map that leads to everything else in a checkpoint (F-8.7).

use super::map::{MapWriter, array, read_map, uint32};
use super::pointer::PagePointer;
use crate::document::Document;
use crate::document::cbor::encode;
use crate::document::cbor::head::{Head, Reader};
use crate::format::Lsn;
use crate::format::catalog::CatalogFault;
use crate::seeded::{self, Bug};

const KNOWN_KEYS: [&str; 9] =
    ["lsn", "segments", "catalog", "indexes", "table", "last", "log", "reserved", "required"];

//= spec/format.md#f-7-3-unknown-keys
//# A writer MUST keep keys of a catalog map that it does not know when it writes the entry again.
/// What a checkpoint says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The last commit that it contains.
    pub lsn: Lsn,
    /// The list of its segments.
    pub segments: PagePointer,
    /// Its collections; none where there are none.
    pub catalog: Option<PagePointer>,
    /// Their indexes; none where there are none.
    pub indexes: Option<PagePointer>,
    /// The log segments; none where there are none.
    pub table: Option<PagePointer>,
    /// The highest id ever given to a collection or an index.
    pub last: u32,
    /// Where the log stood.
    pub log: LogPosition,
    /// What the chain of the log had reserved.
    pub reserved: Reserved,
    /// The fields that this version does not know (F-7.3).
    pub kept: Document,
}

/// The current log segment, and where it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogPosition {
    /// Its physical index.
    pub physical: u32,
    /// Its sequence.
    pub sequence: u64,
    /// The offset where its last frame ended.
    pub end: u32,
}

/// The physical indexes that the chain of the log had reserved (F-4.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reserved {
    /// For the successor of the current segment.
    pub next: Option<u32>,
    /// For the successor's successor.
    pub after: Option<u32>,
}

impl Root {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut map = MapWriter::default();
        map.uint("lsn", self.lsn.0);
        map.field("segments", |out| self.segments.encode(out));
        for (name, tree) in [("catalog", self.catalog), ("indexes", self.indexes), ("table", self.table)] {
            if let Some(tree) = tree {
                map.field(name, |out| tree.encode(out));
            }
        }
        map.uint("last", self.last.into());
        map.field("log", |out| {
            encode::head(out, encode::ARRAY, 3);
            for field in [self.log.physical.into(), self.log.sequence, self.log.end.into()] {
                encode::head(out, encode::UNSIGNED, field);
            }
        });
        map.field("reserved", |out| {
            encode::head(out, encode::ARRAY, 2);
            for physical in [self.reserved.next, self.reserved.after] {
                match physical {
                    Some(physical) => encode::head(out, encode::UNSIGNED, physical.into()),
                    None => encode::null(out),
                }
            }
        });
        if seeded::is_on(Bug::UnknownKeysForgotten) {
            return map.encode(&Document::new());
        }
        map.encode(&self.kept)
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Root, CatalogFault> {
        let mut lsn = None;
        let mut segments = None;
        let mut catalog = None;
        let mut indexes = None;
        let mut table = None;
        let mut last = None;
        let mut log = None;
        let mut reserved = None;
        let read = |field: &str, reader: &mut Reader<'_>| {
            match field {
                "lsn" => lsn = Some(Lsn(reader.uint()?)),
                "segments" => segments = Some(PagePointer::decode(reader)?),
                "catalog" => catalog = Some(PagePointer::decode(reader)?),
                "indexes" => indexes = Some(PagePointer::decode(reader)?),
                "table" => table = Some(PagePointer::decode(reader)?),
                "last" => last = Some(uint32(reader)?),
                "log" => log = Some(LogPosition::decode(reader)?),
                "reserved" => reserved = Some(Reserved::decode(reader)?),
                _ => return Ok(false),
            }
            Ok(true)
        };
        let kept = read_map(reader, read, &KNOWN_KEYS)?;
        let (Some(lsn), Some(segments), Some(last), Some(log), Some(reserved)) =
            (lsn, segments, last, log, reserved)
        else {
            return Err(CatalogFault::Malformed("the root lacks one of its fields"));
        };
        Ok(Root { lsn, segments, catalog, indexes, table, last, log, reserved, kept })
    }
}

impl LogPosition {
    fn decode(reader: &mut Reader<'_>) -> Result<LogPosition, CatalogFault> {
        if array(reader)? != 3 {
            return Err(CatalogFault::Malformed("the log's position is an array of three"));
        }
        Ok(LogPosition { physical: uint32(reader)?, sequence: reader.uint()?, end: uint32(reader)? })
    }
}

impl Reserved {
    fn decode(reader: &mut Reader<'_>) -> Result<Reserved, CatalogFault> {
        if array(reader)? != 2 {
            return Err(CatalogFault::Malformed("the log's reservation is an array of two"));
        }
        let mut index = || match reader.head()? {
            Head::Null => Ok(None),
            Head::Int(physical) => {
                // The highest index stands for none where it is stored as such.
                let physical = u32::try_from(physical).ok().filter(|&physical| physical != u32::MAX);
                physical.map(Some).ok_or(CatalogFault::Malformed("a reserved index that cannot be"))
            }
            _ => Err(CatalogFault::Malformed("a reserved index is a number or null")),
        };
        Ok(Reserved { next: index()?, after: index()? })
    }
}
