use super::select;
use crate::error::Error;
use crate::query::iregexp::{Verdict, translate};
use crate::query::pattern::Pattern;
use crate::query::{JsonPath, NESTING_MAX};

fn matches(pattern: &str, text: &str) -> bool {
    Pattern::compile(pattern, true).expect(pattern).is_match(text)
}

//= spec/query.md#q-4-1-patterns
//= type=test
//# `match` and `search` MUST be false where the second argument is not a pattern.
#[test]
fn only_patterns_of_the_rfc_match() {
    for pattern in [
        r"\d",
        r"\w",
        "(?i)a",
        "a**",
        "a{,3}",
        "a{2",
        "[]",
        "[^]",
        "[a--b]",
        "[a&&[b]]",
        "(",
        ")",
        "a)",
        "\\",
        "*a",
        "[z-a]",
        r"\p{Foo}",
        r"\p{Lx}",
        "a{3,2}",
        r"[\p{L}-z]x[",
        r"\$",
    ] {
        assert_eq!(translate(pattern), Verdict::NotOne, "{pattern}");
        assert!(!matches(pattern, "a"));
    }
}

#[test]
fn a_pattern_means_what_the_rfc_says() {
    assert!(matches("a|bc|", ""));
    assert!(matches("(ab)+c?", "abab"));
    assert!(!matches("ab", "xab"));
    assert!(matches(".", "\u{2028}") && !matches(".", "\n") && !matches(".", "\r"));
    assert!(matches(r"[a-c\-\]~#&-]+", "a-]~#&c"));
    assert!(matches(r"\p{Lu}\P{Lu}{2,}", "Äbb"));
    assert!(matches(r"[^\p{L}x]\n\.", "1\n."));
    assert!(matches("#/ -~", "#/ -~"));
    assert!(matches("[-a]", "-") && matches("[a-]", "-"));
}

#[test]
fn punctuation_stands_for_itself() {
    for c in (0..128_u8).map(char::from).filter(char::is_ascii_punctuation) {
        let text = c.to_string();
        if !"()*+.?[\\]{|}^$".contains(c) {
            assert!(matches(&text, &text) && matches(&format!("a{c}b"), &format!("a{c}b")), "{c}");
        }
        if !"-[]\\^".contains(c) {
            assert!(matches(&format!("[{c}]"), &text) && matches(&format!("[^a{c}b]"), "c"), "[{c}]");
            assert!(!matches(&format!("[^a{c}b]"), &text), "[^{c}]");
        }
    }
}

#[test]
fn a_pattern_that_nests_as_deep_as_it_may_means_what_it_says() {
    for innermost in ["x", "[x]", "(x|y{2})"] {
        let levels = NESTING_MAX - innermost.matches('(').count();
        let pattern = (0..levels).fold(innermost.to_owned(), |inner, _| format!("a|b({inner})*c"));
        assert!(matches(&pattern, "a") && matches(&pattern, "bbacc") && !matches(&pattern, "x"));
        assert!(Pattern::compile(&pattern, false).expect(innermost).is_match("xay"));
    }
}

#[test]
fn a_pattern_that_explodes_elsewhere_is_linear_here() {
    assert!(!matches("(a*)*b", &"a".repeat(100_000)));
}

//= spec/query.md#q-4-2-limits-of-patterns
//= type=test
//# A pattern beyond a limit MUST be refused as `PatternTooLarge`: where the query is parsed or bound, or
//# where it is run if a document holds the pattern.
#[test]
fn a_pattern_beyond_the_limits_is_refused() {
    for pattern in [r"\\p{L}{5000}", "((a{1000}){1000}){1000}", "a{100000}"] {
        let refused = JsonPath::parse(&format!("$[?match(@, '{pattern}')]"));
        assert!(matches!(refused, Err(Error::PatternTooLarge { .. })), "{refused:?}");
    }
    let refused = select("$[?match(@.t, @.p)]", r#"[{"t":"a","p":"(a{999}){9999}"}]"#);
    assert!(matches!(refused, Err(Error::PatternTooLarge { .. })), "{refused:?}");
    assert_eq!(translate(&"(".repeat(100_000)), Verdict::TooLarge);
}
