use super::*;
use crate::stores::holotype::{Buffered, Holotype};
use crate::stores::sled::Sled;
use crate::stores::wrong::*;
use crate::stores::{Commits, each_reader};

const SIZE: Size = Size { documents: 400, operations: 200, stride: 4 };

fn run_in_a_directory<S: Store>() -> Result<Vec<Figures>> {
    let directory = tempfile::tempdir().unwrap();
    trial::run::<S>(directory.path(), Commits::Unsynced, SIZE)
}

#[test]
fn every_store_that_takes_part_does_the_same_in_every_mix() {
    let mut all = Vec::new();
    macro_rules! add {
        ($store:ty) => {
            if fits::<$store>() {
                all.push(run_in_a_directory::<$store>().unwrap());
            }
        };
    }
    each_reader!(add);
    add!(Buffered);
    let done = |figures: &[Figures]| figures.iter().map(|row| row.done).collect::<Vec<_>>();
    for figures in &all {
        assert_eq!(figures.len(), trial::rows().count());
        assert!(figures.iter().all(|row| row.per_second > 0.0 && row.p99_micros >= row.p50_micros));
        assert_eq!(done(figures), done(&all[0]));
    }
}

#[test]
fn a_mix_that_only_reads_writes_nothing_and_the_others_do_both() {
    for (figures, (mix, _, _)) in run_in_a_directory::<Holotype>().unwrap().iter().zip(trial::rows()) {
        assert!(figures.done.returned > 0 && figures.done.distinct > 10, "{}", mix.name);
        assert_eq!(figures.done.written == 0, mix.name == "C", "{}", mix.name);
    }
}

#[test]
fn a_store_that_did_something_else_has_no_figures() {
    run_in_a_directory::<Wrong<ALL_RIGHT>>().unwrap();
    let failures = [
        run_in_a_directory::<Wrong<PUTS_NOTHING>>(),
        run_in_a_directory::<Wrong<READS_ANOTHER>>(),
        run_in_a_directory::<Wrong<SCANS_TOO_LITTLE>>(),
        run_in_a_directory::<Wrong<SCANS_FROM_ELSEWHERE>>(),
    ];
    for (how, failure) in failures.into_iter().enumerate() {
        let failure = failure.expect_err("it did something else").to_string();
        assert!(failure.starts_with("a store that is wrong"), "{how}: {failure}");
    }
}

#[test]
fn no_store_is_in_a_class_that_is_not_its_own() {
    let plan = Plan::parse(["ycsb".to_owned()].into_iter()).unwrap();
    let names = |class: Class| contenders(class, &plan).into_iter().map(|one| one.name).collect::<Vec<_>>();
    let is_in = |class, name: &str| names(class).iter().any(|of| of.starts_with(name));
    assert!(Class::ALL.into_iter().all(|class| names(class)[0] == Holotype::NAME));
    assert!(is_in(Class::Kept, "sled") && is_in(Class::Kept, "redb"));
    assert!(!is_in(Class::Written, "sled") && !is_in(Class::Written, "redb"));
    assert!(!is_in(Class::Durable, "sled") && is_in(Class::Durable, "redb"));
}

#[test]
fn a_store_that_cannot_do_what_the_mixes_ask_for_takes_no_part() {
    assert!(fits::<Holotype>() && fits::<Sled>());
    #[cfg(feature = "byodb")]
    assert!(!fits::<crate::stores::byodb::Byodb>(), "its values are too short");
    #[cfg(feature = "toondb")]
    assert!(!fits::<crate::stores::toondb::ToonDb>(), "it loses what is updated");
}

#[test]
fn a_mix_that_writes_has_a_bound_of_its_class() {
    let limits = Limits {
        lookup: 100.0,
        checksum: 50.0,
        write: 1_000.0,
        overwrite_synced: 100_000.0,
        ..Limits::default()
    };
    let bound = |name: &str, class| {
        bound_nanos(MIXES.iter().find(|mix| mix.name == name).unwrap(), class, &limits).round()
    };
    assert_eq!(bound("C", Class::Durable), 150.0);
    assert_eq!(bound("A", Class::Written), 75.0 + 525.0);
    assert_eq!(bound("F", Class::Written), 150.0 + 525.0);
    assert_eq!(bound("B", Class::Durable), 143.0 + 5_003.0 - 1.0);
}
