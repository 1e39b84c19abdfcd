//! Whatever a message tells its reader to do is done here, and gets the reader through.

use std::fs;

use holotype::format::superblock::{SLOT_LEN, SLOT_OFFSETS, Slot, parse_slot};
use holotype::{Db, Options, doc};

use crate::bench::{Bench, Run};

#[path = "../../src/advice.rs"]
mod table;
use table::Advice;

/// How an advice is followed. One that is added to the table needs an arm here before anything compiles.
fn followed(advice: Advice) -> fn() {
    match advice {
        Advice::CheckPath => the_path_was_wrong,
        Advice::CreateStore => a_store_is_created,
        Advice::UseAnotherName => another_name_is_used,
        Advice::MakeDirectory => the_directory_is_made,
        Advice::CreateAnew => an_unfinished_creation_is_created_anew,
        Advice::NameNewFile => the_new_file_gets_another_name,
        Advice::UseItsVersion => the_version_that_wrote_it_is_used,
        Advice::ExportThere => it_is_exported_there_and_imported_here,
        Advice::WaitUntilClosed => others_close_it,
        Advice::WaitLonger => a_longer_wait_is_asked_for,
        Advice::NameTarget => the_target_of_a_link_is_named,
        Advice::RestoreBackup => a_backup_is_restored,
        Advice::BackUpWhole => the_whole_store_is_backed_up,
        Advice::VerifyAndSalvage => a_damaged_store_is_verified_and_salvaged,
        Advice::Salvage => a_damaged_store_is_salvaged,
        Advice::WriteSlotAnew => a_slot_is_written_anew,
        Advice::FreeSpace => space_is_freed_for_a_copy,
        Advice::FreeOrCompact => space_is_freed_or_the_store_compacted,
        Advice::ListCollections => the_collections_are_listed,
        Advice::NameCollection => the_collection_is_named,
        Advice::ChooseCollection => a_collection_is_chosen,
        Advice::UseKeyRange => a_range_of_keys_is_named,
        Advice::GiveKeys => keys_are_given,
        Advice::MakeBatches => batches_are_made,
        Advice::QuoteText => the_text_is_quoted,
        Advice::NameFile => the_file_of_a_change_is_named,
        Advice::NameInput => the_input_is_named,
        Advice::ListIndexes => the_indexes_are_listed,
        Advice::ReplaceIndex => the_index_is_replaced,
        Advice::GiveIndexAnotherName => the_index_gets_another_name,
        Advice::LeaveOutIndex => the_index_is_left_out,
        Advice::SayDescending => the_path_is_said_to_descend,
        Advice::LeaveOutUnique => the_index_is_not_unique,
        Advice::GivePageAFile => the_page_gets_a_file,
        Advice::NameVectors => the_vectors_are_named,
        Advice::PrintJson => all_is_printed_as_json,
    }
}

#[test]
fn every_advice_is_given_and_helps() {
    for advice in Advice::ALL {
        println!("{advice}");
        followed(*advice)();
    }
}

/// The command failed with this code, and its message ends in this advice.
#[track_caller]
fn told(advice: Advice, code: i32, run: Run) {
    let message = run.fails(code);
    assert!(message.trim_end().ends_with(&format!("; {advice}")), "{message}");
}

/// The report ends in this advice.
#[track_caller]
fn reported(advice: Advice, code: i32, run: &Run) {
    assert_eq!((run.code, run.err.as_str()), (code, ""), "{run:?}");
    assert!(run.out.trim_end().ends_with(&format!("; {advice}")), "{run:?}");
}

fn notes() -> Bench {
    Bench::with_notes("{\"bird\":\"wren\"}\n{\"bird\":\"siskin\"}\n")
}

fn the_path_was_wrong() {
    let bench = notes();
    told(Advice::CheckPath, 3, bench.run("backup t.holo copy.holo"));
    bench.run("backup s.holo copy.holo").done();
    told(Advice::CheckPath, 3, bench.run("salvage t.holo rescued.holo"));
    bench.run("salvage s.holo rescued.holo").done();
    for command in ["backup t.holo other.holo", "salvage t.holo other.holo"] {
        bench.run(command).fails(3);
        assert!(!bench.exists("other.holo") && !bench.exists("other.holo.partial"), "{command}");
    }
}

