//! A hash of bytes that is the same in every run and on every machine.

pub(super) const START: u64 = 0x486f_6c6f_7479_7065;

pub(super) fn mix(hash: u64, word: u64) -> u64 {
    let product = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    product ^ (product >> 29)
}

pub(super) fn hash(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let (fours, few) = words.as_chunks::<4>();
    // Four at a time, none of which waits for another: each step of one is a multiplication.
    let lanes = fours.iter().fold([0, 1, 2, 3].map(|lane| START + lane), |lanes, four| {
        let [a, b, c, d] = lanes;
        let [i, j, k, l] = four.map(u64::from_le_bytes);
        [mix(a, i), mix(b, j), mix(c, k), mix(d, l)]
    });
    let hash = lanes.into_iter().fold(START, mix);
    let hash = few.iter().fold(hash, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let tail = rest.iter().fold(hash, |hash, byte| mix(hash, u64::from(*byte)));
    mix(tail, bytes.len() as u64)
}
