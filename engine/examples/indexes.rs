//! An index over cities: made, read by, and one that refuses what is there twice. With the path of a file of cities in JSON lines,
//! each with `name`, `country`, `lat` and `lng`, it reads that; without one, a few lines of its own.
//!
//! ```text
//! cargo run --example indexes -- cities.jsonl
//! ```

use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Bound;

use holotype::{Collection, Db, Document, Error, IndexDefinition, Result};

/// Six cities, two of which have one name.
const CITIES: &str = r#"
{"name":"Vila","country":"AD","lat":42.53176,"lng":1.56654}
{"name":"Ordino","country":"AD","lat":42.55623,"lng":1.53319}
{"name":"Dubai","country":"AE","lat":25.07725,"lng":55.30927}
{"name":"Quito","country":"EC","lat":-0.22985,"lng":-78.52495}
{"name":"Tromsø","country":"NO","lat":69.6489,"lng":18.95508}
{"name":"Vila","country":"PT","lat":41.84,"lng":-8.42}
"#;

type Anything<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Anything<()> {
    let told = match std::env::args_os().nth(1) {
        Some(path) => tour(BufReader::new(File::open(path)?))?,
        None => tour(CITIES.as_bytes())?,
    };
    print!("{told}");
    Ok(())
}

/// What there is to see.
fn tour(lines: impl BufRead) -> Anything<String> {
    let cities = Db::in_memory().collection("cities");
    import(&cities, lines)?;
    let mut told = String::new();
    define(&cities, &mut told)?;
    northernmost(&cities, &mut told)?;
    of_a_country(&cities, &mut told)?;
    one_name_each(&cities, &mut told)?;
    Ok(told)
}

/// Puts the documents in, some thousands in one commit.
fn import(cities: &Collection, lines: impl BufRead) -> Anything<()> {
    let mut batch = Vec::new();
    for line in lines.lines() {
        let line = line?;
        if !line.is_empty() {
            batch.push(Document::from_json(line)?);
        }
        if batch.len() == 10_000 {
            cities.insert_many(std::mem::take(&mut batch))?;
        }
    }
    cities.insert_many(batch)?;
    Ok(())
}

/// Two indexes: one over a number, one over a pair of texts.
fn define(cities: &Collection, told: &mut String) -> Anything<()> {
    cities.create_index(IndexDefinition::new("by_latitude", ["-$.lat"])?)?;
    cities.create_index(IndexDefinition::new("by_country", ["$.country", "$.name"])?)?;
    for info in cities.index_info()? {
        writeln!(told, "{} has {} entries", info.definition.name(), info.entries)?;
    }
    Ok(())
}

/// The first entries of a descending index, with their documents; and how many there are within a range.
fn northernmost(cities: &Collection, told: &mut String) -> Anything<()> {
    let index = cities.index("by_latitude");
    for city in index.range(..)?.documents().take(3) {
        writeln!(told, "far north: {}", city?.to_document()?)?;
    }
    // The index descends, so a range begins with the larger value.
    let near = (Bound::Included(1.0), Bound::Included(-1.0));
    writeln!(told, "{} within a degree of the equator", index.count(near)?)?;
    Ok(())
}

/// A range of texts, read from the index alone, a page at a time.
fn of_a_country(cities: &Collection, told: &mut String) -> Anything<()> {
    let index = cities.index("by_country");
    let page: Vec<_> = index.get("AD")?.take(1).collect::<Result<_>>()?;
    let Some(last) = page.last() else { return Ok(()) };
    writeln!(told, "in AD: {:?} under {}", last.values(), last.key())?;
    for entry in index.get("AD")?.after(last.place())?.take(2) {
        writeln!(told, "and then: {:?}", entry?.values())?;
    }
    writeln!(told, "{} in AD that begin with V", index.prefix("AD", "V")?.count())?;
    Ok(())
}

/// Names are not unique in the world, and the refusal says which.
fn one_name_each(cities: &Collection, told: &mut String) -> Anything<()> {
    match cities.create_index(IndexDefinition::new("name", ["$.name"])?.unique()) {
        Err(Error::UniqueViolations { violations, .. }) => {
            let (values, one, other) = &violations[0];
            writeln!(told, "no unique index of names: {values:?} of {one} and {other}")?;
        }
        made => writeln!(told, "every name is there once: {}", made?)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tour_shows_what_it_says() {
        let told = tour(CITIES.as_bytes()).expect("its own lines are good");
        for shown in [
            "by_country has 6 entries\nby_latitude has 6 entries\n",
            "1 within a degree of the equator",
            "1 in AD that begin with V",
            "no unique index of names: [Text(\"Vila\")] of 1 and 6",
        ] {
            assert!(told.contains(shown), "{shown:?} is missing in\n{told}");
        }
        let north = told.lines().find(|line| line.starts_with("far north")).expect("there is a first");
        assert!(north.contains("Tromsø"), "{north}");
    }
}
