//! `gate merge`: the results of shards as the result of the whole.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use holotype_crash_tests::gate;
use holotype_crash_tests::live::{INDEX_CALLS, Pairs};

use crate::exit::{Failure, Result};

use super::report::{Check, Report, ShardOf};

/// Reads the results, and puts them together.
pub(super) fn merge_files(files: &[PathBuf]) -> Result<Report> {
    let shards = files.iter().map(|file| Ok((file.as_path(), read(file)?))).collect::<Result<Vec<_>>>()?;
    merge(shards).map_err(Failure::usage)
}

fn read(file: &Path) -> Result<Report> {
    let name = file.display();
    let json = std::fs::read(file).map_err(|error| Failure::usage(format!("cannot open {name}: {error}")))?;
    serde_json::from_slice(&json).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        Failure::usage(format!("{name}:{line}:{column}: this is not what `gate --json` prints: {error}"))
    })
}

/// The whole, or why these are not its parts.
fn merge(mut shards: Vec<(&Path, Report)>) -> Result<Report, String> {
    shards.sort_by_key(|(_, report)| report.shard.number);
    for (file, report) in &shards {
        is_sound(report).map_err(|what| format!("{}: {what}", file.display()))?;
    }
    belong_together(&shards)?;
    let (_, first) = shards.first().ok_or("no shard is given")?;
    let mut whole = Report {
        held: true,
        version: first.version.clone(),
        seed: first.seed,
        documents: first.documents,
        shard: ShardOf { number: 1, count: 1 },
        checks: Vec::new(),
        cut_points: first.cut_points.clone(),
        is_to_meet_every_pair: shards.iter().all(|(_, report)| report.is_to_meet_every_pair),
        pairs: first.pairs.clone(),
        index_calls: first.index_calls.clone(),
    };
    for (_, report) in &shards[1..] {
        let ours = whole.pairs.iter_mut();
        ours.zip(&report.pairs).for_each(|(ours, pair)| ours.lives = ours.lives.saturating_add(pair.lives));
        let ours = whole.index_calls.iter_mut().zip(&report.index_calls);
        ours.for_each(|(ours, call)| ours.answered = ours.answered.saturating_add(call.answered));
    }
    let count = shards.len();
    for name in gate::names() {
        let parts = shards.iter().filter_map(|(_, report)| {
            let check = report.checks.iter().find(|check| check.name == name)?;
            Some((report.shard.number, check))
        });
        whole.checks.extend(sum(parts, count));
    }
    require_all_met(&mut whole);
    whole.held = whole.checks.iter().all(|check| check.held);
    Ok(whole)
}

/// As the gate itself does where it is not shared out.
fn require_all_met(whole: &mut Report) {
    let missing = whole.pairs.iter().filter(|pair| pair.lives == 0);
    let missing: Vec<_> = missing.map(|pair| format!("{} and {}", pair.first, pair.second)).collect();
    let never = whole.index_calls.iter().filter(|call| call.answered == 0);
    let never: Vec<_> = never.map(|call| call.kind.clone()).collect();
    let missing = gate::never_met(&missing, &never).filter(|_| whole.is_to_meet_every_pair);
    let lives = whole.checks.iter_mut().find(|check| check.name == gate::LIVES && check.held);
    if let Some((lives, missing)) = lives.zip(missing) {
        lives.held = false;
        lives.failure = Some(missing);
        lives.replay = Some(format!("holotype gate --seed {} --report", whole.seed));
    }
}

/// Whether a result can be what a shard of this program printed.
fn is_sound(report: &Report) -> Result<(), String> {
    if report.version != env!("CARGO_PKG_VERSION") {
        let ours = env!("CARGO_PKG_VERSION");
        return Err(format!(
            "from version {}, and this is {ours}: merge with the program that ran",
            report.version
        ));
    }
    let ShardOf { number, count } = report.shard;
    if number == 0 || number > count {
        return Err(format!("there is no shard {number} of {count}"));
    }
    if report.checks.is_empty() {
        return Err("no check in it".to_owned());
    }
    let known: Vec<_> =
        Pairs::default().iter().map(|(first, second, _)| (first.name(), second.name())).collect();
    if !report.pairs.iter().map(|pair| (pair.first.as_str(), pair.second.as_str())).eq(known) {
        return Err("its pairs of features are not those of this program".to_owned());
    }
    let known = INDEX_CALLS.iter().map(|kind| kind.name());
    if !report.index_calls.iter().map(|call| call.kind.as_str()).eq(known) {
        return Err("its calls on indexes are not those of this program".to_owned());
    }
    let mut names = BTreeSet::new();
    for check in &report.checks {
        let name = check.name.as_str();
        if !gate::names().any(|known| known == name) {
            return Err(format!("no check is called {name:?}"));
        }
        if !names.insert(name) {
            return Err(format!("the check {name:?} is in it twice"));
        }
        if check.held != check.failure.is_none() || check.held && check.cases == 0 {
            return Err(format!("the check {name:?} cannot have come out so"));
        }
    }
    if report.held != report.checks.iter().all(|check| check.held) {
        return Err("what it says of the whole is not what its checks say".to_owned());
    }
    Ok(())
}

