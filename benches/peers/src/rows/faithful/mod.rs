//! What other stores' own benches measure, as they do it, and beside it the same with what they leave out put right: matched
//! durability, names that differ, values that are read.

mod bison;
mod csharpdb;
mod dbx;
mod redb;

use std::collections::BTreeSet;

use super::step::Naming;
use super::{lists, readers, table, writers};
use crate::failure::Result;
use crate::plan::Plan;
use crate::report::Report;
use crate::stores::Class;

/// Prints all of it.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    dbx::run(plan, report)?;
    bison::run(plan, report)?;
    redb::run(plan, report)?;
    csharpdb::run(plan, report)?;
    let steps = lists::whole_scans(plan.documents.min(40_000), (plan.operations / 2_000).clamp(2, 1_000));
    table(plan, report, "byodb's comparison with bolt: whole scans", readers(plan, &steps))?;
    for naming in [Naming::Cut, Naming::User] {
        let count = plan.documents.min(10_000) - 1;
        let distinct = (1..=count).map(|id| naming.name(id)).collect::<BTreeSet<_>>().len();
        for class in Class::ALL {
            let steps = lists::of_toondb(count, (plan.commits / 4).min(1_000), plan.operations, naming);
            let workload =
                format!("ToonDB's rows, {count} names of which {distinct} are distinct, {}", class.name());
            table(plan, report, &workload, writers(class, plan, &steps))?;
        }
    }
    Ok(())
}
