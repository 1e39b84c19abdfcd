//! One file a command.

pub(crate) mod delete;
pub(crate) mod export;
pub(crate) mod gate;
pub(crate) mod get;
pub(crate) mod import;
pub(crate) mod put;
pub(crate) mod scan;
pub(crate) mod stats;
pub(crate) mod verify;

use crate::args::Command;
use crate::exit::{Exit, Result};

/// Does what was asked.
pub(crate) fn run(command: &Command) -> Result<Exit> {
    match command {
        Command::Gate(args) => gate::run(args),
        Command::Import(args) => import::run(args),
        Command::Export(args) => export::run(args),
        Command::Get(args) => get::run(args),
        Command::Put(args) => put::run(args),
        Command::Delete(args) => delete::run(args),
        Command::Scan(args) => scan::run(args),
        Command::Stats(args) => stats::run(args),
        Command::Verify(args) => verify::run(args),
    }
}
