//! Records to bytes, in one pass: every commit of every application comes through here.

use super::super::checksum::crc_append;
use super::super::{SEGMENT_BYTES_MAX, varint};
use super::head::{FLAGS, KIND, LENGTH, flag};
use super::{RecordParts, Replaced};
use crate::document::KeyRef;

impl RecordParts<'_> {
    /// The record's length in bytes.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        let payload = self.fields_len() + self.key.map_or(0, KeyRef::encoded_len) + self.body.len();
        LENGTH + varint::len(payload as u64) + payload
    }

    /// As [`encoded_len`](Self::encoded_len), of the record that [`encode_with`](Self::encode_with) makes.
    #[must_use]
    pub fn encoded_len_with(&self, rest: &[&[u8]]) -> usize {
        let payload = self.fields_len() + total(rest);
        LENGTH + varint::len(payload as u64) + payload
    }

    /// Appends the record to `out` and returns its checksum. `seed` is the stretch's seed at the offset in the
    /// segment where the record will stand.
    ///
    /// # Panics
    /// If a field is there that the kind does not have, or one is missing that it has; or if the record is too
    /// long for any segment.
    pub fn encode(&self, seed: u32, out: &mut Vec<u8>) -> u32 {
        assert_eq!(self.key.is_some(), self.kind.has_key(), "the kind says whether there is a key");
        let mut key_bytes = Vec::new();
        if let Some(key) = self.key {
            key.encode_into(&mut key_bytes);
        }
        self.encode_with(&[&key_bytes, self.body], seed, out)
    }

    /// As [`encode`](Self::encode), of a record whose key and body, if it has them, are encoded as `rest`, in pieces: so that a long
    /// document need not be copied to have something in front of it. Its own key and body are not looked at.
    ///
    /// # Panics
    /// As there, but for a key that is missing.
    #[inline]
    pub fn encode_with(&self, rest: &[&[u8]], seed: u32, out: &mut Vec<u8>) -> u32 {
        let relocated = self.kind == super::Kind::RelocatedPut;
        assert_eq!(self.own_lsn.is_some(), relocated, "only a relocated put has an LSN of its own");
        assert!(!relocated || self.replaces.is_some(), "a version moves from where it stands");
        assert!(!self.chunked || self.kind.has_document(), "a chunk list stands in for a document");
        let payload = self.fields_len() + total(rest);
        assert!(payload < SEGMENT_BYTES_MAX as usize, "a longer document is stored as chunks");

        // spec: F-6.1. The order of the fields.
        let start = out.len();
        out.reserve(LENGTH + varint::VARINT_LEN_MAX + payload);
        out.extend_from_slice(&[0, 0, 0, 0, self.kind.byte(), self.flags()]);
        varint::put(out, payload as u64);
        let payload_start = out.len();
        varint::put(out, u64::from(self.collection));
        varint::put(out, u64::from(self.commit));
        if let Some(own_lsn) = self.own_lsn {
            out.extend_from_slice(&own_lsn.0.to_le_bytes());
        }
        if let Some(replaced) = self.replaces {
            replaced.encode_into(out);
        }
        if let Some(expiry) = self.expiry {
            out.extend_from_slice(&expiry.to_le_bytes());
        }
        rest.iter().for_each(|piece| out.extend_from_slice(piece));
        assert_eq!(out.len() - payload_start, payload, "the length field says what follows it");

        let record = &mut out[start..];
        let crc = crc_append(seed, &record[KIND..]);
        record[..KIND].copy_from_slice(&crc.to_le_bytes());
        crc
    }

    /// The number of bytes between the length field and the key.
    #[inline(always)]
    fn fields_len(&self) -> usize {
        varint::len(u64::from(self.collection))
            + varint::len(u64::from(self.commit))
            + self.own_lsn.map_or(0, |_| 8)
            + self.replaces.map_or(0, Replaced::len)
            + self.expiry.map_or(0, |_| 8)
    }

    #[inline]
    fn flags(&self) -> u8 {
        // spec: F-6.4.
        let set = |on: bool, bit: u8| if on { bit } else { 0 };
        set(self.replaces.is_some(), flag::REPLACES)
            | set(self.expiry.is_some(), flag::EXPIRY)
            | set(self.chunked, flag::CHUNKED)
    }
}

#[inline]
fn total(pieces: &[&[u8]]) -> usize {
    pieces.iter().map(|piece| piece.len()).sum()
}

const _: () = assert!(KIND == 4 && FLAGS == 5 && LENGTH == 6, "what the first six bytes are written as");
