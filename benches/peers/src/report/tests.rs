use super::*;

fn record(row: &str, who: &str, better: Better, median: f64) -> Record {
    Record {
        workload: "reads <fast>".to_owned(),
        row: row.to_owned(),
        who: who.to_owned(),
        unit: "ns",
        better,
        spread: Spread { median, least: median / 2.0, greatest: median * 2.0 },
        times: Some(Times { p99_micros: 7.0, longest_micros: Some(2_500.0) }),
        done: Some("5 returned".to_owned()),
        curve: Curve::of(row),
    }
}

fn report() -> Report {
    let mut report = Report::new(
        vec![("processors", "2".to_owned())],
        vec![LeftOut::new("a third <one>", "reads", "it has none")],
    );
    report.add(vec![record("get", OURS, Better::Less, 100.0), record("get", "other", Better::Less, 250.0)]);
    report.add(vec![record("get", "slow", Better::Less, 900.0), record("rate", OURS, Better::More, 100.0)]);
    report.add(vec![record("rate", "other", Better::More, 250.0)]);
    report
}

#[test]
fn the_lead_is_over_the_best_of_the_others_whichever_way_is_better() {
    let report = report();
    let leads: Vec<_> = report
        .rows("reads <fast>")
        .iter()
        .map(|row| row.lead().map(|(by, who)| (by, who.to_owned())))
        .collect();
    assert_eq!(leads, [Some((2.5, "other".to_owned())), Some((0.4, "other".to_owned()))]);
}

#[test]
fn a_row_of_one_has_no_lead() {
    let mut report = Report::default();
    report.add(vec![record("get", OURS, Better::Less, 100.0)]);
    assert!(report.rows("reads <fast>")[0].lead().is_none());
    assert!(!report.table("reads <fast>").contains("best peer"));
}

#[test]
fn three_files_tell_every_figure() {
    let directory = tempfile::tempdir().unwrap();
    let into = directory.path().join("new");
    report().write(&into).unwrap();
    let file = |name: &str| std::fs::read_to_string(into.join(name)).unwrap();

    let json: serde_json::Value = serde_json::from_str(&file("report.json")).unwrap();
    assert_eq!(json["records"].as_array().unwrap().len(), 5);
    assert_eq!(json["records"][1]["median"], 250.0);
    assert_eq!(json["records"][1]["longest_micros"], 2500.0);
    assert_eq!(json["leads"][0]["times_best_peer"], 2.5);
    assert_eq!(json["machine"]["processors"], "2");

    assert_eq!(json["left_out"][0]["why"], "it has none");

    let markdown = file("report.md");
    assert!(markdown.contains("| a third <one> | reads | it has none |"), "{markdown}");
    assert!(
        markdown
            .contains("| get (ns) | 100 (50 to 200); 7.0 µs, 2.5 ms | 250 (125 to 500); 7.0 µs, 2.5 ms |"),
        "{markdown}"
    );
    assert!(markdown.contains("**2.50** (other) | 5 returned |"), "{markdown}");
    assert!(
        markdown.contains(
            "| rate (ns) | 100 (50 to 200); 7.0 µs, 2.5 ms | 250 (125 to 500); 7.0 µs, 2.5 ms | - |"
        ),
        "{markdown}"
    );

    let page = file("report.html");
    assert_eq!(page.matches("<rect").count(), 5, "a bar for each record");
    assert_eq!(page.matches("<svg").count(), 2, "a drawing for each row");
    assert!(page.contains("a third &lt;one&gt;") && page.contains("it has none"));
    assert!(page.contains("reads &lt;fast&gt;") && !page.contains("reads <fast>"));
}

#[test]
fn rows_that_differ_in_a_number_are_one_line() {
    let point = |row: &str| Curve::of(row).map(|curve| (curve.name, curve.at, curve.of));
    let line = |name: &str, at, of| Some((name.to_owned(), at, of));
    assert_eq!(point("A, zipfian, 1 thread"), line("A, zipfian", 1.0, "threads"));
    assert_eq!(point("A, zipfian, 4 threads"), line("A, zipfian", 4.0, "threads"));
    assert_eq!(point("alone, readers: 8"), line("alone", 8.0, "readers"));
    assert_eq!(point("get, values of 1048576"), line("get", 1_048_576.0, "bytes of a value"));
    assert_eq!(point("count"), None);
}

#[test]
fn a_line_has_a_point_for_each_figure_and_is_drawn_from_two_on() {
    let mut report = report();
    let lines = |report: &Report| html::of(report).matches("<polyline").count();
    assert_eq!(lines(&report), 0);
    report.add(vec![
        record("C, 1 thread", OURS, Better::More, 10.0),
        record("C, 2 threads", OURS, Better::More, 19.0),
    ]);
    report.add(vec![record("C, 1 thread", "other", Better::More, 9.0)]);
    assert_eq!(lines(&report), 1, "one point is no line");
    assert_eq!(html::of(&report).matches("<circle").count(), 3);
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let page = html::of(&report());
    for elsewhere in ["http:", "https:", "//", "src=", "href=", "url(", "@import", "<script", "<link"] {
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
}
