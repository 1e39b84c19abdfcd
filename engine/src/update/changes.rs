//! What a call on a document changes it by, and the document's bytes before and after.

use std::borrow::Cow;

use super::change::Update;
use super::decoded::Decoded;
use super::encoded::Encoded;
use super::failed::Failed;
use super::fault::UpdateFault;
use super::patch::JsonPatch;
use super::tree::Tree;
use super::{apply, merge, run};
use crate::document::node::Node;
use crate::document::{Document, Kind, RawDocument, Value};
use crate::error::{Error, Result};
use crate::seeded::{self, Bug};

/// Up to so many operations each copy the bytes; for more, the document is decoded once and encoded once.
const COPIES_MAX: usize = 8;

/// What a call changes a document by: [`JsonPatch`]es, merge patches and [`Update`]s, one after the other, all or none.
///
/// ```
/// use holotype::{Update, doc, document::RawDocument, update::Changes};
///
/// let (bytes, merge) = (doc! { "seen": 1, "old": true }.encode(), doc! { "old": null });
/// let changes = Changes::merge(&merge).then(Update::new().inc("$.seen", 1));
/// assert_eq!(changes.apply(RawDocument::from_bytes(&bytes)?)?, doc! { "seen": 2 }.encode());
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Changes<'a> {
    first: By<'a>,
    then: Vec<By<'a>>,
}

#[derive(Debug, Clone)]
enum By<'a> {
    Patch(&'a JsonPatch),
    Merge(&'a Document),
    Update(Cow<'a, Update>),
}

impl<'a> From<By<'a>> for Changes<'a> {
    fn from(first: By<'a>) -> Self {
        Changes { first, then: Vec::new() }
    }
}

impl<'a> From<&'a JsonPatch> for Changes<'a> {
    fn from(patch: &'a JsonPatch) -> Self {
        By::Patch(patch).into()
    }
}

impl From<Update> for Changes<'_> {
    fn from(update: Update) -> Self {
        By::Update(Cow::Owned(update)).into()
    }
}

impl<'a> From<&'a Update> for Changes<'a> {
    fn from(update: &'a Update) -> Self {
        By::Update(Cow::Borrowed(update)).into()
    }
}

impl<'a> Changes<'a> {
    /// Those of a JSON Merge Patch, RFC 7396.
    pub fn merge(patch: &'a Document) -> Self {
        By::Merge(patch).into()
    }

    /// These, and then `others`.
    #[must_use]
    pub fn then(mut self, others: impl Into<Changes<'a>>) -> Self {
        let Changes { first, then } = others.into();
        self.then.push(first);
        self.then.extend(then);
        self
    }
}

impl Changes<'_> {
    /// The bytes of the document that the changes make of `document`.
    ///
    /// # Errors
    /// `Update`, `DocumentTooLarge`, `TooDeep`; `Decode` where the bytes, though undamaged, are not a document.
    #[inline]
    pub fn apply(&self, document: RawDocument<'_>) -> Result<Vec<u8>> {
        if self.count() <= COPIES_MAX { self.copy(document) } else { self.decode(document) }
    }

    /// As [`apply`](Self::apply): each operation copies the bytes.
    #[inline]
    pub(crate) fn copy(&self, document: RawDocument<'_>) -> Result<Vec<u8>> {
        let mut tree = Encoded::new(document.as_bytes());
        self.run(&mut tree)?;
        Ok(tree.into_bytes())
    }

    /// As [`apply`](Self::apply), over the decoded document.
    pub(crate) fn decode(&self, document: RawDocument<'_>) -> Result<Vec<u8>> {
        let mut tree = Decoded::new(Value::Object(document.to_document()?))?;
        self.run(&mut tree)?;
        Encoded::part(&tree.into_value())
    }

    /// Refuses what no document can be changed by.
    pub(crate) fn check(&self) -> Result<()> {
        self.each().try_for_each(|by| if let By::Update(update) = by { update.check() } else { Ok(()) })
    }

    fn run<T: Tree>(&self, tree: &mut T) -> Result<()> {
        let mut each = self.each().enumerate();
        let done =
            each.try_for_each(|(number, by)| by.run(tree).map_err(|error| self.of_part(error, number)));
        match done {
            Err(_) if seeded::is_on(Bug::PatchAppliedHalf) => Ok(()),
            done => done,
        }
    }

    //= spec/update.md#u-2-2-errors
    //# Where a call has several patches, merges and updates, the numbers MUST go on from one to the next.
    /// The error of the part of this number.
    #[cold]
    fn of_part(&self, mut error: Error, number: usize) -> Error {
        if let Error::Update(update) = &mut error {
            update.operation += self.each().take(number).map(By::operations).sum::<usize>();
        }
        error
    }

    /// How many operations there are; those of a merge counted up to one more than are done by copying.
    #[inline]
    fn count(&self) -> usize {
        self.first.count() + self.then.iter().map(By::count).sum::<usize>()
    }

    fn each(&self) -> impl Iterator<Item = &By<'_>> {
        std::iter::once(&self.first).chain(&self.then)
    }
}

impl By<'_> {
    //= spec/update.md#u-2-5-documents
    //# A patch or an update of a document whose result is no object MUST be refused.
    #[inline]
    fn run<T: Tree>(&self, tree: &mut T) -> Result<()> {
        match self {
            By::Patch(patch) => apply::apply(tree, patch),
            By::Merge(patch) => merge::merge_object(tree, patch),
            By::Update(update) => run::run(tree, update),
        }?;
        match tree.root().kind() {
            Kind::Object => Ok(()),
            found => Err(self.no_document(found)),
        }
    }

    /// How many operations it is. spec: U-2.1.
    fn operations(&self) -> usize {
        match self {
            By::Patch(patch) => patch.operations().len(),
            By::Merge(_) => 1,
            By::Update(update) => update.changes().len(),
        }
    }

    /// As [`Changes::count`].
    #[inline]
    fn count(&self) -> usize {
        match self {
            By::Patch(patch) => patch.operations().len(),
            By::Merge(patch) => merge::count(patch, COPIES_MAX + 1),
            By::Update(update) => run::count(update, COPIES_MAX + 1),
        }
    }

    /// That the result is no document.
    #[cold]
    fn no_document(&self, found: Kind) -> Error {
        let (number, name, path) = match self {
            By::Patch(patch) => {
                let last = patch.operations().len() - 1;
                let operation = &patch.operations()[last];
                (last, operation.name(), operation.path().to_string())
            }
            By::Update(update) => {
                let last = update.changes().len() - 1;
                let change = &update.changes()[last];
                (last, change.action.name(), change.path.to_string())
            }
            By::Merge(_) => unreachable!("an object merged into an object is one"),
        };
        Failed::from(UpdateFault::NoDocument { found }).at(number, name, || path)
    }
}
