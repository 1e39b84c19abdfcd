use crate::Document;
use crate::document::{KeyRef, RawDocument};
use crate::error::Error;
use crate::query::{Filter, NESTING_MAX, arg, field};

#[track_caller]
fn holds(filter: &str, json: &str) -> bool {
    holds_of(&Filter::parse(filter).expect(filter), json)
}

#[track_caller]
fn holds_of(filter: &Filter, json: &str) -> bool {
    let bytes = Document::from_json(json).expect(json).encode();
    filter.matches_with_key(KeyRef::Text("wren"), RawDocument::from_bytes(&bytes).unwrap()).unwrap()
}

#[test]
fn the_document_is_both_the_root_and_the_current_node() {
    let bird = r#"{"year":1859,"seen":[{"where":"barn"},{"where":"hedge"}],"home":"hedge"}"#;
    assert!(holds(" @.year >= 1850 && @.seen[?@.where == 'hedge'] ", bird));
    assert!(holds("$.year == @.year && @.seen[?@.where == $.home]", bird));
    assert!(!holds("@.seen[?@.where == 'pond'] || $.fish", bird));
    assert!(holds("key() == 'wren' && starts_with(key(), 'w')", bird));
}

#[test]
fn many_paths_are_found_in_one_pass() {
    let json = r#"{"b":{"y":[10,{"z":3}],"x":1},"a":1,"ccc":4,"dd":null}"#;
    assert!(holds("@.a == 1 && @.b.x == 1 && @.b.y[0] == 10 && @.b.y[1].z == 3 && @.ccc == 4", json));
    assert!(holds("@.dd == null && !@.d && !@.b.q && !@.b.y[2] && @.ccc == 4 && @.b.y[-1].z == 3", json));
    assert!(holds("@.b.y[1].z == 3 && @.b && @.b.y && @.dd == null", json));
    let many: Vec<String> = (0..20).map(|n| format!("@.f{n} == {n}")).collect();
    let fields: Vec<String> = (0..20).map(|n| format!("\"f{n}\":{n}")).collect();
    assert!(holds(&many.join(" && "), &format!("{{{}}}", fields.join(","))));
    assert!(!holds(&many.join(" && "), &format!("{{{}}}", fields[1..].join(","))));
}

