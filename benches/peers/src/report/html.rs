//! One page that needs nothing but itself: a bar for each contender of each row, on a scale of powers of ten, and the tables' figures
//! as the bars' text.

use std::fmt::Write;

use super::{Better, OURS, Record, Report, Row, curves};

/// Widths and heights of a drawing, in its own units.
const LABELS: f64 = 190.0;
const BARS: f64 = 420.0;
const FIGURES: f64 = 330.0;
const LINE: f64 = 18.0;

const HEAD: &str = "<!DOCTYPE html>
<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">
<title>Holotype beside other stores</title>
<style>
body { font: 15px/1.4 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
svg { width: 100%; height: auto; display: block } text { font: 12px system-ui, sans-serif; fill: currentColor }
polyline { fill: none; stroke-width: 1.5; stroke: currentColor; opacity: .6 } .mine { stroke: #1f6feb; fill: #1f6feb; opacity: 1 }
.bar { fill: #9aa5b1 } .ours { fill: #1f6feb } .spread { stroke: #444; stroke-width: 1.5 } .grid { stroke: #ddd }
h3 { margin: 1.2rem 0 .2rem; font-size: 1rem } .lead { font-weight: 600 } .behind { color: #b3261e }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #161616 } .grid { stroke: #333 } .spread { stroke: #bbb } }
</style></head><body>
<h1>Holotype beside other stores</h1>
";

pub fn of(report: &Report) -> String {
    let mut page = HEAD.to_owned();
    page.push_str("<ul>\n");
    for (name, told) in &report.machine {
        put(&mut page, format_args!("<li>{}: {}</li>\n", escaped(name), escaped(told)));
    }
    page.push_str("</ul>\n<p>Bars are medians, on a scale of powers of ten; the line across a bar's end goes from the least to the greatest. p99: the time that one call in a hundred passes, and where a second one follows, the longest.</p>\n");
    left_out(&mut page, report);
    for workload in report.workloads() {
        put(&mut page, format_args!("<h2>{}</h2>\n", escaped(workload)));
        let rows = report.rows(workload);
        rows.iter().for_each(|row| drawing(&mut page, row));
        curves::draw(&mut page, &rows);
    }
    page.push_str("</body></html>\n");
    page
}

fn left_out(page: &mut String, report: &Report) {
    if report.left_out.is_empty() {
        return;
    }
    page.push_str("<details><summary>Who takes no part in what, and why</summary>\n<ul>\n");
    for left in &report.left_out {
        let [who, of, why] = [&left.who, &left.of, &left.why].map(|text| escaped(text));
        put(page, format_args!("<li>{who}: {of}. {why}</li>\n"));
    }
    page.push_str("</ul></details>\n");
}

pub(super) fn put(page: &mut String, what: std::fmt::Arguments<'_>) {
    page.write_fmt(what).expect("text has room");
}

/// Text that is nothing but text.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// From a power of ten at or below all figures to one above them.
struct Scale {
    from: f64,
    decades: f64,
}

impl Scale {
    fn of(records: &[&Record]) -> Self {
        let figures = || records.iter().flat_map(|record| [record.spread.least, record.spread.greatest]);
        let positive = || figures().filter(|figure| *figure > 0.0).map(f64::log10);
        let from = positive().fold(f64::INFINITY, f64::min).floor();
        let to = positive().fold(f64::NEG_INFINITY, f64::max);
        // A figure that is a power of ten itself still has a bar.
        let from = if from.is_finite() { from - 0.2 } else { 0.0 };
        Scale { from, decades: (to.max(from + 1.0).ceil() - from).max(1.0) }
    }

    /// How far along the scale a figure is.
    fn at(&self, figure: f64) -> f64 {
        if figure <= 0.0 {
            return 0.0;
        }
        ((figure.log10() - self.from) / self.decades).clamp(0.0, 1.0) * BARS
    }

    /// The powers of ten on it.
    fn powers(&self) -> impl Iterator<Item = i32> {
        self.from.ceil() as i32..=(self.from + self.decades).floor() as i32
    }
}

fn drawing(page: &mut String, row: &Row<'_>) {
    let first = row.records.first().expect("a row has a record");
    let better = match first.better {
        Better::More => "more is better",
        Better::Less => "less is better",
    };
    let lead = row.lead().map_or(String::new(), |(lead, best)| {
        let class = if lead >= 1.0 { "lead" } else { "lead behind" };
        format!(" <span class=\"{class}\">{lead:.2} times {}</span>", escaped(best))
    });
    put(
        page,
        format_args!(
            "<h3>{} <small>({}, {better})</small>{lead}</h3>\n",
            escaped(row.name),
            escaped(first.unit)
        ),
    );
    let scale = Scale::of(&row.records);
    let height = LINE * (row.records.len() as f64 + 1.0);
    let width = LABELS + BARS + FIGURES;
    put(
        page,
        format_args!(
            "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n",
            escaped(row.name)
        ),
    );
    for power in scale.powers() {
        let x = LABELS + scale.at(10f64.powi(power));
        let foot = height - LINE;
        put(page, format_args!("<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"0\" y2=\"{foot}\"/>"));
        put(
            page,
            format_args!(
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">1e{power}</text>\n",
                height - 4.0
            ),
        );
    }
    for (line, record) in row.records.iter().enumerate() {
        bar(page, record, &scale, line as f64 * LINE);
    }
    page.push_str("</svg>\n");
}

fn bar(page: &mut String, record: &Record, scale: &Scale, top: f64) {
    let class = if record.who == OURS { "bar ours" } else { "bar" };
    let (text, middle) = (top + 13.0, top + LINE / 2.0);
    let [least, median, greatest] =
        [record.spread.least, record.spread.median, record.spread.greatest].map(|figure| scale.at(figure));
    let times = record.times.map_or(String::new(), |times| format!("; p99 {}", times.cell()));
    put(
        page,
        format_args!(
            "<text x=\"{}\" y=\"{text}\" text-anchor=\"end\">{}</text>",
            LABELS - 6.0,
            escaped(&record.who)
        ),
    );
    put(
        page,
        format_args!(
            "<rect class=\"{class}\" x=\"{LABELS}\" y=\"{}\" width=\"{median:.1}\" height=\"{}\"/>",
            top + 2.0,
            LINE - 4.0
        ),
    );
    put(
        page,
        format_args!(
            "<line class=\"spread\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{middle}\" y2=\"{middle}\"/>",
            LABELS + least,
            LABELS + greatest
        ),
    );
    put(
        page,
        format_args!(
            "<text x=\"{}\" y=\"{text}\">{}{times}</text>\n",
            LABELS + BARS + 6.0,
            escaped(&record.spread.cell())
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turns::Spread;

    fn scale_of(figures: [f64; 2]) -> Scale {
        let record = |figure| Record {
            workload: String::new(),
            row: String::new(),
            who: String::new(),
            unit: "",
            better: Better::More,
            spread: Spread { median: figure, least: figure, greatest: figure },
            times: None,
            done: None,
            curve: None,
        };
        let records = figures.map(record);
        Scale::of(&records.each_ref()[..])
    }

    #[test]
    fn ten_times_as_much_is_one_step_further_wherever_it_is() {
        let scale = scale_of([3.0, 40_000.0]);
        let steps = [3.0, 30.0, 300.0, 3_000.0].map(|figure| scale.at(figure));
        let step = steps[1] - steps[0];
        assert!(step > 0.0 && steps[0] > 0.0);
        assert!(steps.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() < 1e-9), "{steps:?}");
        assert!(scale.at(40_000.0) <= BARS);
    }

    #[test]
    fn the_least_figure_still_has_a_bar() {
        for figures in [[1.0, 1.0], [1_000.0, 1_000.0], [0.01, 0.5]] {
            assert!(scale_of(figures).at(figures[0]) > 0.0, "{figures:?}");
        }
    }
}
