//! Whole files: healthy, torn, damaged, of other versions, and none of ours.

pub(super) mod checkpoints;
mod claims;
mod fields;
mod lives;
mod openings;
mod records;
pub(super) mod sample;
mod seeds;
mod settled;
mod slots;
mod torn;
mod versions;

use std::collections::BTreeMap;

use super::{Maker, What, corrupt, invalid, newer, older, valid};
use crate::case::{Group, Outcome, Request, State};
use crate::forge::Forge;
use crate::load::describe;

/// The files that cases begin from, by name.
pub(super) type Bases = BTreeMap<String, Vec<u8>>;

/// All groups of files.
pub(super) fn make() -> (Vec<Group>, Bases) {
    let mut bases = Bases::new();
    let groups = vec![
        slots::make(),
        versions::make(),
        torn::make(),
        claims::make(),
        openings::make(),
        records::make(),
        checkpoints::make(),
        lives::make(&mut bases),
        fields::make(),
        seeds::make(),
        settled::make(),
    ];
    (groups, bases)
}

/// Cases about files.
impl Maker {
    /// A file that is opened for reading.
    pub(in crate::make) fn file(
        &mut self,
        what: &What<'_>,
        name: impl Into<String>,
        bytes: &[u8],
        expect: Vec<Outcome>,
    ) {
        self.case(what, name, Request::Open { file: describe(None, bytes) }, expect);
    }

    /// A file that is opened for writing.
    pub(in crate::make) fn written(
        &mut self,
        what: &What<'_>,
        name: impl Into<String>,
        bytes: &[u8],
        expect: Vec<Outcome>,
    ) {
        self.case(what, name, Request::OpenWrite { file: describe(None, bytes) }, expect);
    }

    /// A file that holds this.
    pub(in crate::make) fn holds(
        &mut self,
        clauses: &[&str],
        flags: &[&str],
        name: impl Into<String>,
        bytes: &[u8],
        state: State,
    ) {
        let state = self.state(state);
        self.file(&valid(clauses, flags), name, bytes, vec![Outcome::State(state)]);
    }

    /// A file that is refused.
    pub(in crate::make) fn refused(
        &mut self,
        clauses: &[&str],
        flags: &[&str],
        name: impl Into<String>,
        bytes: &[u8],
        how: Outcome,
    ) {
        self.file(&invalid(clauses, flags), name, bytes, vec![how]);
    }
}

/// The state before the frame of this number.
pub(super) fn state_before(forge: &Forge, frame: usize) -> State {
    let lsn = forge.placed[frame].lsn;
    // All parts of a commit are one.
    match forge.placed[..frame].iter().rfind(|placed| placed.lsn != lsn) {
        Some(placed) => placed.after.1.state(placed.after.0),
        None => crate::forge::World::default().state(0),
    }
}
