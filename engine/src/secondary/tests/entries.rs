//! Which entries a document has, and in which order.

use proptest::prelude::*;

use super::reference::{entry_bytes, entry_cmp, sorted, tuples};
use super::*;
use crate::doc;
use crate::document::tests::strategies::keys;
use crate::error::Error;
use crate::secondary::{Beginning, Difference};

fn some<const N: usize>(values: [Value; N]) -> Vec<Option<Value>> {
    values.map(Some).to_vec()
}

fn array(items: impl IntoIterator<Item = Value>) -> Value {
    Value::Array(items.into_iter().collect())
}

proptest! {
    //= spec/index.md#i-2-4-order-of-entries
    //= type=test
    //# Entries MUST be ordered by their tuples, the first component that does not stand at the same place deciding;
    //# then by their keys; then by the *marks* of the numbers in their tuples.
    //= spec/index.md#i-7-1-entry-bytes
    //= type=test
    //# The bytewise order of two entries of an index MUST be their order (I-2.4).
    #[test]
    fn entries_are_ordered_as_their_tuples_keys_and_marks(
        (a, b, c) in (crowded(), crowded(), crowded()),
        (one_key, other_key) in (keys(), keys()),
        (first, second) in (any::<bool>(), any::<bool>()),
        same in any::<bool>(),
    ) {
        let minus = |descending| if descending { "-" } else { "" };
        let paths = [format!("{}$.a", minus(first)), format!("{}$.b", minus(second))];
        let definition = IndexDefinition::new("i", &paths).expect("a definition");
        let other_key = if same { one_key.clone() } else { other_key };
        // The same up to the value in question, nothing among them, and the other way round.
        let documents = [
            doc! { "a": a.clone(), "b": b.clone() },
            doc! { "a": a.clone(), "b": c.clone() },
            doc! { "a": a },
            doc! { "b": b.clone() },
            doc! { "a": c, "b": b },
        ];
        let with_tuples = documents.iter().map(|document| {
            (tuples(&definition, document).remove(0), document)
        });
        for (one, one_document) in with_tuples.clone() {
            for (other, other_document) in with_tuples.clone() {
                let bytes = entries_within(&definition, one_document, &one_key, WIDE);
                let other_bytes = entries_within(&definition, other_document, &other_key, WIDE);
                prop_assert_eq!(
                    bytes.cmp(&other_bytes),
                    entry_cmp(&definition, (&one, &one_key), (&other, &other_key))
                );
            }
        }
    }

    // spec: I-2.1, I-2.2, I-2.3
    //= spec/index.md#i-2-5-exactness
    //= type=test
    //# An entry MUST give back the values of its tuple, equal to those of the document.
    #[test]
    fn entries_give_back_the_tuples_of_their_document(
        definition in definitions(),
        document in documents(),
        key in keys(),
    ) {
        let expected = sorted(&definition, tuples(&definition, &document));
        let entries = entries_within(&definition, &document, &key, WIDE);
        let parsed: Vec<_> =
            entries.iter().map(|entry| definition.parse(entry, WIDE).expect("an entry")).collect();
        for entry in &parsed {
            prop_assert_eq!(&entry.key, &key);
        }
        let values: Vec<_> = parsed.into_iter().map(|entry| entry.tuple.expect("a short tuple")).collect();
        prop_assert_eq!(&values, &expected);
        let bytes: Vec<_> =
            expected.iter().map(|tuple| entry_bytes(&definition, tuple, &key, WIDE.tuple)).collect();
        prop_assert_eq!(entries, bytes);
        let raw = document.encode();
        let whole = definition.tuples(RawDocument::from_verified(&raw)).expect("tuples");
        prop_assert_eq!(whole, expected);
    }

    #[test]
    fn documents_that_look_the_same_to_an_index_have_the_same_entries(
        definition in definitions(),
        before in documents(),
        after in documents(),
        (leaves_a, leaves_b) in (any::<bool>(), any::<bool>()),
    ) {
        let (mut old, mut new) = (before.clone(), after);
        for (name, leaves) in [("a", leaves_a), ("b", leaves_b)] {
            if leaves {
                new.insert(name, before.get(name).expect("it has both").clone());
            }
        }
        let see_the_same = |old: &Document, new: &Document| {
            let (old, new) = (old.encode(), new.encode());
            definition.sees_the_same(RawDocument::from_verified(&old), RawDocument::from_verified(&new))
        };
        if see_the_same(&old, &new) {
            let of = |document| entries_within(&definition, document, &Key::Int(1), WIDE);
            prop_assert_eq!(of(&old), of(&new));
        }
        // What no path begins with does not matter.
        old.insert("c", 1);
        new = old.clone();
        new.insert("c", 2);
        let looks_at_all = definition
            .paths()
            .any(|(path, _)| path.segments().first().is_none_or(|step| step.singular().is_none()));
        prop_assert!(see_the_same(&old, &new) || looks_at_all);
    }

    #[test]
    fn the_difference_of_two_lists_is_what_each_has_alone(
        definition in definitions(),
        before in documents(),
        after in documents(),
    ) {
        let (old, new) = (before.encode(), after.encode());
        let (mut here, mut there) = (EntryList::default(), EntryList::default());
        for (bytes, list) in [(&old, &mut here), (&new, &mut there)] {
            definition.entries(RawDocument::from_verified(bytes), Key::Int(1).as_ref(), WIDE, list).expect("entries");
        }
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        for difference in here.diff(&there) {
            match difference {
                Difference::Here(entry) => gone.push(entry),
                Difference::There(entry) => come.push(entry),
            }
        }
        let only = |a: &EntryList, b: &EntryList| -> Vec<Vec<u8>> {
            let has = |entry: &[u8]| b.iter().any(|other| other == entry);
            a.iter().filter(|entry| !has(entry)).map(<[u8]>::to_vec).collect()
        };
        prop_assert_eq!(gone, only(&here, &there));
        prop_assert_eq!(come, only(&there, &here));
    }

    // spec: I-6.1
    #[test]
    fn entries_begin_as_their_values_say(
        definition in definitions(),
        documents in (documents(), documents()),
        count in 0usize..4,
    ) {
        let count = count.min(definition.paths().len());
        let all = [tuples(&definition, &documents.0), tuples(&definition, &documents.1)].concat();
        for one in &all {
            let beginning = definition.beginning(&one[..count], None, WIDE);
            let Beginning { bytes, cut } = beginning.expect("no more values than paths");
            prop_assert!(!cut);
            for other in &all {
                let begins = one[..count].iter().zip(other).all(|(one, other)| match (one, other) {
                    (Some(one), Some(other)) => one.order_cmp(other).is_eq(),
                    (one, other) => one == other,
                });
                let entry = entry_bytes(&definition, other, &Key::Int(1), WIDE.tuple);
                prop_assert_eq!(entry.starts_with(&bytes), begins);
            }
        }
    }

    // spec: I-6.1
    #[test]
    fn entries_of_texts_begin_as_the_texts_do(
        (text, start) in (texts(), texts()),
        cut in any::<prop::sample::Index>(),
        own in any::<bool>(),
        descending in any::<bool>(),
    ) {
        let start = if own { text.chars().take(cut.index(text.len() + 1)).collect() } else { start };
        let definition = index(if descending { &["$.n", "-$.t"] } else { &["$.n", "$.t"] });
        let entries = entries_within(&definition, &doc! { "n": 1, "t": text.as_str() }, &Key::Int(1), WIDE);
        let beginning = definition.beginning(&[Some(1.into())], Some(&start), WIDE).expect("two values");
        prop_assert_eq!(entries[0].starts_with(&beginning.bytes), text.starts_with(&start));
    }
}

