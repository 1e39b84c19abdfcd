//! What other commands have found out, for the page to show beside the result.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::matrix::Matrix;
use crate::exit::{Failure, Result};

/// What there is of it.
#[derive(Debug, Default)]
pub(super) struct Attached {
    pub(super) matrix: Option<Matrix>,
    pub(super) coverage: Option<Coverage>,
}

impl Attached {
    pub(super) fn read(matrix: Option<&Path>, coverage: Option<&Path>) -> Result<Self> {
        Ok(Attached {
            matrix: matrix.map(|file| read(file, "matrix of seeded bugs")).transpose()?,
            coverage: coverage.map(|file| read(file, "summary of coverage")).transpose()?,
        })
    }
}

fn read<T: DeserializeOwned>(file: &Path, what: &str) -> Result<T> {
    let name = file.display();
    let json = std::fs::read(file).map_err(|error| Failure::usage(format!("cannot open {name}: {error}")))?;
    serde_json::from_slice(&json).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        Failure::usage(format!("{name}:{line}:{column}: this is no {what}: {error}"))
    })
}

/// How many lines of the engine the committed inputs reach. `fuzz/coverage --json` writes it.
#[derive(Debug, Deserialize)]
pub(super) struct Coverage {
    /// What each room is to reach, in percent.
    pub(super) limit: f64,
    pub(super) rooms: Vec<Lines>,
    pub(super) files: Vec<Lines>,
}

/// The lines of a room or of a file.
#[derive(Debug, Deserialize)]
pub(super) struct Lines {
    pub(super) name: String,
    pub(super) lines: u64,
    pub(super) reached: u64,
}

impl Lines {
    /// In percent; all of nothing is reached.
    pub(super) fn share(&self) -> f64 {
        if self.lines == 0 { 100.0 } else { 100.0 * self.reached as f64 / self.lines as f64 }
    }
}
