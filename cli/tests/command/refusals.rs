//! What cannot be opened, and command lines that make no sense.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use holotype::Db;
use holotype::format::superblock::{SLOT_LEN, SLOT_OFFSETS, Slot, parse_slot};

use crate::bench::{Bench, Run};

/// Every command that opens a store, on `s.holo`.
const ALL: [&str; 8] = [
    "get s.holo notes 1",
    "put s.holo notes 1 {}",
    "delete s.holo notes 1",
    "scan s.holo notes",
    "export s.holo",
    "import s.holo notes.jsonl",
    "stats s.holo",
    "verify s.holo",
];

/// Every command refuses `s.holo` with code 3 and these words, and leaves it as it is.
#[track_caller]
fn all_refuse(bench: &Bench, words: &[&str]) {
    let before = fs::read(bench.path("s.holo")).ok();
    bench.write("notes.jsonl", "{\"n\":1}\n");
    for command in ALL {
        bench.run(command).fails_saying(3, words);
    }
    assert_eq!(fs::read(bench.path("s.holo")).ok(), before);
}

#[test]
fn a_missing_store_is_refused_by_all_but_those_that_create_one() {
    let bench = Bench::new();
    for command in ALL {
        if !command.starts_with("put") && !command.starts_with("import") {
            bench.run(command).fails_saying(3, &["s.holo does not exist", "holotype import"]);
        }
    }
    bench.run("put nowhere/s.holo notes 1 {}").fails_saying(3, &["nowhere"]);
}

#[test]
fn a_store_that_is_open_elsewhere_is_locked() {
    let bench = Bench::with_notes("{\"n\":1}\n");
    let db = Db::open(bench.path("s.holo")).unwrap();
    for command in ALL {
        bench.run(command).fails_saying(3, &["s.holo", "another process"]);
    }
    drop(db);
    bench.run("get s.holo notes 1").done();
}

#[test]
fn a_command_waits_for_a_locked_store_as_long_as_it_is_told() {
    let bench = Bench::with_notes("{\"n\":1}\n");
    let waiting = ["backup s.holo b.holo", "salvage s.holo c.holo", "index list s.holo", "compact s.holo"];
    for command in ALL.into_iter().chain(waiting) {
        let db = Db::open(bench.path("s.holo")).unwrap();
        let words = [command.split(' ').collect(), vec!["--wait", "600"]].concat();
        let mut child = bench.command();
        let child = child.args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(60));
        drop(db);
        Run::of(&child.wait_with_output().unwrap()).done();
        bench.run("put s.holo notes 1 {}").done();
    }
    let start = Instant::now();
    let _db = Db::open(bench.path("s.holo")).unwrap();
    bench.run("--wait 0.2 get s.holo notes 1").fails_saying(3, &["s.holo", "longer with --wait"]);
    assert!(start.elapsed() >= Duration::from_millis(200));
}

#[test]
fn a_first_document_that_is_refused_leaves_no_store() {
    let bench = Bench::new();
    bench.write("notes.jsonl", "{}\n");
    let long = "k".repeat(1025);
    for command in [
        "put s.holo $notes 1 {}",
        "import s.holo notes.jsonl --collection $notes",
        "update s.holo $notes 1 --set $.a=1 --upsert {}",
        &format!("put s.holo notes {long} {{}}"),
    ] {
        bench.run(command).fails(2);
        assert!(!bench.exists("s.holo"), "{command}");
    }
}

#[test]
fn a_batch_of_no_documents_is_told_in_words() {
    let run = Bench::new().run("import s.holo notes.jsonl --batch 0");
    assert!(run.code == 2 && run.err.contains("1 or more"), "{run:?}");
}

#[test]
fn commands_that_read_share_a_store_with_readers_and_do_not_change_it() {
    let bench = Bench::with_notes("{\"n\":1}\n");
    let before = fs::read(bench.path("s.holo")).unwrap();
    let reader = Db::open_with(bench.path("s.holo"), &holotype::Options::new().read_only(true)).unwrap();
    for command in
        ["get s.holo notes 1", "scan s.holo notes", "export s.holo", "stats s.holo", "verify s.holo --deep"]
    {
        bench.run(command).done();
    }
    drop(reader);
    assert_eq!(fs::read(bench.path("s.holo")).unwrap(), before);
}

