//! What a backup holds, looked at as a reader would.

use holotype::Db;
use holotype::storage::sim::{Decisions, SimDisk};

use crate::adapter::{self, Contents};
use crate::setup::Setup;
use crate::witness::Witness;

/// What the copy on `disk` holds after a power cut that takes all that it may take; a copy is durable when it is made (spec: P-10.3).
///
/// # Errors
/// What is wrong with the copy.
pub fn contents(setup: Setup, disk: &SimDisk) -> Result<Contents, String> {
    let disk = disk.fork();
    disk.set_decisions(Decisions::path(Vec::new()));
    disk.crash();
    let say = |error: holotype::Error| format!("the copy: {error}");
    let witness = Witness::new(disk);
    let db = Db::open_on(witness.clone(), &setup.options()).map_err(say)?;
    let (held, report) = (adapter::contents(&db), db.verify(true).map_err(say)?);
    witness.switch_off();
    match report.problems.first() {
        None => held.map_err(say),
        Some(problem) => Err(format!("the copy: {problem}")),
    }
}
