use super::{refusal, select};
use crate::error::Error;
use crate::query::{JsonPath, NESTING_MAX};

#[track_caller]
fn prints(path: &str, normal: &str) {
    let parsed = JsonPath::parse(path).expect(path);
    assert_eq!(parsed.to_string(), normal);
    assert_eq!(JsonPath::parse(normal).expect(normal), parsed);
}

#[test]
fn a_path_prints_in_one_normal_form() {
    prints("$[ 'a' ]\n[\"b c\"] [ 0 , -1 ]", "$.a['b c'][0, -1]");
    prints("$..*..['a']..[ 1 : 2 : 1, ::-1 ]", "$..[*]..a..[1:2, ::-1]");
    prints("$[?!(@.a && (@.b || !(!@.c)))]", "$[?!(@.a && (@.b || @.c))]");
    prints("$[?(@.a&&(@.b&&@.c))||(@.d)]", "$[?@.a && @.b && @.c || @.d]");
    prints(r#"$[?"it's\n"==@.a]"#, r"$[?'it\'s\n' == @.a]");
    prints("$[?@.a==1.50e2]", "$[?@.a == 150.0]");
    prints("$[?count( @..* )>=-1]", "$[?count(@..[*]) >= -1]");
    prints("$['']['0']['ä']", "$['']['0'].ä");
    prints("$[?@==-9223372036854775808]", "$[?@ == -9223372036854775808]");
    prints("$[?bytes('00FF') < @]", "$[?bytes('00ff') < @]");
}

#[test]
fn ints_are_compared_exactly() {
    assert_eq!(select("$[?@ == 9007199254740993]", "[9007199254740992, 9007199254740994.0]").unwrap(), "[]");
    let found = select("$[?@ > 9223372036854775806]", r#"[{"$numberLong":"9223372036854775807"}]"#).unwrap();
    assert_eq!(found, r#"[{"$numberLong":"9223372036854775807"}]"#);
}

//= spec/query.md#q-1-1-standard
//= type=test
//# A store MUST refuse a text that is not a well-formed and valid query, with the place of the mistake.
//= spec/query.md#q-1-3-numbers-in-a-query
//= type=test
//# A store MUST refuse an int that is not one of V-1.2, and a float that rounds to an infinity.
#[test]
fn a_refusal_says_where_and_what_was_expected() {
    assert_eq!(refusal("a").0, 0);
    assert_eq!(
        refusal("$.a["),
        (4, "expected a name in quotes, an index, a slice, `*` or `?`, and the text ends".into())
    );
    assert_eq!(refusal("$[?@.a = 1]").0, 7);
    assert_eq!(refusal("$[?nothing(@.a)]"), (3, "there is no function `nothing`".into()));
    assert!(refusal("$[?length(@.a)]").1.contains("`length` gives a value"));
    assert!(refusal("$[?match(@.a)]").1.contains("takes 2 arguments, found 1"));
    assert!(refusal("$[?arg('x') == 1]").1.contains("only a filter has"));
    assert!(refusal("$[?@ == 9223372036854775808]").1.contains("64 signed bits"));
    assert!(refusal("$[9007199254740992]").1.contains("2^53"));
}

#[test]
fn a_comparison_with_many_nodes_is_refused_with_what_means_any() {
    let what = refusal("$[?@.tags[*] == 'x']").1;
    assert!(what.contains("`@.tags[?@ == 'x']`"), "{what}");
    let what = refusal("$[?@.seen[*].where == 'x']").1;
    assert!(what.contains("`@.seen[?@.where == 'x']`"), "{what}");
    let what = refusal("$[?@..* < 1]").1;
    assert!(what.contains("`@..[?@ < 1]`"), "{what}");
}

//= spec/query.md#q-1-4-limits
//= type=test
//# A store MUST refuse a query that nests deeper, as `QueryTooDeep`, however deep it is.
#[test]
fn nesting_is_limited_whatever_nests() {
    for (open, inner, close) in [("[?@", "", "]"), ("[?(", "@", ")]"), ("[?length(@", "", ") == 1]")] {
        let path = |times: usize| format!("${}{inner}{}", open.repeat(times), close.repeat(times));
        for times in [NESTING_MAX + 1, 10_000] {
            let refused = JsonPath::parse(&path(times));
            assert!(refused.is_err(), "{open} {times}");
        }
    }
    let brackets = |times: usize| format!("${}{}", "[?@".repeat(times), "]".repeat(times));
    assert!(JsonPath::parse(&brackets(NESTING_MAX)).is_ok());
    assert!(matches!(JsonPath::parse(&brackets(10_000)), Err(Error::QueryTooDeep { max: NESTING_MAX, .. })));
    let parentheses = format!("$[?{}@{}]", "(".repeat(10_000), ")".repeat(10_000));
    assert!(matches!(JsonPath::parse(&parentheses), Err(Error::QueryTooDeep { .. })));
    for (star, levels) in [(".*", NESTING_MAX - 1), ("..*", NESTING_MAX - 1), (".a", NESTING_MAX)] {
        let path = |times: usize| format!("${}{star}{}", "[?@".repeat(times), "]".repeat(times));
        let normal = JsonPath::parse(&path(levels)).unwrap().to_string();
        assert!(JsonPath::parse(&normal).is_ok());
        assert!(JsonPath::parse(&path(levels + 1)).is_err());
    }
}

/// Each filter goes down the whole value and starts again at the root within: no stack may overflow.
#[test]
fn filters_within_filters_over_a_deep_value_use_little_stack() {
    let deep = format!("{}1{}", "[".repeat(120), "]".repeat(120));
    let path = format!("${}{}", "..[?$".repeat(3), "]".repeat(3));
    assert!(select(&path, &deep).is_ok());
    // The expressions hold at the deepest node alone, so each level is walked to the end before the next begins.
    let steered = format!("{}@ == 1{}", "$..[?@ == 1 && $..[?".repeat(24), "]]".repeat(24));
    let steered = format!("$..[?{steered}]").replace("$..[?$..[?", "$..[?@ == 1 || $..[?");
    assert!(select(&steered, &deep).is_ok());
}
