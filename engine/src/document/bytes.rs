//! What tells many similar byte strings apart quickly.

/// How many bytes both begin with.
pub(crate) fn shared_len(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The first bytes, with zeros for those that are not there. As a number, most significant first, they are
/// ordered as the strings are.
#[inline]
pub(crate) fn head<const LEN: usize>(bytes: &[u8]) -> [u8; LEN] {
    bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut head = [0; LEN];
        head[..bytes.len()].copy_from_slice(bytes);
        head
    })
}
