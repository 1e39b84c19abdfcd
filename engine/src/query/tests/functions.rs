use super::select;
use crate::query::folding::fold;
use crate::query::time::milliseconds;

/// Whether an expression holds of `@`, the one item of an array.
#[track_caller]
fn holds(expr: &str, json: &str) -> bool {
    select(&format!("$[?{expr}]"), &format!("[{json}]")).expect(expr) != "[]"
}

//= spec/query.md#q-3-2-less
//= type=test
//# Values of other types, or of two types, MUST NOT be less than one another; nor is nothing less than a
//# value, or a value than nothing.
#[test]
fn values_of_different_kinds_are_unequal_and_in_no_order() {
    assert!(holds("@ == 1.0", "1"));
    assert!(!holds("@ == '1'", "1"));
    assert!(!holds("@ < '2' || @ > '0'", "1"));
    assert!(!holds("@ < true", "false"));
    assert!(holds("@ <= true", "true"));
    assert!(holds("@.x != 5", "{}"));
    assert!(!holds("@.x == null", "{}"));
    assert!(holds("@ == @", r#"{"$numberDouble":"NaN"}"#));
    assert!(holds("@ < -1", r#"{"$numberDouble":"NaN"}"#));
    assert!(holds(
        "@ == bytes('0102') && @ < bytes('02')",
        r#"{"$binary":{"base64":"AQI=","subType":"00"}}"#
    ));
}

#[test]
fn in_and_between_compare_as_operators_do() {
    assert!(holds("in(@, 'a', 2, null)", "2.0"));
    assert!(!holds("in(@.x, @.y)", "{}"));
    assert!(!holds("in(@, 'a', 3)", "2"));
    assert!(holds("between(@, 1, 3)", "3"));
    assert!(!holds("between(@, 1, 3)", "3.5"));
    assert!(!holds("between(@, 1, 3)", "'2'".replace('\'', "\"").as_str()));
}

#[test]
fn parts_of_text_are_found_without_pattern_characters() {
    assert!(holds("starts_with(@, '100%')", "\"100% wool\""));
    assert!(!holds("starts_with(@, 'wool')", "\"100% wool\""));
    assert!(holds("ends_with(@, 'wool') && contains(@, '% w')", "\"100% wool\""));
    assert!(!holds("contains(@, 'x')", "\"wool\""));
    assert!(!holds("contains(@, 1)", "[1]"));
    assert!(holds("contains(fold(@), fold('STRASS'))", "\"Hauptstrasse\""));
    assert!(holds("ends_with(lower(@), 'wren')", "\"A WREN\""));
    assert!(holds("match(fold(@), 'jo.*n')", "\"JOHN\""));
}

#[test]
fn folding_is_simple_and_not_full() {
    assert!(holds("fold(@) == fold('ΟΔΟΣ')", "\"οδος\""));
    assert!(holds("lower(@) == 'Äb'", "\"ÄB\""));
    assert!(!holds("fold(@) == 'ss'", "\"ß\""));
    assert!(holds("length(fold(@)) == 1", "\"ẞ\""));
    assert!(holds("type(fold(@.x)) == type(@.y)", r#"{"x":1}"#));
}

//= spec/query.md#q-5-4-case
//= type=test
//# The table MUST NOT follow later versions of Unicode: an index on `fold` would change its order.
#[test]
fn the_folding_table_is_that_of_the_specification() {
    let page = include_str!("../../../../spec/folding.txt");
    let pairs: std::collections::BTreeMap<u32, u32> = (page.lines())
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once(' ').expect("two columns"))
        .map(|(from, to)| (u32::from_str_radix(from, 16).unwrap(), u32::from_str_radix(to, 16).unwrap()))
        .collect();
    assert_eq!(pairs.len(), 1454);
    for c in '\0'..=char::MAX {
        assert_eq!(u32::from(fold(c)), *pairs.get(&u32::from(c)).unwrap_or(&u32::from(c)), "{c:?}");
    }
}

//= spec/query.md#q-5-6-numbers
//= type=test
//# Of two ints, the result MUST be the exact int, or nothing where there is none.
#[test]
fn arithmetic_on_ints_is_exact_or_nothing() {
    assert!(holds("add(@, 1) == 3 && sub(@, 5) == -3 && mul(@, @) == 4", "2"));
    assert!(holds("div(@, 2) == 3 && mod(@, 4) == 3", "7"));
    assert!(holds("div(@, 2) == -3 && mod(@, 4) == -3", "-7"));
    assert!(holds("type(add(@, 9223372036854775807)) == type($.nothing)", "1"));
    assert!(holds("type(div(@, 0)) == type($.nothing) && type(mod(@, 0)) == type($.nothing)", "1"));
    assert!(holds("div(@, 2.0) == 3.5 && add(@, 0.5) == 7.5", "7"));
    assert!(holds("type(div(@, 0.0)) == type($.nothing)", "7"));
    assert!(holds("mod(@, -1) == 0", r#"{"$numberLong":"-9223372036854775808"}"#));
}

#[test]
fn types_have_the_names_of_the_specification() {
    for (json, name) in [
        ("null", "null"),
        ("true", "bool"),
        ("1", "int"),
        ("1.0", "float"),
        ("\"\"", "text"),
        (r#"{"$binary":{"base64":"","subType":"00"}}"#, "bytes"),
        ("[]", "array"),
        ("{}", "object"),
    ] {
        assert!(holds(&format!("type(@) == '{name}'"), json), "{json}");
    }
}

#[test]
fn a_time_is_milliseconds_whatever_its_offset() {
    assert_eq!(milliseconds("1970-01-01T00:00:00Z"), Some(0));
    assert_eq!(milliseconds("2026-11-24T10:30:00.1239+01:00"), Some(1_795_512_600_123));
    assert_eq!(milliseconds("1969-12-31T23:59:59.999z"), Some(-1));
    assert_eq!(milliseconds("0000-02-29t00:00:00-00:00"), Some(-62_162_121_600_000));
    assert_eq!(milliseconds("1990-12-31T15:59:60-08:00"), milliseconds("1991-01-01T00:00:00Z"));
    for wrong in [
        "2026-11-24",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:60Z",
        "2026-01-01T00:00:00",
        "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00Z ",
        "2026-01-01T00:00:00+1:00",
        "",
    ] {
        assert_eq!(milliseconds(wrong), None, "{wrong}");
    }
    assert!(holds("time(@) < time('2026-01-01T00:00:00+00:01')", "\"2025-12-31T23:58:59Z\""));
    assert!(holds("time(fold(@)) == 1000 && time(lower(@)) == 1000", "\"1970-01-01T00:00:01Z\""));
}
