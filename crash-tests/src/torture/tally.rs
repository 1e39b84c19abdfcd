//! How much was tried.

use std::fmt;

/// How much was tried. A check that tried nothing has shown nothing, so each of these is to be looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tally {
    /// Lives.
    pub lives: u64,
    /// Commits in them.
    pub commits: u64,
    /// Moments at which power was cut, each with another disk or another promise.
    pub cuts: u64,
    /// Of these, how many were tried in every way that makes a difference to the store; the others were sampled.
    pub complete: u64,
    /// Openings of what a cut left.
    pub recoveries: u64,
    /// Of these, how many were cut off by another cut, and tried again.
    pub twice: u64,
    /// States of the disk that the complete ones stand for.
    pub states: f64,
    /// Recoveries that found none of the commits that were not promised, some, and all, where there were any.
    pub lost: u64,
    /// See `lost`.
    pub partial: u64,
    /// See `lost`.
    pub kept: u64,
}

impl Tally {
    /// Adds what another life tried.
    pub fn add(&mut self, other: &Tally) {
        self.lives += other.lives;
        self.commits += other.commits;
        self.cuts += other.cuts;
        self.complete += other.complete;
        self.recoveries += other.recoveries;
        self.twice += other.twice;
        self.states += other.states;
        self.lost += other.lost;
        self.partial += other.partial;
        self.kept += other.kept;
    }

    pub(super) fn note(&mut self, (kept, unpromised): (usize, usize)) {
        match (kept, unpromised) {
            (_, 0) => {}
            (0, _) => self.lost += 1,
            (kept, all) if kept < all => self.partial += 1,
            _ => self.kept += 1,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { lives, commits, cuts, complete, recoveries, twice, states, lost, partial, kept } = self;
        write!(
            f,
            "{lives} lives of {commits} commits, {cuts} power cuts ({complete} in every way that matters, for {states:.3e} states; the others \
             sampled), {recoveries} recoveries, {twice} of them cut again; of the commits in the air {lost} found none, {partial} some, \
             {kept} all"
        )
    }
}
