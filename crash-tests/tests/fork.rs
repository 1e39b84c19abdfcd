//! The whole store is a value: a copy taken between any two steps goes on as the original does.

use holotype_crash_tests::crash::steps;
use holotype_crash_tests::live::Live;
use holotype_crash_tests::setup::Setup;

#[test]
fn a_fork_between_any_two_steps_goes_on_as_the_store_itself() {
    for setup in [Setup::TINY, Setup::SHORT_LIVES] {
        let steps = steps(setup.segment_bytes);
        let (mut live, _) = Live::create(setup).expect("the disk is new");
        let mut forks = vec![live.fork()];
        for step in &steps {
            live.step(step).unwrap_or_else(|what| panic!("{step}: {what}"));
            forks.push(live.fork());
        }
        live.look().unwrap_or_else(|what| panic!("{what}"));
        for (taken, mut fork) in forks.into_iter().enumerate() {
            for step in &steps[taken..] {
                fork.step(step).unwrap_or_else(|what| panic!("forked after {taken} steps, {step}: {what}"));
            }
            fork.look().unwrap_or_else(|what| panic!("forked after {taken} steps: {what}"));
            let same = fork.disk().fingerprint() == live.disk().fingerprint();
            assert!(same, "a fork after {taken} steps leaves another disk");
        }
    }
}

#[test]
fn a_fork_and_its_original_share_nothing() {
    let steps = steps(Setup::TINY.segment_bytes);
    let (mut live, _) = Live::create(Setup::TINY).expect("the disk is new");
    live.step(&steps[0]).expect("a put");
    let before = live.disk().fingerprint();
    let mut fork = live.fork();
    for step in &steps {
        fork.step(step).unwrap_or_else(|what| panic!("{step}: {what}"));
    }
    assert_eq!(live.disk().fingerprint(), before);
    live.look().unwrap_or_else(|what| panic!("{what}"));
}
