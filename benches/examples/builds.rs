//! How long an index over many documents takes to build beside a scan of the same that sorts, in turns, and how long a put waits
//! meanwhile. The documents are made first, which is not timed.
//!
//! ```text
//! builds FILE DOCUMENTS TRIALS
//! ```

use std::error::Error;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use holotype::{Collection, Db, Durability, IndexDefinition, KeyRef, Options, doc};

const BATCH: i64 = 10_000;

/// Between two puts of the writer beside a build.
const PAUSE: Duration = Duration::from_micros(500);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, documents, trials] = &arguments[..] else { return Err("builds FILE DOCUMENTS TRIALS".into()) };
    let (documents, trials) = (documents.parse()?, trials.parse()?);
    let db = Db::open_with(file, &Options::new().durability(Durability::Buffered))?;
    let all = db.collection("documents");
    if !db.collections().iter().any(|name| name == "documents") {
        make(&db, documents)?;
    }
    let (mut sorts, mut builds, mut waits, mut alone) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..trials {
        sorts.push(timed(|| scan_and_sort(&all, documents))?);
        builds.push(timed(|| Ok(all.create_index(IndexDefinition::new("text", ["$.text"])?).map(drop)?))?);
        let entries = all.index("text").count(..)?;
        assert_eq!(entries, documents as u64, "each has a text");
        all.drop_index("text")?;
        let text = || IndexDefinition::new("text", ["$.text"]).and_then(|text| all.create_index(text));
        waits.extend(beside(&all, documents, || text().map(drop))?);
        all.drop_index("text")?;
        let idle = || {
            std::thread::sleep(builds[0]);
            Ok(())
        };
        alone.extend(beside(&all, documents, idle)?);
    }
    sorts.sort();
    builds.sort();
    let ratio = |at: usize| builds[at].as_secs_f64() / sorts[at].as_secs_f64();
    let middle = trials / 2;
    println!("a scan that sorts: {:?} at best, {:?} in the middle", sorts[0], sorts[middle]);
    println!("a build: {:?} at best, {:?} in the middle", builds[0], builds[middle]);
    println!("a build : a scan that sorts: {:.2} at best, {:.2} in the middle", ratio(0), ratio(middle));
    for (beside, mut waits) in [("a build", waits), ("nothing", alone)] {
        waits.sort();
        let [half, most, last] =
            [0.5, 0.999, 1.0].map(|part| waits[((waits.len() - 1) as f64 * part) as usize]);
        let count = waits.len();
        println!(
            "a put beside {beside}, of {count}: {half:?} median, {most:?} for 999 of 1,000, {last:?} at most"
        );
    }
    Ok(db.close()?)
}

fn text(number: i64) -> String {
    format!("{:016x}", (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

fn make(db: &Db, documents: i64) -> holotype::Result<()> {
    for first in (0..documents).step_by(BATCH as usize) {
        db.write(|tx| {
            let to = tx.collection("documents");
            for number in first..(first + BATCH).min(documents) {
                to.insert(doc! { "text": text(number), "number": number % 1000, "score": 0.5 })?;
            }
            Ok::<_, holotype::Error>(())
        })?;
    }
    db.checkpoint().map(drop)
}

fn timed(call: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let begun = Instant::now();
    call()?;
    Ok(begun.elapsed())
}

/// What a build must do at the least: each text with its key, in order.
fn scan_and_sort(from: &Collection, documents: i64) -> Result<(), Box<dyn Error>> {
    let mut all = Vec::new();
    let _: Option<()> = from.scan(..)?.visit(|document| {
        let text = document.get("text").and_then(|text| Some(text.as_str()?.to_owned()));
        if let (Some(text), KeyRef::Int(id)) = (text, document.key()) {
            all.push((text, id));
        }
        ControlFlow::Continue(())
    })?;
    all.sort_unstable();
    assert_eq!(std::hint::black_box(all).len() as i64, documents, "each has a text");
    Ok(())
}

/// How long puts take while `work` is done.
fn beside(
    to: &Collection,
    documents: i64,
    work: impl FnOnce() -> holotype::Result<()> + Send,
) -> Result<Vec<Duration>, Box<dyn Error>> {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let work = scope.spawn(|| {
            let done = work();
            is_done.store(true, Ordering::Relaxed);
            done
        });
        let mut took = Vec::new();
        for number in 0.. {
            let key = number * 7919 % documents + 1;
            let document = doc! { "text": text(key - 1), "number": number % 1000, "score": 0.25 };
            let begun = Instant::now();
            to.put(key, document)?;
            if is_done.load(Ordering::Relaxed) {
                break;
            }
            took.push(begun.elapsed());
            std::thread::sleep(PAUSE);
        }
        work.join().map_err(|_| "a panic")??;
        Ok(took)
    })
}
