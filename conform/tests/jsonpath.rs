//! The public compliance suite of RFC 9535, every case of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use holotype::Value;
use holotype::document::json;
use holotype::query::JsonPath;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Suite<'s> {
    #[serde(borrow)]
    tests: Vec<Case<'s>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case<'s> {
    name: String,
    selector: String,
    #[serde(borrow)]
    document: Option<&'s RawValue>,
    #[serde(borrow)]
    result: Option<&'s RawValue>,
    /// Where the order of fields is open, each order that is right.
    #[serde(borrow)]
    results: Option<Vec<&'s RawValue>>,
    result_paths: Option<Vec<String>>,
    results_paths: Option<Vec<Vec<String>>>,
    #[serde(default)]
    invalid_selector: bool,
    #[serde(default, rename = "tags")]
    _tags: Vec<String>,
}

fn from_root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(from_root(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn suite() -> String {
    read("conform/external/jsonpath-compliance-suite/cts.json")
}

fn value(text: &RawValue) -> Value {
    json::parse_value(text.get().as_bytes()).expect("the suite has no JSON that a store does not take")
}

/// What is wrong, if anything.
fn fault(case: &Case<'_>) -> Option<String> {
    let path = match (JsonPath::parse(&case.selector), case.invalid_selector) {
        (Ok(path), false) => path,
        (Err(_), true) => return None,
        (Ok(_), true) => return Some("it is taken, and is invalid".to_owned()),
        (Err(error), false) => return Some(error.to_string()),
    };
    let printed = path.to_string();
    if JsonPath::parse(&printed).ok().as_ref() != Some(&path) {
        return Some(format!("its normal form {printed} is another query"));
    }
    let document = value(case.document.expect("a valid case has a document"));
    let located = match path.select_located(&document) {
        Ok(located) => located,
        Err(error) => return Some(error.to_string()),
    };
    let found: Vec<Value> = located.iter().map(|(_, value)| (*value).clone()).collect();
    let places: Vec<String> = located.iter().map(|(place, _)| place.to_string()).collect();
    let right = case.results.clone().unwrap_or_else(|| case.result.into_iter().collect());
    let right_places =
        case.results_paths.clone().unwrap_or_else(|| case.result_paths.clone().into_iter().collect());
    let same = |right: &&RawValue| value(right).order_cmp(&Value::Array(found.clone())).is_eq();
    if !right.iter().any(same) {
        return Some(format!("it selects {}", Value::Array(found.clone())));
    }
    (!right_places.contains(&places)).then(|| format!("the places are {places:?}"))
}

#[test]
fn every_case_of_the_compliance_suite_passes() {
    let suite = suite();
    let suite: Suite<'_> = serde_json::from_str(&suite).expect("the suite is of the form that it had");
    let faults: Vec<String> = (suite.tests.iter())
        .filter_map(|case| fault(case).map(|fault| format!("{}: {}: {fault}", case.name, case.selector)))
        .collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), suite.tests.len(), faults.join("\n"));
}

#[test]
fn the_table_in_the_documentation_counts_the_cases() {
    let suite = suite();
    let suite: Suite<'_> = serde_json::from_str(&suite).expect("the suite is of the form that it had");
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for case in &suite.tests {
        let group = case.name.split(',').next().expect("split gives one part at least");
        counts.entry(group.to_owned()).or_default()[usize::from(case.invalid_selector)] += 1;
    }
    let rows = counts.iter().map(|(group, [valid, invalid])| {
        let sum = valid + invalid;
        format!("| {group} | {valid} | {invalid} | {sum} of {sum} |\n")
    });
    let [valid, invalid] = counts.values().fold([0, 0], |sum, count| [sum[0] + count[0], sum[1] + count[1]]);
    let all = valid + invalid;
    let table: String = rows.chain([format!("| all | {valid} | {invalid} | {all} of {all} |\n")]).collect();
    let page = read("docs/conformance.md");
    assert!(page.contains(&table), "docs/conformance.md should have\n{table}");
}
