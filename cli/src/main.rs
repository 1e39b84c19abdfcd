//! The `holotype` command: check, inspect and use a store.
//!
//! Documents and reports go to standard output, messages and progress to standard error, and the exit code says how it went: see
//! [`exit::Exit`].

mod advice;
mod args;
mod changes;
mod commands;
mod exit;
mod input;
mod key;
mod many;
mod output;
mod progress;
mod query;
mod store;
mod wait;

use std::io::Write;
use std::process::ExitCode;

use crate::exit::{Exit, Failure};

fn main() -> ExitCode {
    let exit = run().unwrap_or_else(|failure| {
        if let Some(message) = failure.message() {
            // Where standard error is closed too, the exit code has to do.
            let _ = writeln!(std::io::stderr(), "holotype: {message}");
        }
        failure.exit()
    });
    exit.into()
}

/// Reads the command line and does what it asks for.
fn run() -> exit::Result<Exit> {
    let args::Cli { wait, command } = match args::Cli::read() {
        Ok(cli) => cli,
        Err(error) => return tell(&error),
    };
    wait::set(wait);
    commands::run(&command)
}

/// Prints help or a version, or what is wrong with the command line.
fn tell(error: &clap::Error) -> exit::Result<Exit> {
    let written = error.print().and_then(|()| std::io::stdout().flush());
    if error.use_stderr() {
        // Where standard error is closed, the exit code has to do.
        return Ok(Exit::Usage);
    }
    written.map_err(|error| Failure::output(&error))?;
    Ok(Exit::Done)
}
