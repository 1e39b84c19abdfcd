//! Records and changes of the catalog, in frames that are valid: right, wrong, of newer formats.

mod catalog;
mod documents;
mod forms;
mod long;

use super::sample::small;
use super::{Maker, corrupt, newer};
use crate::case::Group;
use crate::forge::Record;
use holotype_model::Key;

pub(super) fn make() -> Group {
    let mut maker = Maker::new(
        "records",
        "Records and changes of the catalog in valid frames: carried out, skipped, refused",
    );
    documents::documents(&mut maker);
    documents::kinds_and_flags(&mut maker);
    forms::forms(&mut maker);
    long::chunks(&mut maker);
    long::relocations(&mut maker);
    catalog::catalog(&mut maker);
    catalog::catalog_refused(&mut maker);
    maker.finish()
}

const FIRST: Key = Key::Int(1);

fn holds(maker: &mut Maker, clauses: &[&str], flag: &str, name: &str, records: &[Record]) {
    let mut forge = small();
    forge.commit(records);
    maker.holds(&[clauses, &["R-2.7"]].concat(), &[flag], name, &forge.data, forge.state());
}

/// A record that breaks a clause: the file is corrupt there.
fn broken(maker: &mut Maker, clauses: &[&str], flag: &str, name: impl Into<String>, record: Record) {
    let mut forge = small();
    forge.commit(&[record]);
    // Whoever reads the record may name the clause that it breaks, or the one that calls that corruption.
    let named = [clauses, &["R-2.7", "F-6.1", "F-6.3", "F-6.4", "F-6.6", "F-7.1", "F-7.2"]].concat();
    let expect = corrupt(&named, None);
    maker.refused(&[clauses, &["R-2.7"]].concat(), &[flag], name, &forge.data, expect);
}

fn refused_as_newer(
    maker: &mut Maker,
    clauses: &[&str],
    flag: &str,
    name: impl Into<String>,
    record: Record,
) {
    let mut forge = small();
    forge.commit(&[record]);
    maker.refused(&[clauses, &["R-2.7"]].concat(), &[flag], name, &forge.data, newer());
}
