//! Queries that look at each document: what they add to the look.

use std::ops::ControlFlow;

use holotype::doc;
use holotype::document::RawValue;

use super::{LOADED, settled, sum_measured};

/// The paths of queries. A call is one document that was looked at.
pub(super) const PATHS: [super::Path; 7] = [
    ("query_found", found),
    ("query_found_by_loop", found_by_loop),
    ("query_count", count),
    ("query_count_by_two", count_by_two),
    ("query_count_by_loop", count_by_loop),
    ("query_sum", sum),
    ("query_groups", groups),
];

/// The documents that a filter admits, which is every second.
fn found() -> u64 {
    let (_db, documents) = settled();
    let query = documents.find("@.id <= 2000");
    let found = sum_measured([()], |()| query.clone().run().expect("undamaged").count() as u64);
    assert_eq!(found, LOADED / 2);
    LOADED
}

/// The same by a closure over a scan of all documents.
fn found_by_loop() -> u64 {
    let (_db, documents) = settled();
    let found = sum_measured([()], |()| {
        let scan = documents.scan(..).expect("it was created").map(|document| document.expect("undamaged"));
        let is_wanted = |id: RawValue<'_>| id.as_i64().is_some_and(|id| id <= 2000);
        scan.filter(|document| document.get("id").is_some_and(is_wanted)).count() as u64
    });
    assert_eq!(found, LOADED / 2);
    LOADED
}

/// How many there are of these.
fn count() -> u64 {
    counted("@.id <= 2000")
}

/// The same, with another field to be found in each document.
fn count_by_two() -> u64 {
    counted("@.id <= 2000 && @.score > 80")
}

fn counted(filter: &str) -> u64 {
    let (_db, documents) = settled();
    let query = documents.find(filter);
    let counted = sum_measured([()], |()| query.clone().count().expect("undamaged"));
    assert_eq!(counted, LOADED / 2);
    LOADED
}

/// The same by a closure over a visit of all documents.
fn count_by_loop() -> u64 {
    let (_db, documents) = settled();
    let counted = sum_measured([()], |()| {
        let mut count = 0;
        let end = documents.scan(..).expect("it was created").visit(|document| {
            count += u64::from(document.get("id").and_then(|id| id.as_i64()).is_some_and(|id| id <= 2000));
            ControlFlow::<()>::Continue(())
        });
        assert_eq!(end.expect("undamaged"), None);
        count
    });
    assert_eq!(counted, LOADED / 2);
    LOADED
}

/// The sum of a field.
fn sum() -> u64 {
    let (_db, documents) = settled();
    let query = documents.find(..);
    let sum = sum_measured([()], |()| {
        let groups = query.clone().group_by(Vec::<&str>::new()).sum("$.id").run().expect("no overflow");
        groups[0].get("sum").and_then(|sums| sums.get("$.id")).and_then(holotype::Value::as_i64).unwrap_or(0)
            as u64
    });
    assert_eq!(sum, LOADED * (LOADED + 1) / 2);
    LOADED
}

/// Groups of one value, counted.
fn groups() -> u64 {
    let (_db, documents) = settled();
    let query = documents.find(..);
    let groups = sum_measured([()], |()| {
        let groups = query.clone().group_by(["$.name"]).run().expect("undamaged");
        assert_eq!(groups, [doc! { "name": "benchmark user", "count": LOADED as i64 }]);
        groups.len() as u64
    });
    assert_eq!(groups, 1);
    LOADED
}
