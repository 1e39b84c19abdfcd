//! Every clause of the pages about bytes and values has a valid case and an invalid one, or a reason why not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use holotype_conform::case::{Case, Verdict};
use holotype_conform::load::load;

/// Clauses with no valid case, or no invalid one, and why.
const EXCEPTIONS: &[(&[&str], &str)] = &[
    (
        &["V-3.1", "V-3.2", "V-3.3", "V-3.4", "V-3.5", "V-3.7"],
        "an order has an answer for every pair: nothing is refused, and a wrong order answers the pairs wrongly",
    ),
    (&["V-1.5", "V-1.6"], "what a type is: nothing is refused but by its encoding, E-2"),
    (&["V-4.2"], "a document of 64 MiB is no small file; the engine's own tests have one"),
    (&["V-6.4"], "what an error says of a pointer; the protocol has no field for it"),
    (&["V-4.4"], "a refusal: the valid cases are those of the limits themselves"),
    (&["E-1.1"], "what the form is called; E-1.2 and E-2 are its substance"),
    (
        &["F-1.6", "F-2.4", "F-5.5", "R-5.6", "R-6.2", "R-7.1", "R-7.2", "R-7.4"],
        "how a writer writes: a file shows what came of it, and a wrong order of writes and syncs shows under power cuts only",
    ),
    (&["I-2.7"], "more than 1,048,576 entries take no small file; the engine's own tests have them"),
    (
        &[
            "I-3.1", "I-3.2", "I-4.2", "I-4.6", "I-4.7", "I-5.1", "I-5.2", "I-6.1", "I-6.2", "I-6.3",
            "I-6.4", "I-6.5", "I-8.3",
        ],
        "what calls do: no file and no value breaks it; the model checks these",
    ),
    (
        &["I-2.1", "I-2.3", "I-2.4", "I-2.5", "I-2.8", "I-4.1", "I-4.3", "I-4.4", "I-4.5", "I-4.8", "I-8.1"],
        "what a document, or a change of the catalog, gives: nothing is refused, and wrong entries show in what is held",
    ),
    (
        &[
            "Q-1.2", "Q-2.1", "Q-3.1", "Q-3.2", "Q-4.1", "Q-5.1", "Q-5.4", "Q-5.5", "Q-5.6", "Q-5.7",
            "Q-7.1", "Q-7.3", "Q-7.4", "Q-9.1", "Q-9.2", "Q-9.3", "Q-9.5", "U-2.4", "U-4.1", "U-5.1",
        ],
        "there is an answer for every question: nothing is refused, and a wrong meaning answers wrongly",
    ),
    (&["Q-1.5"], "the normal form is any text that is read back"),
    (&["Q-4.2", "Q-7.5"], "what a store may limit, each as it likes"),
    (&["U-2.2"], "an error: the valid cases are those of the operations"),
    (&["U-2.3"], "a document of 64 MiB is no small file; the engine's own tests have one"),
    (
        &["U-6.1", "U-6.2", "U-6.3", "U-6.4", "U-6.5", "U-7.1", "U-7.2"],
        "calls on a store: which commits they are, and on which versions, is not about values",
    ),
    (
        &["Q-10.1", "Q-10.2", "Q-10.3", "Q-10.4"],
        "which way a store goes to its answer: the answer is what the other clauses say",
    ),
    (&["R-9.5"], "what a reader does without: no value of it is a fault"),
    (&["R-5.7", "R-5.8"], "when a reader reads what it needs: what it finds there, the other clauses say"),
    (
        &["R-5.3", "R-6.3", "R-8.3", "R-9.6"],
        "what a reader or writer does once it has decided: no file can break it",
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec")
}

/// The numbers in the headings of a page, such as `F-3.1`.
fn clauses_of(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(page)).expect("the page is there");
    let headings = text.lines().filter_map(|line| line.strip_prefix("### "));
    headings.filter_map(|heading| heading.split(' ').next()).map(str::to_owned).collect()
}

fn all_clauses() -> BTreeSet<String> {
    let pages = ["format.md", "encoding.md", "recovery.md", "values.md", "query.md", "update.md", "index.md"];
    let clauses: BTreeSet<_> = pages.iter().flat_map(|page| clauses_of(page)).collect();
    assert!(clauses.len() > 120, "the headings are read: {}", clauses.len());
    clauses
}

fn cases() -> Vec<Case> {
    let all = load(&root().join("vectors")).expect("the vectors can be loaded");
    all.into_iter().flat_map(|vectors| vectors.groups).flat_map(|group| group.cases).collect()
}

#[test]
fn every_clause_has_a_valid_case_and_an_invalid_one_or_a_reason() {
    let mut seen: BTreeMap<String, BTreeSet<Verdict>> = BTreeMap::new();
    for case in cases() {
        for clause in case.clauses {
            seen.entry(clause).or_default().insert(case.result);
        }
    }
    let is_covered = |clause: &str| {
        seen.get(clause)
            .is_some_and(|results| results.contains(&Verdict::Valid) && results.contains(&Verdict::Invalid))
    };
    let excused: BTreeSet<&str> = EXCEPTIONS.iter().flat_map(|(clauses, _)| *clauses).copied().collect();
    let missing: Vec<_> = all_clauses()
        .into_iter()
        .filter(|clause| !is_covered(clause) && !excused.contains(&**clause))
        .map(|clause| format!("{clause} has {:?}", seen.get(&clause)))
        .collect();
    assert!(missing.is_empty(), "without both kinds of cases:\n{}", missing.join("\n"));
    let idle: Vec<_> = excused.into_iter().filter(|clause| is_covered(clause)).collect();
    assert!(idle.is_empty(), "these need no exception any more: {idle:?}");
}

#[test]
fn a_case_names_clauses_that_there_are() {
    let known = all_clauses();
    let named: BTreeSet<_> = cases().into_iter().flat_map(|case| case.clauses).collect();
    let unknown: Vec<_> = named.difference(&known).collect();
    assert!(unknown.is_empty(), "no page has {unknown:?}");
}

#[test]
fn there_are_enough_cases_and_every_refusal_says_which_mistake_it_catches() {
    let all = load(&root().join("vectors")).expect("the vectors can be loaded");
    for vectors in &all {
        assert!(vectors.case_count() >= 1500, "{} has {}", vectors.version, vectors.case_count());
        for group in &vectors.groups {
            for case in &group.cases {
                assert!(
                    case.result != Verdict::Invalid || !case.flags.is_empty(),
                    "{} {}",
                    group.group,
                    case.id
                );
                assert!(
                    case.flags.iter().all(|flag| group.notes.contains_key(flag)),
                    "{} {}",
                    group.group,
                    case.id
                );
            }
        }
    }
}