fn a_store_is_created() {
    for creates in ["put s.holo notes 1 {}", "import s.holo notes.jsonl"] {
        let bench = Bench::new();
        bench.write("notes.jsonl", "{}\n");
        told(Advice::CreateStore, 3, bench.run("get s.holo notes 1"));
        bench.run(creates).done();
        assert_eq!(bench.run("get s.holo notes 1").done(), "{}\n");
    }
}

fn another_name_is_used() {
    let bench = Bench::new();
    bench.write("letter", "a letter to a friend, which is no store");
    told(Advice::UseAnotherName, 3, bench.run("put letter notes 1 {}"));
    bench.run("put s.holo notes 1 {}").done();
    assert_eq!(fs::read(bench.path("letter")).unwrap(), b"a letter to a friend, which is no store");
}

fn the_directory_is_made() {
    for command in [
        "put new/s.holo notes 1 {}",
        "import new/s.holo notes.jsonl",
        "backup s.holo new/s.holo",
        "salvage s.holo new/s.holo",
    ] {
        let bench = notes();
        told(Advice::MakeDirectory, 3, bench.run(command));
        fs::create_dir(bench.path("new")).unwrap();
        bench.run(command).done();
        bench.run("get new/s.holo notes 1").done();
    }
}

fn an_unfinished_creation_is_created_anew() {
    for creates in ["put s.holo notes 1 {}", "import s.holo notes.jsonl"] {
        let bench = Bench::new();
        bench.write("notes.jsonl", "{}\n");
        bench.write("s.holo", [0; 65_536]);
        told(Advice::CreateAnew, 3, bench.run("get s.holo notes 1"));
        bench.run(creates).done();
        assert_eq!(bench.run("get s.holo notes 1").done(), "{}\n");
    }
}

fn the_new_file_gets_another_name() {
    for command in ["backup", "salvage"] {
        let bench = notes();
        bench.write("taken.holo", "somebody's");
        for taken in ["taken.holo", "s.holo"] {
            told(Advice::NameNewFile, 3, bench.run(&format!("{command} s.holo {taken}")));
        }
        bench.run(&format!("{command} s.holo copy.holo")).done();
        assert_eq!(fs::read(bench.path("taken.holo")).unwrap(), b"somebody's");
    }
}

/// A file whose slots ask for a feature that nobody knows, and without it again: what knows the feature reads the latter.
fn the_version_that_wrote_it_is_used() {
    let bench = notes();
    let known = fs::read(bench.path("s.holo")).unwrap();
    let mut bytes = known.clone();
    for (index, offset) in SLOT_OFFSETS.into_iter().enumerate() {
        let slot = &mut bytes[offset as usize..][..SLOT_LEN];
        let Slot::Valid(mut superblock) = parse_slot((&*slot).try_into().unwrap(), index) else { continue };
        superblock.incompatible |= 1 << 40;
        slot.copy_from_slice(&superblock.encode());
    }
    bench.write("s.holo", &bytes);
    told(Advice::UseItsVersion, 3, bench.run("put s.holo notes 1 {}"));
    assert_eq!(
        fs::read(bench.path("s.holo")).unwrap(),
        bytes,
        "it is left as it is for the version that wrote it"
    );
    bench.write("s.holo", known);
    bench.run("put s.holo notes 1 {}").done();
}

/// A file whose slots name format 1.0, and as it was again: what wrote it reads the latter.
fn it_is_exported_there_and_imported_here() {
    let bench = notes();
    let known = fs::read(bench.path("s.holo")).unwrap();
    let mut bytes = known.clone();
    for offset in SLOT_OFFSETS {
        let slot = &mut bytes[offset as usize..][..SLOT_LEN];
        slot[8] = 1;
        let crc = holotype::format::checksum::crc(&slot[..SLOT_LEN - 4]);
        slot[SLOT_LEN - 4..].copy_from_slice(&crc.to_le_bytes());
    }
    bench.write("s.holo", &bytes);
    for command in ["put s.holo notes 1 {}", "get s.holo notes 1", "verify s.holo", "salvage s.holo t.holo"] {
        told(Advice::ExportThere, 3, bench.run(command));
    }
    assert_eq!(fs::read(bench.path("s.holo")).unwrap(), bytes, "it is left as it is");
    bench.write("s.holo", known);
    let text = bench.run("export s.holo").done();
    bench.write("notes.jsonl", text);
    bench.run("import new.holo notes.jsonl").done();
    assert_eq!(bench.run("export new.holo").done(), bench.run("export s.holo").done());
}

