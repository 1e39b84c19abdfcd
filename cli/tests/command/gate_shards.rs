//! The gate in a CI system: shards and their merging, the forms of its result, and a soak that is stopped.

use std::fs;

use serde_json::Value;

use crate::bench::{Bench, Run};

/// The command line was refused, in words that these are among.
#[track_caller]
fn refused(run: &Run, words: &[&str]) {
    assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
    for word in words {
        assert!(run.err.contains(word), "{word:?} is missing in {run:?}");
    }
}

/// A shard of the quickest shared check.
fn shard(bench: &Bench, part: &str, seed: u64) -> String {
    let run = bench.run(&format!("gate --seed {seed} --seconds 1 --check lives --shard {part} --json"));
    run.done()
}

#[test]
fn shards_merge_into_the_result_of_the_whole() {
    let bench = Bench::new();
    for number in 1..=3 {
        bench.write(&format!("{number}.json"), shard(&bench, &format!("{number}/3"), 7));
    }
    let parts: Vec<Value> = (1..=3)
        .map(|number| {
            serde_json::from_slice(&fs::read(bench.path(&format!("{number}.json"))).unwrap()).unwrap()
        })
        .collect();
    let cases = |report: &Value| report["checks"][0]["cases"].as_u64().unwrap();
    let merged: Value =
        serde_json::from_str(&bench.run("gate merge 3.json 1.json 2.json --json").done()).unwrap();
    assert_eq!((&merged["held"], &merged["shard"]["count"]), (&true.into(), &1.into()));
    assert_eq!(cases(&merged), parts.iter().map(cases).sum::<u64>());
    let table = bench.run("gate merge 1.json 2.json 3.json").done();
    assert!(table.ends_with("every check held (seed 7, 400 documents)\n"), "{table}");
}

#[test]
fn results_that_are_no_whole_are_not_merged() {
    let bench = Bench::new();
    bench.write("1.json", shard(&bench, "1/2", 7));
    bench.write("other.json", shard(&bench, "2/2", 8));
    bench.write("garbage.json", "{\n  \"held\": 3");
    bench.write("list.json", "[]");
    bench.run("gate merge 1.json").fails_saying(2, &["missing: 2"]);
    bench.run("gate merge 1.json 1.json").fails_saying(2, &["both shard 1"]);
    bench.run("gate merge 1.json other.json").fails_saying(2, &["other.json has the seed 8"]);
    bench.run("gate merge 1.json garbage.json").fails_saying(2, &["garbage.json:2:11"]);
    bench.run("gate merge list.json").fails_saying(2, &["list.json:1:", "gate --json"]);
    bench.run("gate merge nowhere.json").fails_saying(2, &["nowhere.json"]);
    refused(&bench.run("gate merge"), &["FILE"]);
    refused(&bench.run("gate --seed 1 merge 1.json"), &["merge"]);
}

#[test]
fn shards_that_there_are_not_are_refused() {
    let bench = Bench::new();
    for part in ["0/3", "4/3", "1/0", "x", "1", "-1/3"] {
        let run = bench.run_args(["gate", "--seed", "1", &format!("--shard={part}")]);
        refused(&run, &["--shard"]);
    }
    refused(&bench.run("gate --shard 1/3"), &["--seed"]);
    bench.run("gate --seed 1 --shard 2/3 --check readers").fails_saying(2, &["the first shard alone"]);
    refused(&bench.run("gate --profile lively"), &["quick", "standard", "soak"]);
}

#[test]
fn one_run_is_told_in_every_form_at_once() {
    let bench = Bench::new();
    let bugs = r#"{"bugs":[{"bug":"SyncSkipped","what":"No sync.","found_by":[],"elsewhere":null}]}"#;
    bench.write("matrix.json", bugs);
    let coverage = r#"{"limit":95,"rooms":[{"name":"log","lines":976,"reached":941}],"files":[]}"#;
    bench.write("coverage.json", coverage);
    bench.write("summary.md", "earlier\n");
    let arguments = "gate --seed 7 --seconds 1 --check crash --json --junit j.xml --github --html p.html --matrix matrix.json \
                     --coverage coverage.json";
    let mut command = bench.command();
    command.args(arguments.split_whitespace()).env("GITHUB_STEP_SUMMARY", bench.path("summary.md"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["cut_points"].as_array().unwrap().len() > 20, "{report}");
    let read = |name: &str| fs::read_to_string(bench.path(name)).unwrap();
    let junit = read("j.xml");
    assert!(
        junit.contains("<testcase name=\"crash\" classname=\"gate\"") && junit.contains("failures=\"0\"")
    );
    let page = read("p.html");
    assert!(page.contains("Power cuts along one life") && page.contains("SyncSkipped"), "{page}");
    assert!(page.contains("<tr><td>log<td class=n>976<td class=n>941<td class=\"n yes\">96.4 %"), "{page}");
    let summary = read("summary.md");
    assert!(
        summary.starts_with("earlier\n### holotype gate\n") && summary.contains("| crash |"),
        "{summary}"
    );
}

#[test]
fn a_result_that_cannot_be_written_or_an_attachment_that_is_none_is_told() {
    let bench = Bench::new();
    bench.write("matrix.json", "{}");
    let quick = "gate --seconds 0 --check lives";
    bench
        .run(&format!("{quick} --html p.html --matrix matrix.json"))
        .fails_saying(2, &["matrix.json:1:2", "matrix"]);
    bench
        .run(&format!("{quick} --html p.html --coverage matrix.json"))
        .fails_saying(2, &["matrix.json:1:2", "coverage"]);
    bench.run(&format!("{quick} --html p.html --coverage none.json")).fails_saying(2, &["none.json"]);
    for attached in ["--matrix", "--coverage"] {
        refused(&bench.run(&format!("{quick} {attached} matrix.json")), &["--html"]);
    }
    let run = bench.run(&format!("{quick} --junit nowhere/j.xml"));
    assert!(run.code == 5 && run.err.contains("nowhere"), "{run:?}");
    // The result itself is told all the same.
    assert!(run.out.contains("every check held"), "{run:?}");
}

#[cfg(unix)]
#[test]
fn a_soak_tells_each_round_and_ends_with_its_result_when_it_is_asked_to() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    let bench = Bench::new();
    let mut command = bench.command();
    command.args("gate --profile soak --seconds 0 --seed 7 --check lives --json".split(' '));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.starts_with("soak: round 1 of 0 s is over: 1 cases in 0:00:0"), "{first}");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    // Read on, so that it never waits for room in the pipe.
    let rounds = 1 + lines.map(Result::unwrap).count() as u64;
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let report: Value = serde_json::from_str(&out).unwrap();
    let lives = &report["checks"][0];
    // One case a round, none in the last where it was over before it began.
    let cases = lives["cases"].as_u64().unwrap();
    assert!(report["held"] == true && cases <= rounds && cases + 1 >= rounds, "{rounds} rounds, {report}");
}
