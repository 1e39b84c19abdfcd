//! The vectors can fail: a reader that takes one field for another, or leaves a part of a seed out of a checksum, turns at least one of them red.
//!
//! Such a reader is the engine behind a lens: before it sees a file, the field of every valid structure is rewritten to what the reader would have
//! read, or what it would not have told apart is made alike, and the checksums are made right again.

mod calls;
mod lens;

use std::path::Path;
use std::sync::LazyLock;

use holotype_conform::answer::Answer;
use holotype_conform::case::{Case, Group, Request};
use holotype_conform::load::{Vectors, load};
use holotype_conform::run::{Came, run_case};
use holotype_conform::subject::{Engine, Subject, Trouble};
use lens::headers::{LeftOut, Structure};
use lens::{Lens, MISREADINGS, Misreading, Mistake};

static VECTORS: LazyLock<Vectors> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/vectors");
    load(&folder).expect("the vectors can be loaded").pop().expect("there is a version")
});

/// A case of a file that is opened, for reading or for writing, and the file.
type Opened = (&'static Group, &'static Case, Vec<u8>);

static OPENED: LazyLock<Vec<Opened>> = LazyLock::new(|| {
    let cases = VECTORS.groups.iter().flat_map(|group| group.cases.iter().map(move |case| (group, case)));
    let files =
        cases.filter(|(_, case)| matches!(case.request, Request::Open { .. } | Request::OpenWrite { .. }));
    let with_bytes = |(group, case): (&'static Group, &'static Case)| {
        let file = case.request.file().expect("it opens a file");
        (group, case, VECTORS.bytes_of(file).expect("the file can be made"))
    };
    files.map(with_bytes).collect()
});

/// The engine, which gets this file for what it is asked to open.
struct Instead(Vec<u8>);

impl Subject for Instead {
    fn ask(&mut self, request: &Request, _: Option<&mut Vec<u8>>) -> Result<Answer, Trouble> {
        Engine.ask(request, Some(&mut self.0))
    }
}

/// The first case that a reader with this mistake gets wrong. A file that it takes as it is, it gets right, as the engine does.
fn caught(mistake: Mistake) -> Option<String> {
    let lens = Lens(mistake);
    OPENED.iter().find_map(|(group, case, file)| {
        let seen = lens.look(file).filter(|seen| seen != file)?;
        let came = run_case(&VECTORS, group, case, &mut Instead(seen));
        matches!(came, Came::Failed(_)).then(|| format!("{} {}", group.group, case.id))
    })
}

fn survivors(mistakes: impl IntoIterator<Item = (String, Mistake)>) -> Vec<String> {
    let survived = mistakes.into_iter().filter(|(name, mistake)| {
        let caught = caught(*mistake);
        println!("{name}: {}", caught.as_deref().unwrap_or("SURVIVES"));
        caught.is_none()
    });
    survived.map(|(name, _)| name).collect()
}

#[test]
fn a_lens_without_a_mistake_shows_every_file_as_it_is() {
    assert!(OPENED.len() > 1000, "the files are there: {}", OPENED.len());
    for (group, case, file) in OPENED.iter() {
        let seen = Lens(Mistake::None).look(file);
        assert!(seen.as_ref() == Some(file), "{} {}", group.group, case.id);
    }
}

#[test]
fn a_reader_that_misreads_any_one_field_of_a_header_turns_a_vector_red() {
    let mistakes = lens::headers::FIELDS.iter().flat_map(|field| {
        let misread = MISREADINGS.into_iter().filter(|misreading| field.bears(*misreading));
        misread.map(|how| (format!("{how:?} of {}", field.name), Mistake::Header(field, how)))
    });
    let survivors = survivors(mistakes);
    assert!(survivors.is_empty(), "no vector sees {survivors:?}");
}

#[test]
fn a_reader_that_misreads_a_field_that_is_left_out_gets_nothing_wrong() {
    for LeftOut { field, reason } in lens::headers::LEFT_OUT {
        let caught = caught(Mistake::Header(field, Misreading::Off));
        assert_eq!(caught, None, "{} has a meaning, though {reason}", field.name);
    }
}

/// Rows of a table of `format.md`: offset and length.
fn rows(clause: &str) -> Vec<(usize, usize)> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/format.md"))
        .expect("the page is there");
    let (_, section) = text.split_once(&format!("### {clause} ")).expect("the clause is there");
    let section = section.split("\n### ").next().expect("there is a part before the next heading");
    let numbers = |line: &str| {
        let mut cells = line.split('|').skip(1).map(|cell| cell.trim().parse().ok());
        Some((cells.next()??, cells.next()??))
    };
    section.lines().filter_map(numbers).collect()
}

