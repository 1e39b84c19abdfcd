//! The short way through a record answers what the long way does, for the records that it takes, and nothing for all others.

use super::super::Lsn;
use super::super::checksum::crc_append;
use super::super::record::{Kind, PutParts, RecordParts, Version, parse, put_of, shape_of, version_of};
use super::for_every_bit_flip;
use super::record::{any_list, any_value, replaced};
use crate::document::{KEY_LEN_MAX, Key, KeyRef};
use proptest::prelude::*;

const SEED: u32 = 7;
const FLAGS: usize = 5;

/// What the long way says of a put of `key` in `collection`.
fn by_parsing(bytes: &[u8], collection: u32, key: KeyRef<'_>) -> Option<PutParts> {
    let record = parse(bytes, SEED).ok()?;
    let is_put = matches!(record.kind, Kind::Put | Kind::RelocatedPut);
    // All but the version that it replaces.
    let is_plain = bytes[FLAGS] & !1 == 0;
    if !is_put || !is_plain || record.collection != collection || record.key != Some(key) {
        return None;
    }
    let start = |part: &[u8]| (part.as_ptr() as usize - bytes.as_ptr() as usize) as u32;
    let body = start(record.body);
    Some(PutParts {
        version: record.own_lsn.map_or(Version::Commit(record.commit), Version::Own),
        key: start(record.key_bytes)..body,
        body: body..record.len as u32,
    })
}

