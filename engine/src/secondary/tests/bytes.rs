//! Bytes that are entries, and bytes that are none.

use proptest::prelude::*;

use super::reference::{entry_bytes, tuples};
use super::*;
use crate::doc;
use crate::document::DEPTH_MAX;
use crate::document::tests::strategies::keys;

/// What becomes of bytes that are changed, taken out or put in.
fn edited(bytes: &[u8], edits: &[(prop::sample::Index, u8, u8)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (index, edit, byte) in edits {
        match edit {
            0 => bytes.insert(index.index(bytes.len() + 1), *byte),
            1 if !bytes.is_empty() => _ = bytes.remove(index.index(bytes.len())),
            2 if !bytes.is_empty() => bytes.truncate(index.index(bytes.len())),
            _ if !bytes.is_empty() => {
                let at = index.index(bytes.len());
                bytes[at] ^= byte;
            }
            _ => {}
        }
    }
    bytes
}

/// Whether an entry could go on from the cut tuple, by a search for the bytes: the least that is accepted is one that ends
/// something, but within a name or a number.
fn can_go_on(definition: &IndexDefinition, tuple: &[u8], key: &[u8]) -> bool {
    let mut bytes = tuple.to_vec();
    for _ in 0..40 {
        let goes_on = (0..=255).find(|&byte| {
            let entry = [&bytes[..], &[byte], key].concat();
            definition.parse(&entry, EntryLimits { tuple: bytes.len() + 1, key: WIDE.key }).is_ok()
        });
        match goes_on {
            Some(byte) => bytes.push(byte),
            None => return false,
        }
        let entry = [&bytes[..], key].concat();
        if definition.parse(&entry, WIDE).is_ok() {
            return true;
        }
    }
    true
}

/// Bytes are taken for an entry only if they are one.
fn check(definition: &IndexDefinition, entry: &[u8], limits: EntryLimits) -> Result<(), TestCaseError> {
    let outline = definition.outline(entry, limits);
    let Ok(parsed) = definition.parse(entry, limits) else { return Ok(()) };
    prop_assert_eq!(outline.map(|outline| outline.tuple_len), Ok(parsed.tuple_len));
    let mut place = Vec::new();
    crate::document::order_key::encode_key(parsed.key.as_ref(), &mut place);
    prop_assert_eq!(definition.key_of(entry, limits), Ok((parsed.key.clone(), &place[..])));
    let mut key = crate::document::Key::Int(7);
    prop_assert_eq!(outline.and_then(|outline| outline.read_key(entry, &mut key)), Ok(()));
    prop_assert_eq!(key, parsed.key.clone());
    for at in 0..definition.paths().len() {
        let mut components = Vec::new();
        let outline = definition.read(entry, limits, (0, 0), &[], |other| other == at, &mut components);
        let outline = outline.expect("it was parsed");
        if let Ok(Some(start)) = definition.end_of(at, entry, limits) {
            let mut behind = Vec::new();
            let again = definition.read(entry, limits, (at, start), &[], |other| other == at, &mut behind);
            let again = again.expect("it was parsed");
            prop_assert_eq!((again.tuple_len, again.is_long), (outline.tuple_len, outline.is_long));
            prop_assert_eq!(behind, components.clone());
        }
        prop_assert_eq!((outline.tuple_len, outline.is_long), (parsed.tuple_len, parsed.tuple.is_none()));
        if let Some(tuple) = &parsed.tuple
            && !outline.has_marks(entry).expect("it was parsed")
        {
            prop_assert_eq!(&components[at], &tuple[at]);
        }
    }
    match parsed.tuple {
        Some(tuple) => {
            prop_assert_eq!(entry_bytes(definition, &tuple, &parsed.key, limits.tuple), entry);
        }
        None => {
            prop_assert_eq!(parsed.tuple_len, limits.tuple);
            let (tuple, key) = entry.split_at(parsed.tuple_len);
            prop_assert!(can_go_on(definition, tuple, key), "{tuple:02x?} begins no tuple");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    //= spec/index.md#i-7-2-entries-from-bytes
    //= type=test
    //# A reader MUST refuse bytes that are not those of an entry of the definition: a component that is no order key, a
    //# key that is none (E-5.6), a mark above 2, a mark of a number that it does not fit, more marks than numbers, a zero
    //# that ends them.
    #[test]
    fn only_entries_are_read(
        (definition, document, key) in (definitions(), documents(), keys()),
        edits in vec((any::<prop::sample::Index>(), 0u8..5, any::<u8>()), 0..4),
        limit in prop_oneof![Just(WIDE.tuple), 0usize..40],
    ) {
        let limits = EntryLimits { tuple: limit, key: WIDE.key };
        for tuple in tuples(&definition, &document) {
            let entry = entry_bytes(&definition, &tuple, &key, limit);
            prop_assert!(definition.parse(&entry, limits).is_ok());
            check(&definition, &edited(&entry, &edits), limits)?;
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(
        definition in definitions(),
        bytes in vec(prop_oneof![any::<u8>(), 0u8..9, 0xf7u8..], 0..60),
        limit in prop_oneof![Just(WIDE.tuple), 0usize..40],
    ) {
        check(&definition, &bytes, EntryLimits { tuple: limit, key: WIDE.key })?;
    }
}

#[test]
fn marks_that_numbers_do_not_fit_are_refused() {
    let definition = index(&["$.a"]);
    let entry = |value: Value, marks: &[u8]| {
        let tuple = vec![Some(value)];
        let mut bytes = entry_bytes(&definition, &tuple, &Key::Int(7), WIDE.tuple);
        bytes.extend_from_slice(marks);
        definition.parse(&bytes, WIDE).map(|entry| entry.tuple.expect("short").remove(0).expect("a value"))
    };
    assert_eq!(entry(1.into(), &[1]), Ok(Value::Float(1.0)));
    assert_eq!(entry(0.into(), &[2]), Ok(Value::Float(-0.0)));
    assert_eq!(
        entry(Value::Array(vec![1.into(), 0.into()]), &[0, 2]),
        Ok(Value::Array(vec![1.into(), Value::Float(-0.0)]))
    );
    let no_fit = Err("a mark that its number does not fit");
    assert_eq!(entry(1.into(), &[2]), no_fit, "-0.0 is not at the place of 1");
    assert_eq!(entry(1.into(), &[3]), no_fit, "marks go up to 2");
    assert_eq!(entry(Value::Float(0.5), &[1]), no_fit, "no int is at the place of 0.5");
    assert_eq!(entry(Value::Float(f64::NAN), &[1]), no_fit, "nor of NaN");
    assert_eq!(entry(((1i64 << 53) + 1).into(), &[1]), no_fit, "no float is at the place of 2^53 + 1");
    assert_eq!(entry(1.into(), &[0]), Err("a zero that ends the marks"));
    assert_eq!(entry(1.into(), &[1, 1]), Err("more marks than numbers"));
    assert_eq!(entry("a".into(), &[1]), Err("more marks than numbers"));
}

#[test]
fn what_no_document_gives_is_refused() {
    let definition = index(&["$.a", "$.b"]);
    let key = [5, b'k', 0, 0];
    let refused = |tuple: &[u8]| definition.parse(&[tuple, &key].concat(), WIDE).expect_err("no entry");
    assert_eq!(refused(&[9, 1]), "a byte with which no order key begins");
    assert_eq!(refused(&[5, 0xff, 0, 0, 1]), "text that is not UTF-8");
    assert_eq!(refused(&[5, 0, 7, 0, 0, 1]), "a zero that is neither escaped nor an end");
    assert_eq!(refused(&[4, 0x7f, 255, 255, 255, 255, 255, 255, 255, 1]), "bytes that are no number");
    assert_eq!(refused(&[8, 0x61, b'b', 1, 0x61, b'a', 1, 0, 1]), "names out of order");
    assert_eq!(refused(&[8, 0x78, 1, b'a', 1, 0, 1]), "no name where one is due");
    assert_eq!(definition.parse(&[1], WIDE), Err("the entry ends within its tuple"));
    assert_eq!(definition.parse(&[1, 1, 1], WIDE), Err("a key is an int, text or bytes"));
    assert_eq!(definition.parse(&[1, 1], WIDE), Err("the order key ends early"));
    let long_key = [&[1, 1, 5][..], &[b'k'; 1025], &[0, 0]].concat();
    assert_eq!(definition.parse(&long_key, WIDE), Err("a key that is too long"));
    let narrow = EntryLimits { tuple: 100, key: 3 };
    let too_long = Err("a key that is too long for an index of this store");
    assert_eq!(definition.parse(&[&[1, 1][..], &key].concat(), narrow), too_long);
    let cut = EntryLimits { tuple: 1, key: 100 };
    assert_eq!(definition.parse(&[&[1][..], &key, &[1]].concat(), cut), Err("marks of a long tuple"));
    let sparse = definition.clone().sparse();
    assert_eq!(
        sparse.parse(&[&[0, 0][..], &key].concat(), WIDE),
        Err("a tuple of nothing in a sparse index")
    );
}

#[test]
fn values_nest_as_deep_as_a_document_allows() {
    let definition = index(&["$.a"]);
    let nested = |levels: usize| (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    let deepest = doc! { "a": nested(DEPTH_MAX - 1) };
    assert_eq!(tuples_of(&definition, &deepest), [vec![Some(nested(DEPTH_MAX - 1))]]);
    let deeper = entries_within(&definition, &doc! { "a": nested(DEPTH_MAX) }, &Key::Int(1), WIDE);
    assert_eq!(definition.parse(&deeper[0], WIDE), Err("arrays and objects that nest too deep"));
    assert_eq!(definition.outline(&deeper[0], WIDE), Err("arrays and objects that nest too deep"));
}
