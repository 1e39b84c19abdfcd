//! For a browser: one page with everything in it, which asks for nothing else and runs no script.

use std::fmt::Write;

use super::attached::{Attached, Coverage, Lines};
use super::escape::escape;
use super::matrix::{Matrix, Row};
use super::report::{Check, CutPoint, IndexCalled, Pair, Report};

/// What stands before the body.
const HEAD: &str = include_str!("page.html");

const STRING: &str = "a string takes all that is written to it";

/// A page that grows from what is put onto it, which is HTML already.
macro_rules! put {
    ($page:expr, $($part:tt)*) => { writeln!($page, $($part)*).expect(STRING) };
}

pub(super) fn page(report: &Report, attached: &Attached) -> String {
    let mut page = HEAD.to_owned();
    let class = if report.held { "yes" } else { "no" };
    put!(page, "<h1>holotype gate: <span class=\"{class}\">{}</span></h1>", escape(&report.verdict()));
    put!(page, "<p>Version {}.</p>", escape(&report.version));
    checks(&mut page, &report.checks);
    failures(&mut page, &report.checks);
    notes(&mut page, &report.checks);
    pairs(&mut page, &report.pairs);
    index_calls(&mut page, &report.index_calls);
    if !report.cut_points.is_empty() {
        cut_points(&mut page, &report.cut_points);
    }
    if let Some(matrix) = &attached.matrix {
        seeded_bugs(&mut page, matrix);
    }
    if let Some(coverage) = &attached.coverage {
        reached_lines(&mut page, coverage);
    }
    page.push_str("</html>\n");
    page
}

fn checks(page: &mut String, checks: &[Check]) {
    put!(
        page,
        "<h2>Checks</h2><table><tr><th>check<th class=n>cases<th class=n>seconds<th class=n>cases/s<th>held"
    );
    for check in checks {
        let held = if check.held { "<td class=yes>yes" } else { "<td class=no>no" };
        let rate = check.cases as f64 / check.seconds.max(0.001);
        put!(
            page,
            "<tr><td>{}<td class=n>{}<td class=n>{:.1}<td class=n>{rate:.0}{held}",
            escape(&check.name),
            check.cases,
            check.seconds
        );
    }
    put!(page, "</table>");
}

fn failures(page: &mut String, checks: &[Check]) {
    for check in checks {
        if let Some(failure) = &check.failure {
            put!(
                page,
                "<h2 class=no>{} did not hold</h2><pre>{}</pre>",
                escape(&check.name),
                escape(failure)
            );
        }
        if let Some(replay) = &check.replay {
            put!(page, "<p>Replay with:</p><pre>{}</pre>", escape(replay));
        }
    }
}

fn notes(page: &mut String, checks: &[Check]) {
    put!(page, "<h2>What was tried</h2>");
    for check in checks {
        put!(page, "<details><summary>{}</summary><ul>", escape(&check.name));
        for note in &check.notes {
            put!(page, "<li>{}", escape(note));
        }
        put!(page, "</ul></details>");
    }
}

/// In how many lives each two features were at work.
fn pairs(page: &mut String, pairs: &[Pair]) {
    put!(page, "<h2>At work in one life</h2><details><summary>Lives for each two features</summary>");
    put!(page, "<table><tr><th>feature<th>and<th class=n>lives");
    for Pair { first, second, lives } in pairs {
        let class = if *lives == 0 { "n no" } else { "n" };
        put!(page, "<tr><td>{}<td>{}<td class=\"{class}\">{lives}", escape(first), escape(second));
    }
    put!(page, "</table></details>");
}

/// How often each kind of call on indexes was answered.
fn index_calls(page: &mut String, calls: &[IndexCalled]) {
    put!(page, "<h2>Asked of indexes</h2><details><summary>Answers to each call</summary>");
    put!(page, "<table><tr><th>call<th class=n>answered");
    for IndexCalled { kind, answered } in calls {
        let class = if *answered == 0 { "n no" } else { "n" };
        put!(page, "<tr><td>{}<td class=\"{class}\">{answered}", escape(kind));
    }
    put!(page, "</table></details>");
}

