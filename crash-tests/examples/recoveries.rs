//! How many recoveries from power cuts the explorer runs a second, on one core: with its checks alone, and with all that it tries behind each.
//! Where the system tells it (Linux), a second is one of the processor's time, so that others on the machine make no difference.
//!
//! ```sh
//! cargo run --release -p holotype-crash-tests --example recoveries         # ten seconds each
//! cargo run --release -p holotype-crash-tests --example recoveries -- 60
//! ```

use std::fs;
use std::time::{Duration, Instant};

use holotype_crash_tests::crash::{Scope, run};
use holotype_crash_tests::part::Deadline;
use holotype_crash_tests::setup::Setup;

const SECONDS: u64 = 10;

fn main() {
    let seconds =
        std::env::args().nth(1).map_or(SECONDS, |seconds| seconds.parse().expect("a number of seconds"));
    println!(
        "| sequences | cuts | behind each | recoveries | lives | recoveries a second | openings a second |"
    );
    println!("|---|--:|---|--:|--:|--:|--:|");
    for (name, scope) in [
        ("one step", Scope::new(Setup::TINY, 1, 1)),
        ("two steps", Scope::new(Setup::TINY, 2, 1)),
        ("one step", Scope::new(Setup::TINY, 1, 2)),
        ("a step of maintenance", Scope::of_maintenance(Setup::TINY, 1, 1)),
    ] {
        let alone = Scope { followers: Vec::new(), ..scope.clone() };
        measure(name, "nothing", alone, Duration::from_secs(seconds));
        measure(name, "a life", scope, Duration::from_secs(seconds));
    }
}

/// Each recovery opens the store, holds all that it has against the model, and lets it verify itself.
fn measure(name: &str, behind: &str, scope: Scope, time: Duration) {
    let cuts = scope.cuts;
    let scope = Scope { until: Deadline::new(Instant::now() + time, None), ..scope };
    let (start, before) = (Instant::now(), processor_time());
    let (tally, _) = run(&scope).unwrap_or_else(|(_, failure)| panic!("{failure}"));
    let spent = processor_time().zip(before).map_or(start.elapsed(), |(after, before)| after - before);
    let a_second = |count: u64| count as f64 / spent.as_secs_f64();
    let (recoveries, lives) = (tally.leaves, tally.lives);
    let openings = a_second(recoveries + lives);
    println!(
        "| {name} | {cuts} | {behind} | {recoveries} | {lives} | {:.0} | {openings:.0} |",
        a_second(recoveries)
    );
}

/// What this thread has had of a processor; none where the system does not say.
fn processor_time() -> Option<Duration> {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
