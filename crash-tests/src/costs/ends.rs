//! Chapters of what maintenance decides: at a close, and of figures that no store has come to.

use holotype::{Db, Durability, Options, decisions_of_maintenance};
use holotype_model::check::Rng;

use super::life::{Life, document};
use crate::metered::Metered;
use crate::story::say;

fn tiny() -> Options {
    Options::tiny().durability(Durability::Written).checkpoint_bytes(1 << 30)
}

/// A store is closed more or less far behind a checkpoint that is much longer than its segments.
pub(super) fn closed_behind_a_long_checkpoint(life: &mut Life) -> Result<(), String> {
    let file = Metered::default();
    let db = Db::open_on(file.clone(), &tiny()).map_err(say)?;
    db.collection("a").bulk_load((0..3000).map(|number| (number, document(number, 0)))).map_err(say)?;
    db.checkpoint().map_err(say)?;
    life.note("checkpoint", db.stats().space.checkpoint_bytes);
    for more in [0, 8, 16, 24, 32, 48, 64, 96] {
        let copy = file.copy().map_err(say)?;
        let db = Db::open_on(copy.clone(), &tiny()).map_err(say)?;
        for number in 0..more {
            life.call(db.collection("a").put(number, document(number, 9)));
        }
        let before = copy.asked().written_bytes;
        life.note("since", db.stats().space.log_since_checkpoint);
        db.close().map_err(say)?;
        life.note("bytes at close", copy.asked().written_bytes - before);
    }
    Ok(())
}

/// The decisions are functions of a few numbers: which they are, over many of these.
pub(super) fn decisions(life: &mut Life) -> Result<(), String> {
    let mut random = Rng::seeded(1);
    let mut draw = |below: u64| random.below(below as usize) as u64;
    decisions_of_maintenance(40_000, &mut draw).into_iter().for_each(|(what, count)| life.note(what, count));
    Ok(())
}
