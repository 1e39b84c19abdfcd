//! Parts of the documents that a query answers. spec: Q-8.

use serde::de::DeserializeOwned;

use super::answer::Answer;
use super::asked::Asked;
use super::cursor::Cursor;
use super::found::Found;
use super::plan::{Answers, QueryPlan};
use super::prepared::Prepared;
use super::view::{ReadView, Walk};
use crate::document::{self, Document, KeyRef, RawDocument, RawValue};
use crate::error::Result;
use crate::query::{JsonPath, Projector};

/// A query of which only parts of each document are wanted. Made by [`Query::project`](crate::Query::project).
///
/// ```
/// use holotype::{Db, doc};
///
/// let birds = Db::in_memory().collection("birds");
/// birds.insert(doc! { "name": "Wren", "year": 1859, "seen": [{ "where": "hedge", "n": 2 }, { "where": "barn", "n": 1 }] })?;
/// let mut found = birds.find(..).project(["$.name", "$.seen[*].where"]).run()?;
/// let bird = found.next().transpose()?.expect("there is one");
/// assert_eq!(bird.to_document()?, doc! { "name": "Wren", "seen": [{ "where": "hedge" }, { "where": "barn" }] });
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a query does nothing until it is run"]
pub struct Projection<'c, V> {
    view: &'c V,
    asked: Asked,
    paths: Result<Vec<JsonPath>>,
}

impl<'c, V: ReadView> Projection<'c, V> {
    pub(super) fn new(view: &'c V, asked: Asked, paths: Result<Vec<JsonPath>>) -> Self {
        Projection { view, asked, paths }
    }

    /// The parts of each document, one document after the other.
    ///
    /// # Errors
    /// As [`Query::run`](crate::Query::run).
    pub fn run(self) -> Result<Projected<V::Walk>> {
        let (paths, prepared) = self.prepared()?;
        Ok(Projected { parts: Projector::new(paths), found: Found::begin(prepared)?, over: false })
    }

    /// As [`Query::explain`](crate::Query::explain): an index that has all parts answers them without the documents.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn explain(self) -> Result<QueryPlan> {
        let (_, prepared) = self.prepared()?;
        let walk = prepared.walk()?;
        Ok(prepared.plan(&walk, true)?.told(&prepared.wanted))
    }

    /// As [`Query::analyze`](crate::Query::analyze).
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn analyze(self) -> Result<QueryPlan> {
        let (_, prepared) = self.prepared()?;
        Found::analyze(prepared)
    }

    fn prepared(self) -> Result<(Vec<JsonPath>, Prepared<'c, V>)> {
        let paths = self.paths?;
        let mut prepared = Prepared::new(self.view, self.asked, |_| Ok(()))?;
        prepared.answers = Answers::Parts(paths.clone());
        Ok((paths, prepared))
    }
}

/// The parts of the documents that a query answers. Holds the state in which it began.
#[derive(Debug)]
pub struct Projected<W: Walk> {
    found: Found<W>,
    parts: Projector,
    over: bool,
}

/// Parts of a document.
#[derive(Debug, Clone)]
pub struct ProjectedDoc {
    found: Answer,
    bytes: Vec<u8>,
}

impl<W: Walk> Projected<W> {
    /// As [`Found::cursor`].
    pub fn cursor(&self) -> Option<Cursor> {
        self.found.cursor()
    }
}

impl<W: Walk> Projected<W> {
    fn next_parts(&mut self) -> Result<Option<ProjectedDoc>> {
        let Some(found) = self.found.next_answer()? else { return Ok(None) };
        let mut bytes = Vec::new();
        self.parts.project(found.key(), found.raw(), &mut bytes)?;
        Ok(Some(ProjectedDoc { found, bytes }))
    }
}

impl<W: Walk> Iterator for Projected<W> {
    type Item = Result<ProjectedDoc>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let next = self.next_parts().transpose();
        self.over = !matches!(next, Some(Ok(_)));
        next
    }
}

impl<W: Walk> std::iter::FusedIterator for Projected<W> {}

impl ProjectedDoc {
    /// The document's key.
    pub fn key(&self) -> KeyRef<'_> {
        self.found.key()
    }

    /// The deterministic CBOR of the parts.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The field at `path`, as [`DocRef::get`](crate::DocRef::get) gives it.
    pub fn get(&self, path: &str) -> Option<RawValue<'_>> {
        self.raw().get(path)
    }

    /// The parts over their bytes.
    pub fn raw(&self) -> RawDocument<'_> {
        RawDocument::from_verified(&self.bytes)
    }

    /// The parts, decoded.
    ///
    /// # Errors
    /// `Decode` where the document's bytes, though undamaged, were not a document.
    pub fn to_document(&self) -> Result<Document> {
        Document::decode(&self.bytes)
    }

    /// The parts as a type of the caller's.
    ///
    /// # Errors
    /// `Serde` where they are not of that type.
    pub fn to_type<T: DeserializeOwned>(&self) -> Result<T> {
        document::from_bytes(&self.bytes)
    }
}
