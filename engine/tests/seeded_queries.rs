//! Mistakes that a query could make: each is told from what is right.
#![cfg(feature = "seeded")]

use std::ops::ControlFlow;
use std::panic::catch_unwind;
use std::time::Instant;

use holotype::seeded::{Bug, switch_on};
use holotype::{Collection, Cursor, Db, Document, Error, Key, Query, Sort, Value, doc};

/// Documents under the keys from 1 on.
fn of(documents: impl IntoIterator<Item = Document>) -> Collection {
    let birds = Db::in_memory().collection("birds");
    birds.insert_many(documents).unwrap();
    birds
}

fn keys(query: Query<'_, Collection>) -> Vec<Key> {
    query.run().unwrap().map(|found| found.unwrap().key().to_key()).collect()
}

fn ints(keys: &[i64]) -> Vec<Key> {
    keys.iter().copied().map(Key::Int).collect()
}

fn a_bound_includes_its_key() {
    assert_eq!(keys(of([doc! {}, doc! {}, doc! {}]).find("key() <= 2")), ints(&[1, 2]));
}

fn a_prefix_begins_with_itself() {
    let birds = Db::in_memory().collection("birds");
    birds.put_many([("a", doc! {}), ("ab", doc! {}), ("b", doc! {})]).unwrap();
    assert_eq!(birds.find("starts_with(key(), 'a')").count().unwrap(), 2);
}

fn a_range_of_keys_is_filtered() {
    let birds = of([doc! { "n": 1 }, doc! { "n": 2 }, doc! { "n": 1 }]);
    assert_eq!(keys(birds.find("key() >= 2 && @.n == 1")), ints(&[3]));
}

fn a_sort_keeps_what_has_nothing() {
    assert_eq!(keys(of([doc! { "n": 1 }, doc! {}]).find(..).sort("$.n")), ints(&[2, 1]));
}

fn nothing_is_less_than_null() {
    assert_eq!(keys(of([doc! { "n": null }, doc! {}]).find(..).sort("$.n")), ints(&[2, 1]));
}

fn nothing_goes_where_the_sort_says() {
    let birds = of([doc! { "n": 1 }, doc! {}]);
    assert_eq!(keys(birds.find(..).sort(Sort::by("$.n").descending().nothing_first())), ints(&[2, 1]));
}

fn a_descending_sort_turns_the_order() {
    let birds = of([doc! { "t": "a" }, doc! { "t": "ab" }]);
    assert_eq!(keys(birds.find(..).sort(Sort::by("$.t").descending())), ints(&[2, 1]));
}

fn a_cursor() -> (Collection, Cursor) {
    let birds = of([doc! { "n": 1 }, doc! { "n": 2 }, doc! { "n": 3 }]);
    let mut found = birds.find(..).sort("$.n").run().unwrap();
    found.next();
    let cursor = found.cursor().unwrap();
    (birds, cursor)
}

fn a_cursor_is_of_its_query() {
    let (birds, cursor) = a_cursor();
    assert!(birds.find(..).after(cursor).run().is_err());
}

fn a_query_goes_on_after_the_cursor() {
    let (birds, cursor) = a_cursor();
    assert_eq!(keys(birds.find(..).sort("$.n").after(cursor)), ints(&[2, 3]));
}

fn a_changed_cursor_is_refused() {
    let text = a_cursor().1.to_string();
    let sign = if text.starts_with('A') { "B" } else { "A" };
    assert!(format!("{sign}{}", &text[1..]).parse::<Cursor>().is_err());
}

fn a_limit_counts_what_is_answered() {
    let birds = of([doc! { "n": 1 }, doc! { "n": 2 }, doc! { "n": 3 }]);
    assert_eq!(keys(birds.find(..).sort("$.n").skip(1).limit(2)), ints(&[2, 3]));
}

fn a_sort_in_runs_answers_all() {
    let directory = tempfile::tempdir().unwrap();
    let birds = Db::open(directory.path().join("s.holo")).unwrap().collection("birds");
    birds.insert_many((0..100).map(|n| doc! { "n": n })).unwrap();
    assert_eq!(keys(birds.find(..).sort("$.n").sort_memory(500)).len(), 100);
}

/// The mean of numbers.
fn mean(numbers: &[f64]) -> f64 {
    let birds = of(numbers.iter().map(|number| doc! { "n": *number }));
    let groups = birds.find(..).group_by(Vec::<&str>::new()).avg("$.n").run().unwrap();
    let mean = groups[0].get("avg").and_then(|avg| avg.as_object()?.get("$.n")?.as_f64());
    mean.unwrap()
}