/// Whether these are all the parts of one run, each once. They are in order.
fn belong_together(shards: &[(&Path, Report)]) -> Result<(), String> {
    let Some((first_file, first)) = shards.first() else { return Ok(()) };
    for (file, report) in shards {
        let (file, first_file) = (file.display(), first_file.display());
        let differs = |what: &str, here: u64, there: u64| match here == there {
            true => Ok(()),
            false => Err(format!("{file} has {what} {here}, and {first_file} has {there}")),
        };
        differs("the seed", report.seed, first.seed)?;
        differs("shard count", report.shard.count.into(), first.shard.count.into())?;
        differs("document count", report.documents, first.documents)?;
    }
    for pair in shards.windows(2) {
        let [(one, a), (other, b)] = pair else { continue };
        if a.shard == b.shard {
            let (one, other) = (one.display(), other.display());
            return Err(format!("{one} and {other} are both shard {}", a.shard.number));
        }
    }
    let missing: Vec<_> = (1..=first.shard.count)
        .filter(|number| !shards.iter().any(|(_, report)| report.shard.number == *number))
        .map(|number| number.to_string())
        .collect();
    if !missing.is_empty() {
        return Err(format!("of {} shards these are missing: {}", first.shard.count, missing.join(", ")));
    }
    same_checks(shards)
}

/// Whether all ran the same checks, but for those that the first does alone.
fn same_checks(shards: &[(&Path, Report)]) -> Result<(), String> {
    let shared = |report: &Report| -> BTreeSet<String> {
        let names = report.checks.iter().map(|check| check.name.clone());
        names.filter(|name| !gate::names_of_the_first_shard_alone().any(|alone| alone == name)).collect()
    };
    let Some((first_file, first)) = shards.first() else { return Ok(()) };
    for (file, report) in &shards[1..] {
        if let Some(name) = shared(first).symmetric_difference(&shared(report)).next() {
            let (file, first) = (file.display(), first_file.display());
            return Err(format!("one of {first} and {file} has the check {name:?}, and the other has not"));
        }
    }
    Ok(())
}

