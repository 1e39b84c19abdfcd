//! What a store takes on the disk while documents are replaced and deleted, with nobody asking for upkeep.

mod ours;
mod peers;
mod table;
mod work;

use crate::failure::Result;
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::stores::holotype::Holotype;
use crate::stores::sled::Sled;
use crate::stores::{Store, each_snapshot};
use crate::turns::{Contender, repeat};
use peers::Sizes;
use work::Work;

/// How many documents there are.
const COUNTS: [u64; 2] = [10_000, 100_000];

/// A store that syncs each commit is asked for no more documents than these.
const SYNCED_MAX: u64 = 10_000;

/// What is done to them.
const CHANGES: [work::Change; 6] = [
    work::Change::Rounds(1),
    work::Change::Rounds(5),
    work::Change::Rounds(10),
    work::Change::Deleted(10),
    work::Change::Deleted(50),
    work::Change::Deleted(90),
];

/// Prints the tables of space.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let counts = if plan.quick { vec![1_000] } else { COUNTS.to_vec() };
    let all = counts.into_iter().flat_map(|count| CHANGES.map(|change| Work { count, change }));
    let mut rows = Vec::new();
    for work in all {
        let directory = plan.directory.clone();
        let mut ours = Contender::new(Holotype::NAME, move || ours::run(&directory, work));
        repeat(&mut ours, plan.trials)?;
        let mut peers = peers_of(plan, work);
        for peer in &mut peers {
            repeat(peer, 1)?;
        }
        eprintln!("space: {work}");
        rows.push(table::Row { work, ours, peers });
    }
    table::print(&rows);
    rows.iter().for_each(|row| report.add(records_of(row)));
    Ok(())
}

/// Each store's files in the end: ours once nothing is due, the others' once they are closed.
fn records_of(row: &table::Row) -> Vec<Record> {
    let table::Row { work, ours, peers } = row;
    let (place, unit) = (["files of documents that change", &work.to_string()], ("bytes", Better::Less));
    let done = Some(format!("{} bytes of documents left", work.document_bytes()));
    let ours = Record::of(place, unit, ours, |sizes| sizes.idle.file.len as f64);
    let peers = peers.iter().map(|peer| Record::of(place, unit, peer, |sizes| sizes.closed.len as f64));
    std::iter::once(ours).chain(peers).map(|record| Record { done: done.clone(), ..record }).collect()
}

/// All but the first of the stores, which is ours.
fn peers_of(plan: &Plan, work: Work) -> Vec<Contender<Sizes>> {
    let mut peers = Vec::new();
    macro_rules! add {
        ($store:ty) => {
            if !<$store>::SYNCS_ALWAYS || work.count <= SYNCED_MAX {
                peers.push(peer::<$store>(plan, work))
            }
        };
    }
    each_snapshot!(add);
    add!(Sled);
    peers.remove(0);
    peers
}

fn peer<S: Store>(plan: &Plan, work: Work) -> Contender<Sizes> {
    let directory = plan.directory.clone();
    Contender::new(S::NAME, move || peers::run::<S>(&directory, work))
}
