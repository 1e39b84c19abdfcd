//! Groups and distinct values as the entries of an index have them, without the documents.

use std::ops::Range;

use super::aggregate::Aggregate;
use super::grouping::{Group, Grouped, Grouping, Groups};
use super::in_ranges::InRanges;
use super::part;
use super::plan::{ByEntries, PlanActual, fan_out_of, no_document};
use super::view::Walk;
use super::watch::Watch;
use crate::document::{Value, order_key};
use crate::error::Result;
use crate::indexed::{IndexStats, broken};
use crate::query::GivenValue;
use crate::secondary::{EntryLimits, IndexDefinition, PATHS_MAX};
use crate::seeded::{self, Bug};

/// The groups of the entries in ranges of an index, in the order of entries.
pub(super) struct EntryGroups<W: Walk> {
    walk: W,
    definition: IndexDefinition,
    limits: EntryLimits,
    fans_out: bool,
    components: Range<usize>,
    /// The component of each aggregate.
    aggregates: Vec<usize>,
    /// The components of groups, and those of aggregates.
    of_groups: Wanted,
    of_aggregates: Wanted,
    /// Whether all aggregates count distinct values; so too where there are none.
    counts_distinct: bool,
    /// Whether one of them does.
    counts_some: bool,
    is_loose: bool,
    asked: Groups,
    memory: usize,
    entries: InRanges<W::Index>,
    /// Components of the entry at hand. Kept from entry to entry, for its memory.
    tuple: Vec<Option<Value>>,
    /// What the group at hand has met. Kept from group to group, for its memory.
    met: Met,
    /// What a group shows, while it is put together.
    shown: Vec<u8>,
    /// Groups of long tuples that begin with these bytes.
    alike: Option<(Vec<u8>, Grouped)>,
    /// Whether a group was answered.
    is_begun: bool,
}

/// Which components of an entry are wanted.
type Wanted = [bool; PATHS_MAX];

/// What a group has met that is not in its count and its aggregates.
#[derive(Default)]
struct Met {
    /// What all entries of the group begin with.
    beginning: Vec<u8>,
    /// The entry of the least key, and where its tuple ends. Empty where the group's first entry tells what it shows.
    least: (Vec<u8>, usize),
    /// What the last entry begins with up to the component behind those of the group; nothing where that is cut. With a fan-out, up to the
    /// document's key.
    next: Vec<u8>,
}

impl Met {
    /// Begins a group whose entries begin so.
    fn begin(&mut self, beginning: &[u8]) {
        self.beginning.clear();
        self.beginning.extend_from_slice(beginning);
        self.least.0.clear();
        self.next.clear();
    }
}

impl<W: Walk> std::fmt::Debug for EntryGroups<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EntryGroups").field("index", &self.definition.name()).finish_non_exhaustive()
    }
}

impl<W: Walk> EntryGroups<W> {
    pub(super) fn new(walk: W, by: ByEntries<W::Index>, asked: Groups, memory: usize, watch: Watch) -> Self {
        let ByEntries { part, components, aggregates, is_loose } = by;
        let (definition, limits) = (part.index.definition().clone(), part.index.limits());
        let (mut of_groups, mut of_aggregates) = ([false; PATHS_MAX], [false; PATHS_MAX]);
        components.clone().for_each(|at| of_groups[at] = true);
        aggregates.iter().for_each(|at| of_aggregates[*at] = true);
        let mut kinds = asked.aggregates.iter().map(|(kind, _)| *kind == Aggregate::CountDistinct);
        EntryGroups {
            walk,
            fans_out: fan_out_of(&definition).is_some(),
            definition,
            limits,
            components,
            aggregates,
            of_groups,
            of_aggregates,
            counts_distinct: kinds.clone().all(|counts| counts),
            counts_some: kinds.any(|counts| counts),
            is_loose,
            asked,
            memory,
            entries: InRanges::new(part.index, part.ranges, watch),
            tuple: Vec::new(),
            met: Met::default(),
            shown: Vec::new(),
            alike: None,
            is_begun: false,
        }
    }

