//! How the loom tests of all rooms explore a scenario: exhaustively, up to a bound.

use std::sync::atomic::{AtomicU64, Ordering};

use super::race::{Mistake, failure_with};

/// Where loom may take the processor from a thread that could go on, at most so often in one execution. Most races show
/// with two; what lies within the bound is explored without a gap.
pub(crate) const PREEMPTIONS: usize = 3;

/// Of the thread that a scenario runs in: opening a store takes most of what loom gives a thread.
const STACK_BYTES: usize = 1 << 17;

/// Runs `scenario` in every order of its threads' steps with at most `preemptions` preemptions, and with every value that each
/// load may see. How many executions that took.
pub(crate) fn every_order(preemptions: usize, scenario: impl Fn() + Send + Sync + 'static) -> u64 {
    let count = std::sync::Arc::new(AtomicU64::new(0));
    let counted = std::sync::Arc::clone(&count);
    let mut explorer = loom::model::Builder::new();
    explorer.preemption_bound = Some(preemptions);
    explorer.max_branches = 20_000;
    let scenario = std::sync::Arc::new(scenario);
    explorer.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        let scenario = std::sync::Arc::clone(&scenario);
        let body = loom::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || scenario());
        body.expect("a thread of loom's is no thread of the system's")
            .join()
            .expect("a panic ends the model");
    });
    let executions = count.load(Ordering::Relaxed);
    assert!(executions > 1, "threads that never meet show nothing");
    executions
}

/// Asserts that `scenario`, which holds as it is by another test, fails in some order with `mistake` switched on, and in the words of
/// `symptom`.
pub(crate) fn is_found(
    mistake: impl Mistake,
    symptom: &str,
    preemptions: usize,
    scenario: impl Fn() + Send + Sync + 'static,
) {
    let failure = failure_with(mistake, || {
        every_order(preemptions, scenario);
    });
    let words = failure.unwrap_or_else(|| panic!("{mistake:?} shows in no order"));
    assert!(words.contains(symptom), "{mistake:?} shows as {words:?}, not as {symptom:?}");
}
