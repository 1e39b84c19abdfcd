//! The matrix of seeded bugs: which check finds which. The example `matrix` of the crash tests writes it.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(super) struct Matrix {
    pub(super) bugs: Vec<Row>,
}

/// A bug, and where it shows.
#[derive(Debug, Deserialize)]
pub(super) struct Row {
    pub(super) bug: String,
    pub(super) what: String,
    pub(super) found_by: Vec<Found>,
    /// The test that finds it, where none of the checks does.
    pub(super) elsewhere: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Found {
    pub(super) check: String,
    pub(super) cases: u64,
    pub(super) seconds: f64,
}
