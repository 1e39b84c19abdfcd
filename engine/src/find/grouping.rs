//! Documents put into groups in a bounded memory. spec.
//!
//! Groups gather in a table. When they take more than the memory, all of them are written as a run, in the order of their places, and
//! the table is empty again. At the end the runs are merged, and what several of them hold of one group is put together. An entry of a run is
//!
//! | bytes | of a group's part | of a place that `count_distinct` met |
//! |---|---|---|
//! | the group's place | | |
//! | 4 | 0 | 1 and the number of the aggregate |
//! | 8 | the number of the run | |
//! | | count, aggregates, shown values | the place |
//! | 4, the last | length of the group's place | the same |
//!
//! So the parts of a group come first, in the order in which documents came, and then each place as often as runs have it.

#![expect(clippy::big_endian_bytes, reason = "big-endian bytes compare as the numbers do")]

use std::mem::size_of;

use hashbrown::HashTable;

use super::aggregate::{Aggregate, State};
use super::given::GivenParts;
use super::part::{Part, foreign};
use super::runs::{Merge, Runs};
use super::watch::Watch;
use crate::document::{Document, KeyRef, RawDocument, Text, Value};
use crate::error::{Error, Result};
use crate::index::KeyHash;
use crate::query::Expression;
use crate::seeded::{self, Bug};
use crate::storage::FailStop;

/// The tag of a group's part.
const PART: u32 = 0;
/// A document that is in many groups is asked about the deadline after so many.
const INTERVAL: u64 = 1 << 10;

/// What is asked of groups, checked and bound.
#[derive(Debug, Clone)]
pub(super) struct Groups {
    pub(super) by: Vec<Expression>,
    pub(super) aggregates: Vec<(Aggregate, Expression)>,
}

/// Takes documents in the order of their keys.
#[derive(Debug)]
pub(super) struct Grouping<'s> {
    asked: Groups,
    /// The limit in bytes.
    memory: usize,
    storage: &'s FailStop,
    watch: Watch,
    gathered: Gathered,
    given: GivenParts,
    /// The place of the combination at hand.
    place: Vec<u8>,
    runs: Option<Runs>,
}

#[derive(Debug, Default)]
struct Gathered {
    /// Bytes that the groups take, about.
    len: usize,
    /// Each behind the place of what it has in common.
    groups: Vec<(Vec<u8>, Group)>,
    /// Where each of them stands, by the hash of its place.
    table: HashTable<usize>,
    hash: KeyHash,
}

#[derive(Debug)]
pub(super) struct Group {
    pub(super) count: i64,
    pub(super) states: Vec<State>,
    /// What the group shows for each expression, encoded.
    pub(super) shown: Box<[u8]>,
}

impl<'s> Grouping<'s> {
    pub(super) fn new(asked: Groups, memory: usize, storage: &'s FailStop, watch: Watch) -> Self {
        let mut gathered = Gathered::default();
        if asked.by.is_empty() {
            // The one group is there without documents, too.
            gathered.push(&[], Group::new(&asked, &[]));
        }
        let (given, place) = (GivenParts::default(), Vec::new());
        Grouping { asked, memory, storage, watch, gathered, given, place, runs: None }
    }

    //= spec/query.md#q-9-3-groups
    //# A document MUST be in the groups of every combination of what the expressions give of it, once in
    //# each.
    pub(super) fn add(&mut self, key: KeyRef<'_>, document: RawDocument<'_>) -> Result<()> {
        self.given.read(&self.asked.by, key, document)?;
        let mut count = 0_u64;
        loop {
            self.given.place(&mut self.place);
            self.add_to_group(key, document)?;
            if !self.given.turn() {
                return Ok(());
            }
            count += 1;
            if count.is_multiple_of(INTERVAL) {
                self.watch.check()?;
            }
        }
    }

    /// Adds the document to the group at `place`.
    fn add_to_group(&mut self, key: KeyRef<'_>, document: RawDocument<'_>) -> Result<()> {
        let at = match self.gathered.find(&self.place) {
            Some(at) => at,
            None => self.begin_group()?,
        };
        let (_, group) = &mut self.gathered.groups[at];
        if seeded::is_on(Bug::LastValueShown) {
            group.shown = self.given.shown().into();
        }
        group.count += 1;
        for (state, (kind, of)) in group.states.iter_mut().zip(&self.asked.aggregates) {
            of.give(Some(key), document, &mut |value| {
                self.gathered.len += state.add(*kind, value, &[])?;
                Ok(())
            })?;
        }
        if self.gathered.len > self.memory { self.write_run() } else { Ok(()) }
    }

