//! `holotype stats`: how much there is, and what it takes.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use holotype::format::Lsn;
use holotype::{Collection, IndexInfo, Space};
use serde::Serialize;

use crate::exit::{Exit, Result};
use crate::output;
use crate::store::Store;

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// The store
    store: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What a handle that has just opened the store for reading can tell about it.
#[derive(Debug, Serialize)]
struct StatsReport {
    documents: u64,
    file_bytes: u64,
    index_bytes: u64,
    sector: u32,
    segment_bytes: u32,
    segments: u64,
    log_end: u64,
    lsn: u64,
    space: SpaceReport,
    collections: Vec<CollectionReport>,
}

/// Where the bytes of the file are.
#[derive(Debug, Serialize)]
struct SpaceReport {
    live_bytes: u64,
    dead_bytes: u64,
    reclaimable_bytes: u64,
    free_bytes: u64,
    checkpoint_bytes: u64,
    log_since_checkpoint: u64,
}

impl From<Space> for SpaceReport {
    fn from(space: Space) -> Self {
        SpaceReport {
            live_bytes: space.live_bytes,
            dead_bytes: space.dead_bytes,
            reclaimable_bytes: space.reclaimable_bytes,
            free_bytes: space.free_bytes,
            checkpoint_bytes: space.checkpoint_bytes,
            log_since_checkpoint: space.log_since_checkpoint,
        }
    }
}

#[derive(Debug, Serialize)]
struct CollectionReport {
    name: String,
    documents: u64,
    indexes: Vec<IndexReport>,
}

/// What an index takes.
#[derive(Debug, Serialize)]
struct IndexReport {
    name: String,
    entries: u64,
    /// Those whose values are too long for an entry.
    long_entries: u64,
    memory_bytes: u64,
}

impl IndexReport {
    fn of(collection: &Collection, info: &IndexInfo) -> holotype::Result<Self> {
        let name = info.definition.name().to_owned();
        let long_entries = long_entries(collection, &name)?;
        Ok(IndexReport { name, entries: info.entries, long_entries, memory_bytes: info.memory_bytes })
    }
}

fn index_reports(collection: &Collection) -> holotype::Result<Vec<IndexReport>> {
    collection.index_info()?.iter().map(|info| IndexReport::of(collection, info)).collect()
}

fn long_entries(collection: &Collection, index: &str) -> holotype::Result<u64> {
    let mut count = 0;
    for entry in collection.index(index).range(..)? {
        count += u64::from(entry?.is_long());
    }
    Ok(count)
}

pub(crate) fn run(args: &StatsArgs) -> Result<Exit> {
    let store = Store::open_to_read(&args.store)?;
    output::report(&gather(&store)?, args.json, text)?;
    Ok(Exit::Done)
}

fn gather(store: &Store) -> Result<StatsReport> {
    let stats = store.db.stats();
    let collections = store
        .db
        .collections()
        .into_iter()
        .map(|name| {
            let collection = store.db.collection(name.as_str());
            let documents = collection.len().map_err(|error| store.failure(&error))?;
            let indexes = index_reports(&collection).map_err(|error| store.failure(&error))?;
            Ok(CollectionReport { name, documents, indexes })
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(StatsReport {
        documents: stats.documents,
        file_bytes: stats.file_bytes,
        index_bytes: stats.index_bytes,
        sector: stats.sector,
        segment_bytes: stats.segment_bytes,
        segments: stats.segments,
        log_end: stats.log_end,
        lsn: stats.lsn,
        space: stats.space.into(),
        collections,
    })
}

const STRING: &str = "a string takes all that is written to it";

fn text(stats: &StatsReport) -> String {
    let mut text = format!(
        "documents      {}\n\
         file           {} bytes\n\
         index          {} bytes in memory\n\
         log            {} bytes in {} segments of {}\n\
         space          {} bytes live, {} dead, {} about to be free, {} free\n\
         checkpoints    {} bytes, and {} bytes of log behind the newest\n\
         newest commit  {} (incarnation, count)\n\
         collections    {}",
        stats.documents,
        stats.file_bytes,
        stats.index_bytes,
        stats.log_end,
        stats.segments,
        stats.segment_bytes,
        stats.space.live_bytes,
        stats.space.dead_bytes,
        stats.space.reclaimable_bytes,
        stats.space.free_bytes,
        stats.space.checkpoint_bytes,
        stats.space.log_since_checkpoint,
        Lsn(stats.lsn),
        stats.collections.len(),
    );
    for collection in &stats.collections {
        write!(text, "\n  {:?}: {} documents", collection.name, collection.documents).expect(STRING);
        for IndexReport { name, entries, long_entries, memory_bytes } in &collection.indexes {
            write!(text, "\n    index {name:?}: {entries} entries").expect(STRING);
            if *long_entries > 0 {
                write!(text, " ({long_entries} of them long)").expect(STRING);
            }
            write!(text, ", {memory_bytes} bytes in memory").expect(STRING);
        }
    }
    text
}
