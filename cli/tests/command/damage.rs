//! A damaged store: exit code 4, and never a wrong document.

use std::fs;

use crate::bench::{Bench, SAMPLE};

/// A store of the sample, closed, and its bytes.
fn sample_store() -> (Bench, Vec<u8>) {
    let bench = Bench::new();
    bench.run_args(["import", "s.holo", SAMPLE, "--collection", "mdn"]).done();
    let bytes = fs::read(bench.path("s.holo")).unwrap();
    (bench, bytes)
}

/// Where the only copy of some text stands.
fn place_of(bytes: &[u8], text: &str) -> usize {
    let places = bytes.windows(text.len()).enumerate().filter(|(_, window)| *window == text.as_bytes());
    let places: Vec<_> = places.map(|(at, _)| at).collect();
    assert_eq!(places.len(), 1, "{text:?} stands at {places:?}");
    places[0]
}

#[test]
fn a_flipped_bit_in_a_document_is_found_by_all_who_read_it() {
    let bench = Bench::with_notes("{\"bird\":\"wren\"}\n{\"bird\":\"siskin\"}\n");
    let mut bytes = fs::read(bench.path("s.holo")).unwrap();
    let at = place_of(&bytes, "siskin");
    bytes[at] ^= 1;
    bench.write("s.holo", &bytes);
    for command in ["get s.holo notes 2", "export s.holo", "stats s.holo", "put s.holo notes 3 {}"] {
        let message = bench.run(command).fails(4);
        assert!(message.contains("s.holo") && message.contains("damaged"), "{message}");
    }
    let report = bench.run("verify s.holo");
    assert_eq!(report.code, 4, "{report:?}");
    assert!(report.out.starts_with("damaged: ") && report.out.contains("1 problem"), "{report:?}");
    assert_eq!(fs::read(bench.path("s.holo")).unwrap(), bytes, "looking changes nothing");
}

#[test]
fn damage_is_reported_for_machines_with_its_place_and_clause() {
    let bench = Bench::with_notes("{\"bird\":\"wren\"}\n");
    let mut bytes = fs::read(bench.path("s.holo")).unwrap();
    let at = place_of(&bytes, "wren");
    bytes[at] ^= 1;
    bench.write("s.holo", bytes);
    let report = bench.run("verify s.holo --deep --json");
    assert_eq!((report.code, report.err.as_str()), (4, ""), "{report:?}");
    let json: serde_json::Value = serde_json::from_str(&report.out).unwrap();
    assert_eq!(json["clean"], false);
    let problem = &json["problems"][0];
    let place = problem["at"].as_u64().unwrap() as usize;
    assert!(place <= at && at < place + 1024, "the log breaks off at {place}, not just before {at}");
    assert!(problem["clause"].as_str().unwrap().contains('-'), "{problem}");
}

#[test]
fn a_store_cut_short_is_damaged_wherever_it_is_cut() {
    let (bench, bytes) = sample_store();
    let whole = bench.run("export s.holo").done();
    let used = bytes.iter().rposition(|&byte| byte != 0).unwrap() + 1;
    for eighth in 1..8 {
        bench.write("s.holo", &bytes[..used * eighth / 8]);
        for command in ["export s.holo", "verify s.holo"] {
            let run = bench.run(command);
            assert!([3, 4].contains(&run.code), "cut to {eighth}/8: {run:?}");
            assert_ne!(run.out, whole);
        }
    }
    let run = {
        bench.write("s.holo", &bytes[..used / 2]);
        bench.run("verify s.holo")
    };
    assert_eq!(run.code, 4, "{run:?}");
}

#[test]
fn no_flipped_byte_shows_a_wrong_document() {
    let bench = Bench::with_notes("{\"bird\":\"wren\"}\n{\"bird\":\"siskin\"}\n");
    let bytes = fs::read(bench.path("s.holo")).unwrap();
    let whole = bench.run("export s.holo").done();
    let used = bytes.iter().rposition(|&byte| byte != 0).unwrap() + 1;
    for at in (0..used).step_by(used / 97) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        bench.write("s.holo", &damaged);
        let run = bench.run("export s.holo");
        assert!((run.code == 0 && run.out == whole) || [3, 4].contains(&run.code), "byte {at}: {run:?}");
    }
}
