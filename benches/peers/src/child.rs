//! Work in a process of its own, so that its memory is that of nothing else.
//!
//! The program starts itself again, with [`MARK`] as the first argument; the child prints numbers on one line.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::{Failure, Of, Result};

/// The first argument of a child.
pub const MARK: &str = "child";

/// Runs this program as the child that does `work` in `directory`, and returns the numbers that it prints.
pub fn run<const N: usize>(who: &'static str, work: &[&str], directory: &Path) -> Result<[u64; N]> {
    let program = std::env::current_exe().of(who, "finding this program")?;
    let mut command = Command::new(program);
    command.arg(MARK).args(work).arg(directory).stderr(Stdio::inherit());
    let output = command.output().of(who, "starting a process of its own")?;
    if !output.status.success() {
        return Err(Failure::new(who, "working in a process of its own", output.status.to_string()));
    }
    let told = String::from_utf8(output.stdout).of(who, "reading what its process says")?;
    numbers(&told).ok_or_else(|| {
        Failure::new(who, "reading what its process says", format!("{told:?} is not {N} numbers"))
    })
}

fn numbers<const N: usize>(told: &str) -> Option<[u64; N]> {
    let numbers: Option<Vec<u64>> = told.split_whitespace().map(|number| number.parse().ok()).collect();
    numbers?.try_into().ok()
}

/// Says these numbers to the parent.
pub fn tell(numbers: &[u64]) {
    let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
    println!("{}", words.join(" "));
}

/// Memory of this process that is in use now, in bytes.
pub fn memory_now(who: &'static str) -> Result<u64> {
    // What `status` and `statm` say of now lags by up to 64 pages for each thread; this walks the pages.
    kibibytes(who, "/proc/self/smaps_rollup", "Rss:")
}

/// As [`memory_now`], without the pages of files that are mapped.
pub fn memory_not_of_files(who: &'static str) -> Result<u64> {
    kibibytes(who, "/proc/self/smaps_rollup", "Anonymous:")
}

/// The most memory that this process ever used, in bytes.
pub fn memory_highest(who: &'static str) -> Result<u64> {
    // The mark is brought up to date when memory is given back, and when it is asked for.
    kibibytes(who, "/proc/self/status", "VmHWM:")
}

/// How many bytes this process has handed to the system so far, by calls that write; those of its threads count.
pub fn handed_down(who: &'static str) -> Result<u64> {
    let told = std::fs::read_to_string("/proc/self/io").of(who, "asking for what it has written")?;
    let handed = told.lines().find_map(|line| line.strip_prefix("wchar:")?.trim().parse().ok());
    let missing = || Failure::new(who, "asking for what it has written", "the system does not tell");
    handed.ok_or_else(missing)
}

fn kibibytes(who: &'static str, path: &str, field: &str) -> Result<u64> {
    let told = std::fs::read_to_string(path).of(who, "asking for its memory")?;
    let value = || {
        told.lines()
            .find_map(|line| line.strip_prefix(field))?
            .trim()
            .strip_suffix("kB")?
            .trim()
            .parse::<u64>()
            .ok()
    };
    let found = value()
        .ok_or_else(|| Failure::new(who, "asking for its memory", format!("{path} has no {field}")))?;
    Ok(found << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_as_many_numbers_as_are_expected_are_an_answer() {
        assert_eq!(numbers("1 2\n"), Some([1, 2]));
        assert_eq!(numbers::<2>("1 2 3\n"), None);
        assert_eq!(numbers::<1>("one\n"), None);
    }

    #[test]
    fn what_is_written_by_a_call_is_handed_down() {
        let before = handed_down("the test").unwrap();
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("file"), vec![7; 1 << 20]).unwrap();
        assert!(handed_down("the test").unwrap() >= before + (1 << 20));
    }

    #[test]
    fn memory_that_is_touched_counts() {
        let before = memory_now("the test").unwrap();
        let touched = std::hint::black_box(vec![7u8; 64 << 20]);
        let after = memory_now("the test").unwrap();
        assert!(after >= before + touched.len() as u64 / 2, "{before} before, {after} after");
        assert!(memory_highest("the test").unwrap() >= after / 2);
    }
}
