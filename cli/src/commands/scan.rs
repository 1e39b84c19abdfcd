//! `holotype scan`: the documents of a key range.

use std::ops::Bound;
use std::path::PathBuf;

use clap::Args;
use holotype::{Collection, Key, Scan};
use indicatif::ProgressBar;

use super::export::write_documents;
use crate::advice::Advice;
use crate::args::FormArgs;
use crate::exit::{Exit, Failure, Result};
use crate::key::{KeyType, KeyTypeArg};
use crate::store::Store;

#[derive(Debug, Args)]
pub(crate) struct ScanArgs {
    /// The store
    store: PathBuf,
    /// The collection
    collection: String,
    /// Begin at this key
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    from: Option<String>,
    /// End before this key
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    to: Option<String>,
    /// Only text keys that begin so; with --key-type hex, only byte strings
    #[arg(long, conflicts_with_all = ["from", "to"], allow_hyphen_values = true)]
    prefix: Option<String>,
    /// From the last key to the first
    #[arg(long)]
    reverse: bool,
    /// At most this many documents
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    key_type: KeyTypeArg,
    #[command(flatten)]
    form: FormArgs,
}

/// Which keys.
enum Keys {
    Range(Bound<Key>, Bound<Key>),
    TextPrefix(String),
    BytesPrefix(Box<[u8]>),
}

impl Keys {
    fn of(args: &ScanArgs) -> Result<Self> {
        let Some(prefix) = &args.prefix else {
            let bound = |key: &Option<String>, inner: fn(Key) -> Bound<Key>| match key {
                Some(key) => args.key_type.parse(key).map(inner),
                None => Ok(Bound::Unbounded),
            };
            return Ok(Keys::Range(bound(&args.from, Bound::Included)?, bound(&args.to, Bound::Excluded)?));
        };
        match args.key_type.key_type {
            None | Some(KeyType::Text) => Ok(Keys::TextPrefix(prefix.clone())),
            Some(KeyType::Int) => {
                Err(Failure::usage("an integer key has no prefix").advise(Advice::UseKeyRange))
            }
            Some(KeyType::Hex) => match args.key_type.parse(prefix)? {
                Key::Bytes(prefix) => Ok(Keys::BytesPrefix(prefix)),
                Key::Int(_) | Key::Text(_) => unreachable!("hexadecimal digits stand for bytes"),
            },
        }
    }

    fn scan(self, collection: &Collection) -> holotype::Result<Scan> {
        match self {
            Keys::Range(from, to) => collection.scan((from, to)),
            Keys::TextPrefix(prefix) => collection.scan_prefix(&prefix),
            Keys::BytesPrefix(prefix) => collection.scan_prefix_bytes(&prefix),
        }
    }
}

pub(crate) fn run(args: &ScanArgs) -> Result<Exit> {
    let keys = Keys::of(args)?;
    let store = Store::open_to_read(&args.store)?;
    let scan =
        keys.scan(&store.db.collection(args.collection.as_str())).map_err(|error| store.failure(&error))?;
    let scan = if args.reverse { scan.reversed() } else { scan };
    let limit = args.limit.unwrap_or(usize::MAX);
    write_documents(&store, scan.take(limit), args.form, &ProgressBar::hidden())?;
    Ok(Exit::Done)
}
