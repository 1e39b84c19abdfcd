//! Where numbers stand, as bytes; and which of the numbers at a place one is. spec: E-5.3, I-2.4.

#![expect(clippy::big_endian_bytes, reason = "big-endian bytes compare as the numbers do")]

use super::cursor::{Cursor, Stop};
use super::tag::NUMBER;
use crate::document::Value;

/// From here on, neighbouring ints share a float. Below, the difference is always zero, and not written.
const DENSE: f64 = 9_007_199_254_740_992.0;
/// 2^63: above the largest int.
const ABOVE_ALL_INTS: f64 = 9_223_372_036_854_775_808.0;

/// The mark of an int, and of a float that no int stands at one place with.
const PLAIN: u8 = 0;
/// The mark of a float that an int stands at one place with.
const FLOAT: u8 = 1;
/// The mark of -0.0.
const NEGATIVE_ZERO: u8 = 2;

const NO_NUMBER: &str = "bytes that are no number";

/// A place in the order: the greatest float that is not above it, and how far above that it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rank {
    floor: f64,
    difference: u16,
}

impl Rank {
    pub(super) fn of_int(int: i64) -> Self {
        let nearest = int as f64;
        if nearest.abs() < DENSE {
            return Self::of_float(nearest);
        }
        let floor = if nearest as i128 > i128::from(int) { nearest.next_down() } else { nearest };
        let difference = i128::from(int) - floor as i128;
        let difference = u16::try_from(difference).expect("floats below 2^63 are at most 1,024 apart");
        Rank { floor, difference }
    }

    pub(super) fn of_float(float: f64) -> Self {
        Rank { floor: float, difference: 0 }
    }

    /// Appends the order key.
    pub(super) fn put(self, out: &mut Vec<u8>) {
        out.reserve(1 + size_of::<u64>() + size_of::<u16>());
        out.push(NUMBER);
        out.extend_from_slice(&sortable(self.floor).to_be_bytes());
        if self.floor.abs() >= DENSE {
            out.extend_from_slice(&self.difference.to_be_bytes());
        } else {
            assert_eq!(self.difference, 0, "every int below 2^53 is a float");
        }
    }

    /// The place whose order key goes on at the cursor, behind its first byte.
    #[inline(always)]
    pub(super) fn take(cursor: &mut Cursor<'_>) -> Result<Self, Stop> {
        // Most are near: these stay in registers.
        match Self::take_near(cursor) {
            Some(rank) => Ok(rank),
            None => Self::take_any(cursor),
        }
    }

    /// The same, if it is that of a float so near to zero that no difference follows. Reads nothing else.
    #[inline(always)]
    pub(super) fn take_near(cursor: &mut Cursor<'_>) -> Option<Self> {
        cursor.word_as(float_near_zero).map(Self::of_float)
    }

    /// Any other, where [`take_near`](Self::take_near) has found none.
    fn take_any(cursor: &mut Cursor<'_>) -> Result<Self, Stop> {
        let Some(sorted) = cursor.word() else {
            let (low, high) = cursor.number(8);
            // Any number between the infinities, or NaN.
            let can_be = low == 0 || (low <= sortable(f64::INFINITY) && high >= sortable(f64::NEG_INFINITY));
            return Err(if can_be { Stop::Ends } else { Stop::Malformed(NO_NUMBER) });
        };
        let floor = float_of(sorted);
        // NaN and zero have bits that are not written.
        if sortable(floor) != sorted {
            return Err(Stop::Malformed(NO_NUMBER));
        }
        if floor.is_nan() {
            return Ok(Rank { floor, difference: 0 });
        }
        let (low, high) = cursor.number(2);
        // An int is below the next float; a float beyond all ints stands for itself alone.
        let gap = if is_int(floor) { (floor.next_up() - floor) as u64 } else { 1 };
        match u16::try_from(low) {
            Ok(difference) if low < gap && low == high => Ok(Rank { floor, difference }),
            _ if low < gap => Err(Stop::Ends),
            _ => Err(Stop::Malformed(NO_NUMBER)),
        }
    }

    /// The int that stands here.
    #[inline]
    pub(super) fn int(self) -> Option<i64> {
        is_int(self.floor).then(|| self.floor as i64 + i64::from(self.difference))
    }

    /// The number of that mark that stands here.
    #[inline]
    pub(super) fn value(self, mark: u8) -> Option<Value> {
        match (mark, self.int()) {
            (PLAIN, Some(int)) => Some(Value::Int(int)),
            (PLAIN, None) => Some(Value::Float(self.floor)),
            // An int above its floor shares its place with no float.
            (FLOAT, Some(_)) if self.difference == 0 => Some(Value::Float(self.floor)),
            (NEGATIVE_ZERO, Some(0)) => Some(Value::Float(-0.0)),
            _ => None,
        }
    }
}

/// Whether an int stands at the place of this float.
#[inline]
fn is_int(float: f64) -> bool {
    (-ABOVE_ALL_INTS..ABOVE_ALL_INTS).contains(&float) && float as i64 as f64 == float
}

// spec: I-2.4
/// The mark of a float.
pub(super) fn mark_of_float(float: f64) -> u8 {
    match float {
        _ if float == 0.0 && float.is_sign_negative() => NEGATIVE_ZERO,
        _ if is_int(float) => FLOAT,
        _ => PLAIN,
    }
}

/// The mark of an int.
pub(super) const MARK_OF_INT: u8 = PLAIN;

/// The float of these bits, if it is one at which no difference is written, and no NaN.
#[inline(always)]
fn float_near_zero(sorted: u64) -> Option<f64> {
    let float = float_of(sorted);
    (float.abs() < DENSE && sorted != NOT_WRITTEN).then_some(float)
}

/// What [`sortable`] would make of -0.0, if that were not turned into 0.0.
const NOT_WRITTEN: u64 = u64::MAX >> 1;

/// The float that [`sortable`] makes such bits of, if there is one.
#[inline(always)]
fn float_of(sorted: u64) -> f64 {
    f64::from_bits(if sorted >> 63 == 1 { sorted ^ 1 << 63 } else { !sorted })
}

/// The bits of a float, made to compare as unsigned numbers do: NaN lowest, both zeros the same.
fn sortable(float: f64) -> u64 {
    if float.is_nan() {
        return 0;
    }
    let bits = (float + 0.0).to_bits(); // turns -0.0 into 0.0
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