/// A check of the whole, from that of each shard that ran it; the first failure is its failure.
fn sum<'a>(parts: impl Iterator<Item = (u32, &'a Check)>, count: usize) -> Option<Check> {
    let mut whole: Option<Check> = None;
    for (number, part) in parts {
        let notes = part.notes.iter().map(|note| match count {
            1 => note.clone(),
            _ => format!("shard {number}: {note}"),
        });
        match &mut whole {
            None => whole = Some(Check { notes: notes.collect(), ..part.clone() }),
            Some(whole) => {
                whole.notes.extend(notes);
                // No machine has counted so far; a file may say that it has.
                whole.cases = whole.cases.saturating_add(part.cases);
                whole.seconds += part.seconds;
                if whole.held && !part.held {
                    whole.held = false;
                    whole.failure.clone_from(&part.failure);
                    whole.replay.clone_from(&part.replay);
                }
            }
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use holotype_crash_tests::live::Feature;

    use super::super::report::{IndexCalled, Pair};
    use super::*;

    fn shard(number: u32, count: u32) -> Report {
        let check = |name: &str| Check {
            name: name.to_owned(),
            held: true,
            cases: 10 * u64::from(number),
            seconds: 1.0,
            replay: None,
            failure: None,
            notes: vec!["tried".to_owned()],
        };
        let names = if number == 1 { vec!["lives", "readers"] } else { vec!["lives"] };
        Report {
            held: true,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: 7,
            documents: 400,
            shard: ShardOf { number, count },
            checks: names.into_iter().map(check).collect(),
            cut_points: Vec::new(),
            is_to_meet_every_pair: true,
            pairs: pairs(1),
            index_calls: INDEX_CALLS.iter().map(|kind| called(kind.name(), 1)).collect(),
        }
    }

    fn called(kind: &str, answered: u64) -> IndexCalled {
        IndexCalled { kind: kind.to_owned(), answered }
    }

    /// Each with so many lives.
    fn pairs(lives: u64) -> Vec<Pair> {
        let pairs = Pairs::default();
        let name = |feature: Feature| feature.name().to_owned();
        let pair = |(first, second, _)| Pair { first: name(first), second: name(second), lives };
        pairs.iter().map(pair).collect()
    }

    fn merged(shards: impl IntoIterator<Item = Report>) -> Result<Report, String> {
        merge(shards.into_iter().map(|report| (Path::new("s.json"), report)).collect())
    }

    #[test]
    fn shards_in_any_order_make_the_whole() {
        let whole = merged([shard(3, 3), shard(1, 3), shard(2, 3)]).unwrap();
        assert!(whole.held);
        assert_eq!(whole.shard, ShardOf { number: 1, count: 1 });
        let rows: Vec<_> = whole.checks.iter().map(|check| (check.name.as_str(), check.cases)).collect();
        assert_eq!(rows, [("lives", 60), ("readers", 10)]);
        assert_eq!(whole.checks[0].notes, ["shard 1: tried", "shard 2: tried", "shard 3: tried"]);
    }

    #[test]
    fn features_that_no_shard_had_at_work_together_fail_the_whole() {
        let with = |number, lives| {
            let mut shard = shard(number, 2);
            shard.pairs[4].lives = lives;
            shard
        };
        assert!(merged([with(1, 0), with(2, 1)]).unwrap().held);
        let whole = merged([with(1, 0), with(2, 0)]).unwrap();
        assert!(!whole.held && !whole.checks[0].held);
        let said = whole.checks[0].failure.as_deref();
        assert_eq!(
            said,
            Some("no life had at work together: backup and half-published checkpoint"),
            "{whole:?}"
        );
        let mut short = with(2, 0);
        short.is_to_meet_every_pair = false;
        assert!(merged([with(1, 0), short]).unwrap().held, "a short gate need not come so far");
    }

    #[test]
    fn a_call_on_indexes_that_no_shard_had_answered_fails_the_whole() {
        let with = |number, answered| {
            let mut shard = shard(number, 2);
            shard.index_calls[1].answered = answered;
            shard
        };
        assert!(merged([with(1, 0), with(2, 1)]).unwrap().held);
        let whole = merged([with(1, 0), with(2, 0)]).unwrap();
        let said = whole.checks[0].failure.as_deref();
        assert_eq!(said, Some("no life had answered of indexes: replace"), "{whole:?}");
    }

    #[test]
    fn one_failure_in_one_shard_fails_the_whole_with_its_replay() {
        let mut second = shard(2, 2);
        second.held = false;
        second.checks[0].held = false;
        second.checks[0].failure = Some("lost".to_owned());
        second.checks[0].replay = Some("holotype gate --seed 9 --check lives".to_owned());
        let whole = merged([shard(1, 2), second]).unwrap();
        assert!(!whole.held && !whole.checks[0].held && whole.checks[1].held);
        assert_eq!(whole.checks[0].failure.as_deref(), Some("lost"));
        assert_eq!(whole.checks[0].replay.as_deref(), Some("holotype gate --seed 9 --check lives"));
    }

    #[test]
    fn what_does_not_belong_together_is_refused_by_what_sets_it_apart() {
        fn with(edit: impl FnOnce(&mut Report)) -> Report {
            let mut report = shard(2, 2);
            edit(&mut report);
            report
        }
        let cases = [
            (with(|report| report.seed = 8), "seed 8"),
            (with(|report| report.documents = 1), "document count 1"),
            (with(|report| report.shard.count = 3), "shard count 3"),
            (with(|report| report.version = "0.0.9".to_owned()), "version 0.0.9"),
            (with(|report| report.shard.number = 1), "both shard 1"),
            (with(|report| report.shard.number = 0), "no shard 0 of 2"),
            (with(|report| report.shard.number = 3), "no shard 3 of 2"),
            (with(|report| report.checks[0].name = "faults".to_owned()), "has the check \"faults\""),
            (with(|report| report.checks[0].name = "flying".to_owned()), "\"flying\""),
            (with(|report| report.checks.push(report.checks[0].clone())), "twice"),
            (with(|report| report.checks.clear()), "no check"),
            (with(|report| report.checks[0].cases = 0), "cannot have come out so"),
            (with(|report| report.held = false), "of the whole"),
            (with(|report| drop(report.pairs.pop())), "pairs of features"),
            (with(|report| drop(report.index_calls.pop())), "calls on indexes"),
        ];
        for (second, said) in cases {
            let refusal = merged([shard(1, 2), second]).unwrap_err();
            assert!(refusal.contains(said), "{refusal}, not {said}");
        }
        let missing = merged([shard(2, 4), shard(4, 4)]).unwrap_err();
        assert!(missing.ends_with("missing: 1, 3"), "{missing}");
    }
}
