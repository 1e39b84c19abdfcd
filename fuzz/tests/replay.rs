//! Replays every file of every corpus through its target.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use holotype_fuzz::{TARGETS, Target};

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

fn files(target: &str) -> Vec<PathBuf> {
    let folder = corpus(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn replay(name: &str) {
    let (_, target) = TARGETS.into_iter().find(|(target, _)| *target == name).unwrap();
    let files = files(name);
    assert!(files.len() >= 10, "the corpus of {name} has {} files: something lost the rest", files.len());
    let broken: Vec<_> = files.iter().filter(|file| is_broken(target, file)).collect();
    assert!(broken.is_empty(), "{name} breaks on {broken:#?}");
}

fn is_broken(target: Target, file: &Path) -> bool {
    let bytes = fs::read(file).unwrap();
    catch_unwind(|| target(&bytes)).is_err()
}

#[test]
fn every_known_document_is_decoded_or_refused() {
    replay("document_decode");
}

#[test]
fn every_known_json_text_is_imported_or_refused() {
    replay("json_import");
}

#[test]
fn every_known_file_image_opens_to_one_state_or_is_left_alone() {
    replay("file_image");
}

#[test]
fn every_known_forgery_opens_to_one_state_or_is_left_alone() {
    replay("resealed_image");
}

#[test]
fn every_known_sequence_of_calls_is_answered_as_a_map_answers_it() {
    replay("operations");
}

#[test]
fn every_known_text_is_a_query_for_both_parsers_or_for_none() {
    replay("query_texts");
}

#[test]
fn every_known_filter_says_what_the_model_says() {
    replay("filters");
}

#[test]
fn every_known_question_is_answered_as_the_model_answers_it() {
    replay("queries");
}

#[test]
fn every_known_update_is_what_the_model_makes_of_it() {
    replay("updates");
}

#[test]
fn every_known_life_is_legal_by_the_model() {
    replay("lives");
}

#[test]
fn every_known_backup_opens_to_the_state_of_its_moment() {
    replay("backups");
}

#[test]
fn every_target_has_a_corpus_and_every_corpus_a_target() {
    let mut folders: Vec<_> = fs::read_dir(corpus(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    let mut names = TARGETS.map(|(name, _)| name.to_owned());
    names.sort();
    assert_eq!(folders, names);
}

/// The bytes of a word in libFuzzer's notation; none where it is not in that notation.
fn word(line: &str) -> Option<Vec<u8>> {
    let quoted = line.split_once('=')?.1.strip_prefix('"')?.strip_suffix('"')?;
    let mut rest = quoted.bytes();
    let mut word = Vec::new();
    while let Some(byte) = rest.next() {
        word.push(match (byte, byte == b'\\') {
            (b'"', _) => return None,
            (byte, false) => byte,
            (_, true) => match rest.next()? {
                escaped @ (b'\\' | b'"') => escaped,
                b'x' => {
                    let digits = [rest.next()?, rest.next()?];
                    u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
                }
                _ => return None,
            },
        });
    }
    (!word.is_empty()).then_some(word)
}

#[test]
fn every_dictionary_is_of_a_target_and_each_of_its_words_is_in_the_fuzzers_notation() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("dictionaries");
    let mut words = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let target = path.file_stem().unwrap().to_str().unwrap();
        assert!(TARGETS.iter().any(|(name, _)| *name == target), "{target} is no target");
        for line in fs::read_to_string(&path).unwrap().lines() {
            if !line.is_empty() && !line.starts_with('#') {
                assert!(word(line).is_some(), "{}: {line}", path.display());
                words += 1;
            }
        }
    }
    assert!(words > 50, "{words} words");
    assert_eq!(
        (word(r#"a="\xff\\""#), word(r#"a="\u00""#), word("a=b")),
        (Some(vec![0xFF, b'\\']), None, None)
    );
}
