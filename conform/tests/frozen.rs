//! The vectors in the repository are those that the program makes, and the engine holds against those of every version.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use holotype_conform::index::{Entry, INDEX, Index};
use holotype_conform::load::{Fault, load};
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
    let made = make::folder().into_iter().filter(|(name, _)| make::is_written_by_the_engine(name)).collect();
    make::write(folder.path(), &made).expect("files can be written");
    let vectors = load(folder.path()).expect("the vectors can be loaded").pop().expect("there is a version");
    assert!(vectors.case_count() > 100, "{}", vectors.case_count());
    let outcomes = run(&vectors, &mut Engine, |_| ());
    let failed: Vec<_> = outcomes.iter().filter(|outcome| outcome.came != Came::Held).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

/// A copy of the vectors of the present version.
fn copy() -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("there is a temporary folder");
    for within in [make::VERSION.to_owned(), format!("{}/stores", make::VERSION)] {
        std::fs::create_dir_all(copy.path().join(&within)).expect("folders can be made");
        for entry in std::fs::read_dir(folder().join(&within)).expect("the folder is there") {
            let path = entry.expect("it can be read").path();
            if path.is_file() {
                let to = copy.path().join(&within).join(path.file_name().expect("it has a name"));
                std::fs::copy(path, to).expect("files can be copied");
            }
        }
    }
    copy
}

fn store_and_manifest() -> [String; 2] {
    let first = |name: &&String| name.ends_with(".holo");
    let index = Index::read(&folder().join(make::VERSION)).expect("there is a list");
    [index.files.keys().find(first).expect("there are stores").clone(), "keys.json".to_owned()]
}

#[test]
fn a_file_that_is_cut_changed_missing_or_not_listed_is_told_by_name() {
    type Harm = fn(&Path);
    let read = |path: &Path| std::fs::read(path).expect("it is there");
    assert!(load(copy().path()).is_ok());
    let is_changed = |fault: &Fault| matches!(fault, Fault::Changed { .. });
    let cut: Harm = |path| {
        let file = std::fs::OpenOptions::new().write(true).open(path).expect("it is there");
        let len = file.metadata().expect("it has a length").len();
        file.set_len(len - 1).expect("it can be cut");
    };
    for name in store_and_manifest() {
        let fault_after = |harm: &dyn Fn(&Path)| {
            let copy = copy();
            let path = copy.path().join(make::VERSION).join(&name);
            harm(&path);
            let error = load(copy.path()).expect_err("something is wrong");
            assert!(error.path.starts_with(copy.path()), "{error}");
            (error.fault.clone(), error.path == path, error.to_string())
        };
        let (fault, is_named, text) = fault_after(&cut);
        assert!(is_changed(&fault) && is_named && text.contains(&name), "{name}: {text}");
        let (fault, is_named, text) = fault_after(&|path| {
            let mut bytes = read(path);
            let last = bytes.len() - 1;
            // JSON means the same with another space at its end, and a store has zeros there.
            bytes[last] = if bytes[last] == b'\n' { b' ' } else { !bytes[last] };
            std::fs::write(path, bytes).expect("it can be written");
        });
        assert!(is_changed(&fault) && is_named && text.contains(&name), "{name}: {text}");
        let (fault, is_named, text) = fault_after(&|path| std::fs::remove_file(path).expect("it is there"));
        assert!(fault == Fault::Missing && is_named && text.contains(&name), "{name}: {text}");
        let (fault, _, text) = fault_after(&|path| {
            std::fs::copy(path, path.with_file_name("extra.json")).expect("it can be copied");
        });
        assert!(fault == Fault::NotListed && text.contains("extra.json"), "{name}: {text}");
    }
    let copy = copy();
    std::fs::remove_file(copy.path().join(make::VERSION).join(INDEX)).expect("it is there");
    assert_eq!(load(copy.path()).map(|_| ()).map_err(|error| error.fault), Err(Fault::NoIndex));
}

#[test]
fn a_list_that_says_another_number_of_cases_is_told() {
    let copy = copy();
    let version = copy.path().join(make::VERSION);
    let mut index = Index::read(&version).expect("there is a list");
    let entry = index.files.get_mut("keys.json").expect("it is listed");
    entry.cases = entry.cases.map(|cases| cases + 1);
    std::fs::write(version.join(INDEX), index.text()).expect("it can be written");
    let error = load(copy.path()).expect_err("the number is wrong");
    assert!(matches!(error.fault, Fault::Changed { .. }) && error.path.ends_with("keys.json"), "{error}");
}

#[test]
fn what_is_listed_is_written_again_only_once_it_is_taken_out_of_the_list() {
    let root = tempfile::tempdir().expect("there is a temporary folder");
    let version = root.path().join(make::VERSION);
    let name = |name: &str| format!("{}/{name}", make::VERSION);
    let mut made = BTreeMap::from([(name("a.json"), b"one".to_vec()), (name("b.json"), b"two".to_vec())]);
    assert_eq!(make::write(root.path(), &made), Ok(vec![name("a.json"), name("b.json")]));
    assert_eq!(make::write(root.path(), &made), Ok(Vec::new()), "all is there");
    let read = |name: &str| std::fs::read(version.join(name)).ok();
    made.insert(name("a.json"), b"another".to_vec());
    made.insert(name("c.json"), b"three".to_vec());
    let refused = Err(make::WriteError::WouldChange(vec![name("a.json")]));
    assert_eq!(make::write(root.path(), &made), refused);
    assert_eq!((read("a.json"), read("c.json")), (Some(b"one".to_vec()), None), "nothing was written");
    let mut index = Index::read(&version).expect("there is a list");
    index.files.remove("a.json");
    std::fs::write(version.join(INDEX), index.text()).expect("it can be written");
    assert_eq!(make::write(root.path(), &made), Ok(vec![name("a.json"), name("c.json")]));
    assert_eq!(read("a.json"), Some(b"another".to_vec()));
    let index = Index::read(&version).expect("there is a list");
    assert_eq!(index.files.get("a.json"), Some(&Entry::of(b"another")));
}
