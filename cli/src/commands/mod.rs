//! One file a command.

pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod checkpoint;
pub(crate) mod compact;
pub(crate) mod conform;
pub(crate) mod delete;
pub(crate) mod export;
pub(crate) mod find;
pub(crate) mod gate;
pub(crate) mod get;
pub(crate) mod group;
pub(crate) mod import;
pub(crate) mod index;
pub(crate) mod inspect;
pub(crate) mod jsonpath;
pub(crate) mod put;
pub(crate) mod salvage;
pub(crate) mod scan;
pub(crate) mod stats;
pub(crate) mod torture;
pub(crate) mod update;
pub(crate) mod verify;

use crate::args::Command;
use crate::exit::{Exit, Result};

/// Does what was asked.
pub(crate) fn run(command: &Command) -> Result<Exit> {
    match command {
        Command::Gate(args) => gate::run(args),
        Command::Check(args) => check::run(args),
        Command::Import(args) => import::run(args),
        Command::Export(args) => export::run(args),
        Command::Find(args) => find::run(args),
        Command::Get(args) => get::run(args),
        Command::Group(args) => group::run(args),
        Command::Index(args) => index::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Jsonpath(args) => jsonpath::run(args),
        Command::Put(args) => put::run(args),
        Command::Update(args) => update::run(args),
        Command::Delete(args) => delete::run(args),
        Command::Scan(args) => scan::run(args),
        Command::Stats(args) => stats::run(args),
        Command::Torture(args) => torture::run(args),
        Command::TortureWorker { assignment } => torture::work(assignment),
        Command::Verify(args) => verify::run(args),
        Command::Checkpoint(args) => checkpoint::run(args),
        Command::Compact(args) => compact::run(args),
        Command::Backup(args) => backup::run(args),
        Command::Salvage(args) => salvage::run(args),
        Command::Conform(args) => conform::run(args),
    }
}
