//! One caller of an open store: its transaction, its snapshots, and the versions that it has seen.

use std::collections::BTreeMap;

use holotype::{Db, Savepoint, Snapshot, Ticket, WriteTransaction};
use holotype_model::{Failure, Key, Op, Outcome, Refusal};

use crate::adapter::{self, write};
use crate::convert;
use crate::indexes;

/// No document has it.
const NO_VERSION: u64 = 0;

/// A caller. What it holds goes with it.
#[derive(Debug)]
pub struct Client {
    // Let go in this order: what is held before what holds it.
    transaction: Option<Open>,
    snapshots: BTreeMap<u64, Snapshot>,
    snapshots_taken: u64,
    /// The version of each document that the last `get` of it saw.
    seen: BTreeMap<(String, Key), u64>,
    db: Db,
}

/// An open transaction.
#[derive(Debug)]
struct Open {
    transaction: WriteTransaction,
    savepoints: Vec<Savepoint>,
}

impl Client {
    /// A caller who has done nothing yet.
    pub fn new(db: Db) -> Self {
        Client {
            transaction: None,
            snapshots: BTreeMap::new(),
            snapshots_taken: 0,
            seen: BTreeMap::new(),
            db,
        }
    }

    /// The store.
    pub fn db(&self) -> &Db {
        &self.db
    }

    /// The same caller of `db`, a copy of the store.
    pub fn fork(&self, db: Db) -> Client {
        let transaction = self.transaction.as_ref().map(|open| Open {
            transaction: open.transaction.fork(&db).expect("nobody else writes to a copy"),
            savepoints: open.savepoints.clone(),
        });
        let forked = |snapshot: &Snapshot| snapshot.fork(&db).expect("the copy has the same snapshots");
        let snapshots = self.snapshots.iter().map(|(id, snapshot)| (*id, forked(snapshot))).collect();
        let (snapshots_taken, seen) = (self.snapshots_taken, self.seen.clone());
        Client { transaction, snapshots, snapshots_taken, seen, db }
    }

    /// The numbers of the snapshots that are held.
    pub fn snapshots(&self) -> Vec<u64> {
        self.snapshots.keys().copied().collect()
    }

    /// Closes the store.
    ///
    /// # Errors
    /// What the store says.
    pub fn close(&mut self) -> holotype::Result<()> {
        self.let_go();
        self.db.clone().close()
    }

    /// Rolls the transaction back, and lets the snapshots go.
    pub fn let_go(&mut self) {
        self.transaction = None;
        self.snapshots.clear();
    }

    /// Carries out `op`.
    pub fn apply(&mut self, op: &Op) -> Outcome {
        self.try_apply(op).unwrap_or_else(|error| adapter::outcome_of(error, op))
    }

    /// Carries out `op`; an error is what is not a refusal.
    ///
    /// # Errors
    /// What the world did.
    pub fn try_apply(&mut self, op: &Op) -> holotype::Result<Outcome> {
        self.carry_out(op).or_else(|error| adapter::refusal_of(&error).map(Outcome::Refused).ok_or(error))
    }

    fn carry_out(&mut self, op: &Op) -> holotype::Result<Outcome> {
        match op {
            Op::Begin => {
                let (transaction, savepoints) = (self.db.begin_write()?, Vec::new());
                self.transaction = Some(Open { transaction, savepoints });
                Ok(Outcome::Done)
            }
            Op::Inside(op) => self.inside(op),
            Op::Savepoint | Op::RollbackTo { .. } | Op::Commit { .. } | Op::Rollback => self.steer(op),
            Op::TakeSnapshot => {
                let id = self.snapshots_taken;
                self.snapshots_taken += 1;
                self.snapshots.insert(id, self.db.snapshot());
                Ok(Outcome::Count(id))
            }
            Op::Through { snapshot, op } => self.through(*snapshot, op),
            Op::Release { snapshot } => Ok(match self.snapshots.remove(snapshot) {
                Some(_) => Outcome::Done,
                None => Outcome::Refused(Refusal::UnknownSnapshot),
            }),
            op if op.is_write() => self.write(op),
            op => self.read(op),
        }
    }

    /// Goes on with the transaction, or ends it.
    fn steer(&mut self, op: &Op) -> holotype::Result<Outcome> {
        let Some(mut open) = self.transaction.take() else {
            return Ok(Outcome::Refused(Refusal::NoTransaction));
        };
        match op {
            Op::Savepoint => {
                open.savepoints.push(open.transaction.savepoint());
                let before = open.savepoints.len() as u64 - 1;
                self.transaction = Some(open);
                Ok(Outcome::Count(before))
            }
            Op::RollbackTo { savepoint } => {
                let result = match open.savepoints.get(*savepoint).cloned() {
                    Some(to) => {
                        open.savepoints.truncate(savepoint + 1);
                        open.transaction.rollback_to(&to).map(|()| Outcome::Done)
                    }
                    None => Ok(Outcome::Refused(Refusal::UnknownSavepoint)),
                };
                self.transaction = Some(open);
                result
            }
            Op::Commit { durability } => {
                open.transaction.set_durability(convert::durability(*durability));
                open.transaction.commit().map(|_| Outcome::Done)
            }
            _ => open.transaction.rollback().map(|()| Outcome::Done),
        }
    }