/// A command that reads beside a writer, one that writes beside a reader.
fn others_close_it() {
    for (command, read_only) in [("put s.holo notes 1 {}", true), ("get s.holo notes 1", false)] {
        let bench = notes();
        let open = || Db::open_with(bench.path("s.holo"), &Options::new().read_only(read_only)).unwrap();
        let db = open();
        told(Advice::WaitUntilClosed, 3, bench.run(command));
        drop(db);
        bench.run(command).done();
        waits_for(&bench, open(), command);
    }
}

/// The command waits until the store is closed.
#[track_caller]
fn waits_for(bench: &Bench, open: Db, command: &str) {
    let mut waiting = bench.command();
    let waiting = waiting.args(command.split(' ')).args(["--wait", "600"]);
    let mut waiting = waiting.spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(60));
    drop(open);
    assert!(waiting.wait().unwrap().success());
}

fn a_longer_wait_is_asked_for() {
    let bench = notes();
    let db = Db::open(bench.path("s.holo")).unwrap();
    told(Advice::WaitLonger, 3, bench.run("get s.holo notes 1 --wait 0.05"));
    waits_for(&bench, db, "get s.holo notes 1");
    bench.run("get s.holo notes 1 --wait 0.05").done();
}

#[cfg(unix)]
fn the_target_of_a_link_is_named() {
    let bench = Bench::new();
    bench.write("notes.jsonl", "{}\n");
    std::os::unix::fs::symlink("target.holo", bench.path("link.holo")).unwrap();
    for command in ["put link.holo notes 1 {}", "get link.holo notes 1", "import link.holo notes.jsonl"] {
        told(Advice::NameTarget, 3, bench.run(command));
    }
    bench.run("put target.holo notes 1 {}").done();
    bench.run("get link.holo notes 1").done();
    fs::remove_file(bench.path("target.holo")).unwrap();
    fs::remove_file(bench.path("link.holo")).unwrap();
    bench.run("put link.holo notes 1 {}").done();
}

#[cfg(not(unix))]
fn the_target_of_a_link_is_named() {
    println!("SKIPPED: no symbolic link to be had");
}

/// A file of which the first bytes are left.
fn a_backup_is_restored() {
    let bench = notes();
    bench.run("backup s.holo b.holo").done();
    let bytes = fs::read(bench.path("s.holo")).unwrap();
    bench.write("s.holo", &bytes[..5]);
    for command in ["get s.holo notes 1", "verify s.holo", "inspect s.holo"] {
        assert_eq!(bench.run(command).code, 4, "{command}");
    }
    told(Advice::RestoreBackup, 4, bench.run("salvage s.holo r.holo"));
    assert!(!bench.exists("r.holo") && !bench.exists("r.holo.partial"));
    fs::copy(bench.path("b.holo"), bench.path("s.holo")).unwrap();
    bench.run("get s.holo notes 1").done();
}

fn the_whole_store_is_backed_up() {
    let bench = notes();
    bench.run("put other.holo notes 1 {}").done();
    bench.write("zeros.holo", [0; 65_536]);
    for (earlier, code, words) in [
        ("other.holo", 2, "--from takes"),
        ("zeros.holo", 3, "unfinished creation"),
        ("none.holo", 3, "none.holo does not exist"),
    ] {
        let message = bench.run(&format!("backup s.holo copy.holo --from {earlier}")).fails(code);
        assert!(message.contains(words) && message.contains(earlier), "{message}");
        assert!(message.trim_end().ends_with(&format!("; {}", Advice::BackUpWhole)), "{message}");
        bench.run("backup s.holo copy.holo").done();
        fs::remove_file(bench.path("copy.holo")).unwrap();
    }
}

/// A store with a document whose bytes are damaged.
fn damaged() -> Bench {
    let bench = notes();
    bench.run("put s.holo more 1 {}").done();
    damage_siskin(&bench);
    bench
}

fn damage_siskin(bench: &Bench) {
    let mut bytes = fs::read(bench.path("s.holo")).unwrap();
    let at = bytes.windows(6).position(|window| window == b"siskin").unwrap();
    bytes[at] ^= 1;
    bench.write("s.holo", bytes);
}

