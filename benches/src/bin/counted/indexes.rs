//! Look-ups by an index, and queries that find few documents.

use holotype::query::{Expression, Filter};
use holotype::{Collection, Db, Document, Durability, IndexDefinition, Key, Result, doc};

use super::{CALLS, LOADED, UniformIds, open_on, sum_measured, sum_of};
use holotype_benches::fixture::documents_of;

/// The paths of indexes. A call is one look-up, or one key or document of a range or a sort.
pub(super) const PATHS: [super::Path; 7] = [
    ("index_keys", keys),
    ("index_documents", documents),
    ("index_range", range),
    ("index_range_documents", range_documents),
    ("query_in_order", query_in_order),
    ("query_by_index", query_by_index),
    ("query_by_key", query_by_key),
];

/// Keys or documents in a range, or documents of a sort.
const RANGE: u64 = 100;

/// A text of sixteen bytes, in no order.
fn text(id: i64) -> String {
    format!("{:016x}", (id as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// Documents with an index on a text.
fn indexed() -> (Db, Collection) {
    let storage = std::sync::Arc::default();
    let db = open_on(&storage, Durability::Buffered);
    let with_text = |id: i64| -> (i64, Document) {
        (id, doc! { "id": id, "text": text(id), "score": 87, "active": true })
    };
    documents_of(&db).put_many((1..=LOADED as i64).map(with_text)).expect("room");
    let by_text = IndexDefinition::new("by_text", ["$.text"]).expect("a path");
    documents_of(&db).create_index(by_text).expect("a new name");
    db.close().expect("nothing went wrong before");
    let db = open_on(&storage, Durability::Buffered);
    let documents = documents_of(&db);
    let warm = documents.index("by_text").range(..).expect("it was made").documents();
    assert_eq!(warm.filter(Result::is_ok).count() as u64, LOADED);
    (db, documents)
}

/// Ids, and the texts of their documents.
fn wanted() -> (Vec<i64>, Vec<String>) {
    let ids: Vec<i64> = UniformIds::new(LOADED).take(CALLS as usize).collect();
    let texts = ids.iter().map(|id| text(*id)).collect();
    (ids, texts)
}

fn id_of(key: &Result<Key>) -> u64 {
    match key {
        Ok(Key::Int(id)) => id.unsigned_abs(),
        _ => panic!("an undamaged entry of an id"),
    }
}

fn keys() -> u64 {
    let ((_db, documents), (ids, texts)) = (indexed(), wanted());
    let sum = sum_measured(texts, |text| {
        let found = documents.index("by_text").get(text).expect("it was made").keys();
        found.map(|key| id_of(&key)).sum()
    });
    assert_eq!(sum, sum_of(ids.into_iter()));
    CALLS
}

fn documents() -> u64 {
    let ((_db, documents), (ids, texts)) = (indexed(), wanted());
    let sum = sum_measured(texts, |text| {
        let found = documents.index("by_text").get(text).expect("it was made").documents();
        found.map(|document| super::field(&document.expect("undamaged"))).sum()
    });
    assert_eq!(sum, sum_of(ids.into_iter()));
    CALLS
}

/// Ranges of a hundred keys, which begin where a text does.
fn range() -> u64 {
    let ((_db, documents), (_, texts)) = (indexed(), wanted());
    // The others stay: who gives their memory back, the allocator makes pay for it within what is counted.
    let few: Vec<String> = texts.iter().filter(|text| text.as_str() < "8").take(40).cloned().collect();
    let calls = few.len() as u64 * RANGE;
    let found = sum_measured(few, |text| {
        let found = documents.index("by_text").range(text..).expect("it was made").keys();
        found.take(RANGE as usize).map(|key| u64::from(id_of(&key) > 0)).sum()
    });
    assert_eq!(found, calls);
    calls
}

/// How often the first documents in the order of an index are asked for, by a range or by a sort.
const SORTS: u64 = 40;

/// The sum of the ids of the first documents by the text.
fn sum_of_first() -> u64 {
    let mut all: Vec<(String, i64)> = (1..=LOADED as i64).map(|id| (text(id), id)).collect();
    all.sort();
    SORTS * sum_of(all.into_iter().take(RANGE as usize).map(|(_, id)| id))
}

/// The first hundred documents of the index's own range.
fn range_documents() -> u64 {
    let (_db, documents) = indexed();
    let sum = sum_measured(0..SORTS, |_| {
        let found = documents.index("by_text").range(..).expect("it was made").documents();
        found.take(RANGE as usize).map(|document| super::field(&document.expect("undamaged"))).sum()
    });
    assert_eq!(sum, sum_of_first());
    SORTS * RANGE
}

/// The first hundred documents of a sort that the index has the order of.
fn query_in_order() -> u64 {
    let (_db, documents) = indexed();
    let by_text = Expression::parse("$.text").expect("a path");
    let sum = sum_measured(0..SORTS, |_| {
        let found = documents.find(..).sort(&by_text).limit(RANGE).run().expect("nothing to refuse");
        found.map(|document| super::field(&document.expect("undamaged"))).sum()
    });
    assert_eq!(sum, sum_of_first());
    SORTS * RANGE
}

fn query_by_index() -> u64 {
    let ((_db, documents), (ids, texts)) = (indexed(), wanted());
    let filter = Filter::parse("@.text == arg('t')").expect("a filter");
    let sum = sum_measured(texts, |text| {
        let found = documents.find(&filter).bind("t", text).run().expect("bound");
        found.map(|document| super::field(&document.expect("undamaged"))).sum()
    });
    assert_eq!(sum, sum_of(ids.into_iter()));
    CALLS
}

/// A query that names a key, beside an index that is of no use to it.
fn query_by_key() -> u64 {
    let ((_db, documents), (ids, _)) = (indexed(), wanted());
    let filter = Filter::parse("key() == arg('k')").expect("a filter");
    let sum = sum_measured(ids.iter().copied(), |id| {
        let found = documents.find(&filter).bind("k", id).run().expect("bound");
        found.map(|document| super::field(&document.expect("undamaged"))).sum()
    });
    assert_eq!(sum, sum_of(ids.into_iter()));
    CALLS
}
