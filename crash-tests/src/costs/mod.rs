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
//! | `copies` | the calls on copies: backups, what a kill leaves, damage |

mod answers;
mod chapters;
mod copies;
mod life;

use life::{Life, SETUPS};

/// The numbers as they are written down.
const WRITTEN_DOWN: &str = include_str!("costs.txt");

/// Every number of every life, a line for each chapter.
///
/// # Errors
/// What a store did that it may not do.
pub fn page() -> Result<String, String> {
    let mut page = String::new();
    for setup in SETUPS {
        let mut life = Life::begin(setup)?;
        for (name, chapter) in chapters::ALL {
            chapter(&mut life).map_err(|what| format!("{}, {name}: {what}", setup.name))?;
            page += &format!("{}, {name}: {}\n", setup.name, life.look());
        }
        life.end().map_err(|what| format!("{}, at the end: {what}", setup.name))?;
    }
    Ok(page)
}

/// Holds every number against what is written down. How many lines there are.
///
/// # Errors
/// The first line that differs, or what a store did that it may not do.
pub fn every_check() -> Result<u64, String> {
    held_against(&page()?, WRITTEN_DOWN)
}

fn held_against(page: &str, written_down: &str) -> Result<u64, String> {
    let (mut found, mut expected) = (page.lines(), written_down.lines());
    for line in 0.. {
        match (found.next(), expected.next()) {
            (None, None) => return Ok(line),
            (found, expected) if found == expected => {}
            (found, expected) => {
                let shown = |line: Option<&str>| line.unwrap_or("nothing").to_owned();
                return Err(format!("it cost\n  {}\nand was\n  {}", shown(found), shown(expected)));
            }
        }
    }
    unreachable!("every page ends")
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
        assert_eq!(held_against("a\nb\n", "a\nb\n"), Ok(2));
        for page in ["a\nc\n", "a\n", "a\nb\nc\n", ""] {
            assert!(held_against(page, "a\nb\n").is_err(), "{page:?}");
        }
    }
}
