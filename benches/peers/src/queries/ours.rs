//! Holotype: a query, and a loop of the caller's over the same documents.

use std::path::Path;

use holotype::{Collection, Db, Durability, Options};

use super::Answers;
use super::data::{Item, wide};
use super::questions::{Came, Question};
use super::table::FIELDS;
use crate::failure::{Of, Result};

/// By `find`.
pub struct Queries(Store);

/// By a visit with a closure.
pub struct ByHand(Store);

struct Store {
    bench: Collection,
    wide: Collection,
}

impl Store {
    fn load(directory: &Path, items: &[Item]) -> holotype::Result<Self> {
        let options = Options::new().durability(Durability::Written);
        let db = Db::open_with(directory.join("store.holo"), &options)?;
        let (bench, wide_one) = (db.collection("bench"), db.collection("wide"));
        bench.put_many(items.iter().map(|item| (item.id, item.document())))?;
        wide_one.put(1, wide())?;
        Ok(Store { bench, wide: wide_one })
    }
}

impl Answers for Queries {
    const NAME: &'static str = "Holotype";

    fn load(directory: &Path, items: &[Item]) -> Result<Self> {
        Store::load(directory, items).of(Self::NAME, "loading").map(Queries)
    }

    fn ask(&self, question: &Question, call: i64) -> Option<Result<Came>> {
        let is_wide = FIELDS.iter().any(|other| std::ptr::eq(other, question));
        let collection = if is_wide { &self.0.wide } else { &self.0.bench };
        Some((question.ours)(collection, call).of(Self::NAME, question.row))
    }
}

impl Answers for ByHand {
    const NAME: &'static str = "Holotype, a loop";

    fn load(directory: &Path, items: &[Item]) -> Result<Self> {
        Store::load(directory, items).of(Self::NAME, "loading").map(ByHand)
    }

    fn ask(&self, question: &Question, call: i64) -> Option<Result<Came>> {
        Some((question.by_hand?)(&self.0.bench, call).of(Self::NAME, question.row))
    }
}
