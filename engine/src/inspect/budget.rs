//! What bounds a search through a segment.

/// How many bytes of a segment may be put under checksums that do not hold: headers that overlap, as no writer leaves them, could else ask
/// for the square of its length.
#[derive(Debug)]
pub(super) struct Budget(u64);

impl Budget {
    pub(super) fn of(bytes: &[u8]) -> Budget {
        const TIMES: u64 = 64;
        const SPARE: u64 = 1 << 20;
        Budget(bytes.len() as u64 * TIMES + SPARE)
    }

    /// Whether there is enough for so many bytes more.
    pub(super) fn spend(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes as u64);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}
