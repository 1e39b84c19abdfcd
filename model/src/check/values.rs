//! Documents and keys that are likely to meet a mistake.

use crate::encoded::document_len;
use crate::key::{Key, Prefix};
use crate::limits::Limits;
use crate::value::{Document, Value};

use super::rng::Rng;

/// The largest document that is made up on purpose to be refused: beyond this, the limit costs more than it shows.
const COSTLY_LEN: usize = 1 << 20;

/// A document: mostly small and varied, often of a length near one of `lens`, rarely over a limit.
pub(super) fn document(rng: &mut Rng, lens: &[usize], limits: &Limits) -> Document {
    match rng.below(64) {
        0 => nested(limits.depth + rng.below(2)),
        1 if limits.document_len <= COSTLY_LEN => of_len(limits.document_len + rng.below(2), rng),
        2..24 if !lens.is_empty() => {
            let len = *rng.pick(lens);
            of_len((len + rng.below(5)).saturating_sub(2), rng)
        }
        _ => {
            let names = ["a", "b", "aa", "é", "", "tags"];
            (0..rng.below(4)).map(|_| ((*rng.pick(&names)).to_owned(), value(rng, 2))).collect()
        }
    }
}

/// A value with at most `levels` levels below it.
fn value(rng: &mut Rng, levels: usize) -> Value {
    let floats = [
        0.0,
        -0.0,
        1.0,
        1.5,
        0.1,
        -2.75,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e300,
        65_504.0,
        65_505.0,
    ];
    let ints = [0, 1, -1, 23, 24, 255, 256, 65_535, 1 << 32, i64::MAX, i64::MIN];
    let texts = ["", "a", "ab", "b", "é", "水", "a longer text that does not fit into a few bytes"];
    match rng.below(if levels == 0 { 6 } else { 8 }) {
        0 => Value::Null,
        1 => Value::Bool(rng.one_in(2)),
        2 => Value::Int(*rng.pick(&ints)),
        3 => Value::Float(*rng.pick(&floats)),
        4 => Value::from(*rng.pick(&texts)),
        5 => Value::Bytes((0..rng.below(4)).map(|_| rng.below(256) as u8).collect()),
        6 => Value::Array((0..rng.below(3)).map(|_| value(rng, levels - 1)).collect()),
        _ => Value::Object((0..rng.below(3)).map(|i| (i.to_string(), value(rng, levels - 1))).collect()),
    }
}

/// A document of `len` encoded bytes, or of one less where the head of its one field skips that length.
fn of_len(len: usize, rng: &mut Rng) -> Document {
    let fill = rng.below(256) as u8;
    let with = |bytes: usize| Document::from([("blob".to_owned(), Value::Bytes(vec![fill; bytes]))]);
    let mut bytes = len.saturating_sub(document_len(&with(0)));
    while bytes > 0 && document_len(&with(bytes)) > len {
        bytes -= 1;
    }
    with(bytes)
}

/// A document of this many levels.
fn nested(levels: usize) -> Document {
    let inner = (1..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    Document::from([("nested".to_owned(), inner)])
}

/// A key that need not have been used before: mostly a small int, at times a corner.
pub(super) fn key(rng: &mut Rng, limits: &Limits) -> Key {
    let texts = ["", "a", "ab", "abc", "b", "é"];
    match rng.below(40) {
        0 => Key::Int(i64::MIN),
        1 => Key::Int(-1),
        2 => Key::Int(0),
        3 => Key::Text("k".repeat(limits.key_len)),
        4 => Key::Bytes(vec![0xFF; limits.key_len]),
        5 => Key::Text("k".repeat(limits.key_len + 1)),
        6..16 => Key::from(*rng.pick(&texts)),
        16..24 => Key::Bytes((0..rng.below(3)).map(|_| *rng.pick(&[0, 1, 0x61, 0xFE, 0xFF])).collect()),
        _ => Key::Int(1 + rng.below(12) as i64),
    }
}

/// A prefix that some keys begin with.
pub(super) fn prefix(rng: &mut Rng) -> Prefix {
    if rng.one_in(2) {
        Prefix::Text((*rng.pick(&["", "a", "ab", "é", "k", "z"])).to_owned())
    } else {
        Prefix::Bytes(rng.pick(&[&[][..], &[0xFF], &[0xFF, 0xFF], &[0], &[0x61]]).to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::document_depth;

    #[test]
    fn a_document_has_the_length_asked_for_or_one_less() {
        let mut rng = Rng::seeded(1);
        for len in 7..1000 {
            let found = document_len(&of_len(len, &mut rng));
            assert!(found == len || found == len - 1, "{found} for {len}");
        }
    }

    #[test]
    fn a_nested_document_has_the_depth_asked_for() {
        assert_eq!([1, 2, 128].map(|levels| document_depth(&nested(levels))), [1, 2, 128]);
    }

    #[test]
    fn documents_come_on_both_sides_of_every_limit_and_length() {
        let limits = Limits { document_len: 300, ..Limits::default() };
        let mut rng = Rng::seeded(2);
        let lens: Vec<usize> = (0..2000).map(|_| document_len(&document(&mut rng, &[64], &limits))).collect();
        for wanted in [62, 63, 64, 65, 66, 300, 301] {
            assert!(lens.contains(&wanted), "no document of {wanted} bytes");
        }
    }
}
