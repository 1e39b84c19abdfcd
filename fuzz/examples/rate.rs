//! How many inputs a second each target takes, on one core, without a fuzzer around it: over its corpus, again and again. Where the system
//! tells it (Linux), a second is one of the processor's time, so that others on the machine make no difference.
//!
//! ```sh
//! cargo run --release -p holotype-fuzz --example rate            # every target, three seconds each
//! cargo run --release -p holotype-fuzz --example rate -- 20 file_image
//! ```

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use holotype_fuzz::{TARGETS, Target};

const SECONDS: u64 = 3;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(SECONDS, |seconds| seconds.parse().expect("a number of seconds"));
    let wanted: Vec<_> = arguments.collect();
    println!("| target | inputs | bytes each | a second |\n|---|--:|--:|--:|");
    for (name, target) in TARGETS {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            measure(name, target, Duration::from_secs(seconds));
        }
    }
}

fn measure(name: &str, target: Target, time: Duration) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let entries = fs::read_dir(&folder).expect("each target has a corpus");
    let inputs: Vec<_> =
        entries.map(|entry| fs::read(entry.expect("it is there").path()).expect("it can be read")).collect();
    let bytes: usize = inputs.iter().map(Vec::len).sum();
    let (start, before, mut rounds) = (Instant::now(), processor_time(), 0);
    // Whole rounds, so that a long input does not weigh more than it does in the corpus.
    while rounds == 0 || start.elapsed() < time {
        inputs.iter().for_each(|input| target(input));
        rounds += 1;
    }
    let spent = processor_time().zip(before).map_or(start.elapsed(), |(after, before)| after - before);
    let a_second = (rounds * inputs.len()) as f64 / spent.as_secs_f64();
    println!("| `{name}` | {} | {} | {a_second:.0} |", inputs.len(), bytes / inputs.len());
}

/// What this thread has had of a processor; none where the system does not say.
fn processor_time() -> Option<Duration> {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