/// Sizes of the drawing, in its own units.
const BAR_WIDTH: usize = 7;
const HEIGHT: f64 = 160.0;
const LABEL_HEIGHT: f64 = 18.0;

/// A bar for each moment: how many disks a power cut there may leave, and how many recoveries stood for them all.
fn cut_points(page: &mut String, points: &[CutPoint]) {
    put!(page, "<h2>Power cuts along one life</h2>");
    put!(
        page,
        "<p>Power is cut after every change of the file. Light: the states in which the cut may leave the disk. Dark: the"
    );
    put!(
        page,
        "recoveries that were run, which stand for all of them. Both are on a logarithmic scale; a band is a step.</p>"
    );
    let highest = points.iter().map(|point| height(point.states)).fold(1.0, f64::max);
    let scale = HEIGHT / highest;
    let (width, bottom) = (points.len() * BAR_WIDTH, HEIGHT + LABEL_HEIGHT);
    put!(
        page,
        "<div class=scroll><svg width=\"{width}\" height=\"{bottom}\" role=img aria-label=\"Power cuts along one life\">"
    );
    bands(page, points);
    for (index, point) in points.iter().enumerate() {
        let x = index * BAR_WIDTH;
        put!(page, "<g><title>{}</title>", escape(&told(point)));
        bar(page, "states", x, height(point.states) * scale);
        bar(page, "recoveries", x, height(point.recoveries as f64) * scale);
        put!(page, "</g>");
    }
    put!(page, "<line class=axis x1=0 y1={HEIGHT} x2={width} y2={HEIGHT} />");
    let most = points.iter().map(|point| point.states).fold(0.0, f64::max);
    put!(
        page,
        "<text x=2 y={}>{} moments, at most {most:.0} states</text></svg></div>",
        bottom - 4.0,
        points.len()
    );
}

fn told(point: &CutPoint) -> String {
    let CutPoint { step, change, recoveries, states } = point;
    format!("{step}, after change {change}: {recoveries} recoveries for {states:.0} states")
}

/// One state is already something to see.
fn height(count: f64) -> f64 {
    if count >= 1.0 { 1.0 + count.log2() } else { 0.0 }
}

fn bar(page: &mut String, class: &str, x: usize, height: f64) {
    let (width, y) = (BAR_WIDTH - 1, HEIGHT - height);
    put!(page, "<rect class={class} x={x} y={y:.1} width={width} height={height:.1} />");
}

/// Every second step has a shade behind it.
fn bands(page: &mut String, points: &[CutPoint]) {
    let mut begin = 0;
    // A step begins where the count of its changes begins anew.
    let starts = (1..points.len()).filter(|index| points[*index].change <= points[index - 1].change);
    for (number, end) in starts.chain([points.len()]).enumerate() {
        if number % 2 == 1 {
            let (x, width) = (begin * BAR_WIDTH, (end - begin) * BAR_WIDTH);
            put!(page, "<rect class=band x={x} y=0 width={width} height={HEIGHT} />");
        }
        begin = end;
    }
}

fn seeded_bugs(page: &mut String, matrix: &Matrix) {
    put!(page, "<h2>Seeded bugs</h2>");
    put!(page, "<p>Mistakes of a catalogue, each switched on alone, and what notices.</p>");
    put!(page, "<table><tr><th>bug<th>found by<th class=n>cases<th class=n>seconds");
    for Row { bug, what, found_by, elsewhere } in &matrix.bugs {
        put!(page, "<tr><td><code>{}</code><br>{}", escape(bug), escape(what));
        match (found_by.as_slice(), elsewhere) {
            ([], Some(test)) => put!(page, "<td>{}<td><td>", escape(test)),
            ([], None) => put!(page, "<td class=no>nothing<td><td>"),
            (found, _) => {
                let cell = |tell: &dyn Fn(&super::matrix::Found) -> String| {
                    found.iter().map(|found| escape(&tell(found))).collect::<Vec<_>>().join("<br>")
                };
                let check = cell(&|found| found.check.clone());
                let cases = cell(&|found| found.cases.to_string());
                let seconds = cell(&|found| format!("{:.1}", found.seconds));
                put!(page, "<td>{check}<td class=n>{cases}<td class=n>{seconds}");
            }
        }
    }
    put!(page, "</table>");
}

