//! `holotype import`: JSON documents into a collection, all in one commit unless asked otherwise.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use holotype::{Collection, Db, Document, Error, Key};
use serde::Serialize;

use crate::advice::Advice;
use crate::exit::{Exit, Failure, Result};
use crate::input::{Input, Items, is_standard_input};
use crate::many;
use crate::output;
use crate::store::Store;

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The store; created if there is none
    store: PathBuf,
    /// JSON Lines, or one JSON array of objects; - for standard input
    file: PathBuf,
    /// The collection to put the documents into [default: FILE without directory and extension]
    #[arg(long, value_name = "NAME")]
    collection: Option<String>,
    /// Put each document under the value of this field, in the place of the one that may be there; without it, each gets the
    /// next id
    #[arg(long, value_name = "FIELD", conflicts_with = "with_keys")]
    key: Option<String>,
    /// Read what `export --with-keys` writes: {"key":..,"doc":..}
    #[arg(long)]
    with_keys: bool,
    /// Commit after every N documents; without it, all documents are one commit: all of them, or none
    #[arg(long, value_name = "N", value_parser = many::batch)]
    batch: Option<NonZeroUsize>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Imported {
    collection: String,
    documents: u64,
    commits: u64,
    seconds: f64,
}

pub(crate) fn run(args: &ImportArgs) -> Result<Exit> {
    let started = Instant::now();
    let collection = collection_name(args)?;
    let input = Input::open(&args.file)?;
    let mut import = Import::new(args, collection)?;
    import.all(input).map_err(|failure| failure.and(&import.aftermath()))?;
    let imported = import.finish(started)?;
    output::report(&imported, args.json, text).map_err(Failure::committed)?;
    Ok(Exit::Done)
}

fn text(imported: &Imported) -> String {
    let Imported { collection, documents, commits, seconds } = imported;
    format!("imported {documents} documents into {collection:?} in {seconds:.1} s, commits: {commits}")
}

fn collection_name(args: &ImportArgs) -> Result<String> {
    if let Some(name) = &args.collection {
        return Ok(name.clone());
    }
    if is_standard_input(&args.file) {
        let failure = Failure::usage("standard input has no name to call the collection by");
        return Err(failure.advise(Advice::NameCollection));
    }
    let stem = args.file.file_stem().and_then(|stem| stem.to_str());
    stem.map(str::to_owned).ok_or_else(|| {
        let message = format!("{} has no name to call the collection by", args.file.display());
        Failure::usage(message).advise(Advice::NameCollection)
    })
}

/// An import under way.
struct Import<'a> {
    args: &'a ImportArgs,
    collection: String,
    /// None as long as there is no file: it is created by the first commit, so that bad input leaves none behind.
    store: Option<Store>,
    staged: Staged,
    documents: u64,
    commits: u64,
}

impl<'a> Import<'a> {
    fn new(args: &'a ImportArgs, collection: String) -> Result<Self> {
        let store = Store::open_if_there(&args.store)?;
        Ok(Import { args, collection, store, staged: Staged::default(), documents: 0, commits: 0 })
    }

    fn all(&mut self, input: Input) -> Result<()> {
        if self.args.with_keys {
            let mut entries = input.items::<(Key, Document)>()?;
            while let Some(entry) = entries.next() {
                let (line, (key, document)) = entry?;
                self.stage(&entries, line, Some(key), &document)?;
            }
        } else {
            let mut documents = input.items::<Document>()?;
            while let Some(document) = documents.next() {
                let (line, document) = document?;
                let key = self.args.key.as_deref().map(|field| key_in(&document, field)).transpose();
                let key = key.map_err(|what| documents.bad(line, what))?;
                self.stage(&documents, line, key, &document)?;
            }
        }
        self.commit()
    }

    fn stage<T>(&mut self, items: &Items<T>, line: u64, key: Option<Key>, document: &Document) -> Result<()> {
        self.staged.push(key, document).map_err(|error| items.bad(line, error))?;
        match self.args.batch {
            Some(batch) if self.staged.len() >= batch.get() => self.commit(),
            _ => Ok(()),
        }
    }

    fn commit(&mut self) -> Result<()> {
        if self.store.is_none() {
            let first = |db: &Db| db.create_collection(&self.collection).map(drop);
            self.store = Some(Store::open_or_create(&self.args.store, first)?);
        }
        let store = self.store.as_ref().expect("opened above if not before");
        let collection = store.db.collection(self.collection.as_str());
        let count = self.staged.len();
        let committed = if count == 0 {
            // A file without a document makes a collection without one.
            store.db.create_collection(&self.collection).map(u64::from)
        } else if self.staged.keys.is_empty() {
            collection.insert_many(self.staged.documents()).map(|_| 1)
        } else {
            collection.put_many(self.staged.entries()).map(|_| 1)
        };
        self.commits += committed.map_err(|error| {
            let failure = store.failure(&error);
            if is_of_import(&collection, &error) {
                failure.and("that document is to be imported too")
            } else {
                failure
            }
        })?;
        self.documents += count as u64;
        self.staged.clear();
        Ok(())
    }

    fn finish(self, started: Instant) -> Result<Imported> {
        let Import { collection, store, documents, commits, .. } = self;
        store.expect("the last commit opened it").close()?;
        Ok(Imported { collection, documents, commits, seconds: started.elapsed().as_secs_f64() })
    }

    /// What a failure leaves behind.
    fn aftermath(&self) -> String {
        match self.documents {
            0 => "nothing was imported".to_owned(),
            documents => format!(
                "the first {documents} documents are committed and stay, nothing behind them was imported"
            ),
        }
    }
}

/// Whether two documents of the import itself have the same values in a unique index.
fn is_of_import(collection: &Collection, error: &Error) -> bool {
    match error {
        Error::UniqueViolation { key, .. } => collection.contains(key).is_ok_and(|is_there| !is_there),
        _ => false,
    }
}

fn key_in(document: &Document, field: &str) -> Result<Key, String> {
    let value =
        document.get(field).ok_or_else(|| format!("there is no field {field:?} to take the key from"))?;
    Key::try_from(value.clone())
        .map_err(|kind| format!("the field {field:?} is {kind}; a key is an int, text or bytes"))
}

/// Documents that wait for their commit, encoded: a fraction of the memory that they take as values.
#[derive(Debug, Default)]
struct Staged {
    bytes: Vec<u8>,
    /// Where each document ends in `bytes`.
    ends: Vec<usize>,
    /// Their keys; none where they get the next ids.
    keys: Vec<Key>,
}

impl Staged {
    fn push(&mut self, key: Option<Key>, document: &Document) -> holotype::Result<()> {
        if let Some(key) = &key {
            key.as_ref().check_len()?;
        }
        document.encode_into(&mut self.bytes)?;
        self.ends.push(self.bytes.len());
        self.keys.extend(key);
        Ok(())
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn documents(&self) -> impl Iterator<Item = Document> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let places = starts.zip(&self.ends);
        places.map(|(start, &end)| Document::decode(&self.bytes[start..end]).expect("it was encoded here"))
    }

    fn entries(&self) -> impl Iterator<Item = (Key, Document)> {
        self.keys.iter().cloned().zip(self.documents())
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.keys.clear();
    }
}
