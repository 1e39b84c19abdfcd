//! Floats in the shortest of three widths that keeps the value. spec: E-2.6, E-2.7.
//!
//! | width | sign | exponent | fraction | head |
//! |---|---|---|---|---|
//! | 16 | 1 | 5 | 10 | `f9` |
//! | 32 | 1 | 8 | 23 | `fa` |
//! | 64 | 1 | 11 | 52 | `fb` |

//= spec/encoding.md#e-2-7-one-nan
//# NaN MUST be written as `f97e00`.
/// The one NaN that is written, of 16 bits.
pub(super) const NAN_16: u16 = 0x7e00;

/// A float in its shortest form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shortest {
    Half(u16),
    Single(u32),
    Double(u64),
}

//= spec/encoding.md#e-2-6-shortest-float
//# A float MUST have the fewest bits that keep its exact value, the sign of zero included.
//= spec/values.md#v-1-3-float
//# A store MUST NOT tell NaNs of different sign or payload apart.
/// The shortest form of `value`.
#[inline]
pub(super) fn shortest(value: f64) -> Shortest {
    if value.is_nan() {
        return Shortest::Half(NAN_16);
    }
    let single = value as f32;
    if f64::from(single) != value {
        return Shortest::Double(value.to_bits());
    }
    match half_bits(single) {
        Some(half) => Shortest::Half(half),
        None => Shortest::Single(single.to_bits()),
    }
}

const SINGLE_BIAS: i32 = 127;
const HALF_BIAS: i32 = 15;
const FRACTION_DIFFERENCE: u32 = 23 - 10;

/// The 16 bits that stand for `single`, which is no NaN, if they can.
fn half_bits(single: f32) -> Option<u16> {
    let bits = single.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let fraction = bits & 0x007f_ffff;
    let exponent = (bits >> 23 & 0xff) as i32 - SINGLE_BIAS;
    let magnitude = match exponent {
        128 => 0x7c00, // infinity: a NaN does not come here
        -14..=15 => {
            let dropped = fraction & ((1 << FRACTION_DIFFERENCE) - 1);
            let kept = ((exponent + HALF_BIAS) as u32) << 10 | fraction >> FRACTION_DIFFERENCE;
            if dropped != 0 {
                return None;
            }
            kept as u16
        }
        // Subnormal in 16 bits: a multiple of 2^-24 with no bit of its own for the leading one.
        -24..=-15 => {
            let significand = 0x0080_0000 | fraction;
            let shift = (-1 - exponent) as u32;
            if significand.trailing_zeros() < shift {
                return None;
            }
            (significand >> shift) as u16
        }
        _ if single == 0.0 => 0,
        _ => return None,
    };
    Some(sign | magnitude)
}

/// The value of 16 bits, if these are its shortest form.
#[inline]
pub(super) fn read_16(bits: u16) -> Option<f64> {
    let fraction = u64::from(bits & 0x03ff);
    let magnitude = match bits >> 10 & 0x1f {
        0 => fraction as f64 * TWO_TO_MINUS_24,
        0x1f if fraction == 0 => f64::INFINITY,
        0x1f if bits == NAN_16 => f64::NAN,
        0x1f => return None,
        // Rebiased and shifted into place: exact.
        exponent => f64::from_bits((u64::from(exponent) + 1023 - HALF_BIAS as u64) << 52 | fraction << 42),
    };
    Some(if bits >> 15 == 1 { -magnitude } else { magnitude })
}

/// The value of 32 bits, if these are its shortest form.
#[inline]
pub(super) fn read_32(bits: u32) -> Option<f64> {
    let single = f32::from_bits(bits);
    let shorter = single.is_nan() || half_bits(single).is_some();
    (!shorter).then_some(f64::from(single))
}

/// The value of 64 bits, if these are its shortest form.
#[inline]
pub(super) fn read_64(bits: u64) -> Option<f64> {
    let double = f64::from_bits(bits);
    let shorter = double.is_nan() || f64::from(double as f32) == double;
    (!shorter).then_some(double)
}

/// The smallest step of 16 bits.
const TWO_TO_MINUS_24: f64 = 1.0 / 16_777_216.0;
