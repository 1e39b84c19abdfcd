//! Medians and ratios, as a Markdown table.

use crate::Contender;
use crate::peer::Class;
use crate::trial::{Figures, Rest};

/// A line of the table: how to get its figure out of a trial, and how many times as good as the peer it is meant to be.
struct Row {
    what: &'static str,
    figure: fn(&Figures) -> f64,
    /// The classes of the peer and of the store beside it.
    classes: [Class; 2],
    goal: Option<f64>,
}

fn rest(figures: &Figures) -> &Rest {
    figures.rest.as_ref().expect("asked only of classes that have it")
}

const WRITTEN: [Class; 2] = [Class::Written, Class::Written];
const BUFFERED: [Class; 2] = [Class::Written, Class::Buffered];
const SYNCED: [Class; 2] = [Class::Synced, Class::Synced];

const ROWS: [Row; 15] = [
    Row {
        what: "insert, each handed to the system",
        figure: |f| f.insert,
        classes: WRITTEN,
        goal: Some(1.5),
    },
    Row {
        what: "insert, `Buffered` beside handed over",
        figure: |f| f.insert,
        classes: BUFFERED,
        goal: Some(5.0),
    },
    Row { what: "insert, one sync each", figure: |f| f.insert, classes: SYNCED, goal: None },
    Row {
        what: "get and decode, in order",
        figure: |f| rest(f).reads.decode_sequential,
        classes: WRITTEN,
        goal: Some(3.0),
    },
    Row {
        what: "get and decode, uniform",
        figure: |f| rest(f).reads.decode_uniform,
        classes: WRITTEN,
        goal: Some(3.0),
    },
    Row {
        what: "get one field, uniform",
        figure: |f| rest(f).reads.field_uniform,
        classes: WRITTEN,
        goal: None,
    },
    Row { what: "sum of a field over all", figure: |f| rest(f).reads.sum, classes: WRITTEN, goal: None },
    Row {
        what: "miss, id never given",
        figure: |f| rest(f).reads.miss_never_given,
        classes: WRITTEN,
        goal: Some(1.0),
    },
    Row {
        what: "miss, id deleted",
        figure: |f| rest(f).rewrites.miss_deleted,
        classes: WRITTEN,
        goal: Some(1.0),
    },
    Row {
        what: "replace, each handed to the system",
        figure: |f| rest(f).rewrites.replace,
        classes: WRITTEN,
        goal: None,
    },
    Row {
        what: "replace, `Buffered` beside handed over",
        figure: |f| rest(f).rewrites.replace,
        classes: BUFFERED,
        goal: None,
    },
    Row {
        what: "delete, each handed to the system",
        figure: |f| rest(f).rewrites.delete,
        classes: WRITTEN,
        goal: None,
    },
    Row {
        what: "delete, `Buffered` beside handed over",
        figure: |f| rest(f).rewrites.delete,
        classes: BUFFERED,
        goal: None,
    },
    Row {
        what: "reopen, for each document",
        figure: |f| rest(f).rewrites.reopen,
        classes: WRITTEN,
        goal: None,
    },
    Row {
        what: "file after load, bytes a document",
        figure: |f| rest(f).file_bytes,
        classes: WRITTEN,
        goal: Some(1.0),
    },
];

/// The median, and the least and the greatest.
fn spread(contender: &Contender, figure: fn(&Figures) -> f64) -> [f64; 3] {
    let mut figures: Vec<f64> = contender.trials.iter().map(figure).collect();
    figures.sort_by(f64::total_cmp);
    [figures[figures.len() / 2], figures[0], figures[figures.len() - 1]]
}

fn cell([median, least, greatest]: [f64; 3]) -> String {
    let digits = if median < 100.0 { 1 } else { 0 };
    format!("{median:.digits$} ({least:.digits$} to {greatest:.digits$})")
}

/// Prints the table of all rows that the first contender's name and the other one share a figure for.
pub fn print(contenders: &[Contender], documents: u64) {
    let [peer, ours] = [contenders[0].name, contenders[1].name];
    let find = |name: &str, class: Class| {
        let found = contenders.iter().find(|contender| contender.name == name && contender.class == class);
        found.expect("every row names contenders that ran")
    };
    println!(
        "{documents} small documents; ns on the processor for each (with one sync each: ns by the wall): median (least to greatest).\n"
    );
    println!("| | {peer} | {ours} | times as good | goal |");
    println!("|---|---:|---:|---:|---:|");
    for row in &ROWS {
        let theirs = spread(find(peer, row.classes[0]), row.figure);
        let mine = spread(find(ours, row.classes[1]), row.figure);
        let ratio = theirs[0] / mine[0];
        let goal = row.goal.map_or(String::new(), |goal| {
            format!("{goal:.1}{}", if ratio >= goal { "" } else { ": missed" })
        });
        println!("| {} | {} | {} | **{ratio:.2}** | {goal} |", row.what, cell(theirs), cell(mine));
    }
}
