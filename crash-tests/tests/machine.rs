//! The model checker on the engine: small searches that hold, and what a search is made of.

use holotype_crash_tests::machine::{BEGINNINGS, Scope, replay, search};

#[test]
fn every_life_of_two_steps_from_every_beginning_keeps_the_laws_and_meets_what_it_must() {
    let report = search(Scope { depth: 2, ..Scope::default() }, |_| {});
    assert_eq!(report.counterexample, None);
    let missing: Vec<_> = report.sometimes.iter().filter(|(_, came)| !came).collect();
    assert!(missing.is_empty(), "these never came about: {missing:?}");
    assert!(report.holds() && report.depth == 2);
    assert!(report.states > 3_000, "{report}");
    assert!(report.transitions > report.states, "some paths meet: {report}");
}

#[test]
fn two_searches_meet_the_same_states() {
    let counts = || {
        let report = search(Scope { depth: 1, keys: 2, ..Scope::default() }, |_| {});
        (report.states, report.transitions, report.depth)
    };
    assert_eq!(counts(), counts());
}

#[test]
fn a_search_ends_when_it_has_met_the_states_asked_for() {
    let report = search(Scope { depth: 9, states: Some(1_000), ..Scope::default() }, |_| {});
    assert!((1_000..4_000).contains(&report.states), "{report}");
    assert_eq!(report.counterexample, None);
}

#[test]
fn a_path_is_walked_again_through_a_power_cut_and_all_that_it_left_open() {
    let walk = |path: &str| {
        let mut steps = Vec::new();
        replay(path, |step, state| steps.push((step.to_owned(), format!("{state:?}"))))
            .map(|found| (found, steps))
    };
    let (found, steps) = walk("blank,open,put0=0,flush@1").expect("it can come about");
    assert_eq!((found, steps.len()), (None, 4));
    assert!(steps[2].1.contains("1 commits may be lost"), "{steps:?}");
    assert!(steps[3].1.contains("the power was cut"), "{steps:?}");
    assert!(walk("blank,put0=0").expect_err("it is not open").contains("cannot come here"));
    assert!(walk("elsewhere").expect_err("no such beginning").contains(BEGINNINGS[0]));
    assert!(walk("blank,fly").expect_err("no such step").contains("fly"));
}