//= spec/query.md#q-2-2-parameters
//= type=test
//# A filter MUST NOT be run while a parameter is not bound.
//= spec/query.md#q-2-2-parameters
//= type=test
//# A bound value MUST NOT be read as part of the text of the filter.
#[test]
fn a_parameter_is_bound_and_never_spliced() {
    let filter = Filter::parse("@.name == arg('name') && in(@.n, arg('list'))").unwrap();
    assert!(matches!(filter.check(), Err(Error::Parameter { .. })));
    let empty = Document::new().encode();
    assert!(matches!(filter.matches(RawDocument::from_bytes(&empty).unwrap()), Err(Error::Parameter { .. })));
    assert!(matches!(filter.clone().bind("other", 1), Err(Error::Parameter { .. })));
    let bound = filter.bind("name", "' || true").unwrap().bind("list", vec![1, 2]).unwrap();
    assert!(bound.check().is_ok());
    assert!(holds_of(&bound, r#"{"name":"' || true","n":2.0}"#));
    assert!(!holds_of(&bound, r#"{"name":"x","n":2}"#));
    assert_eq!(bound.to_string(), "@.name == arg('name') && in(@.n, arg('list'))");
}

#[test]
fn a_list_holds_what_it_lists_and_nothing_else() {
    let listed = ["7", "-3", "2.5", "'b'", "null", "true", "'aa'", "1"];
    let others = ["0", "'a'", "false", "-3.5", "[7]", "{}"];
    let json = |value: &str| format!("{{\"n\":{}}}", value.replace('\'', "\""));
    let bound = |values: &[&str]| {
        let values: Vec<_> = values.iter().map(|value| Document::from_json(json(value)).unwrap()).collect();
        let values: Vec<_> = values.iter().map(|document| document.get("n").unwrap().clone()).collect();
        let filter = Filter::parse("in(@.n, arg('list'))").unwrap().bind("list", values.clone()).unwrap();
        [filter, field("n").is_in(values)]
    };
    let written = Filter::parse(&format!("in(@.n, {})", listed.join(", "))).unwrap();
    // What the document has itself is not known before it is looked at.
    let beside_a_path = Filter::parse(&format!("in(@.n, @.m, {})", listed.join(", "))).unwrap();
    for filter in bound(&listed).into_iter().chain([written, beside_a_path]) {
        assert!(listed.iter().all(|value| holds_of(&filter, &json(value))), "{filter}");
        assert!(holds_of(&filter, r#"{"n":7.0}"#), "{filter}");
        assert!(!others.iter().any(|value| holds_of(&filter, &json(value))), "{filter}");
        assert!(!holds_of(&filter, "{}"), "{filter}");
    }
    for filter in bound(&["[7]", "'x'", "{}"]) {
        assert!(["[7.0]", "'x'", "{}"].iter().all(|value| holds_of(&filter, &json(value))), "{filter}");
        assert!(!["[]", "7", "[8]", "'y'"].iter().any(|value| holds_of(&filter, &json(value))), "{filter}");
    }
    let folded = Filter::parse("in(fold(@.n), 'zz', 7, 'b', null, 'aa')").unwrap();
    assert!(["'B'", "'b'", "'Aa'"].iter().all(|value| holds_of(&folded, &json(value))));
    assert!(!["'c'", "7", "null", "'a'"].iter().any(|value| holds_of(&folded, &json(value))));
    let again = Filter::parse("in(@.n, arg('list'))").unwrap();
    let again = again.bind("list", vec![3, 1, 2]).unwrap().bind("list", vec![9, 8]).unwrap();
    assert!(holds_of(&again, &json("8")) && !holds_of(&again, &json("1")));
}

#[test]
fn a_pattern_can_be_a_parameter() {
    let filter = Filter::parse("@.seen[?match(@, arg('p'))]").unwrap();
    let wren = filter.clone().bind("p", "W.en").unwrap();
    assert!(holds_of(&wren, r#"{"seen":["Robin","Wren"]}"#));
    assert!(!holds_of(&wren, r#"{"seen":["Wrens"]}"#));
    assert!(matches!(filter.bind("p", "a{99999}"), Err(Error::PatternTooLarge { .. })));
}

#[test]
fn the_builder_makes_the_tree_of_the_text() {
    let same = |built: Filter, text: &str| {
        assert_eq!(built, Filter::parse(text).unwrap());
        assert_eq!(built.to_string(), text);
    };
    same(field("year").ge(1850) & field("tags").any().eq("x"), "@.year >= 1850 && @.tags[?@ == 'x']");
    same(
        field("a").field("b c").item(-1).ne(arg("x")) | !field("d").exists(),
        "@.a['b c'][-1] != arg('x') || !@.d",
    );
    same(
        (field("a").lt(1) | field("b").gt(2.5)) & field("c").le(true),
        "(@.a < 1 || @.b > 2.5) && @.c <= true",
    );
    same(field("a").any().any().field("b").starts_with("x"), "@.a[?@[?starts_with(@.b, 'x')]]");
    same(
        field("a").between(1, 2) & field("b").eq(b"\x00\xff".to_vec()),
        "between(@.a, 1, 2) && @.b == bytes('00ff')",
    );
    same(field("a").matches("b+").unwrap(), "match(@.a, 'b+')");
    same(field("n").is_in([1, 2]), "in(@.n, 1, 2)");
    same(field("n").is_in(["x"]), "in(@.n, 'x')");
    assert!(!holds_of(&field("n").is_in([0; 0]), r#"{"n":2}"#));
    assert!(holds_of(&field("n").is_in(0..5_000), r#"{"n":4999}"#));
    assert!(holds_of(&field("n").eq(vec![1, 2]), r#"{"n":[1,2.0]}"#));
}

//= spec/query.md#q-1-4-limits
//= type=test
//# A store MUST refuse a query that nests deeper, as `QueryTooDeep`, however deep it is.
#[test]
fn the_builder_is_held_to_the_limit_of_the_text() {
    let any = |times: usize| (0..times).fold(field("a"), |field, _| field.any()).exists();
    let grouped = |times: usize| {
        (0..times).fold(field("a").exists(), |filter, _| (filter | field("b").exists()) & field("c").exists())
    };
    let quoted = |times: usize| field("'[(\\'").exists() & any(times);
    let makes: [&dyn Fn(usize) -> Filter; 3] = [&any, &grouped, &quoted];
    for make in makes {
        let deepest = make(NESTING_MAX);
        assert!(deepest.check().is_ok());
        assert_eq!(Filter::parse(&deepest.to_string()).unwrap(), deepest);
        let document = Document::new().encode();
        let document = RawDocument::from_bytes(&document).unwrap();
        for times in [NESTING_MAX + 1, 200_000] {
            let deeper = make(times);
            let further = !deeper.clone() | field("a").exists();
            for filter in [deeper, field("a").exists() & further] {
                let Err(Error::QueryTooDeep { offset, max: NESTING_MAX }) = filter.check() else {
                    panic!("{times} levels are not refused")
                };
                assert!(filter.to_string().is_char_boundary(offset));
                assert!(matches!(filter.matches(document), Err(Error::QueryTooDeep { .. })));
            }
        }
    }
}

#[test]
fn paths_are_compared_with_constants_as_in_a_scope() {
    let of = r#"{"a":5,"b":[1,2,{"c":"x"}],"d":null}"#;
    for (text, holds) in [
        ("@.a == 5", true),
        ("@.a == 5.0 && $.a < 6 && @.a != 'x'", true),
        ("$.a >= 5 && @.a < 5", false),
        ("@.a < 'x'", false),
        ("@.d <= null && @.d != 0", true),
        ("@.d < null", false),
        ("@.none != 1", true),
        ("@.none == null", false),
        ("@.none <= null", false),
        ("@.b[2].c == 'x'", true),
        ("@.b[-1].c == 'x'", true),
        ("@.b[3] != 'x'", true),
        ("@['a'] > -1e300", true),
        ("@.a == 5 && @.b[2].c == 'x'", true),
        ("@.a == 6 && @.d == null", false),
        ("@.d == null && @.a == 6", false),
        ("@.none != 1 && @.a < 6 && @.a > 4", true),
        ("@.none == 1 && @.a == 5", false),
        ("@.a > 1 && @.d == null && @.a < 6", true),
        ("@.a > 1 && @.d == null && @.b != 6 && @.none != 1", true),
    ] {
        let filter = Filter::parse(text).unwrap();
        assert_eq!(holds_of(&filter, of), holds, "{text}");
        assert_eq!(
            holds_of(&(filter & Filter::parse("true == true").unwrap()), of),
            holds,
            "{text} and more"
        );
    }
    let whole = Document::from_json(of).unwrap();
    let filter = Filter::parse("@ == arg('whole')").unwrap();
    assert!(holds_of(&filter.clone().bind("whole", whole).unwrap(), of));
    let rebound = filter.bind("whole", 1).unwrap();
    assert!(!holds_of(&rebound, of) && holds_of(&!rebound, of));
}

#[test]
fn bytes_that_are_no_document_match_no_comparison() {
    for filter in ["@.a != 1", "@.a.b != 1 && @.a.b != 2"] {
        assert!(
            !Filter::parse(filter).unwrap().matches(RawDocument::from_verified(&[])).unwrap(),
            "{filter}"
        );
    }
}

#[test]
fn bytes_that_are_no_document_match_nothing_and_do_no_harm() {
    let whole = Document::from_json(r#"{"b":{"y":[10,{"z":3}]},"a":1,"name":"wren"}"#).unwrap().encode();
    let filter = Filter::parse("@.a == 1 && @.b.y[1].z == 3 && @..[?@ == 'wren']").unwrap();
    for cut in 0..whole.len() {
        let _ = filter.matches(RawDocument::from_verified(&whole[..cut]));
    }
    for at in 0..whole.len() {
        let mut turned = whole.clone();
        turned[at] ^= 0xff;
        let _ = filter.matches(RawDocument::from_verified(&turned));
    }
}