#[track_caller]
fn salvages(bench: &Bench) {
    fs::copy(bench.path("s.holo"), bench.path("kept.holo")).unwrap();
    assert_eq!(bench.run("salvage s.holo rescued.holo").code, 4);
    bench.run("verify rescued.holo --deep").done();
    assert_eq!(bench.run("salvage kept.holo again.holo").code, 4, "the copy does as well");
}

fn a_damaged_store_is_verified_and_salvaged() {
    let bench = damaged();
    told(Advice::VerifyAndSalvage, 4, bench.run("get s.holo notes 2"));
    let listed = bench.run("verify --deep s.holo");
    assert!(listed.code == 4 && listed.out.starts_with("damaged: "), "{listed:?}");
    salvages(&bench);
}

fn a_damaged_store_is_salvaged() {
    let bench = damaged();
    reported(Advice::Salvage, 4, &bench.run("verify s.holo"));
    salvages(&bench);
    let bench = notes();
    bench.run("index create s.holo notes by_n --on $.n").done();
    bench.run("checkpoint s.holo").done();
    damage_siskin(&bench);
    let checked = bench.run("index check s.holo");
    reported(Advice::Salvage, 4, &checked);
    assert!(checked.out.contains("\n1 problem; "), "{checked:?}");
    salvages(&bench);
}

fn a_slot_is_written_anew() {
    for at in SLOT_OFFSETS {
        let bench = notes();
        let mut bytes = fs::read(bench.path("s.holo")).unwrap();
        bytes[at as usize + 100] ^= 1;
        bench.write("s.holo", bytes);
        reported(Advice::WriteSlotAnew, 4, &bench.run("verify s.holo --deep"));
        bench.run("checkpoint s.holo").done();
        bench.run("verify s.holo --deep").done();
        bench.run("get s.holo notes 1").done();
    }
}

/// The limit that a shell sets for the length of files, in blocks of 512 bytes, stands for a full disk.
#[cfg(unix)]
fn within(bench: &Bench, blocks: &str, words: &str) -> Run {
    use std::process::Command;
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" {words}");
    let mut command = Command::new("sh");
    command.current_dir(bench.path(".")).args(["-c", &script, env!("CARGO_BIN_EXE_holotype")]);
    Run::of(&command.output().unwrap())
}

#[cfg(unix)]
fn space_is_freed_for_a_copy() {
    for command in ["backup s.holo copy.holo", "salvage s.holo copy.holo"] {
        let bench = notes();
        told(Advice::FreeSpace, 5, within(&bench, "16", command));
        bench.run(command).done();
        bench.run("get copy.holo notes 1").done();
    }
}

#[cfg(unix)]
fn space_is_freed_or_the_store_compacted() {
    let bench = notes();
    let put = |blocks: &str, key: u32, len: usize| {
        bench.write("long.json", format!("{{\"n\":\"{}\"}}", "x".repeat(len)));
        within(&bench, blocks, &format!("put s.holo notes {key} - < long.json"))
    };
    told(Advice::FreeOrCompact, 5, put("256", 9, 1 << 20));
    bench.run("get s.holo notes 1").done();
    bench.run("get s.holo notes 9").fails(1);
    put("unlimited", 9, 1 << 20).done();
    bench.run("verify s.holo --deep").done();

    let bench = notes();
    let put = |key: u32| {
        bench.write("long.json", format!("{{\"n\":\"{}\"}}", "x".repeat(60_000)));
        within(&bench, "4096", &format!("put s.holo notes {key} - < long.json"))
    };
    let full = (10..100).find(|key| put(*key).code != 0).unwrap();
    for key in 10..10 + (full - 10) / 2 {
        within(&bench, "4096", &format!("delete s.holo notes {key}")).done();
    }
    told(Advice::FreeOrCompact, 5, put(full));
    assert_eq!(within(&bench, "4096", "compact s.holo").code, 0);
    put(full).done();
    bench.run("verify s.holo --deep").done();
}

#[cfg(not(unix))]
fn space_is_freed_for_a_copy() {
    println!("SKIPPED: no limit for the length of a file to be had");
}

#[cfg(not(unix))]
fn space_is_freed_or_the_store_compacted() {
    println!("SKIPPED: no limit for the length of a file to be had");
}

