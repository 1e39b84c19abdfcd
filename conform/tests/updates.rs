//! JSON Pointer, JSON Patch and JSON Merge Patch against cases that nobody here wrote.

use std::path::Path;

use holotype::document::{JsonPointer, json};
use holotype::update::{self, JsonPatch};
use holotype::{Error, Value};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A case as its file has it. Texts stay texts: this program's own parser reads them, names that come twice included.
#[derive(Deserialize)]
struct Case {
    #[serde(default)]
    comment: String,
    doc: Box<RawValue>,
    #[serde(default, deserialize_with = "present")]
    patch: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    merge: Option<Box<RawValue>>,
    pointer: Option<String>,
    fragment: Option<String>,
    #[serde(default, deserialize_with = "present")]
    expected: Option<Box<RawValue>>,
    error: Option<String>,
    #[serde(default)]
    disabled: bool,
}

/// A field that is there is there, also where it is null.
fn present<'de, D: serde::Deserializer<'de>>(field: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(field).map(Some)
}

fn cases(file: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("external").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn value(text: &RawValue) -> Value {
    json::parse_value(text.get().as_bytes()).expect("a case holds JSON")
}

impl Case {
    /// What the case makes of its document.
    fn run(&self) -> Result<Value, Error> {
        let doc = value(&self.doc);
        if let Some(patch) = &self.patch {
            return JsonPatch::parse(patch.get())?.apply(&doc);
        }
        if let Some(merge) = &self.merge {
            return update::merge(&doc, &value(merge));
        }
        let pointer = JsonPointer::parse(self.pointer.as_deref().expect("a case asks for something"))?;
        let fragment = self.fragment.as_deref().expect("a pointer has a fragment beside it");
        assert_eq!(
            (JsonPointer::parse_fragment(fragment)?, pointer.to_fragment()),
            (pointer.clone(), fragment.to_owned())
        );
        pointer.resolve(&doc).cloned()
    }

    /// Why the case fails, if it does.
    fn failure(&self) -> Option<String> {
        let came = self.run();
        let right = match (&came, &self.expected, &self.error) {
            (Ok(found), Some(expected), None) => *found == value(expected),
            (Ok(_), None, None) => true,
            (Err(_), None, Some(_)) => true,
            _ => false,
        };
        (!right).then(|| format!("{}: {} with {:?} gives {came:?}", self.comment, self.doc, self.patch))
    }
}

/// Holds the engine against the cases of `file`: how many ran and how many their authors disabled, of which none failed.
fn hold(file: &str) -> (usize, usize) {
    let (disabled, run): (Vec<_>, Vec<_>) = cases(file).into_iter().partition(|case| case.disabled);
    let failed: Vec<_> = run.iter().filter_map(Case::failure).collect();
    assert!(failed.is_empty(), "{file}: {} of {} fail:\n{}", failed.len(), run.len(), failed.join("\n"));
    (run.len(), disabled.len())
}

/// The row of `docs/conformance.md` that begins with `suite` says `of` and `held`.
fn assert_counted(suite: &str, (run, disabled): (usize, usize)) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/conformance.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let start = format!("| {suite} |");
    let row = page.lines().find(|line| line.starts_with(&start)).expect("the suite has a row");
    let counts = format!("| {} | {disabled} | {run} of {run} |", run + disabled);
    assert!(row.contains(&counts), "{row}\nhas other counts than {counts}");
}

#[test]
fn json_patch_tests_hold_but_for_those_that_their_authors_disable() {
    let (main, spec) = (hold("json-patch-tests/tests.json"), hold("json-patch-tests/spec_tests.json"));
    assert_counted("json-patch-tests", (main.0 + spec.0, main.1 + spec.1));
}

#[test]
fn the_disabled_cases_of_json_patch_tests_are_answered_as_the_rfc_says() {
    let all = ["json-patch-tests/tests.json", "json-patch-tests/spec_tests.json"].into_iter().flat_map(cases);
    let failed: Vec<_> = all.filter(|case| case.disabled).filter_map(|case| case.failure()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn the_examples_of_rfc_6901_hold() {
    assert_counted("RFC 6901, sections 5 and 6", hold("rfc/6901.json"));
}

#[test]
fn the_examples_of_rfc_6902_hold() {
    assert_counted("RFC 6902, appendix A", hold("rfc/6902.json"));
}

#[test]
fn the_examples_of_rfc_7396_hold() {
    assert_counted("RFC 7396, sections 1 and 3, appendix A", hold("rfc/7396.json"));
}

#[test]
fn a_case_that_does_not_hold_is_seen() {
    let mut cases = cases("rfc/7396.json");
    let expected = RawValue::from_string("{\"a\":\"never\"}".to_owned()).expect("it is JSON");
    assert!(cases.iter().all(|case| case.failure().is_none()));
    cases.iter_mut().for_each(|case| case.expected = Some(expected.clone()));
    assert!(cases.iter().all(|case| case.failure().is_some()));
}
