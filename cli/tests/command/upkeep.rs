//! Compaction, checkpoints, copies, and what is left of a damaged store.

use std::fs;

use serde_json::Value;

use crate::bench::{Bench, SAMPLE};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A bench with the sample in `s.holo`.
fn sample() -> Bench {
    let bench = Bench::new();
    bench.run_args(["import", "s.holo", SAMPLE, "--collection", "mdn"]).done();
    bench
}

#[test]
fn compaction_and_checkpoints_change_no_document() {
    let bench = sample();
    let before = bench.run("export s.holo").done();
    bench.run("checkpoint s.holo").done();
    let report = json(&bench.run("compact s.holo --json").done());
    assert!(report["bytes_after"].as_u64() <= report["bytes_before"].as_u64(), "{report}");
    assert_eq!(report["bytes_after"], fs::metadata(bench.path("s.holo")).unwrap().len());
    assert!(bench.run("compact s.holo").done().contains(" bytes, "));
    assert_eq!(bench.run("export s.holo").done(), before);
    let stats = json(&bench.run("stats s.holo --json").done());
    assert!(stats["space"]["live_bytes"].as_u64().unwrap() > 0, "{stats}");
    assert!(stats["space"]["checkpoint_bytes"].as_u64().unwrap() > 0, "{stats}");
}

#[test]
fn a_copy_is_a_store_and_the_next_one_reads_less() {
    let bench = sample();
    let before = bench.run("export s.holo").done();
    let full = json(&bench.run("backup s.holo monday.holo --json").done());
    assert_eq!((&full["documents"], &full["bytes_reused"]), (&200.into(), &0.into()));
    assert_eq!(bench.run("export monday.holo").done(), before);
    bench.run("put s.holo birds 1 {}").done();
    let next = json(&bench.run("backup s.holo tuesday.holo --from monday.holo --json").done());
    assert_eq!(next["documents"], 201);
    assert!(bench.run("verify tuesday.holo --deep").done().contains("201 documents"));
    assert!(bench.run("backup s.holo monday.holo --from monday.holo").done().starts_with("201 documents"));
}

#[test]
fn a_copy_replaces_nothing_and_goes_on_only_from_one_of_this_store() {
    let bench = sample();
    bench.write("taken.holo", "somebody's");
    bench.run("backup s.holo taken.holo").fails_saying(3, &["taken.holo", "exists already"]);
    bench.run("backup s.holo s.holo").fails_saying(3, &["s.holo", "exists already"]);
    assert_eq!(fs::read(bench.path("taken.holo")).unwrap(), b"somebody's");
    bench.run("put other.holo birds 1 {}").done();
    bench.run("backup s.holo b.holo --from other.holo").fails_saying(2, &["other.holo", "--from"]);
    assert!(!bench.exists("b.holo"));
}

#[test]
fn salvage_of_a_sound_store_is_a_copy() {
    let bench = sample();
    let text = bench.run("salvage s.holo rescued.holo").done();
    assert!(text.contains("200 documents back, 0 that may be stale, 0 lost"), "{text}");
    assert_eq!(bench.run("export rescued.holo").done(), bench.run("export s.holo").done());
    bench.run("salvage s.holo rescued.holo").fails_saying(3, &["rescued.holo", "exists already"]);
    bench.run("salvage none.holo r.holo").fails_saying(3, &["none.holo"]);
}

#[test]
fn salvage_tells_what_is_lost_and_leaves_the_damaged_store_alone() {
    let bench = Bench::with_notes("{\"bird\":\"wren\"}\n{\"bird\":\"siskin\"}\n{\"bird\":\"dunnock\"}\n");
    bench.run("put s.holo more 1 {}").done();
    let mut bytes = fs::read(bench.path("s.holo")).unwrap();
    let at = bytes.windows(6).position(|window| window == b"siskin").unwrap();
    bytes[at] ^= 1;
    bench.write("s.holo", &bytes);
    let run = bench.run("salvage s.holo rescued.holo --json");
    assert_eq!(run.code, 4, "{run:?}");
    let report = json(&run.out);
    assert_eq!(report["complete"], false);
    assert!(report["documents"].as_u64().unwrap() + report["stale"].as_u64().unwrap() >= 3, "{report}");
    assert_eq!(fs::read(bench.path("s.holo")).unwrap(), bytes);
    assert_eq!(bench.run("verify rescued.holo --deep").code, 0);
    let run = bench.run("salvage s.holo again.holo");
    assert!(run.code == 4 && run.out.contains("damaged: "), "{run:?}");
}
