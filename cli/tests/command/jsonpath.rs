//! `holotype jsonpath`: a query over one JSON text.

use crate::bench::Bench;

#[test]
fn the_nodes_are_one_array() {
    let bench = Bench::new();
    bench.write("birds.json", r#"{"birds":[{"name":"Wren","seen":3},{"name":"Robin"}]}"#);
    let run = |query: &str| bench.run_args(["jsonpath", query, "birds.json"]).done();
    assert_eq!(run("$.birds[?@.seen > 2].name"), "[\"Wren\"]\n");
    assert_eq!(run("$.birds[*].name"), "[\"Wren\",\"Robin\"]\n");
    assert_eq!(run("$.fish"), "[]\n");
}

#[test]
fn an_invalid_query_is_told_with_its_place_before_anything_is_read() {
    let message = Bench::new().run_args(["jsonpath", "$.birds[", "no such file"]).fails(2);
    assert!(message.contains("byte 8"), "{message}");
}

#[test]
fn json_that_is_wrong_is_told_with_its_place() {
    let bench = Bench::new();
    bench.write("bad.json", "{\"n\":\n}");
    let message = bench.run_args(["jsonpath", "$", "bad.json"]).fails(2);
    assert!(message.contains("bad.json:2:1"), "{message}");
}
