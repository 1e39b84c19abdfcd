//! Sums without rounding, and one rounding at the end. spec.
//!
//! Every finite float is a whole number of 2^-1074. So is every int, and a sum of 2^64 of them has 2,162 bits at most.

use super::part::Part;
use crate::document::Value;
use crate::document::node::Scalar;
use crate::error::Result;
use crate::seeded::{self, Bug};

/// 64 bits each, the lowest first; below zero as two's complement.
const LIMBS: usize = 36;
/// An int begins so many bits up.
const INT_SHIFT: usize = 1074;
/// Bits of a float behind the exponent.
const FRACTION_BITS: u32 = 52;

/// The exact sum of some numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct ExactSum {
    count: u64,
    /// Of the ints: 2^64 of them fit.
    ints: i128,
    /// Of the floats; `None` while there are none.
    floats: Option<Box<Whole>>,
    is_nan: bool,
    is_infinite: bool,
    is_negative_infinite: bool,
}

/// A whole number of 2^-1074.
#[derive(Debug, Clone)]
struct Whole([u64; LIMBS]);

impl ExactSum {
    /// Adds a number; how many bytes of memory more that takes beside itself.
    #[inline]
    pub(super) fn add(&mut self, number: Scalar<'_>) -> usize {
        let mut more = 0;
        match number {
            Scalar::Int(int) => self.ints += i128::from(int),
            Scalar::Float(float) => {
                more = if self.floats.is_none() { size_of::<Whole>() } else { 0 };
                let floats = self.floats.get_or_insert_with(|| Box::new(Whole([0; LIMBS])));
                if float.is_finite() {
                    floats.add_float(float);
                }
                self.is_nan |= float.is_nan();
                self.is_infinite |= float == f64::INFINITY;
                self.is_negative_infinite |= float == f64::NEG_INFINITY;
            }
            _ => return 0,
        }
        self.count += 1;
        more
    }

    /// Adds the numbers of another sum.
    pub(super) fn merge(&mut self, other: ExactSum) {
        self.count += other.count;
        self.ints += other.ints;
        self.is_nan |= other.is_nan;
        self.is_infinite |= other.is_infinite;
        self.is_negative_infinite |= other.is_negative_infinite;
        match (&mut self.floats, other.floats) {
            (Some(floats), Some(other)) => floats.add(&other),
            (floats @ None, other) => *floats = other,
            (Some(_), None) => {}
        }
    }

    /// Appends all of it.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let flags = [self.floats.is_some(), self.is_nan, self.is_infinite, self.is_negative_infinite];
        out.extend(flags.map(u8::from));
        out.extend_from_slice(&self.count.to_le_bytes());
        out.extend_from_slice(&self.ints.to_le_bytes());
        let limbs = self.floats.iter().flat_map(|floats| floats.0);
        limbs.for_each(|limb| out.extend_from_slice(&limb.to_le_bytes()));
    }

    /// What [`put`](Self::put) appended.
    pub(super) fn take(part: &mut Part<'_>) -> Result<Self> {
        let [has_floats, is_nan, is_infinite, is_negative_infinite] = part.array()?.map(|flag: u8| flag != 0);
        let count = u64::from_le_bytes(part.array()?);
        let ints = i128::from_le_bytes(part.array()?);
        let mut floats = has_floats.then(|| Box::new(Whole([0; LIMBS])));
        for limb in floats.iter_mut().flat_map(|floats| &mut floats.0) {
            *limb = u64::from_le_bytes(part.array()?);
        }
        Ok(ExactSum { count, ints, floats, is_nan, is_infinite, is_negative_infinite })
    }

    //= spec/query.md#q-9-4-aggregates
    //# If every number is an int, `sum` is an int. A sum beyond the ints of V-1.2 MUST be refused, as
    //# `SumOverflow`.
    /// The sum; `None` beyond the ints.
    pub(super) fn sum(self) -> Option<Value> {
        match self.floats {
            None if seeded::is_on(Bug::SumWraps) => Some(Value::Int(self.ints as i64)),
            None => i64::try_from(self.ints).ok().map(Value::Int),
            Some(_) => Some(Value::Float(self.rounded(1))),
        }
    }

    /// The mean; nothing of no numbers.
    pub(super) fn mean(self) -> Option<Value> {
        let count = self.count;
        if seeded::is_on(Bug::MeanOfRoundedSum) && count > 0 {
            return Some(Value::Float(self.rounded(1) / count as f64));
        }
        (count > 0).then(|| Value::Float(self.rounded(count)))
    }

    //= spec/query.md#q-9-4-aggregates
    //# Otherwise `sum`, and always `avg`, MUST be the float that is nearest to the exact result, rounded
    //# once, half to even. The exact sum of no numbers is 0, and 0 as a float is 0.0.
    fn rounded(self, count: u64) -> f64 {
        match (self.is_infinite, self.is_negative_infinite) {
            _ if self.is_nan => return f64::NAN,
            (true, true) => return f64::NAN,
            (true, false) => return f64::INFINITY,
            (false, true) => return f64::NEG_INFINITY,
            (false, false) => {}
        }
        let mut sum = self.floats.unwrap_or_else(|| Box::new(Whole([0; LIMBS])));
        let digits = self.ints.unsigned_abs();
        for (part, shift) in [(digits as u64, 0), ((digits >> 64) as u64, 64)] {
            sum.add_shifted(part, INT_SHIFT + shift, self.ints < 0);
        }
        let is_negative = sum.0[LIMBS - 1] >> 63 == 1;
        if is_negative {
            sum.negate();
        }
        let rest = sum.divide(count);
        let float = sum.nearest(rest, count);
        if is_negative { -float } else { float }
    }
}

