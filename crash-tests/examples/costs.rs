//! Prints what a life of a store costs, as `crash-tests/src/costs/costs.txt` has it.

fn main() -> Result<(), String> {
    print!("{}", holotype_crash_tests::costs::page()?);
    Ok(())
}
