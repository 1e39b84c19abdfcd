//! What of the log counts, and from where on nothing of it is missing.

use crate::format::Lsn;
use crate::seeded::{self, Bug};

use super::found::Swept;

/// The verdict on the commits behind a state that is known whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chain {
    /// The state that is known whole.
    base: Lsn,
    /// The last commit that counts.
    last: Lsn,
    /// Nothing is missing behind this one. None where the end of the log itself is missing.
    unbroken_from: Option<Lsn>,
    /// What an opening frame left behind: commits between these two never counted.
    dead: Vec<(Lsn, Lsn)>,
}

impl Chain {
    /// Follows the commits that were found behind `base`. `claim` was durable once.
    pub(super) fn follow(base: Lsn, swept: &Swept, claim: Lsn) -> Chain {
        let opened = swept.commits.iter().filter_map(|(lsn, found)| Some((found.opens_behind?, *lsn)));
        let mut chain = Chain { base, last: base, unbroken_from: Some(base), dead: opened.collect() };
        for (&lsn, found) in swept.commits.range(Lsn(base.0.saturating_add(1))..) {
            if chain.is_dead(lsn) {
                continue;
            }
            let is_next = lsn.0 == chain.last.0 + 1 && chain.last.incarnation() > 0;
            let follows = found.opens_behind.map_or(is_next, |behind| behind == chain.last);
            if found.is_whole() && follows {
                chain.last = lsn;
                continue;
            }
            // Torn is not damaged: what nobody attests was never acknowledged, nor was what lies behind it (spec: ).
            if chain.last >= claim || (!found.is_whole() && lsn > claim) {
                break;
            }
            chain.last = lsn;
            // What is left of a damaged commit may have been superseded in the rest of it.
            let is_whole = found.is_whole();
            chain.unbroken_from = Some(if is_whole { lsn } else { Lsn(lsn.0.saturating_add(1)) });
        }
        if chain.last < claim {
            chain.lose_end();
        }
        chain
    }

    /// The log may have gone on behind its last commit.
    pub(super) fn lose_end(&mut self) {
        self.unbroken_from = None;
    }

    /// Whether commits were found behind the base.
    pub(super) fn is_longer_than_base(&self) -> bool {
        self.last > self.base
    }

    /// Whether a commit counts that is not part of the base.
    pub(super) fn counts(&self, lsn: Lsn) -> bool {
        self.base < lsn && lsn <= self.last && !self.is_dead(lsn)
    }

    /// Whether a version is the newest of its key that was the newest at `lsn`: no commit is missing that could have changed that.
    pub(super) fn proves(&self, lsn: Lsn) -> bool {
        self.unbroken_from.is_some_and(|from| from <= lsn) || seeded::is_on(Bug::SalvageTakesAllForProven)
    }

    /// Whether everything from the base on is there.
    pub(super) fn is_unbroken(&self) -> bool {
        self.proves(self.base)
    }

    fn is_dead(&self, lsn: Lsn) -> bool {
        self.dead.iter().any(|(behind, opening)| *behind < lsn && lsn < *opening)
    }
}
