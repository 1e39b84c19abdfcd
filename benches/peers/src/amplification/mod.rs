//! How many bytes are written to the file for each byte of the records that users asked for, by how full the file is.
//!
//! Documents are updated in uniform order in a file that may not grow, so that each update in the long run needs as much room as
//! cleaning makes. What a growing file costs is told apart. What other stores write, and ours beside them, is in [`peers`].

pub mod peers;

use std::path::Path;

use holotype::{Document, Durability, Error, Options};
use holotype_benches::workload::UniformIds;

use crate::contents::{self, Contents};
use crate::failure::{Failure, Of, Result, expect_equal};
use crate::plan::Plan;
use crate::report::Report;
use crate::stores::holotype::Holotype;
use crate::stores::{Commits, Session, Store};
use crate::turns::{Contender, take_turns};
use crate::upkeep::{self, Accounts};
use crate::ycsb::documents;
use crate::{extent, place};

/// Documents of one length.
#[derive(Clone, Copy)]
struct Kind {
    /// Of a document, in bytes.
    len: &'static str,
    /// Enough of them that a segment is a small part of the file.
    documents: u64,
    /// How many of a hundred bytes of the file are live. Beyond the last, what is kept for a full disk (two checkpoints and a third, a
    /// few segments) leaves no room for what dies.
    shares: &'static [u64],
    first: fn(u64) -> Document,
    updated: fn(u64) -> Document,
}

impl Kind {
    fn updates(&self) -> usize {
        self.documents as usize * UPDATES
    }
}

/// The shorter documents are, the larger the part of a checkpoint, which has an entry for each.
const KINDS: [Kind; 2] = [
    Kind {
        len: "70",
        documents: 200_000,
        shares: &[40, 50, 60],
        first: contents::first,
        updated: contents::updated,
    },
    Kind {
        len: "1,000",
        documents: 20_000,
        shares: &[50, 60, 70, 80],
        first: documents::first,
        updated: documents::updated,
    },
];

/// Updates of each document before the count begins, and counted ones.
const WARMING: usize = 3;
const UPDATES: usize = 5;

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

/// Prints the curve for each length of documents, and what every store writes.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    peers::run(plan, report)?;
    for kind in KINDS {
        let contender = |share: &'static u64| {
            let directory = plan.directory.clone();
            Contender::new(format!("{share} %"), move || trial(&directory, kind, *share))
        };
        let mut contenders: Vec<_> = kind.shares.iter().map(contender).collect();
        take_turns("amplification", &mut contenders, plan.trials)?;
        print(kind, &contenders);
    }
    Ok(())
}

fn print(kind: Kind, contenders: &[Contender<Trial>]) {
    println!(
        "## Bytes written for each byte of users' records: {} uniform updates of {} documents of {} bytes\n",
        kind.updates(),
        kind.documents,
        kind.len,
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
    let Some(of_interest) = kind.shares.iter().position(|share| *share == GOAL_AT) else {
        println!("Goal: at most {GOAL} at {GOAL_AT} %, which such a file does not come to: missed.\n");
        return;
    };
    let found = contenders[of_interest].spread(|trial| trial.steady).median;
    let verdict = if found <= GOAL { "met" } else { "missed" };
    println!("Goal: at most {GOAL} at {GOAL_AT} %: {found:.2}, {verdict}.\n");
}

fn trial(directory: &Path, kind: Kind, share: u64) -> Result<Trial> {
    let directory = place::files_of(Holotype::NAME, directory)?;
    let directory = directory.path();
    let (growth, room) = fill(directory, kind, share)?;
    let options = Options::new().durability(Durability::Written).max_file_bytes(room);
    let store = Holotype::open_with(directory, &options)?;
    let mut updates = Updates::new(kind);
    updates.make(&store, kind.documents as usize * WARMING)?;
    let before = Accounts::of(store.db());
    let (waits_before, documents_before) = (updates.waits, updates.document_bytes);
    updates.make(&store, kind.updates())?;
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
fn fill(directory: &Path, kind: Kind, share: u64) -> Result<(f64, u64)> {
    let store = Holotype::open(directory, Commits::Unsynced)?;
    let mut session = store.session()?;
    for id in 1..=kind.documents {
        session.put(id, &(kind.first)(id))?;
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
    kind: Kind,
    ids: UniformIds,
    is_updated: Vec<bool>,
    document_bytes: u64,
    waits: u64,
}

/// A file that is still full after so many steps of upkeep stays so.
const STEPS_MAX: usize = 100_000;

impl Updates {
    fn new(kind: Kind) -> Self {
        let is_updated = vec![false; kind.documents as usize];
        Updates { kind, ids: UniformIds::new(kind.documents), is_updated, document_bytes: 0, waits: 0 }
    }

    fn make(&mut self, store: &Holotype, count: usize) -> Result<()> {
        for _ in 0..count {
            let id = self.ids.next().expect("the sequence has no end");
            let is_updated = &mut self.is_updated[id as usize - 1];
            *is_updated = !*is_updated;
            let make = if *is_updated { self.kind.updated } else { self.kind.first };
            let document = make(id as u64);
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
        let Kind { documents, first, updated, .. } = self.kind;
        let now = |(id, is_updated): (u64, &bool)| (id, if *is_updated { updated(id) } else { first(id) });
        Contents::of((1..=documents).zip(&self.is_updated).map(now))
    }
}
