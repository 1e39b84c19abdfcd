//! The whole day of a document: Holotype beside bison-db, a store of documents like it.

pub mod bison;
mod holotype;
pub mod peer;
mod table;
mod trial;

use crate::failure::Result;
use crate::plan::Plan;
use crate::report::Report;
use crate::turns::{Contender, take_turns};
use peer::{Class, Peer};
use trial::Figures;

const CLASSES: [Class; 5] = [Class::Written, Class::Written, Class::Buffered, Class::Synced, Class::Synced];

/// Prints the table of a document's day.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let [written, written_too, buffered, synced, synced_too] = CLASSES;
    let mut contenders = [
        contender::<bison::Bison>(plan, written),
        contender::<holotype::Holotype>(plan, written_too),
        contender::<holotype::Holotype>(plan, buffered),
        contender::<bison::Bison>(plan, synced),
        contender::<holotype::Holotype>(plan, synced_too),
    ];
    take_turns("load", &mut contenders, plan.trials)?;
    table::print(&CLASSES, &contenders, plan.documents);
    report.add(table::records(&CLASSES, &contenders));
    Ok(())
}

fn contender<P: Peer + 'static>(plan: &Plan, class: Class) -> Contender<Figures> {
    let (directory, documents) = (plan.directory.clone(), plan.documents);
    Contender::new(P::NAME, move || trial::run::<P>(&directory, documents, class))
}
