//! The folder of the vectors, as files.

use std::collections::BTreeMap;

use super::{VERSION, encoding, filters, indexes, json, order, queries, rules, stores, updates};
use crate::case::Group;

/// Every file of the folder, by its path in `spec/vectors/`.
///
/// # Panics
/// Never, unless the program that makes the vectors contradicts itself.
#[must_use]
pub fn folder() -> BTreeMap<String, Vec<u8>> {
    let (mut groups, bases) = stores::make();
    groups.extend([
        encoding::documents(),
        encoding::keys(),
        order::values(),
        order::order_keys(),
        json::make(),
        filters::make(),
        queries::make(),
        updates::make(),
    ]);
    groups.extend(rules::make());
    groups.extend(indexes::make());
    let mut files: BTreeMap<_, _> =
        bases.into_iter().map(|(name, bytes)| (format!("{VERSION}/{name}"), bytes)).collect();
    for group in &groups {
        files.insert(format!("{VERSION}/{}.json", group.group), manifest(group).into_bytes());
    }
    files
}

/// The group as a text with a line for each state and each case, so that a change shows as what it is.
fn manifest(group: &Group) -> String {
    const INVARIANT: &str = "manifests are JSON";
    let line = |value: &dyn erased::Json| value.text();
    let mut out = String::from("{\n");
    for (name, text) in [("format", &group.format), ("group", &group.group), ("about", &group.about)] {
        out += &format!("  {}: {},\n", line(&name), line(text));
    }
    let block = |out: &mut String, name: &str, open: char, lines: Vec<String>, close: &str| {
        *out += &format!("  {}: {open}\n    {}\n  {close}\n", line(&name), lines.join(",\n    "));
    };
    let notes = group.notes.iter().map(|(name, note)| format!("{}: {}", line(name), line(note))).collect();
    block(&mut out, "notes", '{', notes, "},");
    if !group.states.is_empty() {
        let states =
            group.states.iter().map(|(name, state)| format!("{}: {}", line(name), line(state))).collect();
        block(&mut out, "states", '{', states, "},");
    }
    let cases = group.cases.iter().map(|case| serde_json::to_string(case).expect(INVARIANT)).collect();
    block(&mut out, "cases", '[', cases, "]");
    out + "}\n"
}

mod erased {
    use serde::Serialize;

    /// Anything that can be written as JSON on one line.
    pub(super) trait Json {
        fn text(&self) -> String;
    }

    impl<T: Serialize> Json for T {
        fn text(&self) -> String {
            serde_json::to_string(self).expect("manifests are JSON")
        }
    }
}
