//! A chapter of documents that come, change and go at random, as maintenance meets them at all of its thresholds.

use holotype_model::check::Rng;

use super::life::{Life, document};
use crate::story::say;

const CALLS: usize = 150;

/// How many calls of ten delete, and how long documents become at most.
const MIXES: [(usize, usize); 6] = [(1, 200), (7, 20), (2, 3000), (4, 700), (8, 10), (0, 1500)];

pub(super) fn churn(life: &mut Life) -> Result<(), String> {
    let mut random = Rng::seeded(7);
    let mut held = Vec::new();
    for round in 0..3 * MIXES.len() {
        let (deletes, len_max) = MIXES[round % MIXES.len()];
        for _ in 0..CALLS {
            let key = random.below(260) as i64;
            let churned = life.db.collection("churned");
            match random.below(10) {
                call if call < deletes => life.told(churned.delete(key)),
                8 => _ = life.step()?,
                9 if random.one_in(6) => held.push(life.db.snapshot()),
                9 if !held.is_empty() => drop(held.swap_remove(random.below(held.len()))),
                _ => _ = life.call(churned.put(key, document(key, random.below(len_max)))),
            }
        }
        let stats = life.db.stats();
        for (what, count) in [
            ("file meanwhile", stats.file_bytes),
            ("segments meanwhile", stats.segments),
            ("slots meanwhile", stats.superblock_generation),
        ] {
            life.note(what, count);
        }
        if round % 4 == 3 {
            life.come_to_rest()?;
        }
        if round % 7 == 5 {
            held.clear();
            life.reopen()?;
        }
    }
    let scanned = life.db.collection("churned").scan(..).map_err(say)?.count();
    life.note("scanned", scanned as u64);
    Ok(())
}

pub(super) fn cleared(life: &mut Life) -> Result<(), String> {
    life.told(life.db.drop_collection("churned"));
    life.come_to_rest()
}
