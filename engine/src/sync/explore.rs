//! How the loom tests of all rooms explore a scenario: exhaustively, up to a bound.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use super::race::{Race, switch_on};

/// Where loom may take the processor from a thread that could go on, at most so often in one execution. Most races show
/// with two; what lies within the bound is explored without a gap.
pub(crate) const PREEMPTIONS: usize = 3;

/// Runs `scenario` in every order of its threads' steps with at most `preemptions` preemptions, and with every value that each
/// load may see. How many executions that took.
pub(crate) fn every_order(preemptions: usize, scenario: impl Fn() + Send + Sync + 'static) -> u64 {
    let count = std::sync::Arc::new(AtomicU64::new(0));
    let counted = std::sync::Arc::clone(&count);
    let mut explorer = loom::model::Builder::new();
    explorer.preemption_bound = Some(preemptions);
    explorer.max_branches = 20_000;
    explorer.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        scenario();
    });
    let executions = count.load(Ordering::Relaxed);
    assert!(executions > 1, "threads that never meet show nothing");
    executions
}

/// Asserts that `scenario` holds as it is, and that with `race` switched on it fails in some order, in the words of `symptom`.
pub(crate) fn is_found(
    race: Race,
    symptom: &str,
    preemptions: usize,
    scenario: impl Fn() + Send + Sync + Clone + 'static,
) {
    every_order(preemptions, scenario.clone());
    switch_on(Some(race));
    let explored = catch_unwind(AssertUnwindSafe(|| every_order(preemptions, scenario)));
    switch_on(None);
    match explored {
        Ok(executions) => panic!("{race:?} shows in none of {executions} executions"),
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
            assert!(said.contains(symptom), "{race:?} shows as {said:?}, not as {symptom:?}");
        }
    }
}