    /// What was read, for so many answers.
    pub(super) fn actual(&self, answers: u64) -> PlanActual {
        self.entries.watch.actual(answers)
    }

    /// Gives the walk back.
    pub(super) fn into_walk(self) -> W {
        self.walk
    }

    //= spec/query.md#q-10-3-answers-of-entries
    //# Groups, distinct values and projections that entries answer MUST be those of the documents.
    /// The next group.
    pub(super) fn next(&mut self) -> Result<Option<Group>> {
        loop {
            if let Some(group) = self.next_alike()? {
                self.is_begun = true;
                return Ok(Some(group));
            }
            if !self.entries.meets()? {
                // The one group of all is there without documents, too.
                let is_due = self.asked.by.is_empty() && !self.is_begun;
                self.is_begun = true;
                return Ok(is_due.then(|| Group::new(&self.asked, &[])));
            }
            let (count, entry) = (self.components.end, self.entries.at_hand());
            match self.definition.end_of(count, entry, self.limits).map_err(broken)? {
                Some(end) => {
                    self.is_begun = true;
                    return self.group(end).map(Some);
                }
                None => self.begin_alike()?,
            }
        }
    }

    /// The group of the entries that begin as the one at hand does up to `end`.
    fn group(&mut self, end: usize) -> Result<Group> {
        let mut met = std::mem::take(&mut self.met);
        met.begin(&self.entries.at_hand()[..end]);
        let mut group = Group::new(&self.asked, &[]);
        self.read(self.of_groups, (0, 0))?;
        let has_numbers = self.tuple[self.components.clone()].iter().flatten().any(has_number);
        // Of one value, the entries of an index are in the order of keys where no path is behind it.
        let first_tells = !has_numbers
            || !self.fans_out && self.components.end == self.definition.paths().len()
            || seeded::is_on(Bug::FirstEntryShown);
        if first_tells {
            put_shown(&self.tuple[self.components.clone()], &mut self.shown)?;
        }
        // An aggregate may be of what the entries have in common.
        let are_behind = self.aggregates.iter().all(|at| *at >= self.components.end);
        let known = if are_behind { (self.components.end, end) } else { (0, 0) };
        while self.entries.meets()? && self.entries.is_at(&met.beginning) {
            if !first_tells {
                self.keep_least(&mut met)?;
            }
            if self.is_loose && first_tells {
                self.entries.is_ahead = false;
                self.entries.pass(&met.beginning)?;
                break;
            }
            self.add(&mut group, &mut met, known)?;
            self.entries.is_ahead = false;
            if first_tells && let Some(alike) = self.counted_alike(&met) {
                group.count += self.entries.pass_at_hand(alike)? as i64;
            }
        }
        if !first_tells {
            self.put_shown_by_least(&met)?;
        }
        group.shown = self.shown.as_slice().into();
        self.met = met;
        Ok(group)
    }

