//! What every step must come to, worked out without a store.

use std::collections::BTreeMap;

use holotype_benches::workload::SMALL_FIELDS;

use super::step::{CATEGORIES, Done, Form, Make, Naming, Work};
use crate::contents::{Contents, byte_sum};

/// A document that must be there, and what its bytes come to.
#[derive(Debug)]
struct Document {
    make: Make,
    len: u64,
    sum: u64,
}

/// A document that must be there under a name.
#[derive(Debug)]
struct Named {
    id: u64,
    sum: u64,
}

/// The documents that must be there.
#[derive(Debug, Default)]
pub struct Model {
    documents: BTreeMap<u64, Document>,
    named: BTreeMap<String, Named>,
}

impl Model {
    /// Goes on by what `work` does; what that must come to.
    pub fn after(&mut self, work: &Work) -> Done {
        let mut done = Done::default();
        match work {
            Work::Put(commits, make) => {
                for id in commits.iter().flatten() {
                    let bytes = make.document(*id).encode();
                    let (len, sum) = (bytes.len() as u64, byte_sum(&bytes));
                    self.documents.insert(*id, Document { make: *make, len, sum });
                    done.documents += 1;
                }
            }
            Work::PutNamed(commits, naming) => {
                for id in commits.iter().flatten() {
                    let sum = byte_sum(&naming.document(*id).encode());
                    self.named.insert(naming.name(*id), Named { id: *id, sum });
                }
                done.documents = commits.iter().map(|commit| commit.len() as u64).sum();
            }
            Work::Delete(ids) => {
                done.documents = ids.iter().filter(|id| self.documents.remove(id).is_some()).count() as u64;
            }
            Work::DeleteNamed(commits, naming) => {
                let ids = commits.iter().flatten();
                let was_there = |id: &&u64| self.named.remove(&naming.name(**id)).is_some();
                done.documents = ids.filter(was_there).count() as u64;
            }
            Work::Get(ids, form) => ids.iter().for_each(|id| done.add(self.found(*id, *form))),
            Work::GetNamed(ids, naming, form) => {
                let found = ids.iter().filter_map(|id| self.named.get(&naming.name(*id)));
                found.for_each(|named| done.add(named.found(*form)));
            }
            Work::Miss(ids) | Work::MissNamed(ids) => done.documents = ids.len() as u64,
            Work::Count(times) => done.documents = self.documents.len() as u64 * *times as u64,
            Work::CountNamed(times) => done.documents = self.named.len() as u64 * *times as u64,
            Work::Scan(form, times) => {
                self.documents.keys().for_each(|id| done.add(self.found(*id, *form)));
                done = Done { documents: done.documents * *times as u64, sum: done.sum * *times as u64 };
            }
            Work::Ranges(from, count) => {
                for from in from {
                    let range = self.documents.range(from..).take(*count);
                    range.for_each(|(id, _)| done.add(self.found(*id, Form::Raw)));
                }
            }
            Work::RangesNamed(from, count, form) => {
                for from in from {
                    let range = self.named.range(from.clone()..).take(*count);
                    range.for_each(|(_, named)| done.add(named.found(*form)));
                }
            }
            Work::Prefixes(prefixes) => {
                for prefix in prefixes {
                    let from = self.named.range(prefix.clone()..);
                    let named = from.take_while(|(name, _)| name.starts_with(prefix));
                    named.for_each(|(_, named)| done.add(named.found(Form::Raw)));
                }
            }
        }
        done
    }

    fn found(&self, id: u64, form: Form) -> Done {
        let Some(document) = self.documents.get(&id) else { return Done::default() };
        let sum = match form {
            Form::Unread => document.len,
            Form::Raw => document.sum,
            Form::Decode => id + SMALL_FIELDS as u64,
            Form::Typed => id + "benchmark user".len() as u64,
            Form::Field => id,
            Form::Filter(percent) if id % 100 < percent => id + SMALL_FIELDS as u64,
            Form::Filter(_) => return Done::default(),
            Form::Entry | Form::EntryThenFilter | Form::FilterThenEntry => {
                unreachable!("entries have names and no ids")
            }
        };
        Done { documents: 1, sum }
    }

    /// How many names there are.
    pub fn names(&self) -> usize {
        self.named.len()
    }

    /// How many documents there are under ids.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// What must be found under ids in the end.
    pub fn contents(&self) -> Contents {
        Contents::of(self.documents.iter().map(|(id, document)| (*id, document.make.document(*id))))
    }
}

impl Named {
    fn found(&self, form: Form) -> Done {
        let category = Naming::category(self.id);
        let sum = match form {
            Form::Raw => self.sum,
            Form::EntryThenFilter | Form::FilterThenEntry if category != CATEGORIES[0] => {
                return Done::default();
            }
            Form::Entry | Form::EntryThenFilter | Form::FilterThenEntry => {
                self.id + format!("User_{}", self.id).len() as u64 + category.len() as u64
            }
            other => unreachable!("no row reads what is under names as {other:?}"),
        };
        Done { documents: 1, sum }
    }
}
