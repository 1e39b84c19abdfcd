//! The matrix as a table of Markdown, and its place in a document.

use std::fmt::Write;

use super::Row;

/// Stands before the table.
pub const BEGIN: &str = "<!-- seeded bugs: begin -->";
/// Stands behind it.
pub const END: &str = "<!-- seeded bugs: end -->";

const STRING: &str = "a string takes all that is written to it";

/// The rows, a line each.
pub fn table(rows: &[Row]) -> String {
    let mut text = String::from("| bug | what it is | found by | cases | seconds |\n|---|---|---|--:|--:|\n");
    for Row { bug, found_by, elsewhere } in rows {
        let list =
            |tell: &dyn Fn(&super::Found) -> String| found_by.iter().map(tell).collect::<Vec<_>>().join(", ");
        let by = match (found_by.as_slice(), elsewhere) {
            ([], Some(file)) => format!("`{file}`"),
            ([], None) => "**nothing yet**".to_owned(),
            _ => list(&|found| found.check.to_owned()),
        };
        // A panic has no count, and some short checks have none.
        let cases = list(&|found| if found.cases == 0 { "-".to_owned() } else { found.cases.to_string() });
        let seconds = list(&|found| format!("{:.1}", found.seconds));
        writeln!(text, "| `{bug:?}` | {} | {by} | {cases} | {seconds} |", bug.what()).expect(STRING);
    }
    text
}

/// The bugs of the table in `document`, and of each what finds it, the first where there are several; none without a table.
pub fn found_in(document: &str) -> Option<Vec<(&str, &str)>> {
    let (_, after) = document.split_once(BEGIN)?;
    let (table, _) = after.split_once(END)?;
    Some(table.lines().filter_map(row).collect())
}

fn row(line: &str) -> Option<(&str, &str)> {
    let mut cells = line.strip_prefix("| `")?.split(" | ");
    let (name, by) = (cells.next()?.strip_suffix('`')?, cells.nth(1)?);
    Some((name, by.split(", ").next()?))
}

/// `document` with `table` in the place of the one that is there; none without one.
pub fn replace_table(document: &str, table: &str) -> Option<String> {
    let (before, after) = document.split_once(BEGIN)?;
    let (_, after) = after.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use holotype::seeded::Bug;

    use super::super::Found;
    use super::*;

    #[test]
    fn a_table_is_put_in_the_place_of_the_old_one_and_its_bugs_are_read_back() {
        let by = |check, cases| Found { check, cases, seconds: 0.44, what: String::new() };
        let rows = [
            Row { bug: Bug::SyncSkipped, found_by: vec![by("lives", 3), by("crash", 0)], elsewhere: None },
            Row { bug: Bug::WakeUpLost, found_by: vec![], elsewhere: Some("loom.rs") },
            Row { bug: Bug::NoReserve, found_by: vec![], elsewhere: None },
        ];
        let document = format!("before\n{BEGIN}\n| stale rows |\n{END}\nafter\n");
        let new = replace_table(&document, &table(&rows)).unwrap();
        let found = [("SyncSkipped", "lives"), ("WakeUpLost", "`loom.rs`"), ("NoReserve", "**nothing yet**")];
        assert_eq!(found_in(&new).unwrap(), found);
        assert!(
            new.starts_with("before\n") && new.ends_with("\nafter\n") && !new.contains("stale rows"),
            "{new}"
        );
        assert!(new.contains("| lives, crash | 3, - | 0.4, 0.4 |"), "{new}");
        assert!(new.contains("| `loom.rs` |  |  |") && new.contains("| **nothing yet** |"), "{new}");
        // What it is comes from the catalogue.
        assert!(new.contains("A synced commit returns before the sync."), "{new}");
    }

    #[test]
    fn a_document_without_the_marks_has_no_table() {
        assert_eq!(replace_table("text", "table"), None);
        assert_eq!(found_in(&format!("{BEGIN} without its end")), None);
    }
}
