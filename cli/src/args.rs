//! The command line as clap reads it. What one command alone takes stands beside that command.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use holotype::document::JsonMode;

use crate::commands::{
    backup, check, checkpoint, compact, conform, delete, export, find, gate, get, group, import, index,
    inspect, jsonpath, put, salvage, scan, stats, torture, update, verify,
};
use crate::wait;

const AFTER_HELP: &str = "\
Exit codes:
  0  done, and everything held
  1  a check failed, or something was not found
  2  the command line or an input is wrong (the message has file and line)
  3  the store cannot be opened: locked, missing, no store, a newer format
  4  the store is damaged
  5  the disk or a stream refused to read or write";

/// Check, inspect and use a Holotype store.
#[derive(Debug, Parser)]
#[command(name = "holotype", version, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    /// Where another process has the store open, try again for so long before the command fails [default: 0]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = wait::seconds)]
    pub(crate) wait: Option<Duration>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads the command line. A filter may begin with a number below zero; no other word with `-` is taken for one, so that a
    /// misspelt option is told as such.
    pub(crate) fn read() -> Result<Cli, clap::Error> {
        let words: Vec<OsString> = std::env::args_os().collect();
        let begins_below_zero = |word: &OsString| {
            let number = word.to_str().and_then(|word| word.strip_prefix('-'));
            number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
        };
        let mut command = Cli::command();
        if words.iter().any(begins_below_zero) {
            let allow = |filter: clap::Arg| filter.allow_hyphen_values(true);
            command = command.mut_subcommand("find", |find| find.mut_arg("filter", allow));
        }
        Cli::from_arg_matches(&command.try_get_matches_from(words)?)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Prove the store: run every check on built-in workloads or on documents of yours
    Gate(gate::GateArgs),
    /// Search for longer: the checks of the gate, for as long as asked, and processes that are killed
    Torture(torture::TortureArgs),
    /// What `torture` kills
    #[command(hide = true)]
    TortureWorker {
        #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
        assignment: Vec<OsString>,
    },
    /// Try every life of a small store to a depth: operations, syncs, checkpoints, cleaning, power cuts, failures
    Check(check::CheckArgs),
    /// Put the documents of a JSON Lines file or a JSON array into a collection
    Import(import::ImportArgs),
    /// Write a collection's documents to standard output, one a line, in key order
    Export(export::ExportArgs),
    /// Write one document to standard output
    Get(get::GetArgs),
    /// Put one document under a key, in the place of the one that may be there
    Put(put::PutArgs),
    /// Change one document where it is, or all that a filter admits
    Update(update::UpdateArgs),
    /// Delete one document, or all that a filter admits
    Delete(delete::DeleteArgs),
    /// Write the documents of a key range to standard output, one a line
    Scan(scan::ScanArgs),
    /// Write the documents that a filter admits to standard output, one a line
    Find(find::FindArgs),
    /// Write what groups of documents have in common, with counts, sums and means, one group a line
    Group(group::GroupArgs),
    /// Create, list, check, drop, rename and read the indexes of collections
    Index(index::IndexArgs),
    /// Write what a JSONPath query (RFC 9535) selects of a JSON text to standard output, as one array
    Jsonpath(jsonpath::JsonPathArgs),
    /// Show how much there is, and what it takes
    Stats(stats::StatsArgs),
    /// Show a file as its layout: superblocks, segments, frames, records, and where recovery stops and why
    Inspect(inspect::InspectArgs),
    /// Check that every document can be read and stands where the index says
    Verify(verify::VerifyArgs),
    /// Write the index down, so that the store opens quickly after a crash
    Checkpoint(checkpoint::CheckpointArgs),
    /// Make the file as small as it gets
    Compact(compact::CompactArgs),
    /// Copy a store, and check the copy
    Backup(backup::BackupArgs),
    /// Write all that can be proven of a damaged store into a new one; exit code 4 if that is not everything
    Salvage(salvage::SalvageArgs),
    /// Hold an implementation of the format against the vectors of the specification
    Conform(conform::ConformArgs),
}

/// How documents are written.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FormArgs {
    /// Write each number with its type, as canonical Extended JSON does
    #[arg(long)]
    pub(crate) canonical: bool,
    /// Write each document as {"key":..,"doc":..}, which `import --with-keys` reads
    #[arg(long)]
    pub(crate) with_keys: bool,
}

/// The JSON that `--canonical` asks for, or its absence.
pub(crate) fn json_mode(canonical: bool) -> JsonMode {
    if canonical { JsonMode::Canonical } else { JsonMode::Relaxed }
}
