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
    }
}

fn report() -> Report {
    let mut report = Report::new(vec![("processors", "2".to_owned())]);
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

    let markdown = file("report.md");
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
    assert!(page.contains("reads &lt;fast&gt;") && !page.contains("reads <fast>"));
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let page = html::of(&report());
    for elsewhere in ["http:", "https:", "//", "src=", "href=", "url(", "@import", "<script", "<link"] {
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
}
