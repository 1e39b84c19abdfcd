//! Updates, each beside what an application without them would do: read, change, write.

use std::hint::black_box;

use holotype::query::Filter;
use holotype::{Durability, Update};
use holotype_benches::workload::{Small, UniformIds};
use serde::{Deserialize, Serialize};

use super::{CALLS, LOADED, MANY, loaded, one_transaction, sum_measured, typed};

/// Calls on large documents.
const FEW: u64 = 100;

/// Items of a document of 10 KB; of one of 100 KB it has ten times as many.
const ITEMS: usize = 180;

/// The paths of updates.
pub(super) const PATHS: [super::Path; 10] = [
    ("update_inc", inc),
    ("update_inc_by_put", put_again),
    ("tx_inc", tx_inc),
    ("tx_inc_by_put", tx_get_put),
    ("update_many", update_many),
    ("delete_many", delete_many),
    ("set_10k", || set_in(ITEMS)),
    ("set_10k_by_put", || get_put_of(ITEMS)),
    ("set_100k", || set_in(10 * ITEMS)),
    ("set_100k_by_put", || get_put_of(10 * ITEMS)),
];

#[derive(Debug, Serialize, Deserialize)]
struct Large {
    count: i64,
    items: Vec<Small>,
}

/// One more in a small document, each a commit of its own.
fn inc() -> u64 {
    let (_db, documents) = loaded(LOADED, Durability::Written);
    let inc = Update::new().inc("$.score", 1);
    let changed = sum_measured(UniformIds::new(LOADED).take(CALLS as usize), |id| {
        u64::from(documents.update(id, &inc).expect("room").changed())
    });
    assert_eq!(changed, CALLS);
    CALLS
}

/// The put of such a document.
fn put_again() -> u64 {
    let (_db, documents) = loaded(LOADED, Durability::Written);
    let new = typed(CALLS);
    let put = sum_measured(UniformIds::new(LOADED).zip(&new), |(id, document)| {
        documents.put_as(id, document).map(|()| 1).expect("room")
    });
    assert_eq!(put, CALLS);
    CALLS
}

/// One more in small documents, in one transaction.
fn tx_inc() -> u64 {
    let (db, documents) = loaded(MANY, Durability::Written);
    let inc = Update::new().inc("$.score", 1);
    let mut changed = 0;
    one_transaction(&db, |transaction| {
        let documents = transaction.collection(documents.name());
        UniformIds::new(MANY).take(MANY as usize).try_for_each(|id| {
            changed += u64::from(documents.update(black_box(id), &inc)?.changed());
            Ok(())
        })
    });
    assert_eq!(changed, MANY);
    MANY
}

/// The same by a typed get and a put.
fn tx_get_put() -> u64 {
    let (db, documents) = loaded(MANY, Durability::Written);
    one_transaction(&db, |transaction| {
        let documents = transaction.collection(documents.name());
        UniformIds::new(MANY).take(MANY as usize).try_for_each(|id| {
            let found = documents.get(black_box(id))?.expect("it was put there");
            let mut document: Small = found.to_type()?;
            document.score += 1.0;
            documents.put_as(id, &document)
        })
    });
    assert_eq!(documents.len().expect("it was created"), MANY);
    MANY
}

/// One more in every document whose score is not below 0, in one call.
fn update_many() -> u64 {
    let (_db, documents) = loaded(MANY, Durability::Written);
    let (filter, inc) = (not_below_0(), Update::new().inc("$.score", 1));
    let changed = sum_measured([()], |()| documents.update_many(&filter, &inc).expect("room").changed);
    assert_eq!(changed, MANY);
    MANY
}

/// Every document whose score is not below 0, deleted in one call.
fn delete_many() -> u64 {
    let (_db, documents) = loaded(MANY, Durability::Written);
    let filter = not_below_0();
    let changed = sum_measured([()], |()| documents.delete_many(&filter).expect("room").changed);
    assert_eq!(changed, MANY);
    MANY
}

fn not_below_0() -> Filter {
    Filter::parse("@.score >= 0").expect("a filter")
}

/// A field set in a document of so many items.
fn set_in(items: usize) -> u64 {
    let (_db, documents) = loaded(0, Durability::Buffered);
    documents.put_as("large", &large(items)).expect("room");
    let set: Vec<_> = (1..=FEW as i64).map(|count| Update::new().set("$.count", count)).collect();
    let changed =
        sum_measured(&set, |set| u64::from(documents.update("large", set).expect("room").changed()));
    assert_eq!(changed, FEW);
    FEW
}

/// The same by a typed get and a put.
fn get_put_of(items: usize) -> u64 {
    let (_db, documents) = loaded(0, Durability::Buffered);
    documents.put_as("large", &large(items)).expect("room");
    let put = sum_measured(1..=FEW as i64, |count| {
        let found = documents.get("large").expect("undamaged").expect("it was put there");
        let mut document: Large = found.to_type().expect("it is of that type");
        document.count = count;
        documents.put_as("large", &document).map(|()| 1).expect("room")
    });
    assert_eq!(put, FEW);
    FEW
}

fn large(items: usize) -> Large {
    Large { count: 0, items: typed(items as u64) }
}
