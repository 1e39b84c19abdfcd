//! Writes the vectors of the present format.
//!
//! ```text
//! cargo run --release -p holotype-conform --example generate -- spec/vectors
//! ```
//!
//! Vectors of a released format are never written again: `tests/frozen.rs` holds what this makes against what is there. The stores that the engine
//! wrote are left as they are where there are any: another engine writes other stores.

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder] = arguments.as_slice() else { return Err("usage: generate FOLDER".into()) };
    for (name, bytes) in holotype_conform::make::folder() {
        let path = Path::new(folder).join(&name);
        if holotype_conform::make::is_written_by_the_engine(&name) && path.exists() {
            continue;
        }
        std::fs::create_dir_all(path.parent().ok_or("every file is in a folder")?)?;
        std::fs::write(path, bytes)?;
    }
    Ok(())
}
