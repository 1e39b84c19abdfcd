//! `--wait`: how long a command tries again while somebody else has the store open.

use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use holotype::Error;

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// What the command line says.
static WAIT: OnceLock<Duration> = OnceLock::new();

/// Sets the wait of the whole process, once, before any store is opened.
pub(crate) fn set(wait: Option<Duration>) {
    if let Some(wait) = wait {
        WAIT.get_or_init(|| wait);
    }
}

/// Whether a wait was asked for.
pub(crate) fn is_set() -> bool {
    WAIT.get().is_some()
}

/// Calls `open` until the store is not locked, or the wait is over.
pub(crate) fn until_unlocked<T>(open: impl FnMut() -> holotype::Result<T>) -> holotype::Result<T> {
    retry(WAIT.get().copied().unwrap_or_default(), open)
}

fn retry<T>(wait: Duration, mut open: impl FnMut() -> holotype::Result<T>) -> holotype::Result<T> {
    let start = Instant::now();
    loop {
        let opened = open();
        let left = wait.saturating_sub(start.elapsed());
        if left.is_zero() || !matches!(opened, Err(Error::Locked { .. })) {
            return opened;
        }
        thread::sleep(left.min(PAUSE));
    }
}

/// The value of `--wait`: seconds, with decimals or without.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "seconds are a number that is not below zero, such as 5 or 0.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked() -> holotype::Result<u32> {
        Err(Error::Locked { path: "s.holo".into() })
    }

    #[test]
    fn a_locked_store_is_tried_again_until_it_opens_or_the_wait_is_over() {
        let mut tries = 0;
        let opened = retry(Duration::from_secs(600), || {
            tries += 1;
            if tries < 3 { locked() } else { Ok(tries) }
        });
        assert_eq!(opened.ok(), Some(3));
        let start = Instant::now();
        assert!(matches!(retry(Duration::from_millis(50), locked), Err(Error::Locked { .. })));
        assert!(start.elapsed() >= Duration::from_millis(50));
    }

    #[test]
    fn without_a_wait_and_for_another_error_there_is_one_try() {
        for (wait, answer) in
            [(Duration::ZERO, locked as fn() -> _), (Duration::from_secs(600), || Err(Error::Incomplete))]
        {
            let mut tries = 0;
            let opened = retry(wait, || {
                tries += 1;
                answer()
            });
            assert!(opened.is_err() && tries == 1, "{tries}");
        }
    }

    #[test]
    fn seconds_are_a_number_that_is_not_below_zero() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(seconds("3"), Ok(Duration::from_secs(3)));
        for text in ["", "-1", "soon", "inf", "NaN", "1e300"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
