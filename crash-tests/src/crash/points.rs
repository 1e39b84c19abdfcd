//! How much each moment of an ordinary life leaves open: power cut after every change of the file, the ways counted.

use holotype_model::{Durability, Op};

use crate::live::{Live, Step};
use crate::setup::Setup;

use super::cut::{Cutter, fail};
use super::report::Failure;

/// A moment at which power was cut.
#[derive(Debug, Clone, PartialEq)]
pub struct CutPoint {
    /// The step that was under way.
    pub step: String,
    /// Which change of the file it came after, from 1 within the step.
    pub change: u64,
    /// Recoveries that were run.
    pub recoveries: u64,
    /// States of the medium that they stand for.
    pub states: f64,
}

/// A life with a step of most kinds, and what a power cut leaves open at each moment of it.
///
/// # Errors
/// What a recovery did that it may not do.
pub fn points(setup: Setup) -> Result<Vec<CutPoint>, Failure> {
    let steps = life(setup.segment_bytes);
    let mut trail = Vec::new();
    let (mut live, _) = Live::create(setup).map_err(|what| fail(&trail, what))?;
    let mut points = Vec::new();
    for step in &steps {
        trail.push(step.to_string());
        let moments = live.step(step).map_err(|what| fail(&trail, what))?;
        for (moment, change) in moments.into_iter().zip(1..) {
            // A new one each time: it leaves out a disk that it has seen before, and here each moment counts.
            let mut cutter = Cutter::new(setup, &[]);
            cutter.cut_each(vec![moment], 1, &mut trail)?;
            let (recoveries, states) = (cutter.tally.leaves, cutter.tally.states);
            points.push(CutPoint { step: step.to_string(), change, recoveries, states });
        }
    }
    Ok(points)
}

/// Commits that wait for no sync gather between those that do, so that the choices of a cut grow and are settled again.
fn life(segment_bytes: u32) -> Vec<Step> {
    let all = super::steps(segment_bytes);
    let buffered = all[1].clone();
    assert!(
        matches!(&buffered, Step::Do(Op::Put { durability: Durability::Buffered, .. })),
        "the second step of the alphabet is a put that waits for nothing: {buffered}"
    );
    let order = [0, 1, 2, 6, 11, 3, 12, 1, 7, 5, 16, 13, 17];
    order.iter().map(|index| all[*index].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_passes_moments_that_leave_nothing_open_and_moments_that_leave_much() {
        let points = points(Setup::TINY).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(points.iter().all(|point| point.recoveries > 0 && point.states >= point.recoveries as f64));
        assert!(points.iter().any(|point| point.states == 1.0), "a sync settles everything");
        assert!(points.iter().any(|point| point.states > 1000.0), "commits that wait for nothing gather");
        let steps: std::collections::BTreeSet<_> = points.iter().map(|point| &point.step).collect();
        assert!(steps.len() > 8, "{steps:?}");
    }
}
