//! Snapshots that live on while the threads go on, and are read again.

use std::sync::{Mutex, PoisonError};

use holotype::{Error, View};
use holotype_model::Key;

use super::call::{Answer, Call, Doc};
use super::perform::{COLLECTION, Hands, INDEX};

/// A snapshot, and what it showed at first.
#[derive(Debug, Clone)]
struct Held {
    call: Call,
    view: View,
    entries: Vec<(Key, Doc)>,
}

/// The snapshots of all threads: one takes them, others read them again.
#[derive(Debug, Default)]
pub(super) struct Snapshots {
    held: Mutex<Vec<Held>>,
}

impl Snapshots {
    /// Takes a snapshot and keeps it. When it was taken, and what it shows: only its taking is a moment of the history, so the clock
    /// is asked before the first document is read.
    pub(super) fn take(
        &self,
        hands: &mut Hands<'_>,
        call: &Call,
        clock: impl FnOnce() -> u64,
    ) -> Result<(u64, Answer), String> {
        let snapshot = hands.db.snapshot();
        let taken = clock();
        let mut read = || {
            let view = snapshot.collection(COLLECTION)?;
            let entries = hands.all(view.scan(..)?)?;
            let by_index = by_index(hands, &view)?;
            Ok((Held { call: call.clone(), view, entries }, by_index))
        };
        let (held, by_index) = read().map_err(|error: Error| format!("{call}: {error}"))?;
        agree(&held, by_index)?;
        let newest = hands.versions.iter().rev().take(held.entries.len()).map(|(_, version)| *version).max();
        if newest.is_some_and(|newest| newest > snapshot.lsn()) {
            return Err(format!("{call}, of LSN {:x}, shows a commit of LSN {newest:x?}", snapshot.lsn()));
        }
        let answer = Answer::All(held.entries.clone());
        self.held.lock().unwrap_or_else(PoisonError::into_inner).push(held);
        Ok((taken, answer))
    }

    /// Reads all of them again: each MUST show what it showed at first (spec: T-3.1). How many there were.
    pub(super) fn read_again(&self, hands: &mut Hands<'_>) -> Result<u64, String> {
        // Copies, so that nobody waits for another's reading.
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for held in &held {
            let Held { call, view, entries } = held;
            let again = view.scan(..).and_then(|scan| hands.all(scan));
            let again = again.map_err(|error| format!("{call}, read again: {error}"))?;
            if again != *entries {
                let (first, again) = (Answer::All(entries.clone()), Answer::All(again));
                return Err(format!("{call}: at first {first}; and later {again}"));
            }
            let by_index = by_index(hands, view).map_err(|error| format!("{call}, read again: {error}"))?;
            agree(held, by_index)?;
        }
        Ok(held.len() as u64)
    }
}

/// The entries that a snapshot reads from the index, in key order. `None` if the index does not exist in the snapshot.
fn by_index(hands: &mut Hands<'_>, view: &View) -> holotype::Result<Option<Vec<(Key, Doc)>>> {
    let mut found = match view.index(INDEX).range(..) {
        Err(Error::UnknownIndex { .. }) => return Ok(None),
        scan => hands.all(scan?.documents())?,
    };
    found.sort();
    Ok(Some(found))
}

/// The index shows what the snapshot shows without it (spec: I-6.2).
fn agree(held: &Held, by_index: Option<Vec<(Key, Doc)>>) -> Result<(), String> {
    match by_index {
        Some(found) if found != held.entries => {
            let (found, entries) = (Answer::All(found), Answer::All(held.entries.clone()));
            Err(format!("{}: {entries}; and by its index {found}", held.call))
        }
        _ => Ok(()),
    }
}
