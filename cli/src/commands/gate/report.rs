//! The result as it is written down, and read again by `gate merge`.

use std::path::Path;

use holotype_crash_tests::crash;
use holotype_crash_tests::gate::{CheckReport, GateReport};
use holotype_crash_tests::live::{Feature, IndexCall};
use serde::{Deserialize, Serialize};

/// What `--json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) held: bool,
    /// Of the program.
    pub(super) version: String,
    pub(super) seed: u64,
    pub(super) documents: u64,
    pub(super) shard: ShardOf,
    pub(super) checks: Vec<Check>,
    /// Power cuts along one life, from the first shard's check `crash`.
    pub(super) cut_points: Vec<CutPoint>,
    /// Whether all shards together are red unless each two features were at work together in a life, and each call on indexes answered.
    pub(super) is_to_meet_every_pair: bool,
    /// In how many lives of the check `lives` each two features were at work.
    pub(super) pairs: Vec<Pair>,
    /// How often each kind of call on indexes was answered in these lives.
    pub(super) index_calls: Vec<IndexCalled>,
}

/// A kind of call on indexes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IndexCalled {
    pub(super) kind: String,
    pub(super) answered: u64,
}

/// Two features that may be at work in one life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pair {
    pub(super) first: String,
    pub(super) second: String,
    pub(super) lives: u64,
}

/// Which part of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ShardOf {
    pub(super) number: u32,
    pub(super) count: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Check {
    pub(super) name: String,
    pub(super) held: bool,
    pub(super) cases: u64,
    pub(super) seconds: f64,
    pub(super) replay: Option<String>,
    pub(super) failure: Option<String>,
    pub(super) notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CutPoint {
    pub(super) step: String,
    pub(super) change: u64,
    pub(super) recoveries: u64,
    pub(super) states: f64,
}

impl Report {
    /// `data` is the file of the documents, which a replay needs as well.
    pub(super) fn new(report: GateReport, data: Option<&Path>) -> Self {
        let GateReport { held, seed, documents, shard, checks, cut_points, .. } = report;
        let pair = |(first, second, lives): (Feature, Feature, u64)| Pair {
            first: first.name().to_owned(),
            second: second.name().to_owned(),
            lives,
        };
        let index_call =
            |(kind, answered): (IndexCall, u64)| IndexCalled { kind: kind.name().to_owned(), answered };
        Report {
            held,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed,
            documents,
            shard: ShardOf { number: shard.number(), count: shard.count() },
            checks: checks.into_iter().map(|check| Check::new(check, data)).collect(),
            cut_points: cut_points.into_iter().map(CutPoint::new).collect(),
            is_to_meet_every_pair: report.is_to_meet_every_pair,
            pairs: report.pairs.iter().map(pair).collect(),
            index_calls: report.index_calls.iter().map(index_call).collect(),
        }
    }

    /// In a sentence.
    pub(super) fn verdict(&self) -> String {
        let held = if self.held { "every check held" } else { "NOT every check held" };
        let shard = match self.shard {
            ShardOf { count: 1, .. } => String::new(),
            ShardOf { number, count } => format!(", shard {number} of {count}"),
        };
        format!("{held} (seed {}, {} documents{shard})", self.seed, self.documents)
    }
}

impl Check {
    fn new(check: CheckReport, data: Option<&Path>) -> Self {
        let CheckReport { name, held, cases, seconds, replay, failure, notes } = check;
        let replay = replay.map(|line| match data {
            Some(data) => format!("{line} --data {}", quoted(data)),
            None => line,
        });
        Check { name: name.to_owned(), held, cases, seconds, replay, failure, notes }
    }
}

impl CutPoint {
    fn new(point: crash::CutPoint) -> Self {
        let crash::CutPoint { step, change, recoveries, states } = point;
        CutPoint { step, change, recoveries, states }
    }
}

/// A path that a shell takes as it is.
pub(in crate::commands) fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:\\".contains(c);
    if path.chars().all(plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// Reports for the tests of the forms in which they are told.
#[cfg(test)]
pub(super) mod samples {
    use holotype_crash_tests::live::{IndexCalls, Pairs};
    use holotype_crash_tests::part::Shard;

    use super::*;

    pub(in super::super) fn failing(data: Option<&Path>) -> Report {
        let held = CheckReport {
            name: "lives",
            held: true,
            cases: 3,
            seconds: 1.5,
            replay: None,
            failure: None,
            notes: vec!["3 lives <of> stores & others".to_owned()],
        };
        let failed = CheckReport {
            name: "crash",
            held: false,
            cases: 7,
            seconds: 0.5,
            replay: Some("holotype gate --seed 3 --check crash".to_owned()),
            failure: Some("a document came back\n  1. put \"x\" <100%>, a\u{1}b".to_owned()),
            notes: Vec::new(),
        };
        let point =
            crash::CutPoint { step: "put \"x\"".to_owned(), change: 2, recoveries: 5, states: 4096.0 };
        let checks = vec![held, failed];
        let (shard, cut_points) = (Shard::WHOLE, vec![point]);
        let report = GateReport {
            held: false,
            seed: 3,
            documents: 1,
            shard,
            checks,
            cut_points,
            is_to_meet_every_pair: false,
            pairs: Pairs::default(),
            index_calls: IndexCalls::default(),
        };
        Report::new(report, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_on_documents_of_the_users_names_their_file() {
        let report = samples::failing(Some(Path::new("my notes.jsonl")));
        let replay = report.checks[1].replay.as_deref();
        assert_eq!(replay, Some("holotype gate --seed 3 --check crash --data 'my notes.jsonl'"));
    }

    #[test]
    fn what_is_written_as_json_is_read_again() {
        let report = samples::failing(None);
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    }
}
