//! The model checker from the command line. What it finds is shown beside it; here, that it is told.

use serde_json::Value;

use crate::bench::Bench;

#[test]
fn a_search_tells_how_much_it_met_and_that_every_law_held() {
    let bench = Bench::new();
    let run = bench.run("check --depth 2 --from blank --json");
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert!(report["held"] == true && report["states"].as_u64() > Some(50), "{report}");
    assert_eq!((&report["depth"], &report["replay"]), (&2.into(), &Value::Null));
    let text = bench.run("check --depth 1 --from two-commits").done();
    assert!(text.contains(" states a second\n") && text.ends_with("every law held\n"), "{text}");
}

#[test]
fn a_search_in_which_little_came_about_has_shown_little() {
    let run = Bench::new().run("check --depth 0");
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.out.contains("never came about") && run.out.contains("too short"), "{run:?}");
}

#[test]
fn a_path_is_walked_again_step_by_step() {
    let bench = Bench::new();
    bench
        .run("check --replay blank,open,put0=0,maintain,cut,open")
        .fails_saying(2, &["its first ways are open:0"]);
    let text = bench.run("check --replay blank,open,put0=0,cut").done();
    assert!(text.contains("put0=0") && text.contains("the power was cut"), "{text}");
    bench.run("check --replay blank,fly").fails_saying(2, &["fly"]);
    bench.run("check --from nowhere").fails_saying(2, &["nowhere", "two-commits"]);
}
