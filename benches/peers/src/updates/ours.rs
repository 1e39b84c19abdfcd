//! Holotype: by updates, and by a get, a change and a put through serde.

use std::path::Path;

use holotype::query::Filter;
use holotype::{Collection, Db, Durability, Error, IndexDefinition, Options, Update, doc};
use serde::{Deserialize, Serialize};

use super::Updates;
use super::rows::{Many, One, State, User, texts};

pub struct ByUpdate(Store);

/// What an application does without updates.
pub struct GetAndPut(Store);

pub struct Store {
    db: Db,
    users: Collection,
}

#[derive(Serialize, Deserialize)]
struct Counted {
    n: i64,
    texts: Vec<String>,
}

impl Store {
    fn open(directory: &Path) -> holotype::Result<Self> {
        let options = Options::new().durability(Durability::Written);
        let db = Db::open_with(directory.join("store.holo"), &options)?;
        let users = db.collection("users");
        Ok(Store { db, users })
    }

    fn with_users(directory: &Path, users: &[User], indexed: bool) -> holotype::Result<Self> {
        let store = Self::open(directory)?;
        let document = |(user, number): (&User, i64)| {
            (number, doc! { "name": format!("User {number}"), "age": user.age, "score": user.score })
        };
        store.users.put_many(users.iter().zip(1..).map(document))?;
        if indexed {
            store.users.create_index(IndexDefinition::new("age", ["$.age"])?)?;
        }
        Ok(store)
    }

    fn with_counted(directory: &Path, one: &One, count: u64, indexed: bool) -> holotype::Result<Self> {
        let store = Self::open(directory)?;
        for number in 1..=count as i64 {
            store.users.put_as(number, &Counted { n: 0, texts: texts(one.len) })?;
        }
        if indexed {
            store.users.create_index(IndexDefinition::new("n", ["$.n"])?)?;
        }
        Ok(store)
    }

    /// How many documents there are, and the sum of a field.
    fn state(&self, field: &str) -> holotype::Result<State> {
        self.users.find(..).run()?.try_fold((0, 0), |(count, sum), found| {
            Ok((count + 1, sum + found?.get(field).and_then(|value| value.as_i64()).unwrap_or_default()))
        })
    }
}

impl Updates for ByUpdate {
    const NAME: &'static str = "Holotype";
    type Error = Error;

    fn with_users(directory: &Path, users: &[User], indexed: bool) -> holotype::Result<Self> {
        Store::with_users(directory, users, indexed).map(ByUpdate)
    }

    fn with_counted(directory: &Path, one: &One, count: u64, indexed: bool) -> holotype::Result<Self> {
        Store::with_counted(directory, one, count, indexed).map(ByUpdate)
    }

    fn many(&mut self, many: &Many) -> Option<holotype::Result<u64>> {
        let changed = || {
            let filter = Filter::parse(many.filter)?;
            let users = &self.0.users;
            let report = match many.deletes {
                true => users.delete_many(&filter)?,
                false => users.update_many(&filter, Update::new().inc("$.score", 1))?,
            };
            Ok(report.changed)
        };
        Some(changed())
    }

    fn one(&mut self, one: &One, count: u64) -> Option<holotype::Result<()>> {
        let raise = || Update::new().inc("$.n", 1);
        let all = 1..=count as i64;
        Some(if one.together {
            self.0.db.write(|tx| {
                let users = tx.collection("users");
                all.clone().try_for_each(|number| users.update(number, raise()).map(drop))
            })
        } else {
            all.clone().try_for_each(|number| self.0.users.update(number, raise()).map(drop))
        })
    }

    fn state(&mut self, field: &str) -> holotype::Result<State> {
        self.0.state(field)
    }
}

impl Updates for GetAndPut {
    const NAME: &'static str = "Holotype, get and put";
    type Error = Error;

    fn with_users(directory: &Path, users: &[User], indexed: bool) -> holotype::Result<Self> {
        Store::with_users(directory, users, indexed).map(GetAndPut)
    }

    fn with_counted(directory: &Path, one: &One, count: u64, indexed: bool) -> holotype::Result<Self> {
        Store::with_counted(directory, one, count, indexed).map(GetAndPut)
    }

    fn many(&mut self, _: &Many) -> Option<holotype::Result<u64>> {
        None
    }

    fn one(&mut self, one: &One, count: u64) -> Option<holotype::Result<()>> {
        let all = 1..=count as i64;
        Some(if one.together {
            self.0.db.write(|tx| {
                let users = tx.collection("users");
                all.clone().try_for_each(|number| {
                    let Some(mut counted) = users.get_as::<Counted>(number)? else { return Ok(()) };
                    counted.n += 1;
                    users.put_as(number, &counted)
                })
            })
        } else {
            all.clone().try_for_each(|number| {
                let Some(mut counted) = self.0.users.get_as::<Counted>(number)? else { return Ok(()) };
                counted.n += 1;
                self.0.users.put_as(number, &counted)
            })
        })
    }

    fn state(&mut self, field: &str) -> holotype::Result<State> {
        self.0.state(field)
    }
}