#[test]
fn every_byte_of_the_headers_is_of_a_field_or_is_left_out_with_a_reason() {
    let references = [384, 432];
    let slot = rows("F-3.1").into_iter().flat_map(|(at, len)| {
        let inner = if references.contains(&at) { rows("F-3.2") } else { vec![(0, len)] };
        inner.into_iter().map(move |(within, len)| (at + within, len))
    });
    for (structure, bytes, rows) in [
        (Structure::Slot, 512, slot.collect()),
        (Structure::Segment, 64, rows("F-4.1")),
        (Structure::Frame, 32, rows("F-5.1")),
    ] {
        let left_out = lens::headers::LEFT_OUT.iter().map(|left_out| &left_out.field);
        let fields = lens::headers::FIELDS.iter().chain(left_out);
        let of_it = fields.filter(|field| field.structure == structure);
        let mut have: Vec<_> = of_it.map(|field| (field.at, field.len)).collect();
        have.sort_unstable();
        assert_eq!(have, rows, "{structure:?}: these stand in the lens, and these in the specification");
        let end = have.iter().try_fold(0, |end, (at, len)| (*at == end).then_some(end + len));
        assert_eq!(end, Some(bytes), "{structure:?}: {have:?}");
    }
}

#[test]
fn every_byte_of_the_rows_of_a_root_is_of_a_field_or_is_left_out() {
    for lens::fields::Rows { clause, len, fields, left_out } in
        [lens::fields::TABLE, lens::fields::STRETCHES, lens::fields::LIVE]
    {
        let fields = fields.iter().map(|(_, at, len)| (*at, *len));
        let have: Vec<_> = fields.chain(left_out.iter().copied()).collect();
        assert_eq!(have, rows(clause), "{clause}: these stand in the lens, and these in the specification");
        let end = have.iter().try_fold(0, |end, (at, len)| (*at == end).then_some(end + len));
        assert_eq!(end, Some(len), "{clause}: {have:?}");
    }
}

#[test]
fn a_reader_that_does_not_ask_whether_a_header_is_what_it_must_be_turns_a_vector_red() {
    let checks = lens::headers::CHECKS.map(|check| (format!("{check:?}"), Mistake::Unchecked(check)));
    let survivors = survivors(checks);
    assert!(survivors.is_empty(), "no vector sees {survivors:?}");
}

#[test]
fn a_reader_that_does_not_look_for_claims_at_every_multiple_of_8_turns_a_vector_red() {
    let steps = [16, 32, 64].map(|step| (format!("every {step}"), Mistake::ClaimsAtMultiplesOf(step)));
    let survivors = survivors(steps);
    assert!(survivors.is_empty(), "no vector sees {survivors:?}");
}

#[test]
fn a_reader_that_misreads_any_one_field_of_records_turns_a_vector_red() {
    let mistakes = lens::records::FIELDS.into_iter().flat_map(|field| {
        let misread = MISREADINGS.into_iter().filter(move |misreading| field.bears(*misreading));
        misread.map(move |how| (format!("{how:?} of {field:?}"), Mistake::Record(field, how)))
    });
    let survivors = survivors(mistakes);
    assert!(survivors.is_empty(), "no vector sees {survivors:?}");
}

#[test]
fn a_reader_that_misreads_any_one_field_of_index_records_turns_a_vector_red() {
    let mistakes = lens::fields::FIELDS.into_iter().flat_map(|field| {
        let misread = MISREADINGS.into_iter().filter(move |misreading| field.bears(*misreading));
        misread.map(move |how| (format!("{how:?} of {field:?}"), Mistake::Index(field, how)))
    });
    let survivors = survivors(mistakes);
    assert!(survivors.is_empty(), "no vector sees {survivors:?}");
}

#[test]
fn a_reader_that_leaves_any_part_out_of_a_seed_turns_a_vector_red() {
    let seeds = lens::seeds::SEEDS.into_iter().map(|seed| (format!("{seed:?}"), Mistake::Seed(seed)));
    let survivors = survivors(seeds);
    assert!(survivors.is_empty(), "no vector sees {survivors:?}");
}

#[test]
fn a_reader_that_takes_the_older_slot_turns_a_vector_red() {
    assert!(caught(Mistake::OlderSlot).is_some());
}

/// Mistakes in the rules of recovery and replay, as the catalogue of the engine has them.
#[cfg(feature = "seeded")]
#[test]
fn a_reader_with_a_mistake_in_its_rules_turns_a_vector_red() {
    use holotype::seeded::{Bug, switch_on};
    let bugs = [
        Bug::ClaimsIgnored,
        Bug::ClaimsNotFollowedAlongTheChain,
        Bug::DamagedHeaderEndsTheChain,
        Bug::ShortFileAccepted,
        Bug::OpeningFrameNamesIgnored,
        Bug::FirstPartIsEnough,
        Bug::BodyChecksumIgnored,
        Bug::PredecessorEndIgnored,
        Bug::FirstSuccessorAlone,
        Bug::ClaimsOfFirstSuccessorAlone,
        Bug::PlaceHeldTwice,
        Bug::StretchesAnywhere,
        Bug::IdsFromLiveDocuments,
        Bug::DeletesNotReplayed,
        Bug::DropNotReplayed,
        Bug::ReplacedNotCompared,
    ];
    let mut survivors = Vec::new();
    for bug in bugs {
        switch_on(Some(bug));
        let fails = |(group, case, file): &Opened| {
            let came = run_case(&VECTORS, group, case, &mut Instead(file.clone()));
            matches!(came, Came::Failed(_))
        };
        let caught = std::panic::catch_unwind(|| OPENED.iter().any(fails)).unwrap_or(true);
        switch_on(None);
        if !caught {
            survivors.push(bug);
        }
    }
    assert!(survivors.is_empty(), "no vector sees {survivors:?}");
}
