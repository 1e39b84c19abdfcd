//! Stories: what some callers do with a store of their own, and what must come of it.

use std::fmt::Display;

/// A story, and its name in what is said of it.
pub(crate) type Story = (&'static str, fn() -> Result<(), String>);

/// Tells every one of `stories`. How many there are.
///
/// # Errors
/// What a store did that it may not do, behind the name of the story.
pub(crate) fn tell(stories: &[Story]) -> Result<u64, String> {
    for (name, story) in stories {
        story().map_err(|what| format!("{name}: {what}"))?;
    }
    Ok(stories.len() as u64)
}

/// An error as text.
pub(crate) fn say(error: impl Display) -> String {
    error.to_string()
}

/// Fails with `what` unless it `holds`.
pub(crate) fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
