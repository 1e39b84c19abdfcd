//! For a terminal: the summary first, then the segments.

use holotype::document::JsonMode;

use crate::exit::Result;
use crate::output::Output;

use super::Subject;
use super::contents::{Frame, IndexRecord, Record, Replaced, Segment};
use super::shape::{Checkpoint, Head, Index, Recovery, Slot, Tree};

pub(super) fn print(subject: &Subject<'_>) -> Result<()> {
    let inspector = &subject.inspector;
    let mut output = Output::new();
    for line in summary(subject, &Head::of(inspector)) {
        output.line(&line)?;
    }
    for physical in 0..inspector.segment_count() {
        let view = inspector.segment(physical).map_err(|error| subject.failure(&error))?;
        let segment = Segment::of(inspector, &view, subject.depth);
        output.line(&segment_line(&segment))?;
        for frame in segment.frames.iter().flatten() {
            output.line(&frame_line(frame))?;
            for record in frame.records.iter().flatten() {
                output.line(&record_line(record))?;
            }
        }
        for record in segment.index_records.iter().flatten() {
            output.line(&index_record_line(record))?;
        }
    }
    output.finish()
}

fn summary(subject: &Subject<'_>, head: &Head) -> Vec<String> {
    let inferred = if head.inferred { ", inferred from the segments" } else { "" };
    let mut lines = vec![
        format!("file          {}, {} bytes", subject.path.display(), head.file_len),
        format!("layout        sectors of {}, segments of {}{inferred}", head.sector, head.segment_bytes),
    ];
    lines.extend(recovery_lines(&head.recovery));
    lines.push(format!("watermark     {:?}: all up to there is said to have been durable", head.watermark));
    lines.extend(head.superblocks.iter().map(slot_line));
    for checkpoint in &head.checkpoints {
        lines.push(checkpoint_line(checkpoint));
        lines.extend(checkpoint.trees.iter().map(tree_line));
    }
    lines.extend(head.collections.iter().map(|collection| {
        format!("collection    {}: {:?}, {} documents", collection.id, collection.name, collection.documents)
    }));
    lines.extend(head.indexes.iter().map(|Index { id, of, definition }| {
        format!("index         {id}: of collection {of}, {}", definition.to_json(JsonMode::Relaxed))
    }));
    let share = |bytes: u64| 100.0 * bytes as f64 / head.file_len.max(1) as f64;
    let used = head.bytes.iter().filter(|(_, bytes)| **bytes > 0);
    lines.extend(
        used.map(|(name, bytes)| format!("bytes         {name:<10} {bytes:>14} {:>5.1} %", share(*bytes))),
    );
    lines.push(String::new());
    lines
}

fn recovery_lines(recovery: &Recovery) -> Vec<String> {
    let at = recovery.at.map(|at| format!(", at offset {at}")).unwrap_or_default();
    let clause = recovery.clause.map(|clause| format!(" ({clause})")).unwrap_or_default();
    let mut lines = vec![format!("recovery      {}: {}{at}{clause}", recovery.outcome, recovery.why)];
    if let Some(end) = &recovery.end {
        lines.push(format!(
            "log           ends at offset {}, behind commit {:?} in segment {} of sequence {}; {} commits were read",
            end.at, end.lsn, end.physical, end.sequence, recovery.commits
        ));
    }
    lines
}

fn slot_line(slot: &Slot) -> String {
    let newest = if slot.newest { ", the newest" } else { "" };
    let mut line = format!("superblock {}  {}{newest}", slot.slot, slot.state);
    if let Some(why) = &slot.why {
        line += &format!(": {why}");
    }
    if let Some(fields) = &slot.fields {
        let clean = if fields.clean { ", closed" } else { "" };
        line += &format!(
            ": generation {}, incarnation {}, durable {:?}, {} bytes{clean}",
            fields.generation, fields.incarnation, fields.durable_lsn, fields.file_len
        );
    }
    line
}

