//! One number for what an open store has in memory, so that a model checker can tell states apart.

use std::fmt::{self, Write};

use crate::sync::read;

use super::Core;

/// Takes text, and keeps nothing of it but a hash (FNV-1a, eight bytes at a time).
struct Hashing(u64);

impl Hashing {
    fn mix(&mut self, word: u64) {
        let product = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ (product >> 29);
    }
}

impl Write for Hashing {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Most pieces are short: a name, a number, a comma. So the bytes that are left of one are put together without a loop over them.
        let (words, rest) = text.as_bytes().as_chunks::<8>();
        words.iter().for_each(|word| self.mix(u64::from_le_bytes(*word)));
        let len = rest.len();
        let tail = match (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                let beyond = u64::from(u32::from_le_bytes(*last)) >> (8 * (8 - len));
                beyond << 32 | u64::from(u32::from_le_bytes(*first))
            }
            _ if len == 0 => 0,
            _ => [rest[len - 1], rest[len / 2], rest[0]]
                .into_iter()
                .fold(0, |tail, byte| tail << 8 | u64::from(byte)),
        };
        self.mix((len as u64) << 56 | tail);
        Ok(())
    }
}

impl Core {
    /// Two copies of one store with the same one, on disks with the same one, go on alike. What is left out is what no answer and no write
    /// goes by: the cache, the counts of calls, and buffers kept for their room. It goes by what `Debug` shows, so a field that is added to
    /// the state cannot be forgotten here.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hashing = Hashing(0);
        let written = write!(hashing, "{:?}{:?}", read(&self.shared.catalog), self.shared.visibility);
        written.expect("hashing takes all text");
        if let Ok(writer) = self.writer() {
            let life = (writer.is_open, writer.highest_incarnation, writer.unsealed, writer.published);
            let lengths = (
                writer.file_len,
                writer.synced_len,
                writer.named_len,
                writer.slot_unsynced,
                writer.cuts,
                writer.is_cut_due,
            );
            let kept =
                (&writer.accounts, &writer.checkpoints, &writer.open_index, &writer.budget, &writer.work);
            let written =
                write!(hashing, "{:?}{:?}{life:?}{lengths:?}{kept:?}", writer.appender, writer.superblock);
            written.expect("hashing takes all text");
        }
        hashing.mix(u64::from(self.shared.log.storage.is_poisoned()));
        hashing.write_str(&self.shared.opening.fingerprint()).expect("hashing takes all text");
        hashing.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(pieces: &[&str]) -> u64 {
        let mut hashing = Hashing(0);
        pieces.iter().for_each(|piece| hashing.write_str(piece).expect("hashing takes all text"));
        hashing.0
    }

    #[test]
    fn texts_that_differ_in_a_byte_or_in_where_their_pieces_end_are_told_apart() {
        let digits = |len: usize| {
            (0..1_u32 << len).map(move |bits| -> String {
                (0..len).map(|at| if bits >> at & 1 == 1 { '1' } else { '0' }).collect()
            })
        };
        let texts: Vec<String> = (0..=12).flat_map(digits).collect();
        let hashes: std::collections::BTreeSet<u64> = texts.iter().map(|text| hash(&[text])).collect();
        assert_eq!(hashes.len(), texts.len());
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_ne!(hash(&["12345678", ""]), hash(&["12345678"]));
    }
}
