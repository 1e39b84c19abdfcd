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
mod store;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let exit = commands::run(&args::Cli::parse().command).unwrap_or_else(|failure| {
        if let Some(message) = failure.message() {
            // Where standard error is closed too, the exit code has to do.
            let _ = writeln!(std::io::stderr(), "holotype: {message}");
        }
        failure.exit()
    });
    exit.into()
}