    /// Where the new group at `place` stands.
    fn begin_group(&mut self) -> Result<usize> {
        let group = Group::new(&self.asked, self.given.shown());
        let len = group.len(&self.place);
        if self.gathered.len + len > self.memory && !self.gathered.groups.is_empty() {
            self.write_run()?;
        }
        self.gathered.len += len;
        Ok(self.gathered.push(&self.place, group))
    }

    //= spec/query.md#q-7-5-bounds
    //# A query beyond a bound MUST end with an error. It MUST NOT answer a part as if it were all.
    fn write_run(&mut self) -> Result<()> {
        if self.runs.is_none() {
            let scratch = self.storage.scratch()?.ok_or(Error::QueryMemory { max: self.memory })?;
            self.runs = Some(Runs::new(scratch));
        }
        let runs = self.runs.as_mut().expect("it was just made");
        let number = runs.count();
        let groups = self.gathered.take_in_order();
        runs.write(groups.into_iter().flat_map(|(place, group)| group.entries(place, number)))
    }

    /// The groups in the order of their places.
    pub(super) fn finish(mut self) -> Result<Grouped> {
        let source = if self.runs.is_some() {
            self.write_run()?;
            let runs = self.runs.take().expect("there are some");
            let mut merge = runs.merge(self.memory)?;
            let mut entry = Vec::new();
            let more = merge.next(&mut entry)?;
            Source::Merged { merge, entry: more.then_some(entry) }
        } else {
            Source::Memory(self.gathered.take_in_order().into_iter())
        };
        Ok(Grouped { asked: self.asked, source })
    }
}

impl Gathered {
    fn hash_of(&self, place: &[u8]) -> u64 {
        self.hash.of(0, KeyRef::Bytes(place))
    }

    /// Where the group at a place stands.
    #[inline]
    fn find(&self, place: &[u8]) -> Option<usize> {
        self.table.find(self.hash_of(place), |&at| self.groups[at].0 == place).copied()
    }

    /// Takes up a group at a place where none is. Where it stands.
    fn push(&mut self, place: &[u8], group: Group) -> usize {
        let (at, hash) = (self.groups.len(), self.hash_of(place));
        self.groups.push((place.to_vec(), group));
        let (groups, hashes) = (&self.groups, self.hash);
        self.table.insert_unique(hash, at, |&at| hashes.of(0, KeyRef::Bytes(&groups[at].0)));
        at
    }

    /// All groups, in the order of their places. None is left.
    fn take_in_order(&mut self) -> Vec<(Vec<u8>, Group)> {
        let mut groups = std::mem::take(self).groups;
        groups.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        groups
    }
}

impl Group {
    pub(super) fn new(asked: &Groups, shown: &[u8]) -> Self {
        let states = asked.aggregates.iter().map(|(kind, _)| State::new(*kind)).collect();
        Group { count: 0, states, shown: shown.into() }
    }

    /// Bytes that it takes with its place, about.
    fn len(&self, place: &[u8]) -> usize {
        let nodes = 2 * (size_of::<Vec<u8>>() + size_of::<Group>());
        nodes + place.len() + self.shown.len() + self.states.len() * size_of::<State>()
    }

    /// What a run holds of it, in order.
    fn entries(mut self, place: Vec<u8>, run: u64) -> impl Iterator<Item = Vec<u8>> {
        let places: Vec<_> = self.states.iter_mut().map(State::take_places).collect();
        let mut part = run.to_be_bytes().to_vec();
        self.put(&mut part);
        let len = u32::try_from(place.len()).unwrap_or(u32::MAX).to_le_bytes();
        let entry = move |tag: u32, content: &[u8]| [&place, &tag.to_be_bytes()[..], content, &len].concat();
        let first = entry(PART, &part);
        let rest = (PART + 1..)
            .zip(places)
            .flat_map(|(tag, places)| places.into_iter().map(move |place| (tag, place)));
        std::iter::once(first).chain(rest.map(move |(tag, place)| entry(tag, &place)))
    }