fn the_collections_are_listed() {
    let bench = notes();
    told(Advice::ListCollections, 1, bench.run("get s.holo note 1"));
    assert!(bench.run("stats s.holo").done().contains("\"notes\": 2 documents"));
    bench.run("get s.holo notes 1").done();
}

fn the_collection_is_named() {
    let bench = Bench::new();
    told(Advice::NameCollection, 2, bench.run_with("import s.holo -", "{}\n"));
    bench.run_with("import s.holo - --collection notes", "{}\n").done();
    bench.run("get s.holo notes 1").done();
    told(Advice::NameCollection, 2, bench.run("import s.holo .."));
}

fn a_collection_is_chosen() {
    let bench = notes();
    bench.run("put s.holo birds 1 {}").done();
    told(Advice::ChooseCollection, 2, bench.run("export s.holo"));
    assert_eq!(bench.run("export s.holo --collection birds").done(), "{}\n");
}

fn the_path_is_said_to_descend() {
    let bench = notes();
    told(Advice::SayDescending, 2, bench.run("find s.holo notes --sort -$.bird"));
    assert!(bench.run("find s.holo notes --sort $.bird:desc").done().starts_with("{\"bird\":\"wren\"}"));
    told(Advice::SayDescending, 2, bench.run("index create s.holo notes birds --on -$.bird"));
    bench.run("index create s.holo notes birds --on $.bird:desc").done();
    assert!(bench.run("index scan s.holo notes birds").done().starts_with("{\"bird\":\"wren\"}"));
}

fn a_range_of_keys_is_named() {
    let bench = notes();
    told(Advice::UseKeyRange, 2, bench.run("scan s.holo notes --key-type int --prefix 1"));
    assert_eq!(bench.run("scan s.holo notes --key-type int --from 1 --to 2").done(), "{\"bird\":\"wren\"}\n");
}

fn keys_are_given() {
    let bench = Bench::new();
    bench.write("notes.jsonl", "{\"ring\":7}\n");
    bench.run("put s.holo notes 9223372036854775807 {}").done();
    told(Advice::GiveKeys, 2, bench.run("import s.holo notes.jsonl"));
    bench.run("delete s.holo notes 9223372036854775807").done();
    let run = bench.run("import s.holo notes.jsonl");
    assert!(run.err.contains("the collection has had the largest integer as a key"), "{run:?}");
    told(Advice::GiveKeys, 2, run);
    bench.run("import s.holo notes.jsonl --key ring").done();
    bench.run("get s.holo notes 7").done();
    bench.run("put s.holo notes 8 {}").done();
}

/// In a store of the shortest segments, the most parts that a commit may have are soon reached.
fn batches_are_made() {
    let bench = Bench::new();
    let line = format!("{{\"b\":\"{}\"}}\n", "x".repeat(300));
    bench.write("notes.jsonl", line.repeat(30_000));
    let short = Options::new().sector(64).segment_bytes(512);
    Db::open_with(bench.path("s.holo"), &short).unwrap().collection("first").put(1, doc! {}).unwrap();
    told(Advice::MakeBatches, 2, bench.run("import s.holo notes.jsonl"));
    bench.write("notes.jsonl", line.repeat(3_000));
    bench.run("import s.holo notes.jsonl --batch 1000").done();
}

fn the_text_is_quoted() {
    let bench = notes();
    told(Advice::QuoteText, 2, bench.run("update s.holo notes 1 --set $.name=Wren"));
    bench.run_args(["update", "s.holo", "notes", "1", "--set", "$.name=\"Wren\""]).done();
    told(Advice::QuoteText, 2, bench.run("find s.holo notes @.name==arg('n') --arg n=Wren"));
    let find = ["find", "s.holo", "notes", "@.name == arg('n')", "--arg", "n=\"Wren\""];
    assert!(bench.run_args(find).done().contains("Wren"));
}

fn the_file_of_a_change_is_named() {
    let bench = notes();
    told(Advice::NameFile, 2, bench.run("update s.holo notes 1 --merge {\"a\":1}"));
    told(Advice::NameFile, 2, bench.run("update s.holo notes 1 --merge - --patch -"));
    bench.write("merge.json", "{\"a\":1}");
    bench.run("update s.holo notes 1 --merge merge.json").done();
}

