//! Which keys come how often: uniform, or as Zipf's law has it. All of it follows from a seed.

/// SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// One of `0..count`.
    pub fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(count)) >> 64) as u64
    }

    /// From 0 up to and without 1.
    fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The exponent that YCSB has.
const THETA: f64 = 0.99;

/// Ranks `0..count`, the first the most frequent: Gray and others, "Quickly generating billion-record synthetic databases", 1994, as
/// YCSB draws them. To make one takes time in proportion to `count`, so it is made before the clock starts.
#[derive(Debug, Clone)]
pub struct Zipf {
    count: u64,
    /// The sum of what each rank weighs.
    zeta: f64,
    alpha: f64,
    eta: f64,
}

impl Zipf {
    pub fn new(count: u64) -> Self {
        assert!(count > 2, "there are ranks to choose from");
        let zeta_of = |count: u64| (1..=count).map(|rank| (rank as f64).powf(-THETA)).sum::<f64>();
        let zeta = zeta_of(count);
        let eta = (1.0 - (2.0 / count as f64).powf(1.0 - THETA)) / (1.0 - zeta_of(2) / zeta);
        Zipf { count, zeta, alpha: 1.0 / (1.0 - THETA), eta }
    }

    pub fn rank(&self, random: &mut Random) -> u64 {
        let unit = random.unit();
        let weight = unit * self.zeta;
        if weight < 1.0 {
            return 0;
        }
        if weight < 1.0 + 0.5f64.powf(THETA) {
            return 1;
        }
        let rank = self.count as f64 * (self.eta * unit - self.eta + 1.0).powf(self.alpha);
        (rank as u64).min(self.count - 1)
    }
}

/// Which keys a mix asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    Uniform,
    Zipfian,
}

/// Draws one of `0..count`.
#[derive(Debug, Clone)]
pub enum Draw {
    Uniform(u64),
    Zipfian(Zipf),
}

impl Draw {
    pub fn new(keys: Keys, count: u64) -> Self {
        match keys {
            Keys::Uniform => Draw::Uniform(count),
            Keys::Zipfian => Draw::Zipfian(Zipf::new(count)),
        }
    }

    /// In the order of frequency, where there is one.
    pub fn rank(&self, random: &mut Random) -> u64 {
        match self {
            Draw::Uniform(count) => random.below(*count),
            Draw::Zipfian(zipf) => zipf.rank(random),
        }
    }

    /// The frequent ones far from one another, so that no page holds them all: each rank has a place of its own.
    pub fn scattered(&self, random: &mut Random) -> u64 {
        let count = match self {
            Draw::Uniform(count) => *count,
            Draw::Zipfian(zipf) => zipf.count,
        };
        self.rank(random) * step(count) % count
    }
}

/// Without a common divisor with `count`, so that its multiples meet each number once; about its golden section, so that
/// neighbours lie far apart.
fn step(count: u64) -> u64 {
    let golden = (count as f64 * 0.618) as u64 + 1;
    (golden..).find(|step| gcd(*step, count) == 1).expect("a prime beyond the count is one")
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u64 = 1_000;
    const DRAWS: usize = 200_000;

    fn frequencies(mut draw: impl FnMut(&mut Random) -> u64) -> Vec<usize> {
        let (mut random, mut seen) = (Random::new(1), vec![0; COUNT as usize]);
        for _ in 0..DRAWS {
            seen[draw(&mut random) as usize] += 1;
        }
        seen
    }

    #[test]
    fn ranks_come_as_often_as_the_law_says() {
        let zipf = Zipf::new(COUNT);
        let seen = frequencies(|random| zipf.rank(random));
        for rank in [0, 1, 9, 99] {
            let expected = DRAWS as f64 * (rank as f64 + 1.0).powf(-THETA) / zipf.zeta;
            let ratio = seen[rank] as f64 / expected;
            assert!((0.75..1.35).contains(&ratio), "rank {rank} came {ratio} times as often as it should");
        }
    }

    #[test]
    fn scattered_keys_are_as_frequent_as_ranks_and_no_two_ranks_share_one() {
        let draw = Draw::new(Keys::Zipfian, COUNT);
        let [mut ranks, mut keys] =
            [frequencies(|random| draw.rank(random)), frequencies(|random| draw.scattered(random))];
        assert_ne!(ranks, keys);
        ranks.sort_unstable();
        keys.sort_unstable();
        assert_eq!(ranks, keys);
    }

    #[test]
    fn uniform_keys_are_all_about_as_frequent() {
        let draw = Draw::new(Keys::Uniform, COUNT);
        let seen = frequencies(|random| draw.scattered(random));
        assert!(seen.iter().all(|seen| (100..320).contains(seen)));
    }
}
