//! What goes wrong at rest: the medium changes, and no call said so.
//!
//! Everything open is settled first. The changed bytes are durable, as if they always had been there.

use std::ops::Range;

use super::disk::SimDisk;
use super::state::State;

impl SimDisk {
    /// Inverts one bit: bit `index % 8`, from the lowest, of byte `index / 8`.
    ///
    /// # Panics
    ///
    /// If the file does not reach that far. So do all of these.
    pub fn flip_bit(&self, index: u64) {
        let mut state = self.state();
        let mut byte = state.copy(index / 8..index / 8 + 1);
        byte[0] ^= 1 << (index % 8);
        state.patch(index / 8, &byte);
    }

    /// Makes a sector zeros, as far as the file goes.
    pub fn zero_sector(&self, sector: u64) {
        let mut state = self.state();
        let range = state.sector_range(sector);
        state.patch(range.start, &vec![0; (range.end - range.start) as usize]);
    }

    /// Lets two sectors change places, as after a write that went astray.
    pub fn swap_sectors(&self, a: u64, b: u64) {
        let mut state = self.state();
        let (a, b) = (state.sector_range(a), state.sector_range(b));
        let (bytes_a, bytes_b) = (state.copy(a.clone()), state.copy(b.clone()));
        let len = bytes_a.len().min(bytes_b.len());
        state.patch(a.start, &bytes_b[..len]);
        state.patch(b.start, &bytes_a[..len]);
    }

    /// Makes a sector equal to another, as far as both go.
    pub fn copy_sector(&self, from: u64, to: u64) {
        let mut state = self.state();
        let (from, to) = (state.sector_range(from), state.sector_range(to));
        let bytes = state.copy(from);
        let len = bytes.len().min((to.end - to.start) as usize);
        state.patch(to.start, &bytes[..len]);
    }

    /// Writes over the medium.
    pub fn overwrite(&self, offset: u64, bytes: &[u8]) {
        let mut state = self.state();
        state.copy(offset..offset + bytes.len() as u64);
        state.patch(offset, bytes);
    }

    /// Cuts the file off at `len`, which is no longer than it is.
    pub fn truncate(&self, len: u64) {
        let mut state = self.state();
        state.settle_for_damage();
        assert!(len <= state.length.current, "truncating does not extend");
        state.length.settle(len);
        state.cut(len);
    }

    /// Puts bytes behind the end.
    pub fn extend_with(&self, bytes: &[u8]) {
        let mut state = self.state();
        state.settle_for_damage();
        let end = state.length.current;
        state.pages.write(end, bytes);
        state.length.settle(end + bytes.len() as u64);
    }
}

impl State {
    pub(super) fn bytes(&mut self) -> Vec<u8> {
        self.settle_all();
        let mut bytes = vec![0; self.length.current as usize];
        self.pages.read(0, &mut bytes);
        bytes
    }

    /// Damage is to a medium at rest: all that calls have done is on it.
    fn settle_for_damage(&mut self) {
        self.settle_all();
        self.sectors.truncate(0);
        self.cut(self.length.current);
        self.length.make_durable();
        self.synced = self.changes;
    }

    /// The bytes of a sector that the file has.
    fn sector_range(&mut self, sector: u64) -> Range<u64> {
        let len = self.len();
        let (start, end) = (sector * u64::from(self.sector), (sector + 1) * u64::from(self.sector));
        assert!(start < len, "the file does not reach sector {sector}");
        start..end.min(len)
    }

    fn copy(&mut self, range: Range<u64>) -> Vec<u8> {
        self.settle_for_damage();
        assert!(range.end <= self.length.current, "the file does not reach offset {}", range.end);
        let mut bytes = vec![0; (range.end - range.start) as usize];
        self.pages.read(range.start, &mut bytes);
        bytes
    }

    fn patch(&mut self, offset: u64, bytes: &[u8]) {
        self.settle_for_damage();
        self.pages.write(offset, bytes);
    }
}