impl Whole {
    fn add_float(&mut self, float: f64) {
        let bits = float.abs().to_bits();
        let (exponent, fraction) = ((bits >> FRACTION_BITS) as usize, bits & ((1 << FRACTION_BITS) - 1));
        match exponent {
            0 => self.add_shifted(fraction, 0, float < 0.0),
            _ => self.add_shifted(fraction | 1 << FRACTION_BITS, exponent - 1, float < 0.0),
        }
    }

    /// Adds `digits` times 2^`shift`, or subtracts it.
    fn add_shifted(&mut self, digits: u64, shift: usize, subtract: bool) {
        let wide = u128::from(digits) << (shift % 64);
        let parts = [wide as u64, (wide >> 64) as u64];
        let mut carry = false;
        for (number, limb) in self.0[shift / 64..].iter_mut().enumerate() {
            let part = parts.get(number).copied().unwrap_or(0);
            if number >= parts.len() && !carry {
                break;
            }
            let step = if subtract { u64::overflowing_sub } else { u64::overflowing_add };
            let (once, first) = step(*limb, part);
            let (twice, second) = step(once, u64::from(carry));
            (*limb, carry) = (twice, first || second);
        }
    }

    fn add(&mut self, other: &Whole) {
        let mut carry = false;
        for (limb, part) in self.0.iter_mut().zip(other.0) {
            let (once, first) = limb.overflowing_add(part);
            let (twice, second) = once.overflowing_add(u64::from(carry));
            (*limb, carry) = (twice, first || second);
        }
    }

    fn negate(&mut self) {
        self.0.iter_mut().for_each(|limb| *limb = !*limb);
        self.add_shifted(1, 0, false);
    }

    /// Divides by `count`; the rest.
    fn divide(&mut self, count: u64) -> u64 {
        self.0.iter_mut().rev().fold(0, |rest, limb| {
            let whole = u128::from(rest) << 64 | u128::from(*limb);
            // The rest is less than the divisor, so each digit fits.
            *limb = (whole / u128::from(count)) as u64;
            (whole % u128::from(count)) as u64
        })
    }

    /// The bits from `from` on, as many as there are.
    fn bits(&self, from: usize) -> u64 {
        let low = self.0[from / 64] >> (from % 64);
        match (from % 64, self.0.get(from / 64 + 1)) {
            (0, _) | (_, None) => low,
            (within, Some(high)) => low | high << (64 - within),
        }
    }

    /// The float nearest to this and `rest` of `count` more, half to even.
    fn nearest(&self, rest: u64, count: u64) -> f64 {
        let Some(top) = self.0.iter().rposition(|limb| *limb != 0) else {
            // Less than the smallest float: all of it, or nothing.
            return f64::from_bits(u64::from(u128::from(rest) * 2 > u128::from(count)));
        };
        let len = top * 64 + (64 - self.0[top].leading_zeros() as usize);
        let shift = len.saturating_sub(FRACTION_BITS as usize + 1);
        let digits = self.bits(shift) & ((1 << (FRACTION_BITS + 1)) - 1);
        let (half, more) = match shift {
            0 => {
                let twice = u128::from(rest) * 2;
                (twice >= u128::from(count) && rest > 0, twice > u128::from(count))
            }
            _ => {
                let half = self.bits(shift - 1) & 1 == 1;
                let below = shift - 1;
                let whole = self.0[..below / 64].iter().any(|limb| *limb != 0);
                let part = !below.is_multiple_of(64) && self.0[below / 64] << (64 - below % 64) != 0;
                (half, whole || part || rest > 0)
            }
        };
        let up = half && (more || digits & 1 == 1);
        // Of a float the digits and the exponent go on as one number; the first digit counts one for the exponent itself.
        let bits = ((shift as u64) << FRACTION_BITS) + digits + u64::from(up);
        f64::from_bits(bits.min(f64::INFINITY.to_bits()))
    }
}