    /// Each next entry that begins with these bytes adds one to the group's count, and nothing else.
    fn counted_alike<'m>(&self, met: &'m Met) -> Option<&'m [u8]> {
        match self.asked.aggregates.as_slice() {
            _ if self.fans_out => None,
            [] => Some(&met.beginning),
            _ if self.counts_distinct && !met.next.is_empty() => Some(&met.next),
            _ => None,
        }
    }

    /// Adds the entry at hand to its group. `known` are the first components, which all entries of the group have in common.
    fn add(&mut self, group: &mut Group, met: &mut Met, known: (usize, usize)) -> Result<()> {
        if self.fans_out && !seeded::is_on(Bug::ItemsCounted) && !self.begins_document(met)? {
            return Ok(());
        }
        group.count += 1;
        let is_same = self.counts_some && !met.next.is_empty() && self.entries.is_at(&met.next);
        if self.aggregates.is_empty() || self.counts_distinct && is_same {
            return Ok(());
        }
        let tuple_len = self.read(self.of_aggregates, known)?;
        let entry = self.entries.at_hand();
        // Values that are counted once are those of the component behind the group's.
        let mut is_cut = false;
        if self.counts_some && !is_same {
            let end = self.definition.end_of(self.components.end + 1, entry, self.limits).map_err(broken)?;
            is_cut = end.is_none();
            met.next.clear();
            met.next.extend_from_slice(&entry[..end.unwrap_or(0)]);
        }
        for ((state, (kind, _)), at) in
            group.states.iter_mut().zip(&self.asked.aggregates).zip(&self.aggregates)
        {
            match &self.tuple[*at] {
                Some(_) if *kind == Aggregate::CountDistinct && is_same => {}
                Some(_) if *kind == Aggregate::CountDistinct && !is_cut => state.count_place(),
                // Of values that are cut, each place is held.
                Some(value) => _ = state.add(*kind, &GivenValue::of(value), &entry[tuple_len..])?,
                None => {}
            }
        }
        Ok(())
    }

    /// Whether the entry at hand is the first of its document, which `met` then keeps: of one document they come one
    /// behind the other where the index has no other path.
    fn begins_document(&self, met: &mut Met) -> Result<bool> {
        let entry = self.entries.at_hand();
        let tuple_len = self.tuple_len(entry)?;
        let (_, key_len) = order_key::decode_key(&entry[tuple_len..])?;
        let one = &entry[..tuple_len + key_len];
        let is_new = met.next != one;
        if is_new {
            met.next.clear();
            met.next.extend_from_slice(one);
        }
        Ok(is_new)
    }

    //= spec/query.md#q-9-1-shown-values
    //# The value that is shown for a place MUST be the first that the document of the least key gives there.
    /// Makes `shown` what the group shows: what the document of the least key gives.
    fn put_shown_by_least(&mut self, met: &Met) -> Result<()> {
        let (entry, _) = &met.least;
        if !self.fans_out {
            let tuple = self.tuple_of(entry)?;
            return put_shown(&tuple[self.components.clone()], &mut self.shown);
        }
        // Such a document may have several values at the place: it tells which comes first.
        let place = self.place(&met.beginning)?;
        let (key, _) = self.definition.key_of(entry, self.limits).map_err(broken)?;
        let document = self.walk.document(key.as_ref())?.ok_or_else(no_document)?;
        self.entries.watch.scanned(true)?;
        let mut first = None;
        self.asked.by[0].give(Some(key.as_ref()), document.raw(), &mut |value| {
            let mut other = Vec::new();
            value.encode_order_key(&mut other);
            if first.is_none() && other == place {
                let mut encoded = Vec::new();
                value.encode(&mut encoded)?;
                first = Some(encoded);
            }
            Ok(())
        })?;
        self.shown.clear();
        part::put_value(first.as_deref(), &mut self.shown);
        Ok(())
    }

    /// The order key of the one component of the group, whose entries begin so.
    fn place(&self, beginning: &[u8]) -> Result<Vec<u8>> {
        let start = self.definition.end_of(self.components.start, beginning, self.limits).map_err(broken)?;
        let mut place = beginning[start.unwrap_or(0)..].to_vec();
        if self.is_descending() {
            place.iter_mut().for_each(|byte| *byte = !*byte);
        }
        Ok(place)
    }

    /// Whether the first component of the group is descending.
    fn is_descending(&self) -> bool {
        self.definition.paths().nth(self.components.start).is_some_and(|(_, descending)| descending)
    }

    /// Keeps the entry at hand if its key is less than that of the one that is kept.
    fn keep_least(&self, met: &mut Met) -> Result<()> {
        let entry = self.entries.at_hand();
        let tuple_len = self.tuple_len(entry)?;
        let (least, at) = &met.least;
        if least.is_empty() || entry[tuple_len..] < least[*at..] {
            met.least = (entry.to_vec(), tuple_len);
        }
        Ok(())
    }

    fn tuple_len(&self, entry: &[u8]) -> Result<usize> {
        Ok(self.definition.outline(entry, self.limits).map_err(broken)?.tuple_len)
    }

    /// Makes `tuple` have these components of the entry at hand, none of which is among the first, which are known. How many bytes of that are
    /// those of its tuple.
    fn read(&mut self, wanted: Wanted, known: (usize, usize)) -> Result<usize> {
        let (entry, tuple) = (self.entries.at_hand(), &mut self.tuple);
        let is_wanted = |at: usize| wanted[at];
        let outline =
            self.definition.read(entry, self.limits, known, &[], is_wanted, tuple).map_err(broken)?;
        // Marks are those of all numbers, one behind the other.
        if outline.is_long || outline.has_marks(entry).map_err(broken)? {
            let entry = entry.to_vec();
            self.tuple = self.tuple_of(&entry)?;
        }
        Ok(outline.tuple_len)
    }

    //= spec/query.md#q-10-1-plans
    //# What depends on the bytes of a long tuple (I-2.6) MUST be told by the documents.
    /// The tuple of an entry, which is the document's where it is long.
    fn tuple_of(&mut self, entry: &[u8]) -> Result<Vec<Option<Value>>> {
        let parsed = self.definition.parse(entry, self.limits).map_err(broken)?;
        if let Some(tuple) = parsed.tuple {
            return Ok(tuple);
        }
        if seeded::is_on(Bug::CutTupleAnswers) {
            return Ok(vec![None; self.definition.paths().len()]);
        }
        let document = self.walk.document(parsed.key.as_ref())?.ok_or_else(no_document)?;
        self.entries.watch.scanned(true)?;
        for tuple in self.definition.tuples(document.raw())? {
            if self.definition.beginning(&tuple, None, self.limits)?.bytes == entry[..parsed.tuple_len] {
                return Ok(tuple);
            }
        }
        Err(broken("an entry that its document does not give"))
    }

    /// Groups the documents of all entries that begin as the long one at hand does, whose keys are in order.
    fn begin_alike(&mut self) -> Result<()> {
        let beginning = self.entries.at_hand()[..self.limits.tuple].to_vec();
        let db = self.walk.db().clone();
        let storage = &db.core().shared.log.storage;
        let mut grouping =
            Grouping::new(self.asked.clone(), self.memory, storage, self.entries.watch.clone());
        while self.entries.meets()? && self.entries.is_at(&beginning) {
            let (key, _) = self.definition.key_of(self.entries.at_hand(), self.limits).map_err(broken)?;
            let document = self.walk.document(key.as_ref())?.ok_or_else(no_document)?;
            self.entries.watch.scanned(true)?;
            grouping.add(key.as_ref(), document.raw())?;
            self.entries.is_ahead = false;
        }
        self.alike = Some((beginning, grouping.finish()?));
        Ok(())
    }

    fn next_alike(&mut self) -> Result<Option<Group>> {
        let is_descending = self.is_descending();
        let Some((beginning, groups)) = &mut self.alike else { return Ok(None) };
        while let Some((mut place, group)) = groups.next_with_place()? {
            if is_descending {
                place.iter_mut().for_each(|byte| *byte = !*byte);
            }
            // Such documents give other values too, which have entries of their own.
            if !self.fans_out || place.starts_with(beginning) {
                return Ok(Some(group));
            }
        }
        self.alike = None;
        Ok(None)
    }
}

/// Makes `shown` what a group shows of these values.
fn put_shown(values: &[Option<Value>], shown: &mut Vec<u8>) -> Result<()> {
    shown.clear();
    values.iter().try_for_each(|value| match value {
        Some(value) => part::put_given(&GivenValue::of(value), shown),
        None => {
            part::put_value(None, shown);
            Ok(())
        }
    })
}

/// Whether there is a number in a value. Of one that has none, an order key tells all.
fn has_number(value: &Value) -> bool {
    match value {
        Value::Int(_) | Value::Float(_) => true,
        Value::Array(items) => items.iter().any(has_number),
        Value::Object(fields) => fields.iter().any(|(_, field)| has_number(field)),
        _ => false,
    }
}
