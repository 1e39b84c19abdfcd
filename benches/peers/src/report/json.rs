//! One object: the machine, and every record.

use serde_json::{Value, json};

use super::{Better, Record, Report};
use crate::stores::left_out::LeftOut;

pub fn of(report: &Report) -> String {
    let machine: serde_json::Map<String, Value> =
        report.machine.iter().map(|(name, told)| ((*name).to_owned(), json!(told))).collect();
    let leads: Vec<Value> = report
        .workloads()
        .into_iter()
        .flat_map(|workload| report.rows(workload).into_iter().map(move |row| (workload, row)))
        .filter_map(|(workload, row)| {
            let (times, best) = row.lead()?;
            Some(
                json!({ "workload": workload, "row": row.name, "times_best_peer": times, "best_peer": best }),
            )
        })
        .collect();
    let left = |left: &LeftOut| json!({ "who": left.who, "of": left.of, "why": left.why });
    let left_out: Vec<Value> = report.left_out.iter().map(left).collect();
    let records: Vec<Value> = report.records.iter().map(record).collect();
    format!("{:#}\n", json!({ "machine": machine, "left_out": left_out, "leads": leads, "records": records }))
}

fn record(record: &Record) -> Value {
    json!({
        "workload": record.workload,
        "row": record.row,
        "who": record.who,
        "unit": record.unit,
        "better": match record.better { Better::More => "more", Better::Less => "less" },
        "median": record.spread.median,
        "least": record.spread.least,
        "greatest": record.spread.greatest,
        "p99_micros": record.times.map(|times| times.p99_micros),
        "longest_micros": record.times.and_then(|times| times.longest_micros),
        "done": record.done,
    })
}
