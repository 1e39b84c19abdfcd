//! Queries over collections, snapshots and transactions, held against the model's naive answers to the same questions.
//!
//! `HOLOTYPE_TRIALS=1000000 cargo test --release -p holotype-crash-tests --test queries` tries as many, as `.ci/run questions` does.

use holotype_crash_tests::queries::{self, Case, Seen, bytes_of};

fn trials() -> u64 {
    std::env::var("HOLOTYPE_TRIALS").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000)
}

/// Half of the trials on a second thread.
fn hold(case: Case, trials: u64) -> Seen {
    let of = |seeds: std::ops::Range<u64>| {
        let mut seen = Seen::default();
        for seed in seeds {
            seen += case(&bytes_of(seed)).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        }
        seen
    };
    std::thread::scope(|scope| {
        let half = scope.spawn(|| of(0..trials / 2));
        let mut seen = of(trials / 2..trials);
        seen += half.join().expect("the other half holds");
        seen
    })
}

//= spec/query.md#q-7-1-query
//# A query that neither skips, nor has a limit or a cursor, MUST answer exactly the documents that its
//# filter admits, each once.
//= spec/query.md#q-7-2-order
//# Documents MUST be answered in the order of the first sort that tells them apart, and documents that
//# none tells apart in the order of their keys (V-3.8).
//= spec/query.md#q-7-3-skip-and-limit
//# Of the documents in order, a query MUST leave out the first, as many as it skips, and answer the next
//# ones, as many as its limit allows.
//= spec/query.md#q-7-4-cursors
//# The documents before a cursor and those after it MUST be all documents of the query, each once.
//= spec/query.md#q-7-5-bounds
//# Answers, groups and distinct values MUST NOT depend on the memory that a query has.
//= spec/query.md#q-8-1-projection
//# A projection MUST have each selected node with everything in it, in the objects and arrays that it is
//# in, and nothing else. Items of an array stay in their order, without gaps.
//= spec/query.md#q-9-1-shown-values
//# The value that is shown for a place MUST be the first that the document of the least key gives there.
//= spec/query.md#q-9-2-distinct-values
//# The *distinct values* of an expression MUST be one value for each place at which a document of the
//# query gives one, in the order of values.
#[test]
fn queries_answer_what_the_model_answers() {
    let tried = trials();
    let seen = hold(queries::query, tried);
    // Each question is asked of two views.
    let told = seen.spilled > tried
        && seen.answered > tried * 2
        && seen.empty < tried * 3 / 2
        && seen.pages > tried
        && seen.sorted > tried;
    assert!(told, "{seen:?} of {tried}");
}

//= spec/query.md#q-9-3-groups
//# A document MUST be in the groups of every combination of what the expressions give of it, once in
//# each.
//= spec/query.md#q-9-3-groups
//# Groups MUST come in the order of what the first expression gives, then the second, and so on, with
//# nothing before every value.
//= spec/query.md#q-9-4-aggregates
//# If every number is an int, `sum` is an int. A sum beyond the ints of V-1.2 MUST be refused, as
//# `SumOverflow`.
//= spec/query.md#q-9-4-aggregates
//# Otherwise `sum`, and always `avg`, MUST be the float that is nearest to the exact result, rounded
//# once, half to even. The exact sum of no numbers is 0, and 0 as a float is 0.0.
//= spec/query.md#q-9-5-groups-as-documents
//# A filter over groups and sorts over groups MUST be of these documents.
#[test]
fn groups_are_what_the_model_makes() {
    let tried = trials() / 2;
    let seen = hold(queries::groups, tried);
    assert!(
        seen.spilled > tried / 5 && seen.groups > tried && seen.overflows > tried / 200,
        "{seen:?} of {tried}"
    );
}

//= spec/query.md#q-2-2-parameters
//# A bound value MUST NOT be read as part of the text of the filter.
//= spec/query.md#q-3-2-less
//# Values of other types, or of two types, MUST NOT be less than one another; nor is nothing less than a
//# value, or a value than nothing.
#[test]
fn filters_and_paths_say_what_the_model_says() {
    let tried = trials();
    let seen = hold(queries::filter, tried);
    // A run in which nearly all is admitted, or nearly nothing, or nothing is valid, has shown little.
    let (valid, admitted) = (seen.valid, seen.admitted);
    let told = valid > tried / 2 && admitted > valid / 10 && admitted < valid * 9 / 10;
    assert!(told && seen.selected > tried / 40, "{seen:?} of {tried}");
}

