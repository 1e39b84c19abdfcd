//! `K/N` on the command line.

use holotype_crash_tests::part::Shard;

/// More machines than anybody has: with more, most would find nothing to do.
const COUNT_MAX: u32 = 1000;

/// As clap wants it: what is wrong, for a person.
pub(super) fn parse(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(number, count)| Some((digits(number)?, digits(count)?)));
    let (number, count) = parts.ok_or("two numbers with a slash between them, such as 2/8")?;
    if count > COUNT_MAX {
        return Err(format!("at most {COUNT_MAX} shards"));
    }
    Shard::new(number, count).ok_or_else(|| format!("shards are counted from 1 to {count}"))
}

/// Without the sign that the standard library would take.
fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_one_of_its_number() {
        for (text, number, count) in [("1/1", 1, 1), ("3/3", 3, 3), ("2/1000", 2, 1000)] {
            let shard = parse(text).expect("a shard");
            assert_eq!((shard.number(), shard.count()), (number, count));
        }
    }

    #[test]
    fn what_is_no_shard_is_refused() {
        for text in [
            "0/3",
            "4/3",
            "1/0",
            "0/0",
            "1",
            "",
            "/",
            "1/",
            "/3",
            "+1/3",
            "1/3/5",
            "a/b",
            "1/1001",
            "1/99999999999",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
