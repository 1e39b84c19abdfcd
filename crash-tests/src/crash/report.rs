//! How much was tried, what was met on the way, and what failed.

use std::fmt;

use holotype_model::Survived;

/// How much was tried. A check that tried nothing has shown nothing, so each of these is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tally {
    /// Sequences of steps.
    pub sequences: u64,
    /// Disks at which power was cut: different ones, or judged differently.
    pub windows: u64,
    /// Of these, the ones at which it was the third cut in a row, or a later one: while a store recovers from a power cut in recovery, or works on after it.
    pub thirds: u64,
    /// Recoveries that were run.
    pub leaves: u64,
    /// Those that came to a store that another one had come to, in memory and on the disk: what follows was tried once.
    pub same: u64,
    /// Lives that went on from a recovery: a step more, a kill, and an opening that is looked at as the recovery was. Not among `leaves`.
    pub lives: u64,
    /// States of the medium that they stand for.
    pub states: f64,
    /// The most choices that one recovery asked for.
    pub depth: usize,
    /// Recoveries that found none of the commits in the air, some, and all.
    pub lost: u64,
    /// See `lost`.
    pub partial: u64,
    /// See `lost`.
    pub kept: u64,
}

impl Tally {
    pub(crate) fn note(&mut self, survived: Survived) {
        match (survived.kept, survived.unacknowledged) {
            (_, 0) => {}
            (0, _) => self.lost += 1,
            (kept, all) if kept < all => self.partial += 1,
            _ => self.kept += 1,
        }
    }

    /// Adds what another walk tried.
    pub fn add(&mut self, other: &Tally) {
        self.sequences += other.sequences;
        self.windows += other.windows;
        self.thirds += other.thirds;
        self.leaves += other.leaves;
        self.same += other.same;
        self.lives += other.lives;
        self.states += other.states;
        self.depth = self.depth.max(other.depth);
        self.lost += other.lost;
        self.partial += other.partial;
        self.kept += other.kept;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thirds = match self.thirds {
            0 => String::new(),
            thirds => format!("; {thirds} power cuts were the third in a row"),
        };
        write!(
            f,
            "{} sequences, {} power cuts, {} recoveries (at most {} choices each; {} came to the same as another; {} lives went on from the others) for {:.3e} states; of the commits in the air \
             {} recoveries found none, {} some, {} all{}",
            self.sequences,
            self.windows,
            self.leaves,
            self.depth,
            self.same,
            self.lives,
            self.states,
            self.lost,
            self.partial,
            self.kept,
            thirds
        )
    }
}

/// What the store did that it may not do, and how to get there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The steps, with the power cuts between them, in order.
    pub trail: Vec<String>,
    /// What it did.
    pub what: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.trail.iter().enumerate() {
            writeln!(f, "  {}. {step}", index + 1)?;
        }
        write!(f, "  {}", self.what)
    }
}