    fn inside(&mut self, op: &Op) -> holotype::Result<Outcome> {
        let Some(open) = &self.transaction else { return Ok(Outcome::Refused(Refusal::NoTransaction)) };
        let tx = &open.transaction;
        let seen = self.seen_by(op);
        Ok(match op {
            Op::Collections => Outcome::Names(tx.collections()),
            Op::CreateCollection { collection, .. } => Outcome::Bool(tx.create_collection(collection)?),
            Op::DropCollection { collection, .. } => Outcome::Bool(tx.drop_collection(collection)?),
            Op::RenameCollection { collection, to, .. } => {
                Outcome::Bool(tx.rename_collection(collection, to)?)
            }
            op => {
                let collection = tx.collection(op.collection().expect("it is about a collection"));
                if op.is_write() { write!(collection, op, seen) } else { adapter::read(&collection, op)? }
            }
        })
    }

    /// Carries out `op` in a transaction of its own, and does not wait for its commit.
    ///
    /// # Errors
    /// What the world did.
    pub fn defer(&mut self, op: &Op) -> holotype::Result<(Outcome, Ticket)> {
        let transaction = self.db.begin_write()?;
        self.transaction = Some(Open { transaction, savepoints: Vec::new() });
        let answer = self.inside(op);
        let open = self.transaction.take().expect("it was begun just now");
        Ok((answer?, open.transaction.commit_deferred()?))
    }

    fn through(&self, snapshot: u64, op: &Op) -> holotype::Result<Outcome> {
        let Some(snapshot) = self.snapshots.get(&snapshot) else {
            return Ok(Outcome::Refused(Refusal::UnknownSnapshot));
        };
        match op.collection() {
            Some(collection) => adapter::read(&snapshot.collection(collection)?, op),
            None => Ok(Outcome::Names(snapshot.collections()?)),
        }
    }

    fn write(&mut self, op: &Op) -> holotype::Result<Outcome> {
        let name = op.collection().expect("a write is about a collection");
        let durability = convert::durability(op.durability().expect("a write has a class"));
        let collection = self.db.collection(name).with_durability(durability);
        Ok(match op {
            Op::CreateCollection { .. } => Outcome::Bool(self.db.create_collection(name)?),
            Op::DropCollection { .. } => Outcome::Bool(self.db.drop_collection(name)?),
            Op::RenameCollection { to, .. } => Outcome::Bool(self.db.rename_collection(name, to)?),
            op if op.defines_index() => indexes::change(&collection, op)?,
            op => write!(collection, op, self.seen_by(op)),
        })
    }

    fn read(&mut self, op: &Op) -> holotype::Result<Outcome> {
        Ok(match op {
            Op::Get { collection, key } => {
                let found = self.db.collection(collection.as_str()).get(convert::key(key))?;
                let place = (collection.clone(), key.clone());
                match &found {
                    Some(found) => self.seen.insert(place, found.version()),
                    None => self.seen.remove(&place),
                };
                Outcome::Document(found.map(|found| adapter::decoded(&found)).transpose()?)
            }
            Op::Collections => Outcome::Names(self.db.collections()),
            Op::Flush => self.db.flush().map(|()| Outcome::Done)?,
            Op::Verify => match self.db.verify(true)?.problems.first() {
                None => Outcome::Done,
                Some(problem) => Outcome::Failed(Failure::Corrupt(problem.to_string())),
            },
            Op::Checkpoint => self.db.checkpoint().map(|()| Outcome::Done)?,
            Op::Clean => self.db.maintain().map(|_| Outcome::Done)?,
            Op::Compact => match self.db.compact() {
                // Nothing moves while a transaction of the caller's own is open.
                Err(holotype::Error::WriterBusy { .. }) if self.transaction.is_some() => Outcome::Done,
                compacted => compacted.map(|_| Outcome::Done)?,
            },
            op => {
                let collection = op.collection().expect("it reads a collection");
                adapter::read(&self.db.collection(collection), op)?
            }
        })
    }

    /// The version that a conditional write goes by.
    fn seen_by(&self, op: &Op) -> u64 {
        let place = match op {
            Op::ReplaceIf { collection, key, .. } | Op::DeleteIf { collection, key, .. } => {
                (collection.clone(), key.clone())
            }
            _ => return NO_VERSION,
        };
        self.seen.get(&place).copied().unwrap_or(NO_VERSION)
    }
}
