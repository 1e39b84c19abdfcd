//! Lines over the number in which rows differ: threads, readers, lengths of values. Both scales are of powers, so what grows in
//! proportion is straight.

use super::html::{escaped, put};
use super::{Curve, OURS, Record, Row, distinct};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 260.0;
const MARGIN: f64 = 46.0;
/// Where names of lines stand.
const NAMES: f64 = 260.0;
/// From one of them to the next.
const NAME: f64 = 14.0;

/// Draws a line for everyone in each set of rows that differ in a number alone.
pub fn draw(page: &mut String, rows: &[Row<'_>]) {
    let points = || {
        rows.iter().flat_map(|row| &row.records).filter_map(|record| Some((record.curve.as_ref()?, *record)))
    };
    for name in distinct(points().map(|(curve, _)| curve.name.as_str())) {
        let of_name: Vec<_> = points().filter(|(curve, _)| curve.name == name).collect();
        let numbers: Vec<f64> = of_name.iter().map(|(curve, _)| curve.at).collect();
        if numbers.iter().any(|number| *number != numbers[0]) {
            drawing(page, name, &of_name);
        }
    }
}

struct Axis {
    from: f64,
    to: f64,
}

impl Axis {
    fn of(numbers: impl Iterator<Item = f64>) -> Self {
        let (from, to) = numbers
            .filter(|number| *number > 0.0)
            .map(f64::log10)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), at| (from.min(at), to.max(at)));
        Axis { from, to: to.max(from + 0.1) }
    }

    /// Where a number is, from 0 to 1.
    fn at(&self, number: f64) -> f64 {
        if number <= 0.0 { 0.0 } else { (number.log10() - self.from) / (self.to - self.from) }
    }
}

fn drawing(page: &mut String, name: &str, points: &[(&Curve, &Record)]) {
    let x = Axis::of(points.iter().map(|(curve, _)| curve.at));
    let y = Axis::of(points.iter().map(|(_, record)| record.spread.median));
    let at = |curve: &Curve, record: &Record| {
        (
            MARGIN + x.at(curve.at) * (WIDTH - 2.0 * MARGIN),
            HEIGHT - MARGIN - y.at(record.spread.median) * (HEIGHT - 2.0 * MARGIN),
        )
    };
    let (of, unit) = (points[0].0.of, points[0].1.unit);
    let width = WIDTH + NAMES;
    put(
        page,
        format_args!(
            "<h3>{} <small>({} by {of})</small></h3>\n<svg viewBox=\"0 0 {width} {HEIGHT}\" role=\"img\" aria-label=\"{} by {of}\">\n",
            escaped(name),
            escaped(unit),
            escaped(name)
        ),
    );
    ticks(page, points, &at);
    let who = distinct(points.iter().map(|(_, record)| record.who.as_str()));
    let mut names: Vec<(f64, &str)> = Vec::new();
    for who in who {
        let mut own: Vec<_> = points.iter().filter(|(_, record)| record.who == who).collect();
        own.sort_by(|a, b| a.0.at.total_cmp(&b.0.at));
        let class = if who == OURS { " class=\"mine\"" } else { "" };
        let places: Vec<(f64, f64)> = own.iter().map(|(curve, record)| at(curve, record)).collect();
        if places.len() > 1 {
            let corners: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            // A line has no inside.
            put(
                page,
                format_args!("<polyline{class} style=\"fill:none\" points=\"{}\"/>", corners.join(" ")),
            );
        }
        for (x, y) in &places {
            put(page, format_args!("<circle{class} cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\"/>"));
        }
        names.extend(places.last().map(|(_, y)| (*y, who)));
    }
    names_of_lines(page, names);
    page.push_str("</svg>\n");
}

fn ticks(page: &mut String, points: &[(&Curve, &Record)], at: &impl Fn(&Curve, &Record) -> (f64, f64)) {
    let mut numbers: Vec<&(&Curve, &Record)> = points.iter().collect();
    numbers.sort_by(|a, b| a.0.at.total_cmp(&b.0.at));
    numbers.dedup_by(|a, b| a.0.at == b.0.at);
    for (curve, record) in numbers {
        let (x, _) = at(curve, record);
        put(
            page,
            format_args!(
                "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                HEIGHT - 20.0,
                curve.at
            ),
        );
    }
    let by_median =
        |a: &&&(&Curve, &Record), b: &&&(&Curve, &Record)| a.1.spread.median.total_cmp(&b.1.spread.median);
    let all: Vec<&(&Curve, &Record)> = points.iter().collect();
    for (curve, record) in all.iter().min_by(by_median).into_iter().chain(all.iter().max_by(by_median)) {
        let (_, y) = at(curve, record);
        put(
            page,
            format_args!(
                "<line class=\"grid\" x1=\"{MARGIN}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text x=\"2\" y=\"{:.1}\">{:.0e}</text>\n",
                WIDTH - MARGIN,
                y + 4.0,
                record.spread.median
            ),
        );
    }
}

/// Each beside the end of its line, or as near as the others and the edges let it.
fn names_of_lines(page: &mut String, mut names: Vec<(f64, &str)>) {
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free = 0.0f64;
    for (y, _) in &mut names {
        *y = y.max(free);
        free = *y + NAME;
    }
    let mut last = HEIGHT - NAME;
    for (y, _) in names.iter_mut().rev() {
        *y = y.min(last);
        last = *y - NAME;
    }
    for (y, who) in names {
        put(
            page,
            format_args!(
                "<text x=\"{}\" y=\"{:.1}\">{}</text>\n",
                WIDTH - MARGIN + 8.0,
                y + 4.0,
                escaped(who)
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_many_lines_that_end_at_one_place_stand_apart_and_within_the_drawing() {
        let mut page = String::new();
        names_of_lines(&mut page, vec![(HEIGHT - MARGIN, "a store"); 12]);
        let place = |line: &str| {
            line.split("y=\"").nth(1).unwrap().split('"').next().unwrap().parse::<f64>().unwrap()
        };
        let places: Vec<f64> = page.lines().map(place).collect();
        assert_eq!(places.len(), 12);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= NAME - 0.2), "{places:?}");
        assert!(places.iter().all(|y| (0.0..HEIGHT).contains(y)), "{places:?}");
    }
}