#[test]
fn a_missing_field_is_nothing_and_null_is_a_value() {
    let definition = index(&["$.a", "$.b"]);
    assert_eq!(tuples_of(&definition, &doc! { "b": null }), [vec![None, Some(Value::Null)]]);
    assert_eq!(tuples_of(&definition, &doc! { "c": 1 }), [vec![None, None]]);
    let nothing = entries_within(&definition, &doc! { "b": 0 }, &Key::Int(9), WIDE);
    let null = entries_within(&definition, &doc! { "a": null }, &Key::Int(1), WIDE);
    assert!(nothing < null, "nothing comes before every value");
    let descending = index(&["-$.a", "$.b"]);
    let nothing = entries_within(&descending, &doc! { "b": 0 }, &Key::Int(1), WIDE);
    let null = entries_within(&descending, &doc! { "a": null }, &Key::Int(9), WIDE);
    assert!(null < nothing);
}

#[test]
fn a_wildcard_gives_an_entry_for_each_item_and_each_field() {
    let tags = index(&["$.tags[*]"]);
    let expected: Vec<_> = ["a", "b"].map(|tag| some([tag.into()])).to_vec();
    assert_eq!(tuples_of(&tags, &doc! { "tags": ["b", "a", "b"] }), expected);
    assert_eq!(tuples_of(&tags, &doc! { "tags": { "x": "b", "y": "a" } }), expected);
    for none in [doc! {}, doc! { "tags": [] }, doc! { "tags": "a" }] {
        assert_eq!(tuples_of(&tags, &none), [vec![None]]);
        assert_eq!(tuples_of(&tags.clone().sparse(), &none), Vec::<Vec<_>>::new());
    }
}

#[test]
fn paths_that_fan_out_alike_take_all_from_one_item() {
    let lines = index(&["$.orders[*].lines[*].sku", "-$.orders[*].lines[*].n", "$.customer"]);
    let document = doc! {
        "customer": "ada",
        "orders": [
            { "lines": [{ "sku": "x", "n": 1 }, { "sku": "y" }] },
            { "lines": [{ "n": 2 }, { "other": 3 }] },
            { "note": "no lines" },
        ],
    };
    let ada = || Some(Value::from("ada"));
    let text = |text: &str| Some(Value::from(text));
    assert_eq!(
        tuples_of(&lines, &document),
        [
            vec![None, Some(2.into()), ada()],
            vec![text("x"), Some(1.into()), ada()],
            vec![text("y"), None, ada()],
        ]
    );
    // Where no item gives a value there is one entry for the rest.
    let none = doc! { "customer": "ada", "orders": [{ "lines": [{ "other": 3 }] }] };
    assert_eq!(tuples_of(&lines, &none), [vec![None, None, ada()]]);
    assert_eq!(tuples_of(&lines.sparse(), &none), [vec![None, None, ada()]]);
}

