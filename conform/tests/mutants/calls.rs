//! Programs that are wrong in one thing about filters, queries or updates: that take one word of a request for another, or leave it
//! out; and the engine with one of those of its seeded bugs that answers show. Each turns a vector red, and the engine as it is none.

use holotype_conform::answer::Answer;
use holotype_conform::case::{Case, Group, Request};
use holotype_conform::run::{Came, run_case};
use holotype_conform::subject::{Engine, Subject, Trouble};

use super::VECTORS;

/// The engine, which reads the second text of a request where the first one stands.
struct Misread(&'static str, &'static str);

impl Subject for Misread {
    fn ask(&mut self, request: &Request, file: Option<&mut Vec<u8>>) -> Result<Answer, Trouble> {
        let line = serde_json::to_string(request).expect("a request has a line");
        let read = serde_json::from_str(&line.replace(self.0, self.1)).unwrap_or_else(|error| {
            panic!("{} for {} is another request: {error}: {line}", self.1, self.0);
        });
        Engine.ask(&read, file)
    }
}

/// The group, what stands in its requests, and what is read instead.
const MISREAD: &[(&str, &str, &str)] = &[
    ("filters", "@", "$"),
    ("filters", "==", "<="),
    ("filters", " < ", " <= "),
    ("filters", " <= ", " < "),
    ("filters", " <= ", " == "),
    ("filters", " > ", " >= "),
    ("filters", "&&", "||"),
    ("filters", "||", "&&"),
    ("filters", "!@", "@"),
    ("filters", "..", "."),
    ("filters", "[*]", "[0]"),
    ("filters", "[*]", ""),
    ("filters", "-1]", "0]"),
    ("filters", "::-1", "::1"),
    ("filters", "[?@", "[?!@"),
    ("filters", "null", "false"),
    ("filters", "9007199254740993", "9007199254740993.0"),
    ("filters", "match(", "search("),
    ("filters", "search(", "match("),
    ("filters", "count(", "length("),
    ("filters", "starts_with(", "contains("),
    ("filters", "ends_with(", "contains("),
    ("filters", "contains(", "ends_with("),
    ("filters", "between(", "in("),
    ("filters", "lower(", "fold("),
    ("filters", "fold(", "lower("),
    ("filters", "add(", "sub("),
    ("filters", "sub(", "add("),
    ("filters", "mul(", "add("),
    ("filters", "div(", "mod("),
    ("filters", "mod(", "div("),
    ("filters", "bytes('616263')", "'abc'"),
    ("filters", "arg('word')", "'word'"),
    ("queries", r#","descending":true"#, ""),
    ("queries", r#","nothing":"first""#, ""),
    ("queries", r#","nothing":"last""#, ""),
    ("queries", r#""skip":3"#, r#""skip":0"#),
    ("queries", r#""limit":4"#, r#""limit":5"#),
    ("queries", r#""after""#, r#""before""#),
    ("queries", r#""sort""#, r#""order""#),
    ("queries", r#""filter""#, r#""having""#),
    ("queries", r#""having""#, r#""where""#),
    ("queries", r#""sort_groups""#, r#""sort""#),
    ("queries", r#""limit_groups""#, r#""limit""#),
    ("queries", r#""aggregates""#, r#""sums""#),
    ("queries", "count_distinct", "max"),
    ("queries", r#"["min","#, r#"["max","#),
    ("queries", r#"["avg","#, r#"["sum","#),
    ("queries", "$..", "$."),
    ("queries", "$.n[*]", "$.n"),
    ("updates", r#"\"op\":\"add\""#, r#"\"op\":\"replace\""#),
    ("updates", r#"\"op\":\"replace\""#, r#"\"op\":\"add\""#),
    ("updates", r#"\"op\":\"move\""#, r#"\"op\":\"copy\""#),
    ("updates", r#"\"op\":\"copy\""#, r#"\"op\":\"move\""#),
    ("updates", r#"\"op\":\"test\""#, r#"\"op\":\"replace\""#),
    ("updates", "~1", "/"),
    ("updates", "/-", "/0"),
    ("updates", r#""change":"set""#, r#""change":"max""#),
    ("updates", r#""change":"unset""#, r#""change":"pop""#),
    ("updates", r#""name":"t""#, r#""name":"other""#),
    ("updates", r#""change":"inc""#, r#""change":"mul""#),
    ("updates", r#""change":"mul""#, r#""change":"inc""#),
    ("updates", r#""change":"min""#, r#""change":"max""#),
    ("updates", r#""change":"max""#, r#""change":"min""#),
    ("updates", r#","keep_last":3"#, ""),
    ("updates", r#","keep_last":0"#, r#","keep_last":1"#),
    ("updates", r#""change":"pop""#, r#""change":"pop_first""#),
    ("updates", r#""change":"pop_first""#, r#""change":"pop""#),
    ("updates", r#""change":"add_to_set""#, r#""change":"pull""#),
    ("updates", r#""change":"pull""#, r#""change":"add_to_set""#),
    ("updates", "[-1]", "[0]"),
    ("updates", "[*]", "[0]"),
    ("updates", "[0, 0]", "[0, 1]"),
    ("updates", "$..", "$."),
];

fn cases(name: &str) -> impl Iterator<Item = (&'static Group, &'static Case)> {
    let group = VECTORS.groups.iter().find(|group| group.group == name).expect("there is the group");
    group.cases.iter().map(move |case| (group, case))
}

/// The first case of the group that this subject gets wrong.
fn caught(name: &str, subject: &mut dyn Subject) -> Option<u32> {
    cases(name).find_map(|(group, case)| {
        let came = run_case(&VECTORS, group, case, subject);
        matches!(came, Came::Failed(_)).then_some(case.id)
    })
}

#[test]
fn a_program_that_takes_one_word_for_another_turns_a_vector_red() {
    for group in ["filters", "queries", "updates"] {
        assert_eq!(caught(group, &mut Misread("no such word", "")), None, "{group}");
    }
    let survived = MISREAD.iter().filter(|(group, word, instead)| {
        let caught = caught(group, &mut Misread(word, instead));
        println!("{group}, {instead:?} for {word:?}: {caught:?}");
        caught.is_none()
    });
    let survivors: Vec<_> = survived.collect();
    assert!(survivors.is_empty(), "no vector sees {survivors:?}");
}

#[cfg(feature = "seeded")]
#[test]
fn the_engine_with_a_seeded_bug_turns_a_vector_red() {
    use holotype::seeded::{Bug, switch_on};
    let bugs = [
        ("filters", Bug::NothingEqualsNull),
        ("filters", Bug::UnboundRuns),
        ("queries", Bug::KeyRangeHalfOpen),
        ("queries", Bug::PrefixTooNarrow),
        ("queries", Bug::KeyRangeAnswersAll),
        ("queries", Bug::NothingDropped),
        ("queries", Bug::NothingIsNull),
        ("queries", Bug::NothingTurned),
        ("queries", Bug::DescendingByLength),
        ("queries", Bug::CursorIncludesItself),
        ("queries", Bug::SkipWithinLimit),
        ("queries", Bug::MeanOfRoundedSum),
        ("queries", Bug::SumWraps),
        ("queries", Bug::LastValueShown),
        ("queries", Bug::GroupedOncePerItem),
        ("queries", Bug::LimitBeforeHaving),
        ("updates", Bug::PatchAppliedHalf),
        ("updates", Bug::IncThroughFloat),
        ("updates", Bug::MovedIntoItself),
        ("updates", Bug::TestByEquality),
        ("updates", Bug::NullMerged),
        ("updates", Bug::CapKeepsTheFirst),
        ("updates", Bug::PullByEquality),
        ("updates", Bug::CountOfFieldsKept),
        ("checkpoints", Bug::AgesFromTheRoot),
    ];
    let survived = bugs.iter().filter(|(group, bug)| {
        switch_on(Some(*bug));
        let caught = std::panic::catch_unwind(|| caught(group, &mut Engine)).unwrap_or(Some(0));
        switch_on(None);
        println!("{bug:?}: {caught:?}");
        caught.is_none()
    });
    let survivors: Vec<_> = survived.collect();
    assert!(survivors.is_empty(), "no vector sees {survivors:?}");
}
