use std::collections::BTreeSet;

use super::lists::{Layout, OfRedb};
use super::step::{Done, Form, Make, Naming, Work, commits};
use super::*;
use crate::stores::holotype::Holotype;
use crate::stores::wrong::*;

fn figures<S: Store>(commits: Commits, steps: &[Step]) -> Result<Vec<Figures>> {
    let directory = tempfile::tempdir().unwrap();
    run::run::<S>(directory.path(), commits, steps)
}

fn done(figures: &[Figures]) -> Vec<(String, Done)> {
    figures.iter().map(|row| (row.row.clone(), row.done)).collect()
}

/// Every list there is, small.
fn lists() -> Vec<(Commits, Vec<Step>)> {
    let mut all = vec![
        (Commits::Durable, lists::writes(800)),
        (Commits::Unsynced, lists::writes(800)),
        (Commits::Unsynced, lists::transactions(800)),
        (Commits::Unsynced, lists::named_transaction(800)),
        (Commits::Unsynced, lists::reads(2_000, 400)),
        (Commits::Unsynced, lists::named(2_000, 400)),
        (Commits::Unsynced, lists::whole_scans(500, 2)),
        (Commits::Unsynced, lists::of_toondb(500, 100, 200, Naming::Cut)),
        (Commits::Durable, lists::of_toondb(500, 100, 200, Naming::User)),
        (Commits::Unsynced, lists::of_dbx(500)),
        (Commits::Durable, lists::of_redb(OfRedb::new(1_000, 40))),
        (Commits::Unsynced, lists::of_redb(OfRedb::new(1_000, 40))),
        (Commits::Unsynced, lists::sorted_load_of_redb(500)),
        (Commits::Unsynced, lists::reads_of_redb(1_000)),
        (Commits::Durable, lists::puts_of_csharpdb(500, 40)),
        (Commits::Unsynced, lists::gets_of_csharpdb(500, 200)),
        (Commits::Unsynced, lists::scans_of_csharpdb(3)),
    ];
    all.extend(LAYOUTS.map(|layout| (Commits::Unsynced, lists::scans(1_000, layout))));
    all.extend(SIZES.map(|len| (Commits::Unsynced, lists::sizes(400_000, len))));
    all
}

#[test]
fn every_store_comes_to_the_same_in_each_row_that_it_has() {
    for (commits, steps) in lists() {
        let ours = done(&figures::<Holotype>(commits, &steps).unwrap());
        assert_eq!(ours.len(), ours.iter().map(|(row, _)| row).collect::<BTreeSet<_>>().len());
        macro_rules! compare {
            ($store:ty) => {
                let rows = done(&figures::<$store>(commits, &steps).unwrap());
                assert!(rows.iter().all(|row| ours.contains(row)), "{:?} beside {ours:?}", rows);
                if <$store>::LACKS.is_empty() && <$store>::VALUE_MAX == usize::MAX {
                    assert_eq!(rows, ours, "{}", <$store>::NAME);
                }
            };
        }
        each_reader!(compare);
        compare!(crate::stores::holotype::Buffered);
    }
}

#[test]
fn bbolt_comes_to_the_same_in_rows_of_bytes() {
    let Ok(program) = bolt::program() else { return };
    for (commits, steps) in lists() {
        let ours = done(&figures::<Holotype>(commits, &steps).unwrap());
        let directory = tempfile::tempdir().unwrap();
        let rows = done(&bolt::run(program, directory.path(), commits, &steps).unwrap());
        let is_asked =
            |step: &&Step| matches!(step, Step::Do(row, _) if !row.is_empty()) && bolt::reads_bytes(step);
        assert_eq!(rows.len(), steps.iter().filter(is_asked).count());
        assert!(rows.iter().all(|row| ours.contains(row)), "{rows:?} beside {ours:?}");
    }
}

#[test]
fn rows_say_how_many_documents_they_are_about() {
    let rows = done(&figures::<Holotype>(Commits::Unsynced, &lists::writes(800)).unwrap());
    let documents: Vec<u64> = rows.iter().map(|(_, done)| done.documents).collect();
    assert_eq!(documents, [800, 800, 800, 800, 800, 400]);
    let rows = done(&figures::<Holotype>(Commits::Unsynced, &lists::scans(1_000, Layout::AtRandom)).unwrap());
    let of = |name: &str| rows.iter().find(|(row, _)| row == name).unwrap().1.documents;
    assert_eq!([of("filter that 20 percent pass"), of("filter that 1 percent passes")], [200, 10]);
    assert_eq!([of("scan, decoded"), of("ranges of 100"), of("count")], [1_000, 1_000, 30_000]);
}

