//! Holotype, asked by a query.

use std::path::Path;

use holotype::{Collection, Db, Durability, IndexDefinition, Options};

use super::Answers;
use super::data::Item;
use super::questions::{Came, Question};
use super::set::Set;
use crate::failure::{Of, Result};

/// By `find`, and by an index where the question names one.
pub struct Queries(Collection);

/// The documents of a set, in a store of their own.
pub(super) fn load(
    directory: &Path,
    set: &Set,
    items: &[Item],
    indexed: bool,
) -> holotype::Result<Collection> {
    let options = Options::new().durability(Durability::Written);
    let bench = Db::open_with(directory.join("store.holo"), &options)?.collection("bench");
    bench.put_many(items.iter().map(|item| (item.id, (set.document)(item))))?;
    for index in set.indexes.iter().filter(|_| indexed) {
        let definition = IndexDefinition::new(index.name, index.paths)?;
        bench.create_index(if index.unique { definition.unique() } else { definition })?;
    }
    Ok(bench)
}

impl Answers for Queries {
    const NAME: &'static str = "Holotype";

    fn load(directory: &Path, set: &Set, items: &[Item], indexed: bool) -> Result<Self> {
        load(directory, set, items, indexed).of(Self::NAME, "loading").map(Queries)
    }

    fn ask(&self, question: &Question, call: i64) -> Option<Result<Came>> {
        Some((question.ours)(&self.0, call).of(Self::NAME, question.row))
    }
}
