//! What one thread does of a step, call by call, and what came of it.

use std::time::{Duration, Instant};

use holotype::Document;
use holotype::document::{RawDocument, from_bytes};
use holotype_benches::workload::Small;
use serde::Deserialize;

use super::step::{CATEGORIES, Done, Form, Make, Naming, Work};
use crate::contents::byte_sum;
use crate::failure::{Failure, Result};
use crate::latencies::time;
use crate::stores::{Read, ReadNamed, Session, Store};

/// The time of one call in so many is taken.
const STRIDE: usize = 8;

/// What one thread did, and when, by its own word.
pub struct Worked {
    pub done: Done,
    pub sampled: Vec<Duration>,
    pub begun: Instant,
    pub ended: Instant,
}

/// Makes every call of `work`.
pub fn one_by_one<S: Store>(session: &mut S::Session<'_>, work: &Work) -> Result<Worked> {
    let mut calls = Calls { done: Done::default(), sampled: Vec::with_capacity(4_096) };
    let begun = Instant::now();
    let ended = match work {
        Work::Put(..) | Work::PutNamed(..) | Work::Delete(_) | Work::DeleteNamed(..) => {
            calls.write(session, work)?;
            Instant::now()
        }
        Work::Count(times) => begun + calls.count(*times, || session.count())?,
        Work::CountNamed(times) => begun + calls.count(*times, || session.count_named())?,
        Work::Get(..) | Work::GetNamed(..) | Work::Miss(_) | Work::MissNamed(_) => {
            calls.get::<S>(session, work)?;
            Instant::now()
        }
        Work::Scan(..) | Work::Ranges(..) | Work::RangesNamed(..) | Work::Prefixes(_) => {
            calls.scan::<S>(session, work)?;
            Instant::now()
        }
    };
    Ok(Worked { done: calls.done, sampled: calls.sampled, begun, ended })
}

/// What was called so far.
struct Calls {
    done: Done,
    sampled: Vec<Duration>,
}

impl Calls {
    fn write(&mut self, session: &mut impl Session, work: &Work) -> Result<()> {
        let Calls { done, sampled } = self;
        match work {
            Work::Put(commits, make) => each(commits, sampled, |ids| put(session, ids, *make, done)),
            Work::PutNamed(commits, naming) => each(commits, sampled, |ids| {
                session.put_named(ids.iter().map(|id| (naming.name(*id), naming.document(*id))))?;
                done.documents += ids.len() as u64;
                Ok(())
            }),
            Work::Delete(ids) => each(ids, sampled, |id| {
                session.delete(*id)?;
                done.documents += 1;
                Ok(())
            }),
            Work::DeleteNamed(commits, naming) => each(commits, sampled, |ids| {
                session.delete_named(ids.iter().map(|id| naming.name(*id)))?;
                done.documents += ids.len() as u64;
                Ok(())
            }),
            other => unreachable!("{other:?} writes nothing"),
        }
    }

    fn get<S: Store>(&mut self, session: &mut S::Session<'_>, work: &Work) -> Result<()> {
        let Calls { done, sampled } = self;
        match work {
            Work::Get(ids, form) => each(ids, sampled, |id| {
                let found = session.get(*id, |bytes| seen::<S>(bytes, *form))?;
                done.add(found.transpose()?.unwrap_or_default());
                Ok(())
            }),
            Work::GetNamed(ids, naming, form) => each(ids, sampled, |id| {
                let found = session.get_named(&naming.name(*id), |bytes| seen::<S>(bytes, *form))?;
                done.add(found.transpose()?.unwrap_or_default());
                Ok(())
            }),
            Work::Miss(ids) => each(ids, sampled, |id| {
                done.documents += u64::from(session.get(*id, |_| ())?.is_none());
                Ok(())
            }),
            Work::MissNamed(ids) => each(ids, sampled, |id| {
                done.documents += u64::from(session.get_named(&Naming::User.name(*id), |_| ())?.is_none());
                Ok(())
            }),
            other => unreachable!("{other:?} gets no single document"),
        }
    }

    fn scan<S: Store>(&mut self, session: &mut S::Session<'_>, work: &Work) -> Result<()> {
        let Calls { done, sampled } = self;
        match work {
            Work::Scan(form, times) => each(&vec![(); *times], sampled, |()| {
                let mut failed = Ok(());
                session.scan(|_, bytes| add_seen::<S>(bytes, *form, done, &mut failed))?;
                failed
            }),
            Work::Ranges(from, count) => {
                each(from, sampled, |from| session.scan_from(*from, *count, |_, bytes| done.add(raw(bytes))))
            }
            Work::RangesNamed(from, count, form) => each(from, sampled, |from| {
                let mut failed = Ok(());
                let add = |bytes: &[u8]| add_seen::<S>(bytes, *form, done, &mut failed);
                session.scan_named_from(from, *count, add)?;
                failed
            }),
            Work::Prefixes(prefixes) => {
                each(prefixes, sampled, |prefix| session.scan_named(prefix, |bytes| done.add(raw(bytes))))
            }
            other => unreachable!("{other:?} scans nothing"),
        }
    }

