//! What a store asks of its file, and how it uses the file, in a life that has calls of every kind: number for
//! number as `costs.txt` has it.
//!
//! Every number follows from the calls, so one that differs is a change of what the engine does when.
//! `cargo run -p holotype-crash-tests --example costs` prints the page anew: the diff shows what a
//! change costs.
//!
//! | file | job |
//! |---|---|
//! | `life` | a store on a file that counts, and what it is at any moment |
//! | `chapters` | the calls |
//! | `answers` | the calls that ask: of a transaction, of many leaves, of the past |
//! | `churn` | documents at random |
//! | `at_random` | lives of stores, options and calls at random |
//! | `syncs` | what goes on while a sync is under way |
//! | `copies` | the calls on copies: backups, what a kill leaves, damage |
//! | `asked` | stores that are asked what is seldom asked for: |
//! | `apart` | documents of which a block has a part |
//! | `states` | states that snapshots hold, that wait, and that are taken back |
//! | `past` | feeds over several lives of a store |
//! | `built` | values that are cut in an index, and builds that are disturbed |
//! | `ends` | stores that are closed, and what maintenance decides |
//! | `unread` | leaves that were not read, and what stands in for them |
//! | `wrong` | memory that is not as the log says, and parts of the file that nobody here wrote so |

mod answers;
mod apart;
mod asked;
mod at_random;
mod built;
mod chapters;
mod churn;
mod copies;
mod ends;
mod life;
mod past;
mod states;
mod syncs;
mod unread;
mod wrong;

use crate::story::ensure;
use life::{Life, Setup, setups};

/// The numbers as they are written down.
const WRITTEN_DOWN: &str = include_str!("costs.txt");

/// Every number of every life, a line for each chapter.
///
/// # Errors
/// What a store did that it may not do.
pub fn page() -> Result<String, String> {
    let mut page = String::new();
    each_line(&mut |line| {
        page += line;
        page.push('\n');
        Ok(())
    })?;
    Ok(page)
}

/// Holds every number against what is written down. How many lines there are.
///
/// # Errors
/// The first line that differs, or what a store did that it may not do.
pub fn every_check() -> Result<u64, String> {
    held_against(WRITTEN_DOWN, each_line)
}

/// What is told of each line in turn: an error of it ends the lives.
type Told<'a> = &'a mut dyn FnMut(&str) -> Result<(), String>;

/// A chapter, and its name.
type Chapter = (&'static str, fn(&mut Life) -> Result<(), String>);

fn each_line(told: Told<'_>) -> Result<(), String> {
    for setup in setups() {
        live(setup, chapters::ALL, told)?;
    }
    for (setup, chapters) in asked::lives() {
        live(setup, chapters, told)?;
    }
    for seed in 0..at_random::LIVES {
        live(at_random::setup(seed), at_random::CHAPTERS, told)?;
    }
    Ok(())
}

fn live(setup: Setup, chapters: &[Chapter], told: Told<'_>) -> Result<(), String> {
    let whose = setup.name.clone();
    let mut life = Life::begin(setup)?;
    for (name, chapter) in chapters {
        chapter(&mut life).map_err(|what| format!("{whose}, {name}: {what}"))?;
        told(&format!("{whose}, {name}: {}", life.look()))?;
    }
    life.end().map_err(|what| format!("{whose}, at the end: {what}"))
}

fn held_against(
    written_down: &str,
    lines: impl FnOnce(Told<'_>) -> Result<(), String>,
) -> Result<u64, String> {
    let (mut expected, mut count) = (written_down.lines(), 0);
    lines(&mut |found| {
        count += 1;
        is_as_written(Some(found), expected.next())
    })?;
    is_as_written(None, expected.next())?;
    Ok(count)
}

fn is_as_written(found: Option<&str>, expected: Option<&str>) -> Result<(), String> {
    let shown = |line: Option<&str>| line.unwrap_or("nothing").to_owned();
    ensure(found == expected, || format!("it cost\n  {}\nand was\n  {}", shown(found), shown(expected)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_as_it_is_written_down() {
        assert!(every_check().expect("nothing differs") > 30);
    }

    #[test]
    fn a_number_that_differs_and_a_line_that_is_missing_are_told() {
        let held = |page: &str| held_against("a\nb\n", |told| page.lines().try_for_each(told));
        assert_eq!(held("a\nb\n"), Ok(2));
        for page in ["a\nc\n", "a\n", "a\nb\nc\n", ""] {
            assert!(held(page).is_err(), "{page:?}");
        }
    }
}
