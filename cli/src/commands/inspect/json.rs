//! For programs: one object, written segment by segment, so that a large file takes no more memory than a small one.

use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::exit::Result;
use crate::output::Output;

use super::Subject;
use super::contents::Segment;
use super::shape::Head;

#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    head: Head,
    segments: Segments<'a>,
}

/// The segments, each read when it is written.
struct Segments<'a>(&'a Subject<'a>);

impl Serialize for Segments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Subject { inspector, depth, .. } = self.0;
        let mut list = serializer.serialize_seq(None)?;
        for physical in 0..inspector.segment_count() {
            let segment = inspector.segment(physical).map_err(S::Error::custom)?;
            list.serialize_element(&Segment::of(inspector, &segment, *depth))?;
        }
        list.end()
    }
}

pub(super) fn print(subject: &Subject<'_>) -> Result<()> {
    let report = Report { head: Head::of(&subject.inspector), segments: Segments(subject) };
    let mut output = Output::new();
    output.json(&report)?;
    output.finish()
}