    /// Appends all of it, but of places their count alone.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.count.to_le_bytes());
        self.states.iter().for_each(|state| state.put(out));
        out.extend_from_slice(&self.shown);
    }

    /// What [`put`](Self::put) appended.
    pub(super) fn take(asked: &Groups, part: &mut Part<'_>) -> Result<Self> {
        let count = i64::from_le_bytes(part.array()?);
        let states = asked.aggregates.iter().map(|(kind, _)| State::take(*kind, part));
        Ok(Group { count, states: states.collect::<Result<_>>()?, shown: part.0.into() })
    }

    /// What a run holds of it.
    fn of_run(asked: &Groups, content: &[u8]) -> Result<Self> {
        let mut part = Part(content);
        let _number: [u8; 8] = part.array()?;
        Self::take(asked, &mut part)
    }

    fn merge(&mut self, asked: &Groups, later: Group) {
        self.count += later.count;
        for ((state, later), (kind, _)) in self.states.iter_mut().zip(later.states).zip(&asked.aggregates) {
            state.merge(*kind, later);
        }
    }
}

impl Group {
    /// The group as a document, with these names for what it shows, and for what its aggregates are of. spec.
    pub(super) fn document(self, asked: &Groups, names: &[Text], of: &[Text]) -> Result<Document> {
        let mut document = Document::new();
        let mut shown = Part(&self.shown);
        for name in names {
            if let Some((_, value)) = shown.value()? {
                document.insert(name.clone(), value.to_value()?);
            }
        }
        document.insert(COUNT, self.count);
        for ((state, (kind, _)), of) in self.states.into_iter().zip(&asked.aggregates).zip(of) {
            let result = state.finish(*kind, of)?;
            if document.get(kind.name()).is_none() {
                document.insert(kind.name(), Document::new());
            }
            if let (Some(Value::Object(results)), Some(result)) = (document.get_mut(kind.name()), result) {
                results.insert(of.clone(), result);
            }
        }
        Ok(document)
    }

    /// What it shows for the first expression, if that gave something.
    pub(super) fn first_shown(&self) -> Result<Option<Value>> {
        Part(&self.shown).value()?.map(|(_, value)| value.to_value()).transpose()
    }
}

/// The groups, one after the other.
#[derive(Debug)]
pub(super) struct Grouped {
    asked: Groups,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Memory(std::vec::IntoIter<(Vec<u8>, Group)>),
    /// The next entry; `None` at the end.
    Merged {
        merge: Merge,
        entry: Option<Vec<u8>>,
    },
}

/// An entry: the place of its group, its tag, and the rest.
fn split(entry: &[u8]) -> Option<(&[u8], u32, &[u8])> {
    let (front, len) = entry.split_last_chunk()?;
    let (place, rest) = front.split_at_checked(u32::from_le_bytes(*len) as usize)?;
    let (tag, content) = rest.split_first_chunk()?;
    Some((place, u32::from_be_bytes(*tag), content))
}

impl Grouped {
    //= spec/query.md#q-7-5-bounds
    //# Answers, groups and distinct values MUST NOT depend on the memory that a query has.
    //= spec/query.md#q-9-3-groups
    //# Groups MUST come in the order of what the first expression gives, then the second, and so on, with
    //# nothing before every value.
    pub(super) fn next(&mut self) -> Result<Option<Group>> {
        Ok(self.next_with_place()?.map(|(_, group)| group))
    }

    /// The next group, and the place of what it has in common.
    pub(super) fn next_with_place(&mut self) -> Result<Option<(Vec<u8>, Group)>> {
        let (merge, entry) = match &mut self.source {
            Source::Memory(groups) => return Ok(groups.next()),
            Source::Merged { merge, entry } => (merge, entry),
        };
        let Some(first) = entry.take() else { return Ok(None) };
        let (place, _, content) = split(&first).ok_or_else(foreign)?;
        let mut group = Group::of_run(&self.asked, content)?;
        let (mut next, mut last) = (Vec::new(), Vec::new());
        while merge.next(&mut next)? {
            let (of, tag, content) = split(&next).ok_or_else(foreign)?;
            if of != place || tag == PART && seeded::is_on(Bug::PartsOfGroupsApart) {
                *entry = Some(next);
                break;
            }
            if tag == PART {
                group.merge(&self.asked, Group::of_run(&self.asked, content)?);
            } else if next != last {
                let state = group.states.get_mut((tag - PART - 1) as usize).ok_or_else(foreign)?;
                state.count_place();
                std::mem::swap(&mut next, &mut last);
            }
        }
        Ok(Some((place.to_vec(), group)))
    }
}

/// The name of the count in a group's document.
pub(super) const COUNT: &str = "count";
