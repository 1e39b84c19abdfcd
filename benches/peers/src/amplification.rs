//! How many bytes are written to the file for each byte of the records that users asked for, by how full the file is.
//!
//! Documents are updated in uniform order in a file that may not grow, so that each update in the long run needs as much room as
//! cleaning makes. What a growing file costs is told apart.

use std::path::Path;

use holotype::{Durability, Error, Options};
use holotype_benches::workload::UniformIds;

use crate::contents::{self, Contents, first, updated};
use crate::failure::{Failure, Of, Result, expect_equal};
use crate::plan::Plan;
use crate::stores::holotype::Holotype;
use crate::stores::{Commits, Session, Store};
use crate::turns::{Contender, take_turns};
use crate::upkeep::{self, Accounts};
use crate::{extent, place};

/// Enough documents that a segment is a small part of the file.
const DOCUMENTS: u64 = 200_000;

/// Updates before the count begins, and counted ones: each several times as many as there are documents.
const WARMING: usize = 600_000;
const UPDATES: usize = 1_000_000;

/// How many of a hundred bytes of the file are live.
/// Beyond that, what is kept for a full disk (a checkpoint, two segments) leaves no room.
const SHARES: [u64; 4] = [50, 60, 70, 80];

/// At most so many bytes at this share.
const GOAL: f64 = 4.0;
const GOAL_AT: u64 = 70;

/// What one trial showed, in bytes written for each byte of users' records.
#[derive(Debug, Clone, Copy)]
struct Trial {
    /// While the store was filled.
    growth: f64,
    steady: f64,
    relocated: f64,
    checkpoints: f64,
    /// Of the steady state: for each byte of a document alone, without key and headers.
    to_documents: f64,
    /// What was live in the end, in parts of the file.
    live_share: f64,
    /// How many updates found the file full and were made once something had been cleaned.
    waits: f64,
}

/// Prints the curve.
pub fn run(plan: &Plan) -> Result<()> {
    let mut contenders = SHARES.map(|share| {
        let directory = plan.directory.clone();
        Contender::new(format!("{share} %"), move || trial(&directory, share))
    });
    take_turns("amplification", &mut contenders, plan.trials)?;
    print(&contenders);
    Ok(())
}

fn print(contenders: &[Contender<Trial>]) {
    println!(
        "## Bytes written for each byte of users' records: {UPDATES} uniform updates of {DOCUMENTS} documents\n"
    );
    println!(
        "| live at most | live in the end | written : users' records | of it moved | of it checkpoints | written : encoded documents | while it grew | updates that waited for room |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for contender in contenders {
        let cell = |figure: fn(&Trial) -> f64| format!("{:.2}", contender.spread(figure).median);
        let steady = contender.spread(|trial| trial.steady);
        println!(
            "| {} | {} % | **{:.2}** ({:.2} to {:.2}) | {} | {} | {} | {} | {:.0} |",
            contender.name,
            cell(|trial| trial.live_share * 100.0),
            steady.median,
            steady.least,
            steady.greatest,
            cell(|trial| trial.relocated),
            cell(|trial| trial.checkpoints),
            cell(|trial| trial.to_documents),
            cell(|trial| trial.growth),
            contender.spread(|trial| trial.waits).median,
        );
    }
    println!();
    let of_interest =
        SHARES.iter().position(|share| *share == GOAL_AT).expect("the goal is at a share that is measured");
    let found = contenders[of_interest].spread(|trial| trial.steady).median;
    let verdict = if found <= GOAL { "met" } else { "missed" };
    println!("Goal: at most {GOAL} at {GOAL_AT} %: {found:.2}, {verdict}.\n");
}