//= spec/query.md#q-10-1-plans
//# A plan MUST NOT change what a query answers, nor the order of the answers.
//= spec/query.md#q-10-1-plans
//# A sparse index MUST NOT be read for a query that can answer documents of which it has no entry.
//= spec/query.md#q-10-1-plans
//# A partial index MUST NOT be read for a query that can answer documents that its filter does not admit.
//= spec/query.md#q-10-1-plans
//# What depends on the bytes of a long tuple (I-2.6) MUST be told by the documents.
//= spec/query.md#q-10-2-ranges-of-an-index
//# Where a filter compares, an index MUST be read in a range of values of one type.
//= spec/query.md#q-10-3-answers-of-entries
//# A count MUST NOT be that of entries where the filter admits only some of their documents.
//= spec/query.md#q-10-3-answers-of-entries
//# Groups, distinct values and projections that entries answer MUST be those of the documents.
#[test]
fn queries_answer_the_same_by_every_plan_and_by_none() {
    let tried = trials();
    let seen = hold(queries::planned, tried);
    let told = seen.by_index > tried
        && seen.by_partial > tried / 10
        && seen.in_order > tried / 10
        && seen.by_entries > 0
        && seen.by_values > 0
        && seen.by_ends > 0
        && seen.projected > 0;
    println!("{seen:?}");
    assert!(told, "{seen:?} of {tried}");
}

/// Texts near to queries: both parsers take the same ones.
#[test]
fn both_parsers_take_the_same_texts() {
    let tried = trials();
    let seen = hold(queries::text, tried);
    assert!(seen.valid > tried / 50, "{seen:?} of {tried}");
}

#[test]
fn questions_beyond_a_bound_are_refused() {
    assert_eq!(queries::every_check(0, 1), Ok(5));
}

/// The least seed at which each mistake shows, by the check that the gate has.
#[cfg(feature = "seeded")]
#[test]
fn every_seeded_mistake_of_a_query_turns_the_check_red() {
    use holotype::seeded::{Bug, switch_on};

    const BUGS: [Bug; 50] = [
        Bug::KeyRangeHalfOpen,
        Bug::PrefixTooNarrow,
        Bug::KeyRangeAnswersAll,
        Bug::NothingDropped,
        Bug::NothingIsNull,
        Bug::NothingTurned,
        Bug::DescendingByLength,
        Bug::CursorOfAnyQuery,
        Bug::CursorIncludesItself,
        Bug::CursorUnchecked,
        Bug::SkipWithinLimit,
        Bug::RunForgotten,
        Bug::MeanOfRoundedSum,
        Bug::SumWraps,
        Bug::LastValueShown,
        Bug::GroupedOncePerItem,
        Bug::PartsOfGroupsApart,
        Bug::LimitBeforeHaving,
        Bug::DeadlineIgnored,
        Bug::QueryErrorDropped,
        Bug::UnboundRuns,
        Bug::CountWithoutFilter,
        Bug::NothingEqualsNull,
        Bug::PrintedWithoutParentheses,
        Bug::RangeFromNothing,
        Bug::RangeOfManyKinds,
        Bug::PrefixTooWide,
        Bug::DescendingNotTurned,
        Bug::CutTupleCounted,
        Bug::CutTupleSorted,
        Bug::SparseIndexServesAll,
        Bug::AnsweredPerEntry,
        Bug::NothingAsIndexed,
        Bug::TiesAsIndexed,
        Bug::IndexWithoutOwnWrites,
        Bug::UnionOfOneSide,
        Bug::CursorAmongTies,
        Bug::ExtremeOfNothing,
        Bug::FirstEntryShown,
        Bug::ExtremeOfAnyKey,
        Bug::ItemsCounted,
        Bug::CutTupleAnswers,
        Bug::EntriesUnfiltered,
        Bug::KeysUnfiltered,
        Bug::FunctionOfPathForgotten,
        Bug::FunctionOfConstantForgotten,
        Bug::FunctionNotApplied,
        Bug::PartialOfAll,
        Bug::PartialIndexServesAll,
        Bug::PartialIndexServesSome,
    ];
    std::panic::set_hook(Box::new(|_| {}));
    let mut lived = Vec::new();
    for bug in BUGS {
        let start = std::time::Instant::now();
        switch_on(Some(bug));
        let came = std::panic::catch_unwind(|| queries::every_check(0, 500));
        switch_on(None);
        let seconds = start.elapsed().as_secs_f64();
        match came {
            Ok(Ok(_)) => lived.push(bug),
            Ok(Err((seed, what))) => {
                let what: String = what.chars().take(60).collect();
                println!("{bug:?}: {seed} in {seconds:.1} s: {what}");
            }
            Err(_) => println!("{bug:?}: a panic in {seconds:.1} s"),
        }
    }
    let _ = std::panic::take_hook();
    assert!(lived.is_empty(), "{lived:?} turn nothing red");
}
