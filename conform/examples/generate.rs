//! Writes the vectors of the present format.
//!
//! ```text
//! cargo run --release -p holotype-conform --example generate -- spec/vectors
//! ```
//!
//! Only files that `3.0/index.json` does not list are written, and are listed then. A listed file is never written again: where one would change,
//! nothing is written at all, until it is taken out of the list by hand. The stores that the engine wrote are listed as they are where there are any:
//! another engine writes other stores.

use std::error::Error;
use std::path::Path;

use holotype_conform::make;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder] = arguments.as_slice() else { return Err("usage: generate FOLDER".into()) };
    for name in make::write(Path::new(folder), &make::folder()).map_err(|error| error.to_string())? {
        println!("{name}");
    }
    Ok(())
}
