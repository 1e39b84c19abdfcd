//! Base64 with padding: RFC 4648, section 4. One text per byte string; the decoder refuses every other.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PAD: char = '=';

/// Appends `bytes`, four characters for each three of them.
pub(crate) fn encode(bytes: &[u8], out: &mut String) {
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from(group[0]) << 16 | u32::from(group[1]) << 8 | u32::from(group[2]);
        for place in 0..4 {
            let digit = ALPHABET[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= chunk.len() { char::from(digit) } else { PAD });
        }
    }
}

/// The bytes that `text` stands for, if it is what [`encode`] writes for them.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let digits = text.trim_end_matches(PAD);
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for group in digits.as_bytes().chunks(4) {
        let bits = group.iter().try_fold(0u32, |bits, &digit| Some(bits << 6 | value(digit)?))?;
        let bits = bits << (6 * (4 - group.len()));
        let [_, decoded @ ..] = big_endian(bits);
        bytes.extend_from_slice(&decoded[..group.len() - 1]);
    }
    // Encoding again settles how much padding there must be, and that the bits behind the last byte are zero.
    let mut again = String::with_capacity(text.len());
    encode(&bytes, &mut again);
    (again == text).then_some(bytes)
}

fn value(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[expect(clippy::big_endian_bytes, reason = "the first character holds the highest bits")]
fn big_endian(bits: u32) -> [u8; 4] {
    bits.to_be_bytes()
}
