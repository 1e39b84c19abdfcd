//! Sizes and ratios, as Markdown tables.

use super::ours::{self, Look, SEGMENTS_BESIDE};
use super::work::Work;
use super::{SYNCED_MAX, peers};
use crate::extent::mebibytes;
use crate::turns::Contender;

/// The greatest that the file may be, in times what is live, besides a few segments.
const BOUND_IDLE: f64 = 2.0;
const BOUND_ANY_MOMENT: f64 = 3.0;
const BOUND_COMPACTED: f64 = 1.1;

/// What every store took for the same work.
pub struct Row {
    pub work: Work,
    pub ours: Contender<ours::Sizes>,
    pub peers: Vec<Contender<peers::Sizes>>,
}

pub fn print(rows: &[Row]) {
    println!("## Space while documents are replaced and deleted\n");
    println!(
        "Each change is a commit of its own, handed to the system. MiB; medians of all trials, and ratios of the worst trial.\n"
    );
    print_ours(rows);
    print_peers(rows);
}

fn print_ours(rows: &[Row]) {
    println!(
        "| Holotype | documents, encoded | their records | live: with two checkpoints | highest file | highest : live then, less {SEGMENTS_BESIDE} segments, or 4 MiB less twice what is live | idle file | allocated | idle : live | less {SEGMENTS_BESIDE} segments | compacted | compacted : live | less {SEGMENTS_BESIDE} segments | bounds |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|");
    for Row { work, ours, .. } in rows {
        let size = |figure: fn(&ours::Sizes) -> u64| {
            mebibytes(ours.spread(|sizes| figure(sizes) as f64).median as u64)
        };
        let greatest = |figure: &dyn Fn(&ours::Sizes) -> f64| ours.spread(figure).greatest;
        let highest = greatest(&|sizes| sizes.worst.times_live_at_any_moment());
        let idle = greatest(&|sizes| sizes.idle.times_live());
        let compacted = greatest(&|sizes| sizes.compacted.times_live());
        println!(
            "| {work} | {} | {} | {} | {} | **{highest:.2}** | {} | {} | {:.2} | **{idle:.2}** | {} | {:.2} | **{compacted:.2}** | {} |",
            mebibytes(work.document_bytes()),
            size(|sizes| sizes.idle.records),
            size(|sizes| sizes.idle.live),
            size(|sizes| sizes.highest),
            size(|sizes| sizes.idle.file.len),
            size(|sizes| sizes.idle.file.allocated),
            greatest(&|sizes| Look::times_live_with_all(&sizes.idle)),
            size(|sizes| sizes.compacted.file.len),
            greatest(&|sizes| Look::times_live_with_all(&sizes.compacted)),
            verdict(highest, idle, compacted),
        );
    }
    println!();
    println!(
        "Bounds: at most {BOUND_ANY_MOMENT} times at any moment, or what is live and 4 MiB; {BOUND_IDLE} times once idle, {BOUND_COMPACTED} times compacted; times are besides {SEGMENTS_BESIDE} segments.\n"
    );
}

/// Which bounds did not hold.
fn verdict(highest: f64, idle: f64, compacted: f64) -> String {
    let bounds = [
        ("any moment", highest, BOUND_ANY_MOMENT),
        ("idle", idle, BOUND_IDLE),
        ("compacted", compacted, BOUND_COMPACTED),
    ];
    let missed: Vec<&str> =
        bounds.into_iter().filter(|(_, found, bound)| found > bound).map(|(name, ..)| name).collect();
    if missed.is_empty() { "met".to_owned() } else { format!("{}: missed", missed.join(", ")) }
}

fn print_peers(rows: &[Row]) {
    // Some are asked for a part of the rows.
    let mut names: Vec<&str> = Vec::new();
    for peer in rows.iter().flat_map(|row| &row.peers) {
        if !names.contains(&peer.name.as_str()) {
            names.push(&peer.name);
        }
    }
    println!(
        "native_db and byodb-rust sync each commit: they replace {} documents in one, and are asked for no more than {SYNCED_MAX}. Left out: ToonDB (opened again, it may hold older versions, and what was deleted), DBX (its files are in `footprint`), bbolt (its program does rows alone; its files are in `footprint`).\n",
        peers::SYNCED_BATCH
    );
    println!("| closed file, and the highest, MiB | Holotype, idle | {} |", names.join(" | "));
    println!("|---|---:|{}", "---:|".repeat(names.len()));
    for Row { work, ours, peers } in rows {
        let median =
            |figure: fn(&ours::Sizes) -> u64| ours.spread(|sizes| figure(sizes) as f64).median as u64;
        let cell = |name| peers.iter().find(|peer| peer.name == name).map_or("-".to_owned(), peer_cell);
        let cells: Vec<String> = names.iter().copied().map(cell).collect();
        println!(
            "| {work} | {}, {} | {} |",
            mebibytes(median(|sizes| sizes.idle.file.len)),
            mebibytes(median(|sizes| sizes.highest)),
            cells.join(" | ")
        );
    }
    println!();
}

fn peer_cell(peer: &Contender<peers::Sizes>) -> String {
    let median = |figure: fn(&peers::Sizes) -> u64| peer.spread(|sizes| figure(sizes) as f64).median as u64;
    format!("{}, {}", mebibytes(median(|sizes| sizes.closed.len)), mebibytes(median(|sizes| sizes.highest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_missed_by_name_and_met_at_its_edge() {
        assert_eq!(verdict(3.0, 2.0, 1.1), "met");
        assert_eq!(verdict(3.1, 2.0, 1.2), "any moment, compacted: missed");
    }
}