#[test]
fn what_is_no_store_is_refused() {
    let bench = Bench::new();
    bench.write("s.holo", "{\"n\":1}\n".repeat(10_000));
    all_refuse(&bench, &["s.holo", "not a Holotype file"]);
}

#[test]
fn a_directory_is_refused() {
    let bench = Bench::new();
    fs::create_dir(bench.path("s.holo")).unwrap();
    all_refuse(&bench, &["s.holo", "directory"]);
}

#[test]
fn a_store_of_a_newer_format_is_refused() {
    let bench = Bench::with_notes("{\"n\":1}\n");
    let mut bytes = fs::read(bench.path("s.holo")).unwrap();
    for (index, offset) in SLOT_OFFSETS.into_iter().enumerate() {
        let slot = &mut bytes[offset as usize..][..SLOT_LEN];
        if let Slot::Valid(mut superblock) = parse_slot((&*slot).try_into().unwrap(), index) {
            superblock.incompatible |= 1 << 40;
            slot.copy_from_slice(&superblock.encode());
        }
    }
    bench.write("s.holo", bytes);
    all_refuse(&bench, &["s.holo", "open it with the version that wrote it"]);
}

#[cfg(unix)]
#[test]
fn a_store_that_may_not_be_written_can_be_read_only() {
    use std::os::unix::fs::PermissionsExt;

    let bench = Bench::with_notes("{\"n\":1}\n");
    let path = bench.path("s.holo");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    if fs::OpenOptions::new().write(true).open(&path).is_ok() {
        return; // The superuser may write what nobody may.
    }
    bench.run("get s.holo notes 1").done();
    bench.run("put s.holo notes 1 {}").fails_saying(3, &["s.holo", "permissions"]);
}

#[test]
fn an_input_that_cannot_be_read_is_the_users_mistake() {
    let bench = Bench::new();
    bench.run("import s.holo missing.jsonl").fails_saying(2, &["missing.jsonl"]);
    fs::create_dir(bench.path("folder")).unwrap();
    bench.run("import s.holo folder").fails_saying(2, &["folder", "directory"]);
    assert!(!bench.exists("s.holo"));
}

#[test]
fn standard_input_needs_a_name_for_the_collection() {
    let bench = Bench::new();
    bench.run_with("import s.holo -", "").fails_saying(2, &["--collection"]);
    bench.run_with("import s.holo - --collection notes", "{\"n\":1}\n").done();
    assert_eq!(bench.run("export s.holo").done(), "{\"n\":1}\n");
}

#[test]
fn an_export_of_one_of_several_collections_needs_its_name() {
    let bench = Bench::with_notes("{\"n\":1}\n");
    bench.run("put s.holo birds 1 {}").done();
    bench.run("export s.holo").fails_saying(2, &["\"birds\", \"notes\"", "--collection"]);
    assert_eq!(bench.run("export s.holo --collection birds").done(), "{}\n");
}

#[test]
fn a_command_line_that_makes_no_sense_is_told_how_it_should_look() {
    let bench = Bench::new();
    for arguments in [
        "",
        "fly",
        "get s.holo",
        "get s.holo notes 1 --key-type float",
        "import s.holo notes.jsonl --batch 0",
        "torture --seconds 0",
        "get s.holo notes 1 --wait soon",
        "import s.holo notes.jsonl --key id --with-keys",
        "scan s.holo notes --prefix a --from b",
        "scan s.holo notes --limit -1",
    ] {
        let run = bench.run_args(arguments.split_whitespace());
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{arguments}: {run:?}");
        assert!(run.err.contains("--help") || run.err.contains("Usage"), "{arguments}: {run:?}");
    }
}

#[test]
fn the_help_tells_the_exit_codes() {
    let help = Bench::new().run("--help").done();
    for line in ["import", "export", "verify", "Exit codes:", "4  the store is damaged"] {
        assert!(help.contains(line), "{line:?} is missing in {help}");
    }
}
