//! Calls, carried out on the real store.

use holotype::query::Filter;
use holotype::{Collection, Db, DocRef, Error, IndexDefinition, Update};
use holotype_model::Key;

use crate::convert;

use super::call::{Answer, Call, Doc, Op};
use super::yield_now;

/// The one collection of a history.
pub(super) const COLLECTION: &str = "documents";
/// The index of the numbers, and the unique one.
pub(super) const INDEX: &str = "numbers";
const UNIQUE: &str = "unique";

/// One thread's hands on the store.
#[derive(Debug)]
pub(super) struct Hands<'a> {
    pub(super) db: &'a Db,
    /// One handle for all calls: it remembers what the name meant, and must see when it means something else.
    pub(super) documents: Collection,
    /// How often others go first in the middle of a scan or a transaction.
    yields: usize,
    /// Which call put a document, and the version that it had when it was read.
    pub(super) versions: Vec<(u32, u64)>,
}

impl<'a> Hands<'a> {
    pub(super) fn new(db: &'a Db) -> Self {
        Hands { db, documents: db.collection(COLLECTION), yields: 0, versions: Vec::new() }
    }

    /// The same, going slowly through scans and transactions.
    pub(super) fn slowly(self, yields: usize) -> Self {
        Hands { yields, ..self }
    }

    /// Carries out a call. An error is anything that is no answer.
    pub(super) fn perform(&mut self, call: &Call) -> Result<Answer, String> {
        match self.try_perform(call) {
            Err(Error::UniqueViolation { .. } | Error::UniqueViolations { .. }) => Ok(Answer::Twice),
            answer => answer.map_err(|error| format!("{call}: {error}")),
        }
    }

    fn try_perform(&mut self, call: &Call) -> holotype::Result<Answer> {
        let documents = self.documents.clone().with_durability(call.class);
        let document = |n: i64| document(Doc { n, by: call.id });
        Ok(match &call.op {
            Op::Get(key) => Answer::Found(self.get(key)?),
            Op::Contains(key) => Answer::Was(self.documents.contains(convert::key(key))?),
            Op::Scan | Op::Cut | Op::Reopen => Answer::All(self.all(self.documents.scan(..)?)?),
            Op::MakeIndex => Answer::Was(documents.create_index(IndexDefinition::new(INDEX, ["$.n"])?)?),
            Op::DropIndex => Answer::Was(documents.drop_index(INDEX)?),
            Op::MakeUnique => {
                let unique = IndexDefinition::new(UNIQUE, ["$.n"])?.unique();
                Answer::Was(documents.create_index(unique)?)
            }
            Op::DropUnique => Answer::Was(documents.drop_index(UNIQUE)?),
            Op::ByNumber => match self.documents.index(INDEX).range(..) {
                Err(Error::UnknownIndex { .. }) => Answer::NoIndex,
                scan => Answer::All(self.all(scan?.documents())?),
            },
            Op::Put(key, n) => {
                documents.put(convert::key(key), document(*n))?;
                Answer::Done
            }
            Op::PutMany(entries) => {
                let entries = entries.iter().map(|(key, n)| (convert::key(key), document(*n)));
                documents.put_many(entries)?;
                Answer::Done
            }
            Op::Insert(n) => Answer::Key(convert::model_key(&documents.insert(document(*n))?)),
            Op::InsertWithKey(key, n) => match documents.insert_with_key(convert::key(key), document(*n)) {
                Err(Error::KeyExists { .. }) => Answer::Taken,
                result => result.map(|()| Answer::Done)?,
            },
            Op::Replace(key, n) => Answer::Was(documents.replace(convert::key(key), document(*n))?),
            Op::Add(key, amount) => {
                let updated = documents.update(convert::key(key), added(*amount, call.id))?;
                Answer::Was(updated.matched())
            }
            Op::AddToMany(least, amount) => {
                let filter = Filter::parse("@.n >= arg('least')")?.bind("least", *least)?;
                Answer::Count(documents.update_many(&filter, added(*amount, call.id))?.matched)
            }
            Op::Delete(key) => Answer::Was(documents.delete(convert::key(key))?),
            Op::DeleteMany(below) => {
                let filter = Filter::parse("@.n < arg('below')")?.bind("below", *below)?;
                Answer::Count(documents.delete_many(&filter)?.changed)
            }
            Op::Clear => documents.clear().map(|()| Answer::Done)?,
            Op::Flush => self.db.flush().map(|()| Answer::Done)?,
            _ => self.transact(call)?,
        })
    }

    /// Fills a store: the one commit before the history begins.
    pub(super) fn fill(&self, entries: &[(Key, Doc)]) -> Result<(), String> {
        let entries = entries.iter().map(|(key, doc)| (convert::key(key), document(*doc)));
        self.documents.put_many(entries).map(|_| ()).map_err(|error| format!("filling the store: {error}"))
    }

    fn get(&mut self, key: &Key) -> holotype::Result<Option<Doc>> {
        self.documents.get(convert::key(key))?.map(|found| self.read(&found)).transpose()
    }

    pub(super) fn all(
        &mut self,
        scan: impl Iterator<Item = holotype::Result<DocRef>>,
    ) -> holotype::Result<Vec<(Key, Doc)>> {
        scan.map(|found| {
            let found = found?;
            self.let_others_in();
            Ok((convert::model_key(&found.key().to_key()), self.read(&found)?))
        })
        .collect()
    }

    pub(super) fn let_others_in(&self) {
        (0..self.yields).for_each(|_| yield_now());
    }

    /// What a document says, having looked at all of it: one that is no call's is like nothing that a call can have put.
    pub(super) fn read(&mut self, found: &DocRef) -> holotype::Result<Doc> {
        let field = |name| found.get(name).and_then(|value| value.as_i64());
        let by = field("by").and_then(|by| u32::try_from(by).ok());
        let doc = field("n").zip(by).map(|(n, by)| Doc { n, by });
        let whole = found.to_document()?;
        match doc.filter(|doc| whole == document(*doc)) {
            Some(doc) => {
                // What a transaction has put itself has no version yet.
                if found.version() != 0 {
                    self.versions.push((doc.by, found.version()));
                }
                Ok(doc)
            }
            None => Ok(Doc { n: i64::MIN, by: u32::MAX }),
        }
    }
}

/// What adds to the number of a document, and makes it one of call `by`.
fn added(amount: i64, by: u32) -> Update {
    Update::new().inc("$.n", amount).set("$.by", i64::from(by)).set("$.filler", filler(by))
}

/// A document as it is stored, of a length that differs from call to call.
pub(super) fn document(doc: Doc) -> holotype::Document {
    holotype::doc! { "n": doc.n, "by": i64::from(doc.by), "filler": filler(doc.by) }
}

fn filler(by: u32) -> String {
    "x".repeat(by as usize * 37 % 150)
}
