//! Reads through an index, and the calls that make one and end it. spec: `spec/index.md`.
//!
//! | module | what it is |
//! |---|---|
//! | `view` | what a read asks of a collection, a snapshot or a transaction |
//! | `bounds` | ranges of tuples |
//! | `scan` | the entries of a range, and their documents |
//! | `manage` | creating, replacing, dropping, renaming |

mod bounds;
mod info;
mod manage;
mod scan;
mod view;

use crate::document::Text;
use crate::error::{Corruption, Result};
use crate::handle::{Handle, Reads};
use crate::secondary::IndexDefinition;

pub use bounds::{TupleBound, TupleBounds, TupleLike};
pub use info::IndexInfo;
pub use manage::IndexProgress;
pub use scan::{IndexDocuments, IndexEntry, IndexKeys, IndexScan};
pub(crate) use scan::{between, bound, broken};
pub(crate) use view::{At, EntryWalk, IndexStats, IndexView, Indexed, IsWanted, TxIndexed};

use bounds::Range;

/// One index of a collection, in the state that the collection stands for. Made by [`Handle::index`]; nothing is read before a call.
///
/// ```
/// use holotype::{Db, IndexDefinition, doc};
///
/// let birds = Db::in_memory().collection("birds");
/// birds.insert_many([doc! { "name": "Wren", "year": 1859 }, doc! { "name": "Robin", "year": 1831 }])?;
/// birds.create_index(IndexDefinition::new("by_year", ["$.year"])?)?;
/// let found = birds.index("by_year").get(1859)?.documents().next().expect("there is one")?;
/// assert_eq!(found.get("name").and_then(|name| name.as_str()), Some("Wren"));
/// assert_eq!(birds.index("by_year").range(..1850)?.keys().next().transpose()?, Some(2.into()));
/// assert_eq!(birds.index("by_year").count(..1850)?, 1);
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug)]
pub struct Index<'c, S> {
    source: &'c S,
    name: Text,
}

impl<S> Clone for Index<'_, S> {
    fn clone(&self) -> Self {
        Index { source: self.source, name: self.name.clone() }
    }
}

impl<S: Reads> Handle<S> {
    /// The index of this name.
    pub fn index(&self, name: impl AsRef<str>) -> Index<'_, S> {
        Index { source: &self.source, name: name.as_ref().into() }
    }

    //= spec/index.md#i-4-6-list
    //# The list of the indexes of a collection has the name and the definition of each, in the order of names.
    /// The definitions of the collection's indexes, in the order of their names.
    ///
    /// # Errors
    /// As every read.
    pub fn indexes(&self) -> Result<Vec<IndexDefinition>> {
        self.source.indexes()
    }
}

impl<S: Reads> Index<'_, S> {
    /// The entries whose tuples begin with these values: one value, or several as a tuple of Rust's.
    ///
    /// # Errors
    /// `UnknownIndex`; `InvalidIndex` for more values than the index has paths; `Corrupt` where a document that the index was to be built
    /// from is damaged; and as every read.
    pub fn get(&self, values: impl TupleLike) -> Result<IndexScan<S::Index>> {
        self.scan(Range::Like(values.into_tuple(), None))
    }

    /// The entries in a range of tuples, in order. An end stands for all tuples that begin with it.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn range(&self, range: impl TupleBounds) -> Result<IndexScan<S::Index>> {
        let (from, to) = range.into_bounds();
        self.scan(Range::Between(from, to))
    }

    /// The entries whose tuples begin with `values` and go on with a text that begins with `prefix`. For an index of one path: `((), "Wr")`.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn prefix(&self, values: impl TupleLike, prefix: &str) -> Result<IndexScan<S::Index>> {
        self.scan(Range::Like(values.into_tuple(), Some(prefix.to_owned())))
    }

    //= spec/index.md#i-6-4-count
    //# A count answers the number of entries in the range.
    /// How many entries there are in a range.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn count(&self, range: impl TupleBounds) -> Result<u64> {
        self.range(range)?.count_rest()
    }

    /// What the index holds.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn definition(&self) -> Result<IndexDefinition> {
        Ok(self.source.open_index(&self.name)?.definition().clone())
    }

    fn scan(&self, range: Range) -> Result<IndexScan<S::Index>> {
        let index = self.source.open_index(&self.name)?;
        IndexScan::begin(index, range)
    }
}

impl<S: Reads<Index = Indexed>> Index<'_, S> {
    /// Compares the entries with the documents, both ways, in one state: each document must give what the index holds, and the
    /// index must hold what each document gives. Hands every difference to `problem`, and every document that is damaged. How many
    /// entries there are. Reads all documents; its memory is that of one document and its entries.
    ///
    /// ```
    /// use holotype::{Db, IndexDefinition, doc};
    ///
    /// let birds = Db::in_memory().collection("birds");
    /// birds.insert(doc! { "tags": ["small", "brown"] })?;
    /// birds.create_index(IndexDefinition::new("by_tag", ["$.tags[*]"])?)?;
    /// let mut problems = Vec::new();
    /// assert_eq!(birds.index("by_tag").check(|problem| problems.push(problem))?, 2);
    /// assert!(problems.is_empty());
    /// # Ok::<(), holotype::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn check(&self, mut problem: impl FnMut(Corruption)) -> Result<u64> {
        let Indexed { at: At { db, snapshot, naming }, index } = self.source.open_index(&self.name)?;
        db.core().shared.check_index(&snapshot, &naming, &index, &mut problem)
    }
}
