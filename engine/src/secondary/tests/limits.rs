//! Tuples that are long, keys that are, and documents with many entries.

use proptest::prelude::*;

use super::reference::{entry_bytes, sorted, tuple_bytes, tuples};
use super::*;
use crate::document::KEY_LEN_MAX;
use crate::document::tests::strategies::keys;
use crate::error::Error;
use crate::{KeyRef, doc};

fn narrow(tuple: usize) -> EntryLimits {
    EntryLimits { tuple, key: WIDE.key }
}

proptest! {
    // spec: I-2.6, I-7.1
    #[test]
    fn a_long_tuple_is_cut_and_taken_from_the_document(
        definition in definitions(),
        document in documents(),
        key in keys(),
        limit in 0usize..60,
    ) {
        let limits = narrow(limit);
        let tuples = sorted(&definition, tuples(&definition, &document));
        let entries = entries_within(&definition, &document, &key, limits);
        let mut expected: Vec<_> =
            tuples.iter().map(|tuple| entry_bytes(&definition, tuple, &key, limit)).collect();
        expected.sort();
        expected.dedup();
        prop_assert_eq!(&entries, &expected);
        for tuple in tuples {
            let entry = entry_bytes(&definition, &tuple, &key, limit);
            let is_long = tuple_bytes(&definition, &tuple).len() > limit;
            let outline = definition.outline(&entry, limits).expect("an entry");
            prop_assert_eq!(outline.is_long, is_long);
            let parsed = definition.parse(&entry, limits).expect("an entry");
            prop_assert_eq!(parsed.key, key.clone());
            prop_assert_eq!(parsed.tuple_len, outline.tuple_len);
            prop_assert_eq!(parsed.tuple_len, tuple_bytes(&definition, &tuple).len().min(limit));
            if is_long {
                prop_assert_eq!(parsed.tuple, None);
                // What a range of the whole tuple begins with is cut alike.
                let beginning = definition.beginning(&tuple, None, limits).expect("as many values as paths");
                prop_assert!(beginning.cut && entry.starts_with(&beginning.bytes));
            } else {
                prop_assert_eq!(outline.has_nothing, tuple.iter().any(Option::is_none));
                prop_assert_eq!(parsed.tuple, Some(tuple));
            }
        }
    }
}

#[test]
fn the_tuple_limit_is_a_third_of_the_longest_entry() {
    assert_eq!(EntryLimits::new(3_000), EntryLimits { tuple: 1_000, key: 3_000 - 1_000 - 111 });
    assert_eq!(EntryLimits::new(8_000), EntryLimits { tuple: 1_024, key: 8_000 - 1_024 - 113 });
}

//= spec/index.md#i-2-6-long-tuples
//= type=test
//# In a collection with an index, a write under a key that does not fit into an entry beside the longest tuple MUST be
//# refused as `KeyTooLong`.
#[test]
fn a_key_that_fits_beside_no_tuple_is_refused() {
    let definition = index(&["$.a"]);
    let limits = EntryLimits { tuple: 100, key: 200 };
    let bytes = doc! { "a": 1 }.encode();
    let mut list = EntryList::default();
    let mut entries =
        |key: KeyRef<'_>| definition.entries(RawDocument::from_verified(&bytes), key, limits, &mut list);
    let fits = "k".repeat(197);
    entries(KeyRef::Text(&fits)).expect("a key of 200 bytes in an entry");
    let beyond = fits.clone() + "k";
    let refused = entries(KeyRef::Text(&beyond));
    assert!(matches!(refused, Err(Error::KeyTooLong { len: 198, max: 197 })), "{refused:?}");
    // A zero takes two bytes.
    let zero = fits.replacen('k', "\0", 1);
    let refused = entries(KeyRef::Text(&zero));
    assert!(matches!(refused, Err(Error::KeyTooLong { len: 197, max: 196 })), "{refused:?}");
    entries(KeyRef::Text(&zero[..196])).expect("a key of 200 bytes in an entry");
    // Pages of 16,384 bytes have room for each key: the longest, of zeros alone, takes two bytes for each and three more.
    let wide = EntryLimits::new(4_096);
    let zeros = [0; KEY_LEN_MAX];
    definition
        .entries(RawDocument::from_verified(&bytes), KeyRef::Bytes(&zeros), wide, &mut list)
        .expect("room for it");
    let beyond = [0; KEY_LEN_MAX + 1];
    let refused =
        definition.entries(RawDocument::from_verified(&bytes), KeyRef::Bytes(&beyond), wide, &mut list);
    assert!(matches!(refused, Err(Error::KeyTooLong { max: KEY_LEN_MAX, .. })), "{refused:?}");
}

//= spec/index.md#i-2-7-number-of-entries
//= type=test
//# A write of a document that gives an index more than 1,048,576 entries MUST be refused as `LimitReached`.
#[test]
fn a_document_gives_an_index_a_million_entries_and_no_more() {
    let definition = index(&["$.n[*]"]);
    let mut list = EntryList::default();
    let mut entries = |items: Vec<Value>| {
        let bytes = doc! { "n": Value::Array(items) }.encode();
        let result = definition.entries(RawDocument::from_verified(&bytes), KeyRef::Int(1), WIDE, &mut list);
        result.map(|()| list.len())
    };
    let most = 1_048_576;
    assert_eq!(entries((0..most).map(Value::Int).collect()).expect("as many as can be"), 1_048_576);
    // Items that are equal are one.
    let twice = (0..most).chain(0..most).map(Value::Int).collect();
    assert_eq!(entries(twice).expect("as many as can be"), 1_048_576);
    let beyond = entries((0..=most).map(Value::Int).collect());
    assert!(matches!(beyond, Err(Error::LimitReached { .. })), "{beyond:?}");
    assert_eq!(entries(vec![Value::Null]).expect("after one that was refused"), 1);
}
