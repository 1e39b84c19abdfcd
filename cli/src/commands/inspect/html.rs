//! For a browser: one page with everything in it, which asks for nothing else.

use std::path::Path;

use holotype::inspect::{SegmentView, Standing, Use};
use serde::Serialize;

use crate::exit::Result;
use crate::output;

use super::contents::{Record, Segment};
use super::shape::Head;
use super::{Depth, Subject};

/// The page, but for the data.
const PAGE: &str = include_str!("page.html");
/// Where in it the data goes.
const PLACE: &str = "@DATA@";

/// So many frames, records and stretches of bytes are told apart in all: a page with more would be slow to move in.
const DETAILS_MAX: usize = 150_000;
/// So many characters of a key are shown.
const KEY_LEN_MAX: usize = 48;

/// What the page is drawn from. Lists of numbers, since there may be many.
#[derive(Debug, Serialize)]
struct Data {
    name: String,
    head: Head,
    uses: Vec<&'static str>,
    standings: [&'static str; 4],
    segments: Vec<Drawn>,
}

const STANDINGS: [Standing; 4] = [Standing::InLog, Standing::Torn, Standing::Old, Standing::Unknown];

#[derive(Debug, Serialize)]
struct Drawn {
    segment: Segment,
    /// Length and use, one behind the other.
    extents: Vec<(u64, usize)>,
    frames: Vec<DrawnFrame>,
    /// Offset, length, and what it is.
    records: Vec<(u32, usize, String)>,
    /// Offset, length, and what it is.
    index: Vec<(u32, u32, String)>,
}

/// Offset, length, LSN, number of records, standing, and whether it is whole: a list too.
#[derive(Debug, Serialize)]
struct DrawnFrame(u32, u32, (u32, u32), u32, usize, bool);

pub(super) fn write(subject: &Subject<'_>, page: &Path) -> Result<()> {
    let data = gather(subject)?;
    let json = serde_json::to_string(&data).expect("the data is plain fields, lists and finite numbers");
    // Inside of a script element nothing but its end tag, and what begins a comment, is special.
    let page_text = PAGE.replacen(PLACE, &json.replace('<', "\\u003c"), 1);
    output::file(page, "--html", &page_text)
}

fn gather(subject: &Subject<'_>) -> Result<Data> {
    let inspector = &subject.inspector;
    let mut left = DETAILS_MAX;
    let mut segments = Vec::new();
    for physical in 0..inspector.segment_count() {
        let view = inspector.segment(physical).map_err(|error| subject.failure(&error))?;
        segments.push(draw(subject, &view, &mut left));
    }
    let name = subject.path.file_name().unwrap_or(subject.path.as_os_str()).to_string_lossy().into_owned();
    Ok(Data {
        name,
        head: Head::of(inspector),
        uses: Use::ALL.iter().map(|usage| usage.name()).collect(),
        standings: STANDINGS.map(Standing::name),
        segments,
    })
}

fn draw(subject: &Subject<'_>, view: &SegmentView, left: &mut usize) -> Drawn {
    let inspector = &subject.inspector;
    let mut drawn = Drawn {
        segment: Segment::of(inspector, view, Depth::Segments),
        extents: Vec::new(),
        frames: Vec::new(),
        records: Vec::new(),
        index: Vec::new(),
    };
    drawn.extents = view.extents.iter().map(|extent| (extent.len, extent.usage.index())).collect();
    if drawn.extents.len() > *left {
        // Summed up: the proportions stay right.
        drawn.extents = Use::ALL
            .iter()
            .map(|usage| {
                let of_use = view.extents.iter().filter(|extent| extent.usage == *usage);
                (of_use.map(|extent| extent.len).sum::<u64>(), usage.index())
            })
            .filter(|(len, _)| *len > 0)
            .collect();
    }
    *left = left.saturating_sub(drawn.extents.len());
    for record in Segment::of(inspector, view, Depth::Frames).index_records.unwrap_or_default() {
        let what = format!("{} of commit {:?}", record.kind, record.lsn);
        drawn.index.push((record.offset, record.len, what));
    }
    for found in view.frames.iter().take(*left) {
        let header = &found.frame.header;
        let lsn = (header.lsn.incarnation(), header.lsn.count());
        let standing = STANDINGS.iter().position(|standing| *standing == found.standing);
        let standing = standing.expect("all standings are listed");
        let (len, count, whole) = (header.frame_len(), header.record_count, found.is_whole());
        drawn.frames.push(DrawnFrame(found.frame.offset, len, lsn, count, standing, whole));
        let records = inspector.records(view, found);
        drawn.records.extend(records.iter().map(|record| describe(&Record::of(record))));
    }
    *left = left.saturating_sub(drawn.frames.len() + drawn.records.len() + drawn.index.len());
    drawn
}

fn describe(record: &Record) -> (u32, usize, String) {
    let mut what = record.kind.replace('_', " ");
    if record.collection != 0 {
        what += &format!(", collection {}", record.collection);
    }
    if let Some(key) = &record.key {
        let key = key.to_string();
        let short: String = key.chars().take(KEY_LEN_MAX).collect();
        what += &format!(", key {short}{}", if short.len() < key.len() { "…" } else { "" });
    }
    if let Some(fate) = record.fate {
        what += &format!(": {fate}");
    }
    (record.offset, record.len, what)
}
