//! Progress of long work, on standard error if a person is looking at it.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often a spinner turns while nothing else moves it.
const TICK: Duration = Duration::from_millis(120);

/// A bar over the bytes of an input, or a count of them where its length is not known.
pub(crate) fn of_bytes(len: Option<u64>) -> ProgressBar {
    let template = match len {
        Some(_) => "{wide_bar} {bytes}/{total_bytes} {bytes_per_sec}",
        None => "{spinner} {bytes} {bytes_per_sec}",
    };
    bar(len, template)
}

/// A bar over documents. None where documents themselves go to the terminal: the two would mix.
pub(crate) fn of_documents(count: u64) -> ProgressBar {
    if io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    bar(Some(count), "{wide_bar} {human_pos}/{human_len} documents {per_sec}")
}

/// A bar over parts per thousand, with the name of what is being done.
pub(crate) fn of_work() -> ProgressBar {
    bar(Some(1000), "{msg:12} {wide_bar} {percent:>3} % {elapsed}")
}

fn bar(len: Option<u64>, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(len, ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::with_template(template).expect("a template of ours is well formed"));
    if !bar.is_hidden() {
        bar.enable_steady_tick(TICK);
    }
    bar
}
