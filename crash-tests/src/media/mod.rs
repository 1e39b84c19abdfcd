//! Damage at rest: bits flipped, sectors lost, swapped or out of date, the file cut or grown. Whatever the file holds then, a
//! store opened on it gives the right data or a typed error: never a wrong answer, never a panic, never less than was there
//! without a word.
//!
//! One loss no single copy of a file can show (spec: ): of the last sync batch, while nothing later attests it. It is
//! counted apart, and only damage that lies within that batch may lead to it. After a clean close no damage to one sector
//! does; sectors that change places are two, and can be a batch and its only witness.

mod damage;
mod store;

pub use damage::{Damage, all};
pub use store::Specimen;

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use holotype::storage::sim::SimDisk;
use holotype::{Db, Error};

use crate::adapter;
use crate::setup::Setup;
use crate::witness::Witness;

/// What came of damaged files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Files that were damaged and opened.
    pub cases: u64,
    /// All data was there.
    pub right: u64,
    /// A typed error said that something is wrong.
    pub loud: u64,
    /// The last sync batch was taken for a torn tail, and nothing attested it.
    pub last_batch: u64,
    /// The same, where damage to two sectors hit what attested it as well.
    pub with_witness: u64,
}

impl Tally {
    /// Adds what another run found.
    pub fn add(&mut self, other: &Tally) {
        self.cases += other.cases;
        self.right += other.right;
        self.loud += other.loud;
        self.last_batch += other.last_batch;
        self.with_witness += other.with_witness;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { cases, right, loud, last_batch, with_witness } = self;
        write!(f, "{cases} damaged files: {right} with all data, {loud} with a typed error, ")?;
        write!(
            f,
            "{last_batch} without the last sync batch, which nothing attested yet, {with_witness} where damage to two "
        )?;
        f.write_str("sectors hit its only witness, too")
    }
}

/// Does `damage` to a copy of the store, opens it and judges what it gives.
///
/// # Errors
/// What the store did that it may not do.
pub fn try_damage(specimen: &Specimen, damage: &Damage, tally: &mut Tally) -> Result<(), String> {
    let disk = specimen.disk.fork();
    damage.apply(&disk, specimen);
    tally.cases += 1;
    let found = catch_unwind(AssertUnwindSafe(|| open_and_read(specimen.setup, &disk)));
    let found = found.map_err(|_| format!("{damage}: a panic"))?;
    match found.map_err(|what| format!("{damage}: {what}"))? {
        Found::Refused => tally.loud += 1,
        Found::Contents(contents) if contents == specimen.contents => tally.right += 1,
        Found::Contents(contents) if specimen.may_be_lost(damage, &contents) => match damage {
            Damage::Swap(..) => tally.with_witness += 1,
            _ => tally.last_batch += 1,
        },
        Found::Contents(contents) => {
            let count =
                |all: &adapter::Contents| -> usize { all.documents.values().map(BTreeMap::len).sum() };
            return Err(format!(
                "{damage}: {} documents in {} collections without a word, in place of {} in {}",
                count(&contents),
                contents.documents.len(),
                count(&specimen.contents),
                specimen.contents.documents.len()
            ));
        }
    }
    Ok(())
}

enum Found {
    Refused,
    Contents(adapter::Contents),
}

fn open_and_read(setup: Setup, disk: &SimDisk) -> Result<Found, String> {
    let witness = Witness::new(disk.clone());
    let opened = Db::open_on(witness.clone(), &setup.options());
    if let (Err(Error::Corrupt(what)), true) = (&opened, witness.changed()) {
        // spec
        return Err(format!("the file was written to, though damaged: {what}"));
    }
    let result = opened.and_then(|db| {
        let contents = adapter::contents(&db);
        // It may name more than a reader meets; it may not fail to answer.
        let verified = db.verify(true);
        witness.switch_off();
        drop(db);
        verified.and(contents)
    });
    match result {
        Ok(contents) => Ok(Found::Contents(contents)),
        Err(error) if !says_what_is_wrong(&error) => Err(format!("an error that does not fit: {error}")),
        Err(_) => Ok(Found::Refused),
    }
}

fn says_what_is_wrong(error: &Error) -> bool {
    matches!(
        error,
        Error::Corrupt(_)
            | Error::NotHolotype { .. }
            | Error::NewerFormat { .. }
            | Error::OlderFormat { .. }
            | Error::Incomplete
    )
}
