//! What a store takes on the disk while documents are replaced and deleted, with nobody asking for upkeep.

mod ours;
mod peers;
mod table;
mod work;

use crate::failure::Result;
use crate::plan::Plan;
use crate::stores::holotype::Holotype;
use crate::stores::sled::Sled;
use crate::stores::{Store, each_store};
use crate::turns::{Contender, repeat};
use peers::Sizes;
use work::Work;

/// How many documents there are.
const COUNTS: [u64; 2] = [10_000, 100_000];

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
pub fn run(plan: &Plan) -> Result<()> {
    let all = COUNTS.into_iter().flat_map(|count| CHANGES.map(|change| Work { count, change }));
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
    Ok(())
}

/// All but the first of the stores, which is ours.
fn peers_of(plan: &Plan, work: Work) -> Vec<Contender<Sizes>> {
    let mut peers = Vec::new();
    macro_rules! add {
        ($store:ty) => {
            peers.push(peer::<$store>(plan, work))
        };
    }
    each_store!(add);
    add!(Sled);
    peers.remove(0);
    peers
}

fn peer<S: Store>(plan: &Plan, work: Work) -> Contender<Sizes> {
    let directory = plan.directory.clone();
    Contender::new(S::NAME, move || peers::run::<S>(&directory, work))
}