fn the_input_is_named() {
    let bench = Bench::new();
    fs::create_dir(bench.path("notes")).unwrap();
    told(Advice::NameInput, 2, bench.run("import s.holo notes"));
    bench.write("notes/notes.jsonl", "{}\n");
    bench.run("import s.holo notes/notes.jsonl").done();
}

fn the_page_gets_a_file() {
    let bench = notes();
    bench.run("backup s.holo other.holo").done();
    let other = fs::read(bench.path("other.holo")).unwrap();
    for page in ["s.holo", "other.holo"] {
        told(Advice::GivePageAFile, 2, bench.run(&format!("inspect s.holo --html {page}")));
    }
    assert_eq!(fs::read(bench.path("other.holo")).unwrap(), other);
    bench.write("page.html", "an older page");
    bench.run("inspect s.holo --html page.html").done();
    assert!(bench.exists("page.html"));
    bench.run("get s.holo notes 1").done();
}

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec/vectors");

/// `cat` answers nothing, so that every case fails at once.
const NO_READER: [&str; 3] = ["conform", "--subject", "cat"];

fn the_vectors_are_named() {
    let bench = Bench::new();
    told(Advice::NameVectors, 2, bench.run_args(NO_READER));
    let named = bench.run_args(NO_READER.into_iter().chain(["--vectors", VECTORS]));
    assert!(named.code == 1 && named.err.is_empty(), "{named:?}");
    let mut in_a_checkout = bench.command();
    in_a_checkout.args(NO_READER).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
    assert_eq!(Run::of(&in_a_checkout.output().unwrap()).out, named.out);
}

fn all_is_printed_as_json() {
    let bench = Bench::new();
    let arguments = || NO_READER.into_iter().chain(["--vectors", VECTORS]);
    let text = bench.run_args(arguments()).out;
    let said = text.lines().find(|line| line.ends_with(&format!("; {}", Advice::PrintJson)));
    let more = said.and_then(|line| line.split(' ').nth(1)).unwrap_or_else(|| panic!("{text}"));
    let json: serde_json::Value =
        serde_json::from_str(&bench.run_args(arguments().chain(["--json"])).out).unwrap();
    assert!(json["failed"].as_array().unwrap().len() as u64 > more.parse().unwrap(), "{json}");
}

/// Notes with an index over `bird`.
fn indexed() -> Bench {
    let bench = notes();
    bench.run("index create s.holo notes birds --on $.bird").done();
    bench
}

fn the_indexes_are_listed() {
    let bench = indexed();
    told(Advice::ListIndexes, 1, bench.run("index scan s.holo notes bird"));
    told(Advice::ListIndexes, 1, bench.run("index drop s.holo notes bird"));
    assert!(bench.run("index list s.holo").done().contains("\"birds\""));
    assert_eq!(bench.run("index scan s.holo notes birds --limit 1").done(), "{\"bird\":\"siskin\"}\n");
}

fn the_index_is_replaced() {
    let bench = indexed();
    let command = "index create s.holo notes birds --on $.ring";
    told(Advice::ReplaceIndex, 1, bench.run(command));
    bench.run("index create s.holo notes rings --on $.ring").done();
    bench.run(&format!("{command} --replace")).done();
}

fn the_index_gets_another_name() {
    let bench = indexed();
    bench.run("index create s.holo notes rings --on $.ring").done();
    told(Advice::GiveIndexAnotherName, 1, bench.run("index rename s.holo notes rings birds"));
    bench.run("index rename s.holo notes rings more").done();
    bench.run("index drop s.holo notes birds").done();
    bench.run("index rename s.holo notes more birds").done();
}

fn the_index_is_left_out() {
    let bench = indexed();
    let command = "find s.holo notes @.n==1";
    told(Advice::LeaveOutIndex, 2, bench.run(&format!("{command} --index birds")));
    bench.run(command).done();
}

fn the_index_is_not_unique() {
    let bench = indexed();
    bench.run_args(["put", "s.holo", "notes", "7", "{\"bird\":\"wren\"}"]).done();
    let command = "index create s.holo notes one --on $.bird";
    told(Advice::LeaveOutUnique, 1, bench.run(&format!("{command} --unique")));
    bench.run(command).done();
    bench.run("index drop s.holo notes one").done();
    bench.run_args(["put", "s.holo", "notes", "7", "{\"bird\":\"robin\"}"]).done();
    bench.run(&format!("{command} --unique")).done();
}