fn a_mean_is_rounded_once() {
    assert_eq!(mean(&[1e308, 1e308]), 1e308);
}

fn a_sum_does_not_wrap() {
    let birds = of([doc! { "n": i64::MAX }, doc! { "n": 1 }]);
    let groups = birds.find(..).group_by(Vec::<&str>::new()).sum("$.n").run();
    assert!(matches!(groups, Err(Error::SumOverflow { .. })));
}

fn the_first_value_is_shown() {
    let birds = of([doc! { "n": 1 }, doc! { "n": 1.0 }]);
    assert_eq!(birds.find(..).distinct("$.n").unwrap(), [Value::from(1)]);
}

fn a_document_is_in_a_group_once() {
    let groups = of([doc! { "n": [1, 1.0] }]).find(..).group_by(["$.n[*]"]).run().unwrap();
    assert_eq!(groups, [doc! { "n": 1, "count": 1 }]);
}

fn a_group_of_several_runs_is_one() {
    let directory = tempfile::tempdir().unwrap();
    let birds = Db::open(directory.path().join("s.holo")).unwrap().collection("birds");
    birds.insert_many((0..100).map(|n| doc! { "n": n % 7 })).unwrap();
    assert_eq!(birds.find(..).sort_memory(500).group_by(["$.n"]).run().unwrap().len(), 7);
}

fn a_limit_counts_chosen_groups() {
    let birds = of([doc! { "n": 1 }, doc! { "n": 2 }, doc! { "n": 2 }]);
    let groups = birds.find(..).group_by(["$.n"]).having("@.count == 2").limit(1).run().unwrap();
    assert_eq!(groups, [doc! { "n": 2, "count": 2 }]);
}

fn a_deadline_ends_a_query() {
    assert!(of([doc! {}]).find(..).deadline(Instant::now()).count().is_err());
}

fn a_failing_query_says_so() {
    let birds = of((0..200).map(|n| doc! { "n": n }));
    let stopped = birds.find("@.n").progress(|progress| match progress.scanned {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    });
    assert!(stopped.run().unwrap().any(|found| found.is_err()));
}

fn an_unbound_parameter_is_refused() {
    assert!(of([doc! {}]).find("@.n == arg('n')").count().is_err());
}

fn a_count_is_filtered() {
    assert_eq!(of([doc! { "n": 1 }, doc! {}]).find("@.n").count().unwrap(), 1);
}

#[test]
fn every_seeded_mistake_of_a_query_is_caught() {
    let checks: [(Bug, fn()); 22] = [
        (Bug::KeyRangeHalfOpen, a_bound_includes_its_key),
        (Bug::PrefixTooNarrow, a_prefix_begins_with_itself),
        (Bug::KeyRangeAnswersAll, a_range_of_keys_is_filtered),
        (Bug::NothingDropped, a_sort_keeps_what_has_nothing),
        (Bug::NothingIsNull, nothing_is_less_than_null),
        (Bug::NothingTurned, nothing_goes_where_the_sort_says),
        (Bug::DescendingByLength, a_descending_sort_turns_the_order),
        (Bug::CursorOfAnyQuery, a_cursor_is_of_its_query),
        (Bug::CursorIncludesItself, a_query_goes_on_after_the_cursor),
        (Bug::CursorUnchecked, a_changed_cursor_is_refused),
        (Bug::SkipWithinLimit, a_limit_counts_what_is_answered),
        (Bug::RunForgotten, a_sort_in_runs_answers_all),
        (Bug::MeanOfRoundedSum, a_mean_is_rounded_once),
        (Bug::SumWraps, a_sum_does_not_wrap),
        (Bug::LastValueShown, the_first_value_is_shown),
        (Bug::GroupedOncePerItem, a_document_is_in_a_group_once),
        (Bug::PartsOfGroupsApart, a_group_of_several_runs_is_one),
        (Bug::LimitBeforeHaving, a_limit_counts_chosen_groups),
        (Bug::DeadlineIgnored, a_deadline_ends_a_query),
        (Bug::QueryErrorDropped, a_failing_query_says_so),
        (Bug::UnboundRuns, an_unbound_parameter_is_refused),
        (Bug::CountWithoutFilter, a_count_is_filtered),
    ];
    for (bug, check) in checks {
        check();
        switch_on(Some(bug));
        let caught = catch_unwind(check);
        switch_on(None);
        assert!(caught.is_err(), "{bug:?} turns no check red");
    }
}
