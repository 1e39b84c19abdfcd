//! Packed keys, to the byte.

use super::*;
use crate::document::KEY_LEN_MAX;

fn keys(all: &[&[u8]]) -> Keys {
    let mut keys = Keys::default();
    for key in all {
        let at = keys.search(key).expect_err("each comes once");
        keys.insert(at, key);
        keys.check();
    }
    keys
}

#[test]
fn what_all_keys_begin_with_grows_less_as_they_come_and_more_where_they_part() {
    let mut some = keys(&[b"user-12"]);
    assert_eq!(some.shared_len(), 7);
    for (key, shared) in [(&b"user-1"[..], 6), (b"user-13", 6), (b"user-2", 5), (b"use", 3), (b"", 0)] {
        let at = some.search(key).expect_err("each comes once");
        some.insert(at, key);
        some.check();
        assert_eq!(some.shared_len(), shared, "with {key:?}");
    }
    // "", use, user-1 | user-12, user-13, user-2
    let right = some.split_off(3);
    assert_eq!((some.shared_len(), right.shared_len()), (0, 5));
    some.append(&right);
    some.check();
    assert_eq!((some.len(), some.shared_len()), (6, 0));
    let mut left = keys(&[b"user-11", b"user-12", b"user-21", b"user-22"]);
    let right = left.split_off(2);
    assert_eq!((left.shared_len(), right.shared_len()), (6, 6));
    // Who takes all out may begin anew.
    (0..6).for_each(|_| some.remove(0));
    some.check();
    assert_eq!(some.search(b"x"), Err(0));
}

#[test]
fn keys_of_one_head_are_told_apart() {
    let all: [&[u8]; 9] = [
        b"",
        b"\0",
        b"\0\0\0\0",
        b"\0\0\0\0\0",
        b"a",
        b"abcde",
        b"abcdf",
        b"\xff\xff\xff\xff",
        b"\xff\xff\xff\xff\xff",
    ];
    let keys = keys(&all);
    for (at, key) in all.iter().enumerate() {
        assert_eq!((keys.search(key), keys.find(key), keys.get(at)), (Ok(at), Some(at), *key));
    }
    for (key, at) in [(&b"\0\0"[..], 2), (b"\0\0\0", 2), (b"a\0", 5), (b"abcd", 5), (b"abcdea", 6), (b"b", 7)]
    {
        assert_eq!((keys.search(key), keys.find(key)), (Err(at), None), "{key:?}");
    }
    for key in all.iter().chain(&[&b"\0\0"[..], b"a\0", b"abcdea", b"\xff\xff\xff\xff\xff\0"]) {
        let found = keys.search(key);
        for from in 0..=found.unwrap_or_else(|at| at) {
            assert_eq!(keys.search_on(from, key), found, "{key:?} from {from}");
        }
    }
    assert_eq!(
        keys.search(b"\xff\xff\xff\xff\xff\0"),
        Err(9),
        "behind all, whose places have the highest head"
    );
    assert_eq!((Keys::default().search(b""), Keys::default().find(b"")), (Err(0), None), "nothing is there");
}

#[test]
fn heads_are_the_first_four_bytes_as_numbers_in_their_order() {
    let all: [(&[u8], i64); 7] = [
        (b"", 0),
        (b"\0\0\0\0\xff", 0),
        (b"\0\0\0\x01", 1),
        (b"\x01", 1 << 24),
        (b"\x7f\xff\xff\xff", i64::from(i32::MAX)),
        (b"\x80\0", 1 << 31),
        (b"\xff\xff\xff\xff", i64::from(u32::MAX)),
    ];
    for (bytes, expected) in all {
        assert_eq!(i64::from(head(bytes)), expected + i64::from(i32::MIN), "{bytes:?}");
    }
}

#[test]
fn keys_that_begin_otherwise_lie_in_front_of_all_or_behind() {
    let keys = keys(&[b"user-1", b"user-2"]);
    for (key, at) in [(&b""[..], 0), (b"user", 0), (b"usea-1", 0), (b"user-", 0), (b"userz", 2), (b"v", 2)] {
        assert_eq!((keys.search(key), keys.find(key)), (Err(at), None), "{key:?}");
    }
    // The rest of it is that of one which is there.
    assert_eq!(keys.find(b"USER-1"), None);
}

#[test]
fn as_many_keys_as_can_be_may_be_as_long_as_can_be() {
    let long = |end: usize| [&vec![b'k'; KEY_LEN_MAX - 1][..], &[end as u8]].concat();
    let mut all = Keys::default();
    for end in (0..KEYS_MAX).rev() {
        all.insert(0, &long(end));
    }
    all.check();
    assert!((0..KEYS_MAX).all(|end| all.find(&long(end)) == Some(end)));
    let right = all.split_off(KEYS_MAX / 2);
    right.check();
    assert_eq!(right.find(&long(KEYS_MAX - 1)), Some(KEYS_MAX / 2 - 1));
    while all.len() > 0 {
        all.remove(all.len() / 2);
        all.check();
    }
    assert!(all.capacity() < 2 * KEY_LEN_MAX, "{} bytes for none", all.capacity());
}

#[test]
fn room_for_more_is_an_eighth_of_what_is_there() {
    let mut all = Keys::default();
    for number in 0..KEYS_MAX {
        all.insert(number, format!("{number:032}").as_bytes());
        assert!(all.capacity() <= 32 * (number + 1) + (32 * number / 8).max(64), "{}", all.capacity());
    }
    all.shrink();
    assert_eq!(all.capacity(), 32 * KEYS_MAX);
}

#[test]
fn memory_is_asked_for_when_a_key_has_no_room_and_then_for_an_eighth_more() {
    let mut all = Keys::default();
    let mut capacity_with = |len: usize| {
        all.insert(all.len(), &vec![all.len() as u8; len]);
        all.capacity()
    };
    // The second fits just so.
    let found = [100, 64, 1, 900, 900].map(&mut capacity_with);
    assert_eq!(found, [164, 164, 165 + 64, 1065 + 64, 1965 + 1065 / 8]);
}

#[test]
fn room_is_given_back_once_much_less_than_half_is_used() {
    let mut all = Keys::default();
    for (at, len) in [100, 100, 100, 100, 116, 116, 116, 116].into_iter().enumerate() {
        all.insert(at, &vec![at as u8; len]);
    }
    all.shrink();
    let mut capacity_without_last = || {
        all.remove(all.len() - 1);
        all.capacity()
    };
    // 864 bytes for 400 are twice as many, and 64.
    assert_eq!([(); 5].map(|()| capacity_without_last()), [864, 864, 864, 864, 300]);
}

#[test]
fn a_separator_is_as_short_as_can_be() {
    for (left, right, expected) in
        [("a", "b", "b"), ("user-1999", "user-2000", "user-2"), ("", "ab", "a"), ("a", "ab", "ab")]
    {
        assert_eq!(separator(left.as_bytes(), right.as_bytes()), expected.as_bytes());
    }
}