fn checkpoint_line(checkpoint: &Checkpoint) -> String {
    let state = checkpoint.problem.as_deref().unwrap_or("whole");
    let segments = checkpoint.segments.len();
    format!(
        "checkpoint    of commit {:?}, root at offset {}, in {segments} segments: {state}",
        checkpoint.lsn, checkpoint.root_at
    )
}

fn tree_line(tree: &Tree) -> String {
    let Tree { id, of, name, entries, pages, leaves, bytes } = tree;
    let sort = of.map_or("collection".to_owned(), |of| format!("of collection {of}, index"));
    let size = match (pages, leaves, bytes) {
        (Some(pages), Some(leaves), Some(bytes)) => {
            format!("leaves {leaves}, directory pages {pages}, bytes {bytes}")
        }
        _ => "damaged".to_owned(),
    };
    format!("  tree        {id}: {sort} {name:?}: entries {entries}, {size}")
}

fn segment_line(segment: &Segment) -> String {
    let header = match &segment.header {
        Some(header) => format!("{} {} from {:?}", header.kind, header.sequence, header.first_lsn),
        None => "no header".to_owned(),
    };
    let bytes: Vec<_> = segment.bytes.iter().map(|(name, bytes)| format!("{name} {bytes}")).collect();
    let things = |count: usize, name: &str| match count {
        0 => String::new(),
        1 => format!(", 1 {name}"),
        count => format!(", {count} {name}s"),
    };
    let holds = things(segment.frame_count, "frame") + &things(segment.index_record_count, "index record");
    let unreadable = match segment.unreadable {
        0 => String::new(),
        bytes => format!(", {bytes} bytes refused by the disk"),
    };
    format!(
        "segment {:<5} at {:<10} {:<10} {header}{holds}{unreadable}: {}",
        segment.physical,
        segment.at,
        segment.state,
        bytes.join(", ")
    )
}

fn frame_line(frame: &Frame) -> String {
    const FLAGS: [(u16, &str); 4] = [(1, " opening"), (2, " watermark"), (4, " system"), (8, " encrypted")];
    let flags: String =
        FLAGS.iter().filter(|(bit, _)| frame.flags & bit != 0).map(|(_, name)| *name).collect();
    let part = if frame.part == 0 && frame.last {
        String::new()
    } else {
        format!(" part {}{}", frame.part, if frame.last { ", the last" } else { "" })
    };
    let whole = if frame.whole { "" } else { ", damaged" };
    let lag = match frame.durable_lag {
        u32::MAX => String::new(),
        lag => format!(", durable lag {lag}"),
    };
    format!(
        "  frame {:<8} {:>7} bytes  {:?}{part}{flags}: {} records{lag}, {}{whole}",
        frame.offset, frame.len, frame.lsn, frame.record_count, frame.standing
    )
}

fn record_line(record: &Record) -> String {
    let mut line = format!("    {:<8} {:>7} bytes  {}", record.offset, record.len, record.kind);
    if record.collection != 0 {
        line += &format!(" in {}", record.collection);
    }
    if let Some(key) = &record.key {
        line += &format!(" {key}");
    }
    if record.chunked {
        line += " in chunks";
    }
    if let Some(own) = record.own_lsn {
        line += &format!(" of {own:?}");
    }
    if let Some(Replaced { address, .. }) = record.replaces {
        line += &format!(", replaces {address:#x}");
    }
    if let Some(expiry) = record.expiry {
        line += &format!(", expires {expiry}");
    }
    if let Some(fate) = record.fate {
        line += &format!(": {fate}");
    }
    line
}

fn index_record_line(record: &IndexRecord) -> String {
    let tree = if record.collection == 0 { String::new() } else { format!(" of {}", record.collection) };
    format!(
        "  index {:<9} {:>7} bytes  {}{tree}, of commit {:?}",
        record.offset, record.len, record.kind, record.lsn
    )
}
