//! Tables.

use std::fmt::Write;

use super::{Report, Row, distinct};

/// A row a line, a contender a column, and how many times as good as the best of the others ours is.
pub fn table(rows: &[Row<'_>]) -> String {
    let who = distinct(rows.iter().flat_map(|row| row.records.iter().map(|record| record.who.as_str())));
    let leads = rows.iter().any(|row| row.lead().is_some());
    let mut text = format!("| | {} |", who.join(" | "));
    text.push_str(if leads { " : best peer | done, by the first |\n" } else { "\n" });
    text.push_str("|---|");
    text.push_str(&"---:|".repeat(who.len() + usize::from(leads)));
    text.push_str(if leads { "---|\n" } else { "\n" });
    for row in rows {
        line(&mut text, row, &who, leads);
    }
    text
}

fn line(text: &mut String, row: &Row<'_>, who: &[&str], leads: bool) {
    let put = |text: &mut String, cell: &str| write!(text, " {cell} |").expect("text has room");
    text.push('|');
    let unit = row.records.first().map_or("", |record| record.unit);
    put(text, &format!("{} ({unit})", row.name));
    for name in who {
        let record = row.records.iter().find(|record| record.who == *name);
        let cell = record.map_or("-".to_owned(), |record| {
            let times = record.times.map_or(String::new(), |times| format!("; {}", times.cell()));
            format!("{}{times}", record.spread.cell())
        });
        put(text, &cell);
    }
    if leads {
        put(text, &row.lead().map_or("-".to_owned(), |(lead, best)| format!("**{lead:.2}** ({best})")));
        let done = row.records.first().and_then(|record| record.done.as_deref());
        put(text, done.unwrap_or("-"));
    }
    text.push('\n');
}

/// Who takes no part in what.
pub fn left_out(report: &Report) -> String {
    let mut text = "| takes no part | in | because |\n|---|---|---|\n".to_owned();
    for left in &report.left_out {
        writeln!(text, "| {} | {} | {} |", left.who, left.of, left.why).expect("text has room");
    }
    text
}

/// All tables, and the machine.
pub fn of(report: &Report) -> String {
    let mut text = "# Holotype beside other stores\n\n".to_owned();
    for (name, told) in &report.machine {
        writeln!(text, "* {name}: {told}").expect("text has room");
    }
    writeln!(text, "\n{}", left_out(report).trim_end()).expect("text has room");
    text.push_str("\nMedian (least to greatest); then, where they were taken, the time of a call that one in a hundred passes, and the longest.\n");
    for workload in report.workloads() {
        writeln!(text, "\n## {workload}\n\n{}", report.table(workload).trim_end()).expect("text has room");
    }
    text
}
