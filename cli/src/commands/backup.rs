//! `holotype backup`: a copy of a store, checked before it takes its name.

use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use holotype::{BackupReport, Error};
use serde::Serialize;

use crate::advice::Advice;
use crate::exit::{Exit, Failure, Result};
use crate::output;
use crate::progress;
use crate::store::Store;

/// The store is opened for writing, though nothing in it changes: no other process can have it open, and the file must be one
/// that may be written. A program that has the store open makes a backup beside its own work with `Db::backup`.
#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The store
    store: PathBuf,
    /// The file to make; there must be none, unless it is that of --from. While it is written it is called
    /// DESTINATION.partial: what a killed run leaves of that may be deleted, and the next run with this destination
    /// replaces it
    destination: PathBuf,
    /// An earlier backup of this store: only what it does not have is read from the store
    #[arg(long, value_name = "EARLIER")]
    from: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct BackedUp {
    documents: u64,
    lsn: u64,
    file_bytes: u64,
    bytes_copied: u64,
    bytes_reused: u64,
}

impl From<BackupReport> for BackedUp {
    fn from(report: BackupReport) -> Self {
        BackedUp {
            documents: report.documents,
            lsn: report.lsn,
            file_bytes: report.file_bytes,
            bytes_copied: report.bytes_copied,
            bytes_reused: report.bytes_reused,
        }
    }
}

pub(crate) fn run(args: &BackupArgs) -> Result<Exit> {
    let store = Store::open_to_copy(&args.store)?;
    let bar = progress::of_work();
    bar.set_message("copying");
    let progress = |progress: &holotype::BackupProgress| {
        bar.set_position(progress.bytes_done * 1000 / progress.bytes_total.max(1));
        ControlFlow::Continue(())
    };
    let made = match &args.from {
        Some(earlier) => store.db.backup_from_with(earlier, &args.destination, progress),
        None => store.db.backup_with(&args.destination, progress),
    };
    bar.finish_and_clear();
    let earlier = args.from.as_deref().unwrap_or(&args.destination);
    let report = made.map_err(|error| match error {
        Error::InvalidOption { option: "earlier", requirement } => {
            let message = format!("{}: --from takes {requirement}", earlier.display());
            Failure::usage(message).advise(Advice::BackUpWhole)
        }
        Error::EarlierBackup { .. } => Failure::store(earlier, &error),
        error => Failure::source(&args.store, &error),
    })?;
    store.close()?;
    let told = output::report(&BackedUp::from(report), args.json, text);
    told.map_err(|failure| failure.and("the backup is made"))?;
    Ok(Exit::Done)
}

fn text(made: &BackedUp) -> String {
    let reused = match made.bytes_reused {
        0 => String::new(),
        bytes => format!(", {bytes} taken from the earlier backup"),
    };
    format!(
        "{} documents in {} bytes, all checked: {} bytes copied{reused}",
        made.documents, made.file_bytes, made.bytes_copied
    )
}
