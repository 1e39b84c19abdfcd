//! What is shown, as fields: the shape of `--json`, which docs/inspect.md describes, and what text and page are made of.
//!
//! An LSN is a pair of incarnation and count. What stands in a segment is placed by its offset there, all else by its offset in the file.

use std::collections::BTreeMap;

use holotype::format::Lsn;
use holotype::format::superblock::{CheckpointRef, Superblock};
use holotype::inspect::{
    CheckpointView, IndexView, Inspector, Outcome, SlotState, SlotView, TreeSize, TreeView,
};
use holotype::{Document, Error};
use serde::Serialize;

/// The version of the shape: higher when a field changes its meaning or goes, not when one is added.
const SHAPE: u32 = 1;

pub(super) type LsnPair = (u32, u32);

pub(super) fn pair(lsn: Lsn) -> LsnPair {
    (lsn.incarnation(), lsn.count())
}

/// The file as a whole.
#[derive(Debug, Serialize)]
pub(super) struct Head {
    pub(super) shape: u32,
    pub(super) file_len: u64,
    pub(super) sector: u32,
    pub(super) segment_bytes: u32,
    pub(super) lineage: String,
    /// Whether no superblock is valid, so that these are inferred.
    pub(super) inferred: bool,
    pub(super) superblocks: [Slot; 2],
    pub(super) recovery: Recovery,
    pub(super) watermark: LsnPair,
    pub(super) checkpoints: Vec<Checkpoint>,
    pub(super) collections: Vec<Collection>,
    pub(super) indexes: Vec<Index>,
    /// Bytes of the file by what they are used for.
    pub(super) bytes: BTreeMap<&'static str, u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Slot {
    pub(super) slot: char,
    pub(super) at: u64,
    pub(super) state: &'static str,
    /// Why the file is refused for its sake, if it is.
    pub(super) why: Option<String>,
    pub(super) newest: bool,
    pub(super) fields: Option<SlotFields>,
}

#[derive(Debug, Serialize)]
pub(super) struct SlotFields {
    pub(super) minor: u16,
    pub(super) incompatible: u64,
    pub(super) read_only_compatible: u64,
    pub(super) compatible: u64,
    pub(super) sector: u32,
    pub(super) segment_bytes: u32,
    pub(super) lineage: String,
    pub(super) instance: String,
    pub(super) application_id: u32,
    pub(super) user_version: u32,
    pub(super) quota: u64,
    pub(super) generation: u64,
    pub(super) incarnation: u32,
    pub(super) clean: bool,
    pub(super) durable_lsn: LsnPair,
    pub(super) file_len: u64,
    pub(super) checkpoints: [Option<Reference>; 2],
}

#[derive(Debug, Serialize)]
pub(super) struct Reference {
    pub(super) lsn: LsnPair,
    pub(super) root_physical: u32,
    pub(super) root_offset: u32,
    pub(super) root_crc: u32,
    pub(super) root_len: u32,
    pub(super) replay_physical: u32,
    pub(super) replay_sequence: u64,
    pub(super) replay_offset: u32,
    pub(super) replay_lsn: LsnPair,
}

