//! Floats in the shortest of three widths that keeps the value. spec: E-2.6, E-2.7.
//!
//! | width | sign | exponent | fraction | head |
//! |---|---|---|---|---|
//! | 16 | 1 | 5 | 10 | `f9` |
//! | 32 | 1 | 8 | 23 | `fa` |
//! | 64 | 1 | 11 | 52 | `fb` |

/// The one NaN that is written, of 16 bits.
pub(super) const NAN_16: u16 = 0x7e00;

/// A float in its shortest form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shortest {
    Half(u16),
    Single(u32),
    Double(u64),
}

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

/// The value of 16 bits; NaN for each of the NaNs.
#[inline]
pub(super) fn from_half_bits(half: u16) -> f64 {
    let sign = if half & 0x8000 == 0 { 1.0 } else { -1.0 };
    let fraction = f64::from(half & 0x03ff);
    let magnitude = match half >> 10 & 0x1f {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        exponent => {
            // Rebiased and shifted into place, which is exact and needs no multiplication.
            let bits = u64::from(exponent) + 1023 - HALF_BIAS as u64;
            f64::from_bits(bits << 52 | u64::from(half & 0x03ff) << 42)
        }
    };
    sign * magnitude
}
