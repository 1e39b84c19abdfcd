//! The vectors in the repository are those that the program makes, and the engine holds against those of every version.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use holotype_conform::load::load;
use holotype_conform::make;
use holotype_conform::run::{Came, run};
use holotype_conform::subject::Engine;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/vectors")
}

#[test]
fn the_engine_holds_against_the_vectors_of_every_version() {
    let all = load(&folder()).expect("the vectors can be loaded");
    assert!(all.iter().any(|vectors| vectors.version == make::VERSION));
    for vectors in all {
        let failed: Vec<_> = run(&vectors, &mut Engine, |_| ())
            .into_iter()
            .filter(|outcome| outcome.came != Came::Held)
            .map(|outcome| format!("{} {}: {}: {:?}", outcome.group, outcome.id, outcome.name, outcome.came))
            .collect();
        assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
    }
}

#[test]
fn the_frozen_vectors_are_those_that_are_made() {
    let root = folder();
    let differs =
        |(name, made): &(&String, &Vec<u8>)| std::fs::read(root.join(name)).ok().as_ref() != Some(*made);
    let made: BTreeMap<_, _> = make::folder();
    // What the engine wrote stays as it was written then: another engine writes other stores, and has to open these.
    let forged = made.iter().filter(|(name, _)| !make::is_written_by_the_engine(name));
    let differ: Vec<_> = forged.filter(differs).map(|(name, _)| name).collect();
    assert!(differ.is_empty(), "made anew, these differ: {differ:?}");
}

#[test]
fn the_stores_that_the_engine_writes_now_hold_what_was_put_into_them() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    for (name, bytes) in make::folder().iter().filter(|(name, _)| make::is_written_by_the_engine(name)) {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
        std::fs::write(path, bytes).expect("files can be written");
    }
    let vectors = load(folder.path()).expect("the vectors can be loaded").pop().expect("there is a version");
    assert!(vectors.case_count() > 100, "{}", vectors.case_count());
    let outcomes = run(&vectors, &mut Engine, |_| ());
    let failed: Vec<_> = outcomes.iter().filter(|outcome| outcome.came != Came::Held).collect();
    assert!(failed.is_empty(), "{failed:?}");
}