#[derive(Debug, Serialize)]
pub(super) struct Recovery {
    /// `opens`, `corrupt`, or `refused` for any other reason.
    pub(super) outcome: &'static str,
    /// Where in the specification it says so.
    pub(super) clause: Option<&'static str>,
    pub(super) why: String,
    /// Where what is wrong stands in the file.
    pub(super) at: Option<u64>,
    pub(super) end: Option<LogEnd>,
    pub(super) claim: LsnPair,
    /// Commits read behind the checkpoint.
    pub(super) commits: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct LogEnd {
    pub(super) lsn: LsnPair,
    pub(super) at: u64,
    pub(super) physical: u32,
    pub(super) sequence: u64,
    pub(super) offset: u32,
    pub(super) next: Option<u32>,
    pub(super) after: Option<u32>,
}

#[derive(Debug, Serialize)]
pub(super) struct Checkpoint {
    pub(super) lsn: LsnPair,
    pub(super) root_at: u64,
    pub(super) segments: Vec<u32>,
    pub(super) trees: Vec<Tree>,
    pub(super) problem: Option<String>,
}

/// Of a checkpoint.
#[derive(Debug, Serialize)]
pub(super) struct Tree {
    pub(super) id: u32,
    /// The collection that it is an index of.
    pub(super) of: Option<u32>,
    pub(super) name: String,
    pub(super) entries: u64,
    /// What follows is null where a directory page is damaged.
    pub(super) pages: Option<u64>,
    pub(super) leaves: Option<u64>,
    pub(super) bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Collection {
    pub(super) id: u32,
    pub(super) name: String,
    pub(super) documents: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Index {
    pub(super) id: u32,
    pub(super) of: u32,
    pub(super) definition: Document,
}

impl Head {
    pub(super) fn of(inspector: &Inspector) -> Head {
        let superblock = inspector.superblock();
        let geometry = superblock.geometry;
        let [a, b] = inspector.slots();
        let checkpoint = |view: &CheckpointView| Checkpoint {
            lsn: pair(view.reference.lsn),
            root_at: view.reference.root.at(geometry),
            segments: view.segments.clone(),
            trees: view.trees.iter().map(Tree::of).collect(),
            problem: view.problem.as_ref().map(Error::to_string),
        };
        let collections = inspector.collections().iter().map(|collection| Collection {
            id: collection.id,
            name: collection.name.clone(),
            documents: collection.documents,
        });
        let index = |IndexView { id, of, definition }: &IndexView| Index {
            id: *id,
            of: *of,
            definition: definition.to_document(),
        };
        Head {
            shape: SHAPE,
            file_len: inspector.file_len(),
            sector: geometry.sector(),
            segment_bytes: geometry.segment_bytes(),
            lineage: hex(&superblock.lineage),
            inferred: inspector.is_superblock_inferred(),
            superblocks: [Slot::of('A', a), Slot::of('B', b)],
            recovery: Recovery::of(inspector),
            watermark: pair(inspector.watermark()),
            checkpoints: inspector.checkpoints().iter().map(checkpoint).collect(),
            collections: collections.collect(),
            indexes: inspector.indexes().iter().map(index).collect(),
            bytes: inspector.totals().map(|(usage, bytes)| (usage.name(), bytes)).collect(),
        }
    }
}

impl Tree {
    fn of(view: &TreeView) -> Tree {
        let size = |of: fn(&TreeSize) -> u64| view.size.as_ref().map(of);
        Tree {
            id: view.id,
            of: view.of,
            name: view.name.clone(),
            entries: view.entries,
            pages: size(|size| size.pages),
            leaves: size(|size| size.leaves),
            bytes: size(|size| size.bytes),
        }
    }
}

impl Slot {
    fn of(slot: char, view: &SlotView) -> Slot {
        let (state, why, fields) = match &view.state {
            SlotState::Valid(superblock) => ("valid", None, Some(SlotFields::of(superblock))),
            SlotState::Absent => ("absent", None, None),
            SlotState::Blank => ("blank", None, None),
            SlotState::Foreign => ("foreign", None, None),
            SlotState::Torn => ("torn", None, None),
            SlotState::Refused(error) => ("refused", Some(error.to_string()), None),
        };
        Slot { slot, at: view.at, state, why, newest: view.is_newest, fields }
    }
}

impl SlotFields {
    fn of(superblock: &Superblock) -> SlotFields {
        SlotFields {
            minor: superblock.minor,
            incompatible: superblock.incompatible,
            read_only_compatible: superblock.read_only_compatible,
            compatible: superblock.compatible,
            sector: superblock.geometry.sector(),
            segment_bytes: superblock.geometry.segment_bytes(),
            lineage: hex(&superblock.lineage),
            instance: hex(&superblock.instance),
            application_id: superblock.application_id,
            user_version: superblock.user_version,
            quota: superblock.quota,
            generation: superblock.generation,
            incarnation: superblock.incarnation,
            clean: superblock.clean,
            durable_lsn: pair(superblock.durable_lsn),
            file_len: superblock.file_len,
            checkpoints: superblock.checkpoints.map(|named| named.map(|named| Reference::of(&named))),
        }
    }
}

impl Reference {
    fn of(named: &CheckpointRef) -> Reference {
        Reference {
            lsn: pair(named.lsn),
            root_physical: named.root.physical,
            root_offset: named.root.offset,
            root_crc: named.root.crc,
            root_len: named.root.len,
            replay_physical: named.replay_physical,
            replay_sequence: named.replay_sequence,
            replay_offset: named.replay_offset,
            replay_lsn: pair(named.replay_lsn),
        }
    }
}

impl Recovery {
    fn of(inspector: &Inspector) -> Recovery {
        let view = inspector.recovery();
        let (outcome, clause, why, at) = match &view.outcome {
            Outcome::Opens => {
                let why = "the log ends where nothing follows it, and nothing claims that it went on";
                ("opens", Some("R-4.1"), why.to_owned(), None)
            }
            Outcome::Refused(Error::Corrupt(corruption)) => {
                ("corrupt", Some(corruption.clause.0), corruption.what.to_owned(), Some(corruption.at))
            }
            Outcome::Refused(error) => {
                ("refused", clause_of(error, inspector.slots()), error.to_string(), None)
            }
        };
        let end = view.end.map(|end| LogEnd {
            lsn: pair(end.lsn),
            at: end.at,
            physical: end.physical,
            sequence: end.sequence,
            offset: end.offset,
            next: end.reserved[0],
            after: end.reserved[1],
        });
        Recovery { outcome, clause, why, at, end, claim: pair(view.claim), commits: view.commits }
    }
}

/// The clause that asks for a refusal which is no report of damage; none where the disk refused.
fn clause_of(error: &Error, slots: &[SlotView; 2]) -> Option<&'static str> {
    let is_of_slots = slots.iter().any(|slot| matches!(slot.state, SlotState::Refused(_)));
    match error {
        Error::NewerFormat { .. } | Error::OlderFormat { .. } if is_of_slots => Some("F-3.4"),
        Error::NewerFormat { .. } => Some("R-2.7"),
        Error::NotHolotype { .. } => Some("R-5.1"),
        _ => None,
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
