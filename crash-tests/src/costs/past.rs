//! Chapters of what was: feeds over several lives of a store, and the documents to which they lead.

use holotype::{Change, Db, IndexDefinition, Location, Options};

use super::asked::Heard;
use super::life::{Life, document, name};
use crate::metered::Metered;
use crate::story::say;

/// Some commits of every kind.
fn commits(life: &mut Life, round: i64) -> Result<(), String> {
    for number in 0..12 {
        life.call(life.db.collection("fed").put(number % 5, document(round * 100 + number, 50)));
        life.told(life.db.collection("fed").delete((number + 3) % 7));
    }
    life.call(life.db.collection("fed").put(name(round), document(round, 3 * life.setup.segment)));
    life.told(life.db.create_collection("other"));
    life.call(life.db.collection("other").put(1, document(1, 1)));
    life.told(life.db.rename_collection("other", "renamed"));
    life.call(life.db.collection("renamed").clear());
    let by_n = IndexDefinition::new("by_n", ["$.n"]).map_err(say)?;
    life.told(life.db.collection("renamed").create_index(by_n));
    let Some(transaction) = life.call(life.db.begin_write()) else { return Ok(()) };
    for number in 0..90 {
        life.call(transaction.collection("renamed").put(number, document(number, 200)));
    }
    life.call(transaction.commit());
    life.told(life.db.drop_collection("renamed"));
    Ok(())
}

fn hear_place(db: &Db, place: Location, heard: &mut Heard) -> Result<(), String> {
    match db.document_at(place) {
        Ok(Some(found)) => heard.document(found.key(), found.version(), found.bytes()),
        Ok(None) => heard.number(3),
        Err(error) => heard.text(&error.to_string()),
    }
    Ok(())
}

/// What a feed from an LSN shows. The places that it names.
fn follow(db: &Db, from: u64, heard: &mut Heard) -> holotype::Result<Vec<Location>> {
    let (mut feed, mut places) = (db.watch(from)?, Vec::new());
    while let Some(commit) = feed.try_next()? {
        heard.number(commit.lsn);
        heard.number(feed.lsn());
        for change in &commit.changes {
            match change {
                Change::Put { collection, key, at, replaced, .. } => {
                    heard.number(u64::from(*collection));
                    heard.key(key.as_ref());
                    places.extend([Some(*at), *replaced].into_iter().flatten());
                }
                Change::Delete { collection, key, replaced, .. } => {
                    heard.number(u64::from(*collection));
                    heard.key(key.as_ref());
                    places.extend(*replaced);
                }
                other => heard.text(&format!("{other:?}")),
            }
        }
    }
    heard.documents += 1;
    Ok(places)
}

pub(super) fn lives(life: &mut Life) -> Result<(), String> {
    let mut lsns = vec![0, life.db.stats().lsn];
    let mut held = life.call(life.db.watch(life.db.stats().lsn));
    for round in 0..4 {
        commits(life, round)?;
        lsns.extend([life.db.stats().lsn - 20, life.db.stats().lsn - 3, life.db.stats().lsn]);
        let mut heard = Heard::default();
        let mut places = Vec::new();
        for lsn in lsns.iter().flat_map(|lsn| [lsn.saturating_sub(1), *lsn, (lsn >> 32 << 32) + 1]) {
            let followed = follow(&life.db, lsn, &mut heard);
            places = life.call(followed).unwrap_or(places);
        }
        let followed = follow(&life.db, lsns[1], &mut heard);
        places.extend(life.call(followed).into_iter().flatten());
        for place in &places {
            hear_place(&life.db, *place, &mut heard)?;
        }
        life.note("places", places.len() as u64);
        match round {
            0 => {
                held = None;
                life.reopen()?;
                life.reopen()?;
            }
            1 => life.kill()?,
            2 => {
                let feed = held.take();
                let moved = life.call(life.db.compact());
                life.note("moved", moved.map_or(0, |report| report.moved_bytes));
                life.come_to_rest()?;
                drop(feed);
                life.come_to_rest()?;
            }
            _ => {}
        }
        if round < 3 {
            let meanwhile = life.call(life.db.watch(life.db.stats().lsn));
            held = meanwhile;
        }
        for place in &places {
            hear_place(&life.db, *place, &mut heard)?;
        }
        heard.tell(life);
    }
    drop(held);
    // What is no store yet is made to be one only where that is asked for.
    for change in [|options: Options| options.read_only(true), |options: Options| options.create(false)] {
        let none = Db::open_on(Metered::default(), &change(life.setup.options.clone()));
        life.call(none.map(drop));
    }
    damaged(life)
}

/// What a feed says where the log is damaged.
fn damaged(life: &mut Life) -> Result<(), String> {
    life.db.flush().map_err(say)?;
    let mut heard = Heard::default();
    let lsn = life.db.stats().lsn;
    for number in 0..3 {
        let copy = life.file.copy().map_err(say)?;
        let db = life.setup.open(&copy).map_err(say)?;
        let places = follow(&db, lsn - 30, &mut Heard::default()).unwrap_or_default();
        for range in db.held_places().into_iter().filter(|range| range.start >= 4096) {
            let len = range.end - range.start;
            let at = range.start + (number * 131 + 40) % len;
            copy.damage(at).map_err(say)?;
            copy.damage(range.start + (at * 7) % len).map_err(say)?;
        }
        let fresh = life.setup.read(&copy);
        match &fresh {
            Ok(fresh) => life.note("opened", fresh.stats().documents),
            Err(error) => heard.text(&error.to_string()),
        }
        for from in [0, lsn - 60, lsn - 30, lsn - 10] {
            let followed = follow(&db, from, &mut heard);
            life.call(followed);
        }
        for place in places {
            hear_place(&db, place, &mut heard)?;
        }
    }
    heard.tell(life);
    Ok(())
}
