//! Damage at rest.

use holotype_crash_tests::media::{Damage, Specimen, Tally, all, try_damage};
use holotype_crash_tests::setup::Setup;

/// Tries what `wanted` picks, and every `stride`-th of the rest.
fn try_all(specimen: &Specimen, stride: usize, wanted: impl Fn(&Damage) -> bool) -> Tally {
    let mut tally = Tally::default();
    for (index, damage) in all(specimen).iter().enumerate() {
        if (index % stride == 0 || wanted(damage))
            && let Err(what) = try_damage(specimen, damage, &mut tally)
        {
            panic!("{what}");
        }
    }
    println!("{tally}");
    assert!(tally.right > 0 && tally.loud > 0, "{tally}");
    tally
}

fn hits_a_sector(damage: &Damage) -> bool {
    matches!(damage, Damage::Zero(_) | Damage::Copy { .. } | Damage::Stale { .. } | Damage::Extend(_))
}

//= spec/media.md#m-5-1-any-bytes
//# A store MUST answer every call with the right data or an error, whatever bytes the file holds.
//= spec/semantics.md#s-8-6-damage
//# A call that meets damaged bytes MUST fail as `Corrupt` rather than answer from them.
#[test]
fn damage_to_a_closed_store_is_harmless_or_told() {
    let specimen = Specimen::closed(Setup::TINY).expect("the steps are legal");
    let tally = try_all(&specimen, 19, hits_a_sector);
    // spec
    assert_eq!(tally.last_batch, 0, "the slot attests the last batch");
}

//= spec/media.md#m-5-1-any-bytes
//# A store MUST answer every call with the right data or an error, whatever bytes the file holds.
//= spec/recovery.md#r-4-3-corrupt
//# A writer MUST NOT change a file that the table calls corrupt.
#[test]
fn damage_to_a_store_left_open_is_harmless_or_told_but_for_the_last_batch() {
    let specimen = Specimen::left_open(Setup::TINY).expect("the steps are legal");
    let tally = try_all(&specimen, 19, hits_a_sector);
    assert!(tally.last_batch > 0, "the one loss that no copy can show was never met");
}

#[test]
fn a_file_cut_at_any_length_is_told() {
    let mut tally = Tally::default();
    for make in [Specimen::closed, Specimen::grown] {
        let specimen = make(Setup::TINY).expect("the steps are legal");
        for damage in all(&specimen).iter().filter(|damage| matches!(damage, Damage::Truncate(_))) {
            try_damage(&specimen, damage, &mut tally).unwrap_or_else(|what| panic!("{what}"));
        }
    }
    assert_eq!(tally.loud, tally.cases, "a file that is shorter than it was is never as good as whole");
    assert!(tally.cases > 16_384, "{tally}");
}

#[test]
fn neighbours_in_each_others_place_are_harmless_or_told_but_for_the_last_batch_and_its_witness() {
    let mut tally = Tally::default();
    for setup in [Setup::TINY, Setup::SECTORS] {
        let specimen = Specimen::left_open(setup).expect("the steps are legal");
        for damage in
            all(&specimen).iter().filter(|damage| matches!(damage, Damage::Swap(a, b) if b - a == 1))
        {
            try_damage(&specimen, damage, &mut tally).unwrap_or_else(|what| panic!("{}: {what}", setup.name));
        }
    }
    assert!(tally.with_witness > 0, "no damage met a batch and its only witness: {tally}");
}
