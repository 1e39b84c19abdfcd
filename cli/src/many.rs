//! Calls on all documents that a filter admits.

use std::num::NonZeroUsize;
use std::path::Path;

use clap::Args;
use holotype::query::Filter;
use holotype::update::Changes;
use holotype::{Stopped, UpdateReport};

use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::query;
use crate::store::Store;

/// Which documents, and whether it is done at all.
#[derive(Debug, Clone, Args)]
pub(crate) struct ManyArgs {
    /// Take all documents that a filter (JSONPath, RFC 9535) admits, as --where '@.seen > 3'
    #[arg(long = "where", id = "where", value_name = "FILTER", allow_hyphen_values = true)]
    filter: Option<String>,
    /// Give arg('NAME') in the filter a value
    #[arg(long = "arg", value_name = "NAME=JSON", conflicts_with = "key")]
    parameters: Vec<String>,
    /// Print how many documents there are, and leave them as they are
    #[arg(long, conflicts_with = "key")]
    dry_run: bool,
    /// Commit after every N documents; without it, all changes are one commit: all of them, or none
    #[arg(long, value_name = "N", conflicts_with_all = ["key", "dry_run"], value_parser = batch)]
    batch: Option<NonZeroUsize>,
}

impl ManyArgs {
    /// The filter with its parameters bound, if there is one.
    pub(crate) fn filter(&self) -> Result<Option<Filter>> {
        self.filter.as_deref().map(|text| self.parse(text)).transpose()
    }

    fn parse(&self, text: &str) -> Result<Filter> {
        let mut filter = query::filter("--where", text)?;
        for (name, value) in query::parameters(&self.parameters)? {
            filter = filter.bind(name, value).map_err(|error| query::wrong("--arg", name, error))?;
        }
        filter.check().map_err(|error| query::wrong("--where", text, error))?;
        Ok(filter)
    }

    /// Makes the changes, or deletes where none are given, in one commit or in batches, unless this is a dry run.
    /// Prints what came of it.
    pub(crate) fn run(
        &self,
        path: &Path,
        collection: &str,
        filter: &Filter,
        changes: Option<Changes<'_>>,
    ) -> Result<Exit> {
        let store = Store::open_to_write(path)?;
        if let Some(count) = self.batch {
            let collection = store.db.collection(collection);
            let batches = collection.batches_of(count.get());
            let done = match changes {
                Some(changes) => batches.update_many(filter, changes),
                None => batches.delete_many(filter),
            };
            let report = done.map_err(|Stopped { report: UpdateReport { changed, .. }, last, error }| {
                let failure = store.failure(&error);
                match last {
                    Some(_) => failure.and(&format!("commits before that one changed {changed} documents")),
                    None => failure,
                }
            })?;
            drop(collection);
            store.close()?;
            return print(report).map_err(Failure::committed);
        }
        let work = || {
            let tx = store.db.begin_write()?;
            let documents = tx.collection(collection);
            let report = match changes {
                Some(changes) => documents.update_many(filter, changes),
                None => documents.delete_many(filter),
            }?;
            match self.dry_run {
                true => tx.rollback()?,
                false => tx.commit().map(|_| ())?,
            }
            Ok(report)
        };
        let report = work().map_err(|error| store.failure(&error))?;
        store.close()?;
        print(report).map_err(|failure| if self.dry_run { failure } else { failure.committed() })
    }
}

/// The number of documents in one commit.
pub(crate) fn batch(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "N is a number of documents, 1 or more".to_owned())
}

/// Prints a report as one line of JSON.
pub(crate) fn print(UpdateReport { matched, changed }: UpdateReport) -> Result<Exit> {
    let mut output = Output::new();
    output.line(&format!("{{\"matched\": {matched}, \"changed\": {changed}}}"))?;
    output.finish()?;
    Ok(Exit::Done)
}