fn reached_lines(page: &mut String, coverage: &Coverage) {
    let Coverage { limit, rooms, files } = coverage;
    put!(page, "<h2>Coverage</h2>");
    put!(
        page,
        "<p>Lines of the engine that the committed inputs of the fuzz targets reach; {limit} % of each room is asked for.</p>"
    );
    let head = "<tr><th>room<th class=n>lines<th class=n>reached<th class=n>share";
    put!(page, "<table>{head}");
    for room in rooms {
        let class = if room.share() < *limit { "n no" } else { "n yes" };
        row(page, room, class);
    }
    put!(page, "</table><details><summary>By file</summary><table>{}", head.replace("room", "file"));
    for file in files {
        row(page, file, "n");
    }
    put!(page, "</table></details>");
}

fn row(page: &mut String, of: &Lines, class: &str) {
    let Lines { name, lines, reached } = of;
    let share = of.share();
    put!(
        page,
        "<tr><td>{}<td class=n>{lines}<td class=n>{reached}<td class=\"{class}\">{share:.1} %",
        escape(name)
    );
}

#[cfg(test)]
mod tests {
    use super::super::report::samples;
    use super::*;

    fn matrix() -> Matrix {
        let json = r#"{ "bugs": [
            { "bug": "SyncSkipped", "what": "A <sync> is left out.", "found_by": [{ "check": "crash", "cases": 12, "seconds": 0.4 }] },
            { "bug": "WakeUpLost", "what": "Nobody is told.", "found_by": [], "elsewhere": "loom" },
            { "bug": "Unseen", "what": "Nobody sees.", "found_by": [], "elsewhere": null }] }"#;
        serde_json::from_str(json).unwrap()
    }

    fn attached() -> Attached {
        let coverage = r#"{ "limit": 95, "rooms": [
            { "name": "format", "lines": 200, "reached": 191, "excused": 2 },
            { "name": "log", "lines": 100, "reached": 94, "excused": 0 }],
            "files": [{ "name": "format/<body>.rs", "lines": 30, "reached": 29 }] }"#;
        Attached { matrix: Some(matrix()), coverage: Some(serde_json::from_str(coverage).unwrap()) }
    }

    #[test]
    fn the_page_has_the_checks_the_failure_the_cuts_the_bugs_and_the_coverage_and_asks_for_nothing_else() {
        let page = page(&samples::failing(None), &attached());
        for part in [
            "<tr><td>crash<td class=n>7<td class=n>0.5<td class=n>14<td class=no>no",
            "<h2 class=no>crash did not hold</h2><pre>a document came back\n  1. put &quot;x&quot; &lt;100%&gt;",
            "<pre>holotype gate --seed 3 --check crash</pre>",
            "<title>put &quot;x&quot;, after change 2: 5 recoveries for 4096 states</title>",
            "<code>SyncSkipped</code><br>A &lt;sync&gt; is left out.\n<td>crash<td class=n>12<td class=n>0.4",
            "<td>loom<td><td>",
            "<td class=no>nothing<td><td>",
            "<tr><td>format<td class=n>200<td class=n>191<td class=\"n yes\">95.5 %",
            "<tr><td>log<td class=n>100<td class=n>94<td class=\"n no\">94.0 %",
            "<tr><td>format/&lt;body&gt;.rs<td class=n>30<td class=n>29<td class=\"n\">96.7 %",
            "<li>3 lives &lt;of&gt; stores &amp; others",
        ] {
            assert!(page.contains(part), "{part} is not in {page}");
        }
        for asks in ["http:", "https:", "src=", "href=", "<script", "url(", "@import"] {
            assert!(!page.contains(asks), "{asks}");
        }
    }

    #[test]
    fn without_a_matrix_coverage_and_cuts_their_headings_are_not_there() {
        let mut report = samples::failing(None);
        report.cut_points.clear();
        let page = page(&report, &Attached::default());
        assert!(!["Seeded bugs", "<svg", "Coverage"].iter().any(|part| page.contains(part)), "{page}");
    }
}