#[test]
fn an_item_stands_beside_what_is_in_it() {
    let definition = index(&["$.tags[*].x", "$.tags[*]"]);
    let tag = Value::from(doc! { "x": 1 });
    assert_eq!(
        tuples_of(&definition, &doc! { "tags": [{ "x": 1 }, 2] }),
        [vec![None, Some(2.into())], vec![Some(1.into()), Some(tag)],]
    );
}

#[test]
fn numbers_at_one_place_are_entries_of_their_own() {
    let definition = index(&["$.n[*]"]);
    let numbers = [0.into(), 1.into(), Value::Float(1.0), Value::Float(0.0), Value::Float(-0.0), 1.into()];
    let expected = [0.into(), Value::Float(0.0), Value::Float(-0.0), 1.into(), Value::Float(1.0)];
    let document = doc! { "n": array(numbers) };
    assert_eq!(tuples_of(&definition, &document), expected.map(|number| some([number])));
}

#[test]
fn more_paths_than_one_pass_finds_are_followed_too() {
    let names: Vec<String> = (0..16).map(|number| format!("f{number}")).collect();
    let definition =
        IndexDefinition::new("i", names.iter().map(|name| format!("$.{name}"))).expect("16 paths");
    let document: Document =
        names.iter().enumerate().map(|(number, name)| (name.as_str(), number as i64)).collect();
    let expected: Vec<_> = (0..16).map(|number| Some(Value::Int(number))).collect();
    assert_eq!(tuples_of(&definition, &document), [expected]);
}

#[test]
fn a_range_has_no_more_values_than_its_index_paths() {
    let definition = index(&["$.a", "$.b"]);
    let refused = definition.beginning(&[None, None, None], None, WIDE);
    assert!(matches!(&refused, Err(Error::InvalidIndex { index, .. }) if index == "i"), "{refused:?}");
    let refused = definition.beginning(&[None, None], Some(""), WIDE);
    assert!(matches!(refused, Err(Error::InvalidIndex { .. })), "{refused:?}");
    assert!(definition.beginning(&[], None, WIDE).expect("no values are all tuples").bytes.is_empty());
}

#[test]
fn a_list_serves_one_document_after_the_other() {
    let definition = index(&["$.a"]);
    let mut list = EntryList::default();
    for (document, len) in [(doc! { "a": 1 }, 1), (doc! { "a": 2 }, 1)] {
        let bytes = document.encode();
        definition
            .entries(RawDocument::from_verified(&bytes), Key::Int(1).as_ref(), WIDE, &mut list)
            .expect("entries");
        assert_eq!(list.len(), len);
        let expected = entries_within(&definition, &document, &Key::Int(1), WIDE);
        assert!(list.iter().eq(expected.iter().map(Vec::as_slice)));
    }
    list.clear();
    assert!(list.is_empty());
}

//= spec/index.md#i-1-5-functions
//= type=test
//# Under a function, a path MUST give what the function gives of the value that the path alone would give,
//# and nothing where that is nothing.
#[test]
fn a_function_of_a_path_gives_what_it_gives_of_the_value() {
    let tuples = |path: &str, document: Document| tuples_of(&index(&[path]), &document);
    let one = |value: Value| vec![vec![Some(value)]];
    assert_eq!(tuples("fold($.n)", doc! { "n": "\u{c4}B\u{212a}" }), one("\u{e4}bk".into()));
    assert_eq!(tuples("-lower($.n)", doc! { "n": "\u{c4}B" }), one("\u{c4}b".into()));
    assert_eq!(tuples("time($.n)", doc! { "n": "1970-01-01T00:00:01Z" }), one(1000.into()));
    assert_eq!(tuples("length($.n)", doc! { "n": [1, 2] }), one(2.into()));
    assert_eq!(tuples("fold($.n)", doc! { "n": 1 }), [[None]]);
    let items = doc! { "n": ["B", 1, "b", "A"] };
    assert_eq!(tuples("fold($.n[*])", items), [[Some(Value::from("a"))], [Some(Value::from("b"))]]);
    assert!(tuples_of(&index(&["time($.n)"]).sparse(), &doc! { "n": "then" }).is_empty());
}

//= spec/index.md#i-2-8-partial-indexes
//= type=test
//# A partial index MUST have no entry of a document that its filter does not admit.
#[test]
fn a_partial_index_has_no_entry_of_what_its_filter_does_not_admit() {
    let by_n = index(&["$.n[*]"]).filtered("@.n[?@ > 1] && $.m").expect("a filter");
    let documents = [doc! { "n": [1, 2], "m": null }, doc! { "n": [1], "m": 1 }, doc! { "n": [2] }];
    let counts = documents.map(|document| tuples_of(&by_n, &document).len());
    assert_eq!(counts, [2, 0, 0]);
}
