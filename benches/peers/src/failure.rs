//! What ends a run: a store that fails, or one that did not do what it was timed for.

use std::error::Error;
use std::fmt;

/// What everything here returns.
pub type Result<T> = std::result::Result<T, Failure>;

/// Who failed, and at what. It is a pointer, so that results of timed calls stay as small as what they carry.
#[derive(Debug)]
pub struct Failure(Box<Parts>);

#[derive(Debug)]
struct Parts {
    who: &'static str,
    doing: &'static str,
    cause: Box<dyn Error + Send + Sync>,
}

impl Failure {
    pub fn new(
        who: &'static str,
        doing: &'static str,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Failure(Box::new(Parts { who, doing, cause: cause.into() }))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { who, doing, cause } = &*self.0;
        write!(f, "{who}, {doing}: {cause}")
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0.cause)
    }
}

/// Puts a name to an error.
pub trait Of<T> {
    /// The same, as a failure of `who` at `doing`.
    fn of(self, who: &'static str, doing: &'static str) -> Result<T>;
}

impl<T, E: Into<Box<dyn Error + Send + Sync>>> Of<T> for std::result::Result<T, E> {
    fn of(self, who: &'static str, doing: &'static str) -> Result<T> {
        self.map_err(|cause| Failure::new(who, doing, cause))
    }
}

/// Refuses the figures of a store that did something else than it was timed for.
pub fn expect_equal<T: PartialEq + fmt::Debug>(
    who: &'static str,
    what: &'static str,
    expected: &T,
    found: &T,
) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Failure::new(who, what, format!("expected {expected:?}, found {found:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_store_and_what_it_was_doing() {
        let failure = Err::<(), _>(std::io::Error::other("no room")).of("a store", "committing").unwrap_err();
        assert_eq!(failure.to_string(), "a store, committing: no room");
    }

    #[test]
    fn another_count_than_expected_is_a_failure() {
        assert!(expect_equal("a store", "documents", &2, &2).is_ok());
        let failure = expect_equal("a store", "documents", &2, &3).unwrap_err();
        assert_eq!(failure.to_string(), "a store, documents: expected 2, found 3");
    }
}
