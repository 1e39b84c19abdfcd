//! The vectors can fail: a reader that takes one field for another turns at least one of them red.
//!
//! A reader that reads a field elsewhere, in another byte order or not at all is the engine behind a lens: before it sees a file, the field of every
//! valid structure is rewritten to what such a reader would have read, and the checksums are made right again.

mod lens;

use std::path::Path;

use holotype_conform::answer::Answer;
use holotype_conform::case::Request;
use holotype_conform::load::{Vectors, load};
use holotype_conform::run::{Came, run};
use holotype_conform::subject::{Engine, Subject, Trouble};
use lens::{FIELDS, Lens, Misreading};

fn vectors() -> Vectors {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/vectors");
    load(&folder).expect("the vectors can be loaded").pop().expect("there is a version")
}

/// The engine behind a lens. It reads files only, and leaves them as they are.
struct Behind(Lens);

impl Subject for Behind {
    fn ask(&mut self, request: &Request, file: Option<&mut Vec<u8>>) -> Result<Answer, Trouble> {
        let (Request::Open { .. }, Some(file)) = (request, file) else { return Ok(Answer::Unsupported) };
        Engine.ask(request, Some(&mut self.0.look(file)))
    }
}

fn failures(vectors: &Vectors, subject: &mut dyn Subject) -> usize {
    run(vectors, subject, |_| ()).iter().filter(|outcome| matches!(outcome.came, Came::Failed(_))).count()
}

#[test]
fn a_lens_that_changes_nothing_turns_no_vector_red() {
    assert_eq!(failures(&vectors(), &mut Behind(Lens::clear())), 0);
}

#[test]
fn a_reader_that_misreads_any_one_field_turns_a_vector_red() {
    let vectors = vectors();
    let mut survivors = Vec::new();
    for field in FIELDS {
        for misreading in [Misreading::Shifted, Misreading::Reversed, Misreading::Zero] {
            if field.bears(misreading) && failures(&vectors, &mut Behind(Lens::on(field, misreading))) == 0 {
                survivors.push(format!("{:?} of {}", misreading, field.name));
            }
        }
    }
    assert!(survivors.is_empty(), "no vector sees {survivors:?}");
}

#[test]
fn a_reader_that_takes_the_older_slot_turns_a_vector_red() {
    assert!(failures(&vectors(), &mut Behind(Lens::older_slot_first())) > 0);
}

#[test]
fn a_reader_that_leaves_the_place_out_of_a_checksum_turns_a_vector_red() {
    assert!(failures(&vectors(), &mut Behind(Lens::without_the_place())) > 0);
}

/// Mistakes in the rules of recovery and replay, as the catalogue of the engine has them.
#[cfg(feature = "seeded")]
#[test]
fn a_reader_with_a_mistake_in_its_rules_turns_a_vector_red() {
    use holotype::seeded::{Bug, switch_on};
    let vectors = vectors();
    let bugs = [
        Bug::ClaimsIgnored,
        Bug::ClaimsNotFollowedAlongTheChain,
        Bug::DamagedHeaderEndsTheChain,
        Bug::ShortFileAccepted,
        Bug::OpeningFrameNamesIgnored,
        Bug::FirstPartIsEnough,
        Bug::BodyChecksumIgnored,
        Bug::PredecessorEndIgnored,
        Bug::IdsFromLiveDocuments,
        Bug::DeletesNotReplayed,
        Bug::DropNotReplayed,
        Bug::MovedFromIgnored,
    ];
    let mut survivors = Vec::new();
    for bug in bugs {
        switch_on(Some(bug));
        let caught =
            std::panic::catch_unwind(|| failures(&vectors, &mut Engine)).map_or(true, |count| count > 0);
        switch_on(None);
        if !caught {
            survivors.push(bug);
        }
    }
    assert!(survivors.is_empty(), "no vector sees {survivors:?}");
}
