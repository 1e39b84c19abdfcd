//! Chapters of what goes on while a sync is under way.

use holotype::{Db, Ticket};

use super::life::{Life, document};
use crate::story::say;

/// Places a commit that is made durable later: a document comes, and another one goes.
fn defer(db: &Db, key: i64) -> holotype::Result<Ticket> {
    let transaction = db.begin_write()?;
    transaction.collection("a").put(key, document(key, 40))?;
    transaction.collection("a").delete(key + 100)?;
    transaction.commit_deferred()
}

/// A commit is placed while the sync of the one before is under way.
pub(super) fn beside_a_sync(life: &mut Life) -> Result<(), String> {
    for round in 0..8 {
        let first = defer(&life.db, round);
        let sync = life.db.begin_sync().map_err(say)?;
        let second = defer(&life.db, round + 1);
        let a = life.db.collection("a");
        let there = (round + 95..round + 105).filter(|key| a.get(*key).is_ok_and(|found| found.is_some()));
        life.note("there still", there.count() as u64);
        life.note("documents meanwhile", a.len().map_err(say)?);
        life.note("scanned meanwhile", a.scan(90..120).map_err(say)?.count() as u64);
        let feed = life.db.watch(life.db.stats().lsn);
        let shown = life.call(feed).map_or(Ok(None), |mut feed| feed.try_next()).map_err(say)?;
        life.note("shown early", u64::from(shown.is_some()));
        if let Some(sync) = sync {
            life.call(sync.finish());
        }
        for ticket in [first, second] {
            let is_durable = ticket.as_ref().is_ok_and(|ticket| ticket.is_durable().unwrap_or(false));
            life.note("durable", u64::from(is_durable));
            let waited = ticket.and_then(Ticket::wait);
            life.call(waited);
        }
    }
    Ok(())
}

/// The file becomes shorter while a sync is under way that was asked for before.
pub(super) fn cut_beside_a_sync(life: &mut Life) -> Result<(), String> {
    let ticket = defer(&life.db, 1);
    let sync = life.db.begin_sync().map_err(say)?;
    life.come_to_rest()?;
    if let Some(sync) = sync {
        life.call(sync.finish());
    }
    let waited = ticket.and_then(Ticket::wait);
    life.call(waited);
    life.call(life.db.collection("a").put(2, document(2, 5000)));
    life.come_to_rest()
}
