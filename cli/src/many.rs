//! Calls on all documents that a filter admits.

use std::path::Path;

use clap::Args;
use holotype::query::Filter;
use holotype::{TxCollection, UpdateReport};

use crate::exit::{Exit, Result};
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

    /// Makes one commit of `call`, unless this is a dry run, and prints what it answers.
    pub(crate) fn run(
        &self,
        path: &Path,
        collection: &str,
        call: impl FnOnce(&TxCollection<'_>) -> holotype::Result<UpdateReport>,
    ) -> Result<Exit> {
        let store = Store::open_to_write(path)?;
        let work = || {
            let tx = store.db.begin_write()?;
            let report = call(&tx.collection(collection))?;
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

/// Prints a report as one line of JSON.
pub(crate) fn print(UpdateReport { matched, changed }: UpdateReport) -> Result<Exit> {
    let mut output = Output::new();
    output.line(&format!("{{\"matched\": {matched}, \"changed\": {changed}}}"))?;
    output.finish()?;
    Ok(Exit::Done)
}
