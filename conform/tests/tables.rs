//! The tables of offsets on the pages are those of `spec/tables.json`, and have no gap.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Table {
    name: String,
    length: u64,
    fields: Vec<Field>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Field {
    offset: u64,
    length: u64,
    field: String,
}

fn spec() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(spec().join(name)).expect("the page is there")
}

fn tables() -> BTreeMap<String, Table> {
    serde_json::from_str(&read("tables.json")).expect("it is JSON of tables")
}

/// The rows of the tables of a clause that begin with two numbers.
fn rows(page: &str, clause: &str) -> Vec<Field> {
    let (_, section) = page.split_once(&format!("### {clause} ")).expect("the clause is there");
    let section = section.split("\n### ").next().expect("there is a part before the next heading");
    let row = |line: &str| {
        let mut cells = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim);
        let [offset, length, field] = [cells.next()?, cells.next()?, cells.next()?];
        Some(Field { offset: offset.parse().ok()?, length: length.parse().ok()?, field: field.to_owned() })
    };
    section.lines().filter_map(row).collect()
}

/// The clauses whose table on the page is another than the one of the file.
fn differing(page: &str) -> Vec<String> {
    let differs = |(clause, table): &(String, Table)| rows(page, clause) != table.fields;
    tables().into_iter().filter(differs).map(|(clause, _)| clause).collect()
}

#[test]
fn the_tables_on_the_page_are_those_of_the_file() {
    assert!(tables().len() >= 5, "the tables are there");
    assert_eq!(differing(&read("format.md")), Vec::<String>::new());
}

#[test]
fn every_table_is_without_gaps_up_to_its_length() {
    for (clause, table) in tables() {
        let end =
            table.fields.iter().try_fold(0, |end, field| (field.offset == end).then_some(end + field.length));
        assert_eq!(end, Some(table.length), "{clause}, {}", table.name);
    }
}

#[test]
fn a_row_that_is_changed_moved_or_missing_is_told_by_its_clause() {
    let page = read("format.md");
    for (clause, old, new) in [
        ("F-3.1", "| 360 | 4 | incarnation |", "| 364 | 4 | incarnation |"),
        ("F-3.2", "| 12 | 4 | offset of that part", "| 12 | 8 | offset of that part"),
        ("F-4.1", "| 5 | 1 | codec: 0 none |\n", ""),
        ("F-5.1", "| 16 | 4 | durable lag |", "| 16 | 4 | durable LSN |"),
        ("F-8.6", "| 12 | 4 | end offset |", "| 12 | 8 | end offset |"),
    ] {
        let changed = page.replacen(old, new, 1);
        assert_ne!(changed, page, "{clause} has the row");
        assert_eq!(differing(&changed), [clause]);
    }
}