#[test]
fn a_store_that_did_something_else_has_no_row() {
    // What is deleted and put is looked for in the end.
    let ids = || (1..=400).collect::<Vec<u64>>();
    let put = Step::prepare(Work::Put(commits(1..=400, 1), Make::First));
    let row = |work| vec![put.clone(), Step::row("a row", vec![work])];
    let refused = |failure: Result<Vec<Figures>>| {
        let failure = failure.expect_err("it did something else").to_string();
        assert!(failure.starts_with("a store that is wrong"), "{failure}");
    };
    let all = row(Work::Get(ids(), Form::Raw));
    figures::<Wrong<ALL_RIGHT>>(Commits::Unsynced, &all).unwrap();
    refused(figures::<Wrong<PUTS_NOTHING>>(Commits::Unsynced, &all[..1]));
    for form in [Form::Raw, Form::Decode, Form::Typed, Form::Field, Form::Filter(50)] {
        refused(figures::<Wrong<READS_ANOTHER>>(Commits::Unsynced, &row(Work::Get(ids(), form))));
        refused(figures::<Wrong<SCANS_TOO_LITTLE>>(Commits::Unsynced, &row(Work::Scan(form, 1))));
    }
    refused(figures::<Wrong<SCANS_FROM_ELSEWHERE>>(Commits::Unsynced, &row(Work::Ranges(ids(), 10))));
    refused(figures::<Wrong<DELETES_NOTHING>>(Commits::Unsynced, &row(Work::Delete(ids()))));
    refused(figures::<Wrong<COUNTS_ANOTHER>>(Commits::Unsynced, &row(Work::Count(1))));
    let named = [Step::prepare(Work::PutNamed(commits(1..=400, 10), Naming::User))];
    let of_named = |work| [&named[..], &[Step::row("a row", vec![work])]].concat();
    refused(figures::<Wrong<READS_ANOTHER>>(
        Commits::Unsynced,
        &of_named(Work::GetNamed(ids(), Naming::User, Form::Raw)),
    ));
    refused(figures::<Wrong<COUNTS_ANOTHER>>(Commits::Unsynced, &of_named(Work::CountNamed(1))));
    let deleted = Work::DeleteNamed(commits(1..=200, 10), Naming::User);
    refused(figures::<Wrong<DELETES_NOTHING>>(Commits::Unsynced, &of_named(deleted)));
    let ranges = Work::RangesNamed((0..40).map(|at| Naming::User.name(at * 10)).collect(), 10, Form::Raw);
    refused(figures::<Wrong<SCANS_TOO_LITTLE>>(Commits::Unsynced, &of_named(ranges)));
    let entries = [Step::prepare(Work::PutNamed(commits(1..=400, 10), Naming::Entry))];
    let of_entries = |work| [&entries[..], &[Step::row("a row", vec![work])]].concat();
    let entry = Work::GetNamed(ids(), Naming::Entry, Form::Entry);
    refused(figures::<Wrong<READS_ANOTHER>>(Commits::Unsynced, &of_entries(entry)));
    for form in [Form::EntryThenFilter, Form::FilterThenEntry] {
        // Each range is of one document of the first category and of four others.
        let ranges = Work::RangesNamed((0..40).map(|at| Naming::Entry.name(at * 5 + 100)).collect(), 1, form);
        refused(figures::<Wrong<SCANS_TOO_LITTLE>>(Commits::Unsynced, &of_entries(ranges)));
    }
    let prefixes = (0..40).map(|at| format!("user-00000{at:02}")).collect();
    refused(figures::<Wrong<SCANS_TOO_LITTLE>>(Commits::Unsynced, &of_named(Work::Prefixes(prefixes))));
}

#[test]
fn names_that_are_cut_are_shared_by_ten_thousand() {
    let names = |count: u64, naming: Naming| {
        let mut model = model::Model::default();
        model.after(&Work::PutNamed(commits(1..=count, 100), naming));
        model.names()
    };
    assert_eq!([9_999, 99_999].map(|count| names(count, Naming::Cut)), [1, 10]);
    assert_eq!(names(9_999, Naming::User), 9_999);
}

#[test]
fn random_names_differ_and_have_the_lengths_that_they_are_said_to_have() {
    let names: BTreeSet<String> = (0..20_000).map(|id| Naming::Random.name(id)).collect();
    assert_eq!(names.len(), 20_000);
    assert!(names.iter().all(|name| name.len() == 24 && name.as_str() > crate::stores::FIRST_NAME));
    let values: BTreeSet<Vec<u8>> = (0..1_000).map(|id| Naming::Random.document(id).encode()).collect();
    assert!(values.len() > 980 && values.iter().all(|value| value.len() > step::RANDOM_VALUE));
}

#[test]
fn a_fifth_of_the_entries_pass_the_filter_however_it_is_done() {
    let rows = done(&figures::<Holotype>(Commits::Unsynced, &lists::scans_of_csharpdb(3)).unwrap());
    let documents: Vec<u64> = rows.iter().map(|(_, done)| done.documents).collect();
    assert_eq!(documents, [3_000, 600, 600]);
    assert_eq!(rows[1].1, rows[2].1);
}

#[test]
fn bbolt_that_says_something_else_has_no_row() {
    use std::os::unix::fs::PermissionsExt;

    let Ok(program) = bolt::program() else { return };
    let directory = tempfile::tempdir().unwrap();
    let steps = lists::reads(1_000, 100);
    for (name, change) in
        [("sum", "s/\"sum\":[0-9]*/\"sum\":1/"), ("documents", "s/\"documents\":100,/\"documents\":99,/g")]
    {
        let liar = directory.path().join(name);
        let text = format!("#!/bin/sh\n{} \"$@\" | sed '{change}'\n", program.display());
        std::fs::write(&liar, text).unwrap();
        std::fs::set_permissions(&liar, std::fs::Permissions::from_mode(0o755)).unwrap();
        let failure = bolt::run(&liar, directory.path(), Commits::Unsynced, &steps).unwrap_err();
        assert!(failure.to_string().starts_with(bolt::NAME), "{failure}");
    }
    bolt::run(program, directory.path(), Commits::Unsynced, &steps).unwrap();
}
