//! The order in which documents are changed, where each comes once.

use holotype_benches::workload::UniformIds;

/// The ids `1..=count`, each once, in an order without a pattern that follows from `round`.
pub fn shuffled(count: u64, round: u64) -> Vec<u64> {
    let mut ids: Vec<u64> = (1..=count).collect();
    // Fisher and Yates. The numbers go on from round to round, so that each has its own order.
    let skipped = round.saturating_mul(count).try_into().unwrap_or(usize::MAX);
    let mut random = UniformIds::new(1 << 62).skip(skipped).map(i64::unsigned_abs);
    for last in (1..ids.len()).rev() {
        let chosen = random.next().expect("the sequence has no end") % (last as u64 + 1);
        ids.swap(last, chosen as usize);
    }
    ids
}

/// The ids `1..=count`, each once, far from one another, without memory for them. [`shuffled`] has less of a pattern.
pub fn scattered(count: u64) -> impl Iterator<Item = u64> {
    // A step without a common divisor meets every number once before it comes back to the first.
    let step = (count * 5 / 8..).find(|step| greatest_common_divisor(*step, count) == 1);
    let step = step.expect("a prime beyond the count is one");
    (0..count).scan(0, move |at, _| {
        *at = (*at + step) % count;
        Some(*at + 1)
    })
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_ids_come_once_each_and_far_apart() {
        for count in [1, 2, 1_000, 100_003] {
            let mut ids: Vec<u64> = scattered(count).collect();
            assert!(count < 100 || ids.windows(2).all(|pair| pair[0].abs_diff(pair[1]) > count / 4));
            ids.sort_unstable();
            assert!(ids.into_iter().eq(1..=count));
        }
    }

    #[test]
    fn each_id_comes_once_and_no_round_is_like_another() {
        let [one, two] = [1, 2].map(|round| shuffled(1_000, round));
        assert_ne!(one, two);
        for mut ids in [one, two] {
            assert!(ids.windows(2).filter(|pair| pair[0] < pair[1]).count() < 600, "no long runs in order");
            ids.sort_unstable();
            assert!(ids.into_iter().eq(1..=1_000));
        }
    }
}
