//! Memory that commits were placed in and that later ones are placed in again: new memory costs more than what is copied into it.

use std::fmt;

/// Buffers beyond this, all together, are given back.
const KEPT_BYTES: usize = 2 << 20;

/// Emptied buffers. A copy has none, and they are no part of the state.
#[derive(Default)]
pub(super) struct Buffers {
    emptied: Vec<Vec<u8>>,
    bytes: usize,
}

impl Buffers {
    /// An empty buffer.
    pub(super) fn take(&mut self) -> Vec<u8> {
        let buffer = self.emptied.pop().unwrap_or_default();
        self.bytes -= buffer.capacity();
        buffer
    }

    /// Keeps `buffer` for later, if there is not enough already.
    pub(super) fn keep(&mut self, mut buffer: Vec<u8>) {
        if self.bytes + buffer.capacity() <= KEPT_BYTES {
            buffer.clear();
            self.bytes += buffer.capacity();
            self.emptied.push(buffer);
        }
    }
}

impl Clone for Buffers {
    fn clone(&self) -> Self {
        Buffers::default()
    }
}

impl fmt::Debug for Buffers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Buffers")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_kept_as_there_is_room_for_and_each_comes_back_empty() {
        let mut buffers = Buffers::default();
        (0..3).for_each(|_| buffers.keep(vec![7; KEPT_BYTES / 2]));
        let taken: Vec<_> = (0..3).map(|_| buffers.take()).collect();
        assert!(taken.iter().all(Vec::is_empty));
        assert_eq!(taken.iter().filter(|buffer| buffer.capacity() > 0).count(), 2);
        assert_eq!(buffers.bytes, 0, "what was taken leaves room");
        assert_eq!(format!("{buffers:?}"), "Buffers", "it says nothing of what they had");
        buffers.keep(vec![7; KEPT_BYTES + 1]);
        assert_eq!(buffers.take().capacity(), 0);
    }
}
