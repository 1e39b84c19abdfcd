//! `holotype salvage`: from a damaged store to a new one.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use holotype::{Corruption, Db, Error, LostDocument, Options, SalvageReport, SalvagedCollection};
use serde::Serialize;

use crate::advice::Advice;
use crate::exit::{Exit, Failure, Result};
use crate::output;
use crate::wait;

#[derive(Debug, Args)]
pub(crate) struct SalvageArgs {
    /// The damaged store, which stays as it is
    store: PathBuf,
    /// The store to make; there must be no such file. While it is written it is called DESTINATION.partial: what a killed
    /// run leaves of that may be deleted, and the next run with this destination replaces it
    destination: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Salvaged {
    complete: bool,
    documents: u64,
    stale: u64,
    may_miss_more: bool,
    geometry_inferred: bool,
    unreadable_bytes: u64,
    collections: Vec<Collection>,
    lost: Vec<Lost>,
    problems: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Collection {
    name: String,
    name_made_up: bool,
    documents: u64,
    stale_name: Option<String>,
    stale: u64,
}

#[derive(Debug, Serialize)]
struct Lost {
    collection: String,
    key: String,
    at: u64,
}

impl From<&SalvagedCollection> for Collection {
    fn from(collection: &SalvagedCollection) -> Self {
        Collection {
            name: collection.name.clone(),
            name_made_up: collection.is_name_made_up,
            documents: collection.documents,
            stale_name: collection.stale_name.clone(),
            stale: collection.stale,
        }
    }
}

impl From<&LostDocument> for Lost {
    fn from(lost: &LostDocument) -> Self {
        Lost { collection: lost.collection.clone(), key: lost.key.to_string(), at: lost.at }
    }
}

impl From<&SalvageReport> for Salvaged {
    fn from(report: &SalvageReport) -> Self {
        Salvaged {
            complete: report.is_complete(),
            documents: report.documents,
            stale: report.stale,
            may_miss_more: report.may_miss_more,
            geometry_inferred: report.is_geometry_inferred,
            unreadable_bytes: report.unreadable_bytes,
            collections: report.collections.iter().map(Collection::from).collect(),
            lost: report.lost.iter().map(Lost::from).collect(),
            problems: report.problems.iter().map(Corruption::to_string).collect(),
        }
    }
}

pub(crate) fn run(args: &SalvageArgs) -> Result<Exit> {
    let made = wait::until_unlocked(|| holotype::salvage(&args.store, &args.destination));
    let report = made.map_err(|error| failure(&args.store, &error))?;
    let salvaged = Salvaged::from(&report);
    output::report(&salvaged, args.json, text).map_err(|failure| failure.and("the new store is made"))?;
    Ok(if salvaged.complete { Exit::Done } else { Exit::Damaged })
}

/// What keeps a store from being salvaged. One that is damaged from its first byte on is damaged here too, as all commands say.
fn failure(store: &Path, error: &Error) -> Failure {
    let options = Options::new().read_only(true).create(false);
    match (error, Db::open_with(store, &options)) {
        (Error::NotHolotype { .. }, Err(damage @ Error::Corrupt(_))) => {
            Failure::source(store, &damage).advise(Advice::RestoreBackup)
        }
        _ => Failure::source(store, error),
    }
}

fn text(salvaged: &Salvaged) -> String {
    let mut text = String::new();
    let written = write_text(&mut text, salvaged);
    written.expect("a string takes all that is written to it");
    text
}

fn write_text(text: &mut String, salvaged: &Salvaged) -> std::fmt::Result {
    for problem in &salvaged.problems {
        writeln!(text, "damaged: {problem}")?;
    }
    if salvaged.unreadable_bytes > 0 {
        writeln!(text, "damaged: the disk refused to read {} bytes", salvaged.unreadable_bytes)?;
    }
    if salvaged.geometry_inferred {
        writeln!(text, "damaged: no superblock is left; the layout was inferred from the segments")?;
    }
    for lost in &salvaged.lost {
        writeln!(text, "lost: {} in {:?}, at offset {}", lost.key, lost.collection, lost.at)?;
    }
    for collection in &salvaged.collections {
        let made_up = if collection.name_made_up { " (its own name is lost)" } else { "" };
        writeln!(text, "{:?}{made_up}: {} documents", collection.name, collection.documents)?;
        if let Some(stale) = &collection.stale_name {
            writeln!(
                text,
                "{stale:?}: {} documents that may have been replaced or deleted",
                collection.stale
            )?;
        }
    }
    let more =
        if salvaged.may_miss_more { "; part of the log is missing, and there may be more" } else { "" };
    let (documents, stale, lost) = (salvaged.documents, salvaged.stale, salvaged.lost.len());
    write!(text, "{documents} documents back, {stale} that may be stale, {lost} lost{more}")
}
