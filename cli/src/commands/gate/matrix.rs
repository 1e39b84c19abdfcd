//! The matrix of seeded bugs: which check finds which. The example `matrix` of the crash tests writes it.

use std::path::Path;

use serde::Deserialize;

use crate::exit::{Failure, Result};

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

impl Matrix {
    pub(super) fn read(file: &Path) -> Result<Self> {
        let name = file.display();
        let json =
            std::fs::read(file).map_err(|error| Failure::usage(format!("cannot open {name}: {error}")))?;
        serde_json::from_slice(&json).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            Failure::usage(format!("{name}:{line}:{column}: this is no matrix of seeded bugs: {error}"))
        })
    }
}
