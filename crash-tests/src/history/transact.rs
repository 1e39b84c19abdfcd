//! Whole transactions and optimistic changes, carried out on the real store.

use holotype::{Error, TxCollection, WriteTransaction};
use holotype_model::Key;

use crate::convert;

use super::call::{Answer, Call, Doc, Op};
use super::perform::{COLLECTION, Hands, document};
use super::store::{spent, transferred};
use super::yield_now;

/// Why the work of a transaction ends without a commit.
enum GivenUp {
    After(Answer),
    For(Error),
}

impl From<Error> for GivenUp {
    fn from(error: Error) -> Self {
        GivenUp::For(error)
    }
}

impl Hands<'_> {
    /// Carries out what is more than one call to the store.
    pub(super) fn transact(&mut self, call: &Call) -> holotype::Result<Answer> {
        let doc = |n: i64| document(Doc { n, by: call.id });
        match &call.op {
            Op::Transfer { from, to, amount } => self.write(call, |hands, tx| {
                let documents = tx.collection(COLLECTION);
                let both = hands.both(&documents, from, to)?;
                if let Some([from_n, to_n]) = transferred(both, *amount) {
                    documents.put(convert::key(from), doc(from_n))?;
                    hands.let_others_in();
                    documents.put(convert::key(to), doc(to_n))?;
                }
                Ok(Answer::FoundBoth(both))
            }),
            Op::Spend { from, beside, amount } => self.write(call, |hands, tx| {
                let documents = tx.collection(COLLECTION);
                let both = hands.both(&documents, from, beside)?;
                if let Some(n) = spent(both, *amount) {
                    documents.put(convert::key(from), doc(n))?;
                }
                Ok(Answer::FoundBoth(both))
            }),
            Op::GoBack((key, n), others) => self.write(call, |hands, tx| {
                tx.collection(COLLECTION).put(convert::key(key), doc(*n))?;
                let savepoint = tx.savepoint();
                let inside = hands.put_inside(tx, others, call.id)?;
                tx.rollback_to(&savepoint)?;
                Ok(inside)
            }),
            Op::RollBack(entries) => self.roll_back(call, entries),
            Op::Increment(_) | Op::Take(_) => self.change_if_the_same(call),
            other => unreachable!("no thread is asked for {other:?}"),
        }
    }

    /// A transaction in one of its two forms.
    fn write(
        &mut self,
        call: &Call,
        work: impl FnOnce(&mut Self, &mut WriteTransaction) -> holotype::Result<Answer>,
    ) -> holotype::Result<Answer> {
        if call.id.is_multiple_of(2) {
            return self.db.write(|tx| {
                tx.set_durability(call.class);
                work(self, tx)
            });
        }
        let mut tx = self.db.begin_write()?;
        tx.set_durability(call.class);
        let answer = work(self, &mut tx)?;
        self.let_others_in();
        tx.commit().map(|_| answer)
    }

    /// A transaction that is given up in one of the ways in which one can be.
    fn roll_back(&mut self, call: &Call, entries: &[(Key, i64)]) -> holotype::Result<Answer> {
        if call.id.is_multiple_of(2) {
            let result =
                self.db.write(|tx| Err::<(), _>(GivenUp::After(self.put_inside(tx, entries, call.id)?)));
            return match result.expect_err("it was given up") {
                GivenUp::After(inside) => Ok(inside),
                GivenUp::For(error) => Err(error),
            };
        }
        let mut tx = self.db.begin_write()?;
        let inside = self.put_inside(&mut tx, entries, call.id)?;
        tx.rollback().map(|()| inside)
    }

    fn both(
        &mut self,
        documents: &TxCollection<'_>,
        one: &Key,
        other: &Key,
    ) -> holotype::Result<[Option<Doc>; 2]> {
        let mut get = |key| documents.get(convert::key(key))?.map(|found| self.read(&found)).transpose();
        Ok([get(one)?, get(other)?])
    }

    /// Puts documents in a transaction that takes them back, and reads what is there with them.
    fn put_inside(
        &mut self,
        tx: &mut WriteTransaction,
        entries: &[(Key, i64)],
        by: u32,
    ) -> holotype::Result<Answer> {
        let documents = tx.collection(COLLECTION);
        for (key, n) in entries {
            documents.put(convert::key(key), document(Doc { n: *n, by }))?;
            self.let_others_in();
        }
        Ok(Answer::All(self.all(documents.scan(..)?)?))
    }

    fn change_if_the_same(&mut self, call: &Call) -> holotype::Result<Answer> {
        let documents = self.documents.clone().with_durability(call.class);
        let (Op::Increment(key) | Op::Take(key)) = &call.op else { unreachable!("{call} is one of these") };
        let key = convert::key(key);
        loop {
            let Some(found) = documents.get(&key)? else { return Ok(Answer::Found(None)) };
            let doc = self.read(&found)?;
            self.let_others_in();
            let next = document(Doc { n: doc.n + 1, by: call.id });
            let result = match &call.op {
                Op::Increment(_) => documents.replace_if(&key, found.version(), next),
                _ => documents.delete_if(&key, found.version()),
            };
            match result {
                Err(Error::VersionMismatch { .. }) => yield_now(),
                result => return result.map(|()| Answer::Found(Some(doc))),
            }
        }
    }
}
