//! One who follows the change feed and plays it back: what comes of it must be what the store holds, however often the log behind it was
//! cleaned and given out again.

use std::collections::BTreeMap;

use holotype::{Change, Commit, Db, Error, Location, Watch};
use holotype_model::Key;

use crate::adapter::{self, Contents};
use crate::convert;

/// The documents of a collection, and where each stands, as far as the feed has said so.
type Places = BTreeMap<Key, Option<Location>>;

/// What is known by having listened.
#[derive(Debug)]
pub struct Follower {
    watch: Watch,
    /// Where it began to listen.
    began: u64,
    /// By id.
    collections: BTreeMap<u32, (String, Places)>,
    /// The commits that were shown, oldest first.
    shown: Vec<u64>,
}

/// What came of asking for what was shown before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resumed {
    /// Feeds that went on from where they were asked to.
    pub went_on: u64,
    /// Feeds that were refused, as part of the log was gone.
    pub gone: u64,
}

impl Follower {
    /// Begins to listen now.
    ///
    /// # Errors
    /// What is wrong with what the store answers.
    pub fn begin(db: &Db) -> Result<Follower, String> {
        let contents = read(db)?;
        let began = db.stats().lsn;
        let watch = db.watch(began).map_err(|error| format!("a feed from now on: {error}"))?;
        let ids = db.collection_ids().into_iter();
        let collections = ids.map(|(name, id)| {
            let places = contents.documents[&name].keys().map(|key| (key.clone(), None)).collect();
            (id, (name, places))
        });
        Ok(Follower { watch, began, collections: collections.collect(), shown: Vec::new() })
    }

    /// How many commits it was shown.
    pub fn shown(&self) -> u64 {
        self.shown.len() as u64
    }

    /// The same follower of `db`, a copy of the store.
    pub fn fork(&self, db: &Db) -> Follower {
        let watch = self.watch.fork(db);
        Follower {
            watch,
            began: self.began,
            collections: self.collections.clone(),
            shown: self.shown.clone(),
        }
    }

    /// Listens to all that is new, and holds it against what the store holds; then asks for what was shown before.
    ///
    /// # Errors
    /// What is wrong with what the store answers.
    pub fn catch_up(&mut self, db: &Db) -> Result<Resumed, String> {
        while let Some(commit) = self.watch.try_next().map_err(|error| format!("the feed says: {error}"))? {
            if self.shown.last().is_some_and(|last| *last >= commit.lsn) {
                return Err(format!("the feed shows {:x} after {:x?}", commit.lsn, self.shown.last()));
            }
            self.shown.push(commit.lsn);
            commit.changes.into_iter().try_for_each(|change| self.follow(change))?;
        }
        self.compare(db)?;
        self.resume(db)
    }

    fn follow(&mut self, change: Change) -> Result<(), String> {
        let said = format!("{change:?}");
        let fits = match change {
            Change::Put { collection, key, at, .. } => {
                let places = self.collections.get_mut(&collection);
                places.map(|(_, places)| {
                    places.insert(convert::model_key(&key), Some(at));
                })
            }
            Change::Delete { collection, key, .. } => {
                let places = self.collections.get_mut(&collection);
                places.and_then(|(_, places)| places.remove(&convert::model_key(&key))).map(drop)
            }
            Change::Create { collection, name } => {
                let before = self.collections.insert(collection, (name, Places::new()));
                before.is_none().then_some(())
            }
            Change::Drop { collection } => self.collections.remove(&collection).map(drop),
            Change::Clear { collection, new } => self.collections.remove(&collection).map(|(name, _)| {
                self.collections.insert(new, (name, Places::new()));
            }),
            Change::Rename { collection, name } => {
                self.collections.get_mut(&collection).map(|(before, _)| *before = name)
            }
            change => return Err(format!("the feed shows what no check knows: {change:?}")),
        };
        fits.ok_or_else(|| format!("the feed shows {said}, which does not follow from what it showed before"))
    }

    fn compare(&self, db: &Db) -> Result<(), String> {
        let contents = read(db)?;
        let known: BTreeMap<&str, &Places> =
            self.collections.values().map(|(name, places)| (name.as_str(), places)).collect();
        if !known.keys().copied().eq(contents.documents.keys().map(String::as_str)) {
            let have: Vec<_> = contents.documents.keys().collect();
            return Err(format!(
                "the feed, played back, has the collections {:?}, not {have:?}",
                known.keys()
            ));
        }
        for (name, documents) in &contents.documents {
            let places = known[name.as_str()];
            if !places.keys().eq(documents.keys()) {
                let (shown, have) = (places.keys(), documents.keys());
                return Err(format!("the feed, played back, has {shown:?} in {name}, not {have:?}"));
            }
            for (key, at) in places {
                let Some(at) = at else { continue };
                let found = db.document_at(*at).map_err(|error| format!("where {key} was put: {error}"))?;
                let found = found.map(|found| adapter::decoded(&found)).transpose();
                // None: it was moved, and its place was given to something else.
                if found.map_err(|error| error.to_string())?.is_some_and(|found| found != documents[key]) {
                    return Err(format!("where the feed says that {key} was put, another document stands"));
                }
            }
        }
        Ok(())
    }

    /// A feed from any place either shows every commit behind it, or says up front that it cannot.
    fn resume(&self, db: &Db) -> Result<Resumed, String> {
        let positions = [0, self.began].into_iter().chain(self.shown.iter().copied());
        let (mut resumed, mut resumable) = (Resumed::default(), false);
        for from in positions {
            let mut watch = match db.watch(from) {
                Ok(watch) => watch,
                Err(Error::LsnGone { lsn, oldest }) if !resumable && lsn == from && oldest > from => {
                    resumed.gone += 1;
                    continue;
                }
                Err(error) => return Err(format!("a feed from {from:x}: {error}")),
            };
            resumable = true;
            resumed.went_on += 1;
            let again = std::iter::from_fn(|| watch.try_next().transpose());
            let again: Result<Vec<Commit>, Error> = again.collect();
            let again = again.map_err(|error| format!("a feed from {from:x}: {error}"))?;
            let again: Vec<u64> =
                again.iter().map(|commit| commit.lsn).filter(|lsn| *lsn > self.began).collect();
            let behind = &self.shown[self.shown.partition_point(|lsn| *lsn <= from)..];
            if again != behind {
                return Err(format!("a feed from {from:x} shows {again:x?}; shown before were {behind:x?}"));
            }
        }
        Ok(resumed)
    }
}

fn read(db: &Db) -> Result<Contents, String> {
    adapter::contents(db).map_err(|error| format!("reading what it holds: {error}"))
}