    /// Counts so many times, and again until the clock shows what that took: some stores take nanoseconds. What one round took.
    fn count(&mut self, times: usize, mut count: impl FnMut() -> Result<u64>) -> Result<Duration> {
        let (begun, mut counted, mut rounds) = (Instant::now(), 0, 0);
        while rounds == 0 || begun.elapsed() < SHOWN {
            let more = rounds.max(1);
            for _ in 0..times * more as usize {
                counted += count()?;
            }
            rounds += more;
        }
        let took = begun.elapsed() / rounds;
        // If one answer was another than the rest, all of them are what was found.
        if counted.is_multiple_of(rounds.into()) {
            counted /= u64::from(rounds);
        }
        self.done.documents += counted;
        Ok(took)
    }
}

/// So long the clock must have gone on before it shows what a call took.
const SHOWN: Duration = Duration::from_millis(1);

/// Calls `call` with each, and takes the time of some.
fn each<I>(all: &[I], sampled: &mut Vec<Duration>, mut call: impl FnMut(&I) -> Result<()>) -> Result<()> {
    for stretch in all.chunks(STRIDE) {
        let (timed, others) = stretch.split_first().expect("a chunk is not empty");
        time(sampled, || call(timed))?;
        others.iter().try_for_each(&mut call)?;
    }
    Ok(())
}

fn put(session: &mut impl Session, ids: &[u64], make: Make, done: &mut Done) -> Result<()> {
    match ids {
        [id] => session.put(*id, &make.document(*id))?,
        ids => session.put_all(ids.iter().map(|id| (*id, make.document(*id))))?,
    }
    done.documents += ids.len() as u64;
    Ok(())
}

fn raw(bytes: &[u8]) -> Done {
    Done { documents: 1, sum: byte_sum(bytes) }
}

/// The type that an application has for an entry.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    name: String,
    value: i64,
    category: String,
}

fn add_seen<S: Store>(bytes: &[u8], form: Form, done: &mut Done, failed: &mut Result<()>) {
    match seen::<S>(bytes, form) {
        Ok(seen) => done.add(seen),
        Err(failure) => *failed = Err(failure),
    }
}

/// What a document that was found comes to. All stores' documents are decoded by the same code; to read one field, none checks
/// that the rest is well-formed.
pub fn seen<S: Store>(bytes: &[u8], form: Form) -> Result<Done> {
    let refused = |cause: &str| Failure::new(S::NAME, "decoding a document", cause.to_owned());
    let id_of = |id: Option<i64>| {
        id.and_then(|id| u64::try_from(id).ok()).ok_or_else(|| refused("its field `id` is not there"))
    };
    let decoded = || {
        let document = Document::decode(bytes).map_err(|error| refused(&error.to_string()))?;
        Ok(id_of(document.get("id").and_then(holotype::Value::as_i64))? + document.len() as u64)
    };
    let field = || id_of(RawDocument::from_verified(bytes).get("id").and_then(|id| id.as_i64()));
    let entry = || from_bytes::<Entry>(bytes).map_err(|error| refused(&error.to_string()));
    let sum = match form {
        Form::Unread => return Ok(Done { documents: 1, sum: bytes.len() as u64 }),
        Form::Raw => return Ok(raw(bytes)),
        Form::Decode => decoded()?,
        Form::Typed => {
            let small: Small = from_bytes(bytes).map_err(|error| refused(&error.to_string()))?;
            id_of(Some(small.id))? + small.name.len() as u64
        }
        Form::Field => field()?,
        Form::Filter(percent) if field()? % 100 < percent => decoded()?,
        Form::Filter(_) => return Ok(Done::default()),
        Form::FilterThenEntry if !is_first(bytes) => return Ok(Done::default()),
        Form::Entry | Form::EntryThenFilter | Form::FilterThenEntry => {
            let Entry { name, value, category } = entry()?;
            if form == Form::EntryThenFilter && category != CATEGORIES[0] {
                return Ok(Done::default());
            }
            id_of(Some(value))? + name.len() as u64 + category.len() as u64
        }
    };
    Ok(Done { documents: 1, sum })
}

/// Whether an entry is of the first category, which is read where it lies.
fn is_first(bytes: &[u8]) -> bool {
    let category = RawDocument::from_verified(bytes).get("Category");
    category.and_then(|category| category.as_str()) == Some(CATEGORIES[0])
}
