//! Sums without rounding, and one rounding at the end. spec.

use std::cmp::Ordering;

use crate::value::Value;

/// A whole number of 2^-1074, which every finite number is: 32 bits an item, the lowest first.
type Whole = Vec<u32>;

/// Enough for 2^64 of the largest floats, twice.
const ITEMS: usize = 72;

fn add(to: &mut Whole, other: &Whole) {
    let mut carry = 0;
    for (item, other) in to.iter_mut().zip(other) {
        let sum = u64::from(*item) + u64::from(*other) + carry;
        *item = sum as u32;
        carry = sum >> 32;
    }
}

/// `from` less `other`, which is no greater.
fn subtract(from: &Whole, other: &Whole) -> Whole {
    let mut borrow = 0;
    let items = from.iter().zip(other).map(|(item, other)| {
        let difference = i64::from(*item) - i64::from(*other) - borrow;
        borrow = i64::from(difference < 0);
        difference as u32
    });
    items.collect()
}

fn times(whole: &Whole, factor: u64) -> Whole {
    let mut product = vec![0; ITEMS];
    for bit in (0..64 - factor.leading_zeros()).rev() {
        let double = product.clone();
        add(&mut product, &double);
        if factor >> bit & 1 == 1 {
            add(&mut product, whole);
        }
    }
    product
}

fn compare(a: &Whole, b: &Whole) -> Ordering {
    a.iter().rev().cmp(b.iter().rev())
}

/// `digits` times 2^`power` times 2^-1074.
fn shifted(digits: u64, power: usize) -> Whole {
    let mut whole = vec![0; ITEMS];
    for bit in (0..64).filter(|bit| digits >> bit & 1 == 1) {
        whole[(power + bit) / 32] |= 1 << ((power + bit) % 32);
    }
    whole
}

/// The magnitude of a finite float.
fn of_float(float: f64) -> Whole {
    let bits = float.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as usize, bits & ((1 << 52) - 1));
    match exponent {
        0 => shifted(fraction, 0),
        _ => shifted(fraction | 1 << 52, exponent - 1),
    }
}

/// The exact sum of some numbers.
pub(super) struct Exact {
    above: Whole,
    below: Whole,
    count: u64,
    all_ints: bool,
    ints: i128,
    nan: bool,
    infinities: [bool; 2],
}

impl Exact {
    pub(super) fn of<'v>(values: impl IntoIterator<Item = &'v Value>) -> Self {
        let zero = || vec![0; ITEMS];
        let mut sum = Exact {
            above: zero(),
            below: zero(),
            count: 0,
            all_ints: true,
            ints: 0,
            nan: false,
            infinities: [false; 2],
        };
        for value in values {
            let (is_below, magnitude) = match value {
                Value::Int(int) => {
                    sum.ints += i128::from(*int);
                    (*int < 0, shifted(int.unsigned_abs(), 1074))
                }
                Value::Float(float) => {
                    sum.all_ints = false;
                    sum.nan |= float.is_nan();
                    if float.is_infinite() {
                        sum.infinities[usize::from(*float < 0.0)] = true;
                    }
                    let finite = if float.is_finite() { *float } else { 0.0 };
                    (finite < 0.0, of_float(finite))
                }
                _ => continue,
            };
            sum.count += 1;
            add(if is_below { &mut sum.below } else { &mut sum.above }, &magnitude);
        }
        sum
    }

    //= spec/query.md#q-9-4-aggregates
    //# If every number is an int, `sum` is an int. A sum beyond the ints of V-1.2 MUST be refused, as
    //# `SumOverflow`.
    /// The sum; `None` beyond the ints.
    pub(super) fn sum(&self) -> Option<Value> {
        if !self.all_ints {
            return Some(Value::Float(self.rounded(1)));
        }
        i64::try_from(self.ints).ok().map(Value::Int)
    }

    /// The mean; nothing of no numbers.
    pub(super) fn mean(&self) -> Option<Value> {
        (self.count > 0).then(|| Value::Float(self.rounded(self.count)))
    }

    fn magnitude(&self) -> (bool, Whole) {
        match compare(&self.above, &self.below) {
            Ordering::Less => (true, subtract(&self.below, &self.above)),
            _ => (false, subtract(&self.above, &self.below)),
        }
    }

    //= spec/query.md#q-9-4-aggregates
    //# Otherwise `sum`, and always `avg`, MUST be the float that is nearest to the exact result, rounded
    //# once, half to even. The exact sum of no numbers is 0, and 0 as a float is 0.0.
    /// The float nearest to the sum divided by `count`: that is looked for among all floats.
    fn rounded(&self, count: u64) -> f64 {
        match self.infinities {
            _ if self.nan => return f64::NAN,
            [true, true] => return f64::NAN,
            [true, false] => return f64::INFINITY,
            [false, true] => return f64::NEG_INFINITY,
            _ => {}
        }
        let (is_below, magnitude) = self.magnitude();
        // The greatest float that is no greater. Its bits count the floats up to it.
        let (mut low, mut high) = (0, f64::MAX.to_bits());
        while low < high {
            let middle = (low + high).div_ceil(2);
            match compare(&times(&of_float(f64::from_bits(middle)), count), &magnitude) {
                Ordering::Greater => high = middle - 1,
                _ => low = middle,
            }
        }
        let below = times(&of_float(f64::from_bits(low)), count);
        // 2^1024 counts as the float after the last one, and is written as infinity.
        let next =
            if low == f64::MAX.to_bits() { shifted(1, 2098) } else { of_float(f64::from_bits(low + 1)) };
        let mut both = times(&next, count);
        add(&mut both, &below);
        let up = match compare(&times(&magnitude, 2), &both) {
            Ordering::Less => false,
            Ordering::Equal => low % 2 == 1,
            Ordering::Greater => true,
        };
        let float = f64::from_bits(low + u64::from(up));
        if is_below { -float } else { float }
    }
}
