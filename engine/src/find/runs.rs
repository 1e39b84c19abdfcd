//! Sorted runs in a file without a name, and their merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io;

use crate::error::{Error, Result};
use crate::seeded::{self, Bug};
use crate::storage::FailStop;
use crate::sync::Arc;

/// Bytes that are written at a time, and read at a time from each run if the memory allows it.
const CHUNK_LEN: usize = 64 << 10;
/// And no fewer, however many runs there are.
const CHUNK_LEN_MIN: usize = 4 << 10;
/// In front of each place.
const LEN_BYTES: usize = 4;

/// The file. A place is its length in four bytes, and its bytes.
#[derive(Debug)]
pub(super) struct Runs {
    file: FailStop,
    /// Where each run ends.
    ends: Vec<u64>,
}

impl Runs {
    pub(super) fn new(file: FailStop) -> Self {
        Runs { file, ends: Vec::new() }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.ends.len() as u64
    }

    /// Writes a run: places in order.
    pub(super) fn write(&mut self, places: impl Iterator<Item = impl AsRef<[u8]>>) -> Result<()> {
        let mut at = self.ends.last().copied().unwrap_or(0);
        let mut chunk: Vec<u8> = Vec::with_capacity(CHUNK_LEN);
        for place in places {
            let place = place.as_ref();
            let len =
                u32::try_from(place.len()).map_err(|_| Error::QueryMemory { max: u32::MAX as usize })?;
            chunk.extend_from_slice(&len.to_le_bytes());
            chunk.extend_from_slice(place);
            if chunk.len() >= CHUNK_LEN {
                self.file.write_all_at(at, &chunk)?;
                at += chunk.len() as u64;
                chunk.clear();
            }
        }
        self.file.write_all_at(at, &chunk)?;
        self.ends.push(at + chunk.len() as u64);
        Ok(())
    }

    /// Begins to read all runs at once, in a memory of about so many bytes.
    pub(super) fn merge(mut self, memory: usize) -> Result<Merge> {
        if seeded::is_on(Bug::RunForgotten) {
            self.ends.pop();
        }
        let chunk_len = (memory / self.ends.len().max(1)).clamp(CHUNK_LEN_MIN, CHUNK_LEN);
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let runs = starts.zip(self.ends.iter().copied());
        let mut readers: Vec<Reader> =
            runs.map(|(at, end)| Reader { at, end, chunk_len, chunk: Vec::new(), read: 0 }).collect();
        let mut heads = BinaryHeap::with_capacity(readers.len());
        for (number, reader) in readers.iter_mut().enumerate() {
            let mut place = Vec::new();
            if reader.next(&self.file, &mut place)? {
                heads.push(Reverse((place, number)));
            }
        }
        Ok(Merge { file: self.file, readers, heads })
    }
}

/// The places of all runs in order.
#[derive(Debug)]
pub(super) struct Merge {
    file: FailStop,
    readers: Vec<Reader>,
    /// The next place of each run, and which run it is of.
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
}

impl Merge {
    //= spec/query.md#q-7-5-bounds
    //# Answers, groups and distinct values MUST NOT depend on the memory that a query has.
    /// Puts the next place into `out`. Whether there is one.
    pub(super) fn next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(false) };
        let Reverse((place, number)) = &mut *head;
        std::mem::swap(out, place);
        if !self.readers[*number].next(&self.file, place)? {
            PeekMut::pop(head);
        }
        Ok(true)
    }
}

#[derive(Debug)]
struct Reader {
    /// Where the next chunk begins, and the run ends.
    at: u64,
    end: u64,
    chunk_len: usize,
    chunk: Vec<u8>,
    /// How much of the chunk was read.
    read: usize,
}

impl Reader {
    fn next(&mut self, file: &FailStop, out: &mut Vec<u8>) -> Result<bool> {
        out.clear();
        if self.read == self.chunk.len() && self.at == self.end {
            return Ok(false);
        }
        let mut len = [0; LEN_BYTES];
        self.take(file, LEN_BYTES, |part, at| len[at..at + part.len()].copy_from_slice(part))?;
        let len = u32::from_le_bytes(len) as usize;
        self.take(file, len, |part, _| out.extend_from_slice(part))?;
        Ok(true)
    }

    /// Hands over the next `len` bytes, in parts, each with its offset among them.
    fn take(&mut self, file: &FailStop, len: usize, mut each: impl FnMut(&[u8], usize)) -> Result<()> {
        let mut done = 0;
        while done < len {
            if self.read == self.chunk.len() {
                self.fill(file)?;
            }
            let part = (len - done).min(self.chunk.len() - self.read);
            each(&self.chunk[self.read..self.read + part], done);
            self.read += part;
            done += part;
        }
        Ok(())
    }

    fn fill(&mut self, file: &FailStop) -> Result<()> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        self.chunk.resize(left.min(self.chunk_len), 0);
        let found = file.read_full(self.at, &mut self.chunk)?;
        if found < self.chunk.len() || found == 0 {
            // Somebody else cut a file that has no name.
            let source = Arc::new(io::Error::from(io::ErrorKind::UnexpectedEof));
            return Err(Error::Io { operation: "read of the file of a query".to_owned(), source });
        }
        self.at += found as u64;
        self.read = 0;
        Ok(())
    }
}
