//! Short forms of the checks: each ends by itself, within seconds.

use crate::crash::{Scope, run};
use crate::media::{Damage, Specimen};
use crate::part::Shard;
use crate::setup::Setup;
use crate::{fallback, faults, full, history, media, power, queries, random, updates};

/// How much was tried; or how much until something was found, and what.
pub type Outcome = Result<u64, (u64, String)>;

/// A check that ends by itself.
pub type Check = (&'static str, fn() -> Outcome);

/// The checks, the cheap ones first. `costs` is cheap and comes last: a number that differs says little about what
/// is wrong.
pub const CHECKS: &[Check] = &[
    ("readers", readers),
    ("queries", || queries::every_check(0, 1_000)),
    ("updates", || updates::every_check(0, 4_000)),
    ("lives", lives),
    ("creation", || every_cut(Setup::TINY, 0, 1)),
    ("fallback", once),
    ("full disk", || full::every_check(Setup::SECTORS)),
    ("faults", failing),
    ("maintenance", || every_cut_of(&Scope::of_maintenance(Setup::TINY, 1, 1))),
    ("media", damaged),
    ("power", cuts),
    ("crash", || every_cut(Setup::TINY, 2, 1)),
    ("short lives", || every_cut(Setup::SHORT_LIVES, 2, 1)),
    ("garbage", garbage),
    ("histories", histories),
    ("costs", costs),
];

fn readers() -> Outcome {
    crate::readers::every_check().map_err(|what| (1, what))
}

fn costs() -> Outcome {
    crate::costs::every_check().map_err(|what| (1, what))
}

fn histories() -> Outcome {
    for seed in 0..600 {
        history::check(seed).map_err(|what| (seed + 1, what))?;
    }
    Ok(600)
}

fn lives() -> Outcome {
    let mut cases = 0;
    for seed in 0..240 {
        cases += 1;
        let setup = if seed % 2 == 0 { Setup::SECTORS } else { Setup::TINY };
        random::live(seed, 150, setup, &[]).map_err(|reduced| (cases, reduced.to_string()))?;
    }
    Ok(cases)
}

/// In what is there twice.
fn once() -> Outcome {
    let mut tally = fallback::Tally::default();
    let result = fallback::every_check(Setup::TINY, &mut tally, || true);
    result.map(|_| tally.cases()).map_err(|what| (tally.cases(), what))
}

fn every_cut(setup: Setup, len: usize, cuts: u32) -> Outcome {
    every_cut_of(&Scope::new(setup, len, cuts))
}

fn every_cut_of(scope: &Scope) -> Outcome {
    match run(scope) {
        Ok((tally, _)) => Ok(tally.leaves),
        Err((tally, failure)) => Err((tally.leaves, failure.to_string())),
    }
}

/// After two puts, of each class: all steps in pairs take longer than the other checks together.
fn garbage() -> Outcome {
    let mut scope = Scope::new(Setup::GARBAGE, 2, 1);
    scope.steps.truncate(4);
    every_cut_of(&scope)
}

fn failing() -> Outcome {
    let mut tally = faults::Tally::default();
    let result = faults::every_fault(Setup::TINY, Shard::WHOLE, &mut tally, || true);
    result.map(|_| tally.cases).map_err(|what| (tally.cases, what))
}

fn damaged() -> Outcome {
    let mut tally = media::Tally::default();
    for (make, is_grown) in
        [(Specimen::grown as fn(_) -> _, true), (Specimen::closed, false), (Specimen::left_open, false)]
    {
        let specimen: Specimen = make(Setup::TINY).map_err(|what| (0, what))?;
        for (index, damage) in media::all(&specimen).iter().enumerate() {
            let is_wanted = match damage {
                Damage::Truncate(len) if is_grown => len % 512 == 0,
                _ if is_grown => false,
                Damage::Flip { .. } | Damage::Swap(..) => index % 7 == 0,
                Damage::Truncate(_) => index % 5 == 0,
                _ => true,
            };
            if is_wanted {
                media::try_damage(&specimen, damage, &mut tally).map_err(|what| (tally.cases, what))?;
            }
        }
    }
    Ok(tally.cases)
}

fn cuts() -> Outcome {
    let mut cases = 0;
    for seed in 0..12 {
        let tally =
            power::life(seed, 40, Setup::SECTORS, &[]).map_err(|failure| (cases, failure.to_string()))?;
        cases += tally.leaves;
    }
    Ok(cases)
}