fn trial(directory: &Path, share: u64) -> Result<Trial> {
    let directory = place::files_of(Holotype::NAME, directory)?;
    let directory = directory.path();
    let (growth, room) = fill(directory, share)?;
    let options = Options::new().durability(Durability::Written).max_file_bytes(room);
    let store = Holotype::open_with(directory, &options)?;
    let mut updates = Updates::new();
    updates.make(&store, WARMING)?;
    let before = Accounts::of(store.db());
    let (waits_before, documents_before) = (updates.waits, updates.document_bytes);
    updates.make(&store, UPDATES)?;
    store.db().flush().of(Holotype::NAME, "flushing")?;
    let after = Accounts::of(store.db());
    let file = extent::of(Holotype::NAME, directory)?.len;
    expect_equal(Holotype::NAME, "whether the file is as short as it must be", &true, &(file <= room))?;
    let of_users = (after.user - before.user) as f64;
    let documents = updates.document_bytes - documents_before;
    expect_equal(
        Holotype::NAME,
        "whether users' records hold their documents",
        &true,
        &(of_users >= documents as f64),
    )?;
    store.close()?;
    contents::check::<Holotype>(directory, updates.contents())?;
    Ok(Trial {
        growth,
        steady: (after.written - before.written) as f64 / of_users,
        relocated: (after.relocated - before.relocated) as f64 / of_users,
        checkpoints: (after.checkpoint_written - before.checkpoint_written) as f64 / of_users,
        to_documents: (after.written - before.written) as f64 / documents as f64,
        live_share: after.live() as f64 / file as f64,
        waits: (updates.waits - waits_before) as f64,
    })
}

/// Fills a new store, and makes it as small as it gets: what was written for each byte of users' records, and the length at which
/// `share` of a hundred bytes are live.
fn fill(directory: &Path, share: u64) -> Result<(f64, u64)> {
    let store = Holotype::open(directory, Commits::Unsynced)?;
    let mut session = store.session()?;
    for id in 1..=DOCUMENTS {
        session.put(id, &first(id))?;
    }
    store.db().flush().of(Holotype::NAME, "flushing")?;
    let filled = Accounts::of(store.db());
    upkeep::compact(store.db(), || Ok(()))?;
    let compacted = Accounts::of(store.db());
    store.close()?;
    Ok((filled.written as f64 / filled.user as f64, compacted.live() * 100 / share))
}

/// Updates in uniform order; each changes its document.
struct Updates {
    ids: UniformIds,
    is_updated: Vec<bool>,
    document_bytes: u64,
    waits: u64,
}

/// A file that is still full after so many steps of upkeep stays so.
const STEPS_MAX: usize = 100_000;

impl Updates {
    fn new() -> Self {
        let is_updated = vec![false; DOCUMENTS as usize];
        Updates { ids: UniformIds::new(DOCUMENTS), is_updated, document_bytes: 0, waits: 0 }
    }

    fn make(&mut self, store: &Holotype, count: usize) -> Result<()> {
        for _ in 0..count {
            let id = self.ids.next().expect("the sequence has no end");
            let is_updated = &mut self.is_updated[id as usize - 1];
            *is_updated = !*is_updated;
            let document = if *is_updated { updated(id as u64) } else { first(id as u64) };
            self.document_bytes += document.encode().len() as u64;
            self.put(store, id, &document)?;
        }
        Ok(())
    }

    fn put(&mut self, store: &Holotype, id: i64, document: &holotype::Document) -> Result<()> {
        let documents = store.documents();
        for step in 0..STEPS_MAX {
            match documents.put(id, document) {
                Err(Error::StorageFull { .. }) => {
                    self.waits += u64::from(step == 0);
                    upkeep::step(store.db())?;
                }
                result => return result.of(Holotype::NAME, "updating"),
            }
        }
        Err(Failure::new(Holotype::NAME, "updating", format!("no room after {STEPS_MAX} steps of upkeep")))
    }

    fn contents(&self) -> Contents {
        let now = |(id, is_updated): (u64, &bool)| (id, if *is_updated { updated(id) } else { first(id) });
        Contents::of((1..=DOCUMENTS).zip(&self.is_updated).map(now))
    }
}
