//! `holotype inspect`: a file as its layout.
//!
//! | file | job |
//! |---|---|
//! | `shape`, `contents` | what is shown, as fields, of the file and of a segment: the shape of `--json`, and what the other two are made of |
//! | `text` | for a terminal |
//! | `json` | for programs |
//! | `html` | for a browser: one page with a map of the file |

mod contents;
mod html;
mod json;
mod shape;
mod text;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use holotype::Error;
use holotype::inspect::{self, Inspector, Outcome, Use};

use crate::exit::{Exit, Failure, Result};

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// The file, which is neither changed nor locked; it may be damaged, or in use
    store: PathBuf,
    /// How far to go into the segments [default: segments; with --json: records]
    #[arg(long, value_enum)]
    depth: Option<Depth>,
    /// The same as --depth frames
    #[arg(long, conflicts_with_all = ["depth", "records"])]
    frames: bool,
    /// The same as --depth records
    #[arg(long, conflicts_with = "depth")]
    records: bool,
    /// Print one JSON object, as docs/inspect.md describes it
    #[arg(long)]
    json: bool,
    /// Write a page with a map of the file, for a browser, to OUT
    #[arg(long, value_name = "OUT", conflicts_with = "json")]
    html: Option<PathBuf>,
}

/// How far to go into the segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Depth {
    /// Segments alone
    Segments,
    /// Their frames and pages
    Frames,
    /// The records in the frames
    Records,
}

/// What is shown.
#[derive(Debug)]
struct Subject<'a> {
    path: &'a Path,
    inspector: Inspector,
    depth: Depth,
}

impl Subject<'_> {
    fn failure(&self, error: &Error) -> Failure {
        Failure::store(self.path, error)
    }
}

pub(crate) fn run(args: &InspectArgs) -> Result<Exit> {
    let path = &args.store;
    let inspector = inspect::open(path).map_err(|error| Failure::store(path, &error))?;
    let subject = Subject { path, inspector, depth: args.depth() };
    match &args.html {
        Some(page) => html::write(&subject, page)?,
        None if args.json => json::print(&subject)?,
        None => text::print(&subject)?,
    }
    Ok(if is_sound(&subject.inspector) { Exit::Done } else { Exit::Damaged })
}

/// Whether the store opens, with everything in it that should be.
fn is_sound(inspector: &Inspector) -> bool {
    let damaged = inspector.totals().find(|(usage, _)| *usage == Use::Damaged);
    let are_whole = inspector.checkpoints().iter().all(|checkpoint| checkpoint.problem.is_none());
    matches!(inspector.recovery().outcome, Outcome::Opens)
        && are_whole
        && damaged.is_none_or(|(_, bytes)| bytes == 0)
}

impl InspectArgs {
    fn depth(&self) -> Depth {
        let default = if self.json { Depth::Records } else { Depth::Segments };
        match self.depth {
            Some(depth) => depth,
            None if self.records => Depth::Records,
            None if self.frames => Depth::Frames,
            None => default,
        }
    }
}
