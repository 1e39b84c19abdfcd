//! One function that its test holds to its word, one that it merely calls, one that nothing calls, one that never ends once it is
//! changed, and one that the compiler evaluates.

pub const LIMIT: u32 = 6 + 4;

const fn twice(number: u32) -> u32 {
    number * 2
}

pub static TWICE: u32 = twice(4);

pub fn is_small(number: u32) -> bool {
    number < LIMIT
}

pub fn is_large(number: u32) -> bool {
    number > LIMIT
}

pub fn is_unknown() -> bool {
    !is_small(1)
}

pub fn steps(mut number: u64) -> u64 {
    let mut steps = 0;
    while number > 0 {
        number -= 1;
        steps += 1;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_is_the_first_that_is_not_small() {
        assert!(is_small(9) && !is_small(10));
        assert_eq!((TWICE, LIMIT), (8, 10));
    }

    #[test]
    fn nothing_is_asked_of_what_is_large() {
        is_large(10);
    }

    #[test]
    fn every_step_counts() {
        assert_eq!(steps(3), 3);
    }
}