/// Asks for the record's own collection and key, and for others, both ways; and again once it is known what the record is. Returns how
/// often there was a put.
fn compare(bytes: &[u8], keys: &[KeyRef<'_>]) -> usize {
    let record = parse(bytes, SEED).ok();
    let own = record.and_then(|record| record.key);
    let collection = record.map_or(1, |record| record.collection);
    let known = own.and_then(|key| put_of(bytes, SEED, collection, key));
    assert_eq!(known.as_ref().map(|put| put.version), known.as_ref().and_then(|_| version_of(bytes)));
    let (mut found, shape) = (0, shape_of(bytes, SEED));
    for key in own.into_iter().chain(keys.iter().copied()) {
        for collection in [collection, collection ^ 1] {
            let expected = by_parsing(bytes, collection, key);
            found += usize::from(expected.is_some());
            assert_eq!(put_of(bytes, SEED, collection, key), expected, "{key:?} in {collection}");
            let again = shape.and_then(|shape| shape.key_and_body(bytes, collection, key));
            // Quickly, where some bytes follow.
            let bytes = &[bytes, &[0; 80]].concat()[..];
            let body_start = expected.as_ref().map(|put| put.body.start as usize);
            assert_eq!(again, expected.map(|put| (put.key, put.body)), "{key:?} in {collection}, again");
            let quick = match key {
                KeyRef::Int(int) => shape.and_then(|shape| shape.body_of_int(bytes, collection, int)),
                KeyRef::Text(text) => {
                    shape.and_then(|shape| shape.body_of_text(bytes, collection, text.as_bytes()))
                }
                KeyRef::Bytes(_) => None,
            };
            assert!(quick.is_none() || quick == body_start, "{key:?} in {collection}, quickly");
            let is_quick = match key {
                KeyRef::Int(int) => (0x100..1 << 32).contains(&int),
                KeyRef::Text(text) => text.len() < 24,
                KeyRef::Bytes(_) => false,
            };
            assert!(
                !is_quick || collection >= 0x80 || quick == body_start,
                "{key:?} in {collection}, not quickly"
            );
        }
    }
    found
}

fn any_key() -> impl Strategy<Value = Key> {
    // Of each length that a head can have, at its ends too.
    let int = prop_oneof![
        any::<i64>(),
        (0_u32..63, -1_i64..=1).prop_map(|(bit, off)| (1 << bit) + off),
        (0_u32..63, -1_i64..=1).prop_map(|(bit, off)| -(1 << bit) + off),
        -30_i64..30,
        -260_i64..260,
    ];
    prop_oneof![
        int.prop_map(Key::Int),
        ".{0,40}".prop_map(|text| Key::Text(text.as_str().into())),
        proptest::collection::vec(any::<u8>(), 0..300).prop_map(|bytes| Key::Bytes(bytes.into())),
    ]
}

proptest! {
    #[test]
    fn a_put_that_was_written_is_found_and_no_flipped_bit_of_it_is(
        (key, other) in (any_key(), any_key()),
        (collection, commit, own) in any::<(u32, u32, u64)>(),
        is_moved in any::<bool>(),
        replaces in proptest::option::of(any_value()),
        (list, body) in (any_list(), proptest::collection::vec(any::<u8>(), 0..20)),
    ) {
        let written = RecordParts {
            kind: if is_moved { Kind::RelocatedPut } else { Kind::Put },
            collection,
            commit,
            own_lsn: is_moved.then_some(Lsn(own)),
            replaces: replaces.or(is_moved.then_some(4)).map(|value| replaced(value, &list)),
            expiry: None,
            chunked: false,
            key: Some(key.as_ref()),
            body: &body,
        };
        let mut bytes = Vec::new();
        written.encode(SEED, &mut bytes);
        prop_assert!(compare(&bytes, &[other.as_ref()]) > 0);
        let put = put_of(&bytes, SEED, collection, key.as_ref()).expect("it was written");
        prop_assert_eq!(&bytes[put.body.start as usize..put.body.end as usize], &body[..]);
        for_every_bit_flip(&bytes, |_, flipped| {
            assert_eq!(put_of(flipped, SEED, collection, key.as_ref()), None);
        });
    }

    #[test]
    fn any_fields_under_a_checksum_that_holds_are_read_as_the_long_way_reads_them(
        kind in prop_oneof![4 => Just(1_u8), 4 => Just(3), 1 => 0_u8..=10],
        flags in prop_oneof![4 => Just(0_u8), 4 => Just(1), 1 => any::<u8>()],
        payload in proptest::collection::vec(prop_oneof![4 => 0_u8..4, 2 => 0x18_u8..0x1c, 1 => any::<u8>()], 0..40),
        key in any_key(),
    ) {
        let mut rest = vec![kind, flags, payload.len() as u8];
        rest.extend(&payload);
        let mut bytes = crc_append(SEED, &rest).to_le_bytes().to_vec();
        bytes.extend(rest);
        compare(&bytes, &[key.as_ref(), KeyRef::Int(0), KeyRef::Int(1), KeyRef::Text(""), KeyRef::Bytes(&[])]);
    }

    #[test]
    fn a_key_is_known_by_its_bytes_as_if_they_were_decoded(
        key in any_key(),
        bytes in prop_oneof![proptest::collection::vec(any::<u8>(), 0..12), any_key().prop_map(|key| encoded(&key))],
    ) {
        let mut own = encoded(&key);
        let len = own.len();
        own.extend(&bytes);
        prop_assert_eq!(key.as_ref().len_at(&own), Some(len));
        for end in 0..len {
            prop_assert_eq!(key.as_ref().len_at(&own[..end]), None, "cut short");
        }
        let decoded = KeyRef::decode(&bytes).ok().filter(|(found, _)| *found == key.as_ref()).map(|(_, len)| len);
        prop_assert_eq!(key.as_ref().len_at(&bytes), decoded);
    }
}

fn encoded(key: &Key) -> Vec<u8> {
    let mut out = Vec::new();
    key.as_ref().encode_into(&mut out);
    out
}

#[test]
fn a_key_that_no_store_takes_is_no_key_of_a_put() {
    let bytes = vec![1; KEY_LEN_MAX + 1];
    for (len, is_found) in [(KEY_LEN_MAX, true), (KEY_LEN_MAX + 1, false)] {
        let key = KeyRef::Bytes(&bytes[..len]);
        let put = RecordParts {
            kind: Kind::Put,
            collection: 1,
            commit: 0,
            own_lsn: None,
            replaces: None,
            expiry: None,
            chunked: false,
            key: Some(key),
            body: &[0xa0],
        };
        let mut record = Vec::new();
        put.encode(SEED, &mut record);
        assert_eq!(put_of(&record, SEED, 1, key).is_some(), is_found, "{len} bytes");
        compare(&record, &[key]);
    }
}
