//! Medians and ratios, as a Markdown table.

use super::peer::Class;
use super::trial::{Figures, Rest};
use crate::report::{Better, Record};
use crate::turns::Contender;

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

static ROWS: [Row; 15] = [
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

/// Prints the table: in each row the two stores, in the classes that the row names.
pub fn print(classes: &[Class], contenders: &[Contender<Figures>], documents: u64) {
    let [peer, ours] = [0, 1].map(|index| contenders[index].name.as_str());
    println!("## The day of a document\n");
    println!(
        "{documents} small documents; ns on the processor for each (with one sync each: ns by the wall): median (least to greatest).\n"
    );
    println!("| | {peer} | {ours} | times as good | goal |");
    println!("|---|---:|---:|---:|---:|");
    for row in &ROWS {
        let [theirs, mine] = pair(row, classes, contenders).map(|contender| contender.spread(row.figure));
        let ratio = theirs.median / mine.median;
        let goal = row.goal.map_or(String::new(), |goal| {
            format!("{goal:.1}{}", if ratio >= goal { "" } else { ": missed" })
        });
        println!("| {} | {} | {} | **{ratio:.2}** | {goal} |", row.what, theirs.cell(), mine.cell());
    }
    println!();
}

/// The peer and ours, in the classes that the row names.
fn pair<'c>(
    row: &Row,
    classes: &[Class],
    contenders: &'c [Contender<Figures>],
) -> [&'c Contender<Figures>; 2] {
    [0, 1].map(|at| {
        let (name, class) = (&contenders[at].name, row.classes[at]);
        let mut all = classes.iter().zip(contenders);
        let found = all.find(|(of, contender)| contender.name == *name && **of == class);
        found.expect("every row names contenders that ran").1
    })
}

/// The same figures for the report, ours first.
pub fn records(classes: &[Class], contenders: &[Contender<Figures>]) -> Vec<Record> {
    let of_row = |row: &'static Row| {
        let unit = if row.what.contains("bytes") { "bytes" } else { "ns" };
        let [theirs, mine] = pair(row, classes, contenders);
        [mine, theirs].map(|contender| {
            Record::of(["the day of a document", row.what], (unit, Better::Less), contender, row.figure)
        })
    };
    ROWS.iter().flat_map(of_row).collect()
}
