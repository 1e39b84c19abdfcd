//! Places in order, in a bounded memory: the first few by a heap, all of them by runs that are merged.

#![expect(clippy::big_endian_bytes, reason = "big-endian bytes compare as the numbers do")]

use std::collections::BinaryHeap;
use std::mem::size_of;

use super::runs::{Merge, Runs};
use crate::error::{Error, Result};
use crate::storage::FailStop;

/// Up to so many places a heap holds those that are wanted.
const HEAP_MAX: u64 = 1 << 16;

/// Takes places in any order.
#[derive(Debug)]
pub(super) struct Sorter<'s> {
    /// How many of the first are wanted.
    wanted: u64,
    /// The limit in bytes.
    memory: usize,
    storage: &'s FailStop,
    /// Whether a store that has no place for runs goes on in memory, beyond the limit.
    or_in_memory: bool,
    kept: Kept,
}

#[derive(Debug)]
enum Kept {
    /// The least ones that came, as many as are wanted; and their bytes.
    First(BinaryHeap<Box<[u8]>>, usize),
    All(Gathered),
}

#[derive(Debug, Default)]
struct Gathered {
    bytes: Vec<u8>,
    places: Vec<Within>,
    runs: Option<Runs>,
}

/// A place among the bytes of all.
#[derive(Debug)]
pub(super) struct Within {
    /// The first bytes of it, as a number, by which most places are told apart.
    front: u64,
    start: usize,
    end: usize,
}

/// The places in order.
#[derive(Debug)]
pub(super) enum Sorted {
    First(std::vec::IntoIter<Box<[u8]>>),
    Memory { bytes: Vec<u8>, places: std::vec::IntoIter<Within> },
    Merged(Merge),
}

impl<'s> Sorter<'s> {
    pub(super) fn new(wanted: u64, memory: usize, storage: &'s FailStop) -> Self {
        let kept = match wanted {
            0..=HEAP_MAX => Kept::First(BinaryHeap::new(), 0),
            _ => Kept::All(Gathered::default()),
        };
        Sorter { wanted, memory, storage, or_in_memory: false, kept }
    }

    /// The same that takes more memory than it may where there is nothing else: for what a query need not hold at all.
    pub(super) fn or_in_memory(self) -> Self {
        Sorter { or_in_memory: true, ..self }
    }

    pub(super) fn push(&mut self, place: &[u8]) -> Result<()> {
        match &mut self.kept {
            Kept::First(heap, len) => {
                if (heap.len() as u64) < self.wanted {
                    *len += cost(place);
                    heap.push(place.into());
                } else if let Some(mut last) = heap.peek_mut().filter(|last| ***last > *place) {
                    *len = *len + cost(place) - cost(&last);
                    *last = place.into();
                }
                if *len > self.memory { self.gather_instead() } else { Ok(()) }
            }
            Kept::All(gathered) => {
                let pushed = gathered.push(place, self.memory, self.storage);
                match pushed {
                    Err(Error::QueryMemory { .. }) if self.or_in_memory => {
                        self.memory = usize::MAX;
                        gathered.push(place, self.memory, self.storage)
                    }
                    pushed => pushed,
                }
            }
        }
    }

    /// The heap is too large: from here on the places are sorted in runs, those that fell out of it apart.
    fn gather_instead(&mut self) -> Result<()> {
        let before = std::mem::replace(&mut self.kept, Kept::All(Gathered::default()));
        if let Kept::First(heap, _) = before {
            heap.into_iter().try_for_each(|place| self.push(&place))?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Sorted> {
        match self.kept {
            Kept::First(heap, _) => Ok(Sorted::First(heap.into_sorted_vec().into_iter())),
            Kept::All(gathered) => gathered.finish(self.memory),
        }
    }
}

/// The first bytes of a place as a number that compares as they do, where they differ. What is missing counts as zeros.
fn front(place: &[u8]) -> u64 {
    let mut front = [0; 8];
    let len = place.len().min(front.len());
    front[..len].copy_from_slice(&place[..len]);
    u64::from_be_bytes(front)
}

/// Bytes of memory that a place takes.
fn cost(place: &[u8]) -> usize {
    place.len() + size_of::<Box<[u8]>>()
}

impl Gathered {
    //= spec/query.md#q-7-5-bounds
    //# A query beyond a bound MUST end with an error. It MUST NOT answer a part as if it were all.
    fn push(&mut self, place: &[u8], memory: usize, storage: &FailStop) -> Result<()> {
        let len = self.bytes.len() + place.len() + (self.places.len() + 1) * size_of::<Within>();
        if len > memory && !self.places.is_empty() {
            if self.runs.is_none() {
                let scratch = storage.scratch()?.ok_or(Error::QueryMemory { max: memory })?;
                self.runs = Some(Runs::new(scratch));
            }
            self.write_run()?;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(place);
        self.places.push(Within { front: front(place), start, end: self.bytes.len() });
        Ok(())
    }

    fn put_in_order(&mut self) {
        let Gathered { bytes, places, .. } = self;
        places.sort_unstable_by(|a, b| {
            a.front.cmp(&b.front).then_with(|| bytes[a.start..a.end].cmp(&bytes[b.start..b.end]))
        });
    }

    fn write_run(&mut self) -> Result<()> {
        self.put_in_order();
        if let Some(runs) = &mut self.runs {
            runs.write(self.places.iter().map(|place| &self.bytes[place.start..place.end]))?;
        }
        self.bytes.clear();
        self.places.clear();
        Ok(())
    }

    fn finish(mut self, memory: usize) -> Result<Sorted> {
        if self.runs.is_none() {
            self.put_in_order();
            return Ok(Sorted::Memory { bytes: self.bytes, places: self.places.into_iter() });
        }
        self.write_run()?;
        let runs = self.runs.take().expect("there are some");
        // The memory of the places goes to the readers of the runs.
        drop(self);
        runs.merge(memory).map(Sorted::Merged)
    }
}

impl Sorted {
    /// Puts the next place into `out`. Whether there is one.
    pub(super) fn next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        out.clear();
        match self {
            Sorted::First(places) => match places.next() {
                Some(place) => out.extend_from_slice(&place),
                None => return Ok(false),
            },
            Sorted::Memory { bytes, places } => match places.next() {
                Some(Within { start, end, .. }) => out.extend_from_slice(&bytes[start..end]),
                None => return Ok(false),
            },
            Sorted::Merged(merge) => return merge.next(out),
        }
        Ok(true)
    }
}
