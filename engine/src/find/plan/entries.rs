//! Documents by the entries of an index.

use std::mem;
use std::ops::Bound;

use super::route::{InOrder, IndexEnd, Part};
use crate::document::{Key, Value, order_key};
use crate::error::{Error, Result};
use crate::find::keys::KeysWanted;
use crate::find::sort::{Order, key_of, put_key, sorts_of};
use crate::find::sorter::{Sorted, Sorter};
use crate::find::view::Walk;
use crate::find::watch::Watch;
use crate::index::KeyRange;
use crate::indexed::{EntryWalk, IndexView, between, broken};
use crate::secondary::EntryLimits;
use crate::seeded::{self, Bug};
use crate::storage::FailStop;

/// Keys of documents in their order, or in the reverse, each once; with an entry of each where that is wanted.
#[derive(Debug)]
pub(in crate::find) struct Gathered {
    sorted: Sorted,
    reverse: bool,
    with_entries: bool,
    last: Vec<u8>,
    next: Vec<u8>,
}

impl Gathered {
    /// The next key.
    pub(in crate::find) fn next(&mut self) -> Result<Option<Key>> {
        Ok(self.next_with_entry()?.map(|(key, _)| key))
    }

    /// The next key, and an entry of its document; no bytes where entries are not wanted.
    pub(in crate::find) fn next_with_entry(&mut self) -> Result<Option<(Key, Vec<u8>)>> {
        loop {
            if !self.sorted.next(&mut self.next)? {
                return Ok(None);
            }
            let entry = if self.with_entries { take_entry(&mut self.next)? } else { Vec::new() };
            if self.reverse {
                self.next.iter_mut().for_each(|byte| *byte = !*byte);
            }
            let comes_again = self.next == self.last && !self.last.is_empty();
            if comes_again && !seeded::is_on(Bug::AnsweredPerEntry) {
                continue;
            }
            let (key, _) = order_key::decode_key(&self.next)?;
            mem::swap(&mut self.last, &mut self.next);
            return Ok(Some((key, entry)));
        }
    }
}

/// Appends an entry to what a sort has of its document.
fn put_entry(entry: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(entry);
    out.extend_from_slice(&(entry.len() as u64).to_le_bytes());
}

fn foreign() -> Error {
    Error::Decode { at: 0, what: "the file of a query holds something else" }
}

/// Takes off what [`put_entry`] appended.
fn take_entry(sorted: &mut Vec<u8>) -> Result<Vec<u8>> {
    let (front, len) = sorted.split_last_chunk().ok_or_else(foreign)?;
    let start = front.len().checked_sub(u64::from_le_bytes(*len) as usize).ok_or_else(foreign)?;
    let entry = front[start..].to_vec();
    sorted.truncate(start);
    Ok(entry)
}

/// The keys of the documents that have entries in these ranges, with an entry of each where that is wanted.
pub(in crate::find) fn gather<I: IndexView>(
    parts: Vec<Part<I>>,
    wanted: &KeysWanted,
    (reverse, with_entries): (bool, bool),
    memory: usize,
    storage: &FailStop,
    watch: &mut Watch,
) -> Result<Gathered> {
    let mut sorter = Sorter::new(u64::MAX, memory, storage).or_in_memory();
    let mut bytes = Vec::new();
    for part in parts {
        let limits = part.index.limits();
        for range in part.ranges {
            let mut walk = part.index.clone().walk(range);
            while walk.advance()? {
                watch.met_entry()?;
                let entry = walk.entry();
                let (key, place) = walk.definition().key_of(entry, limits).map_err(broken)?;
                if !wanted.contains(&key) {
                    continue;
                }
                bytes.clear();
                bytes.extend_from_slice(place);
                if reverse {
                    bytes.iter_mut().for_each(|byte| *byte = !*byte);
                }
                if with_entries {
                    put_entry(entry, &mut bytes);
                }
                sorter.push(&bytes)?;
            }
        }
    }
    Ok(Gathered { sorted: sorter.finish()?, reverse, with_entries, last: Vec::new(), next: Vec::new() })
}

/// How many documents have entries in these ranges, `most` of them at most; `None` where only a look at each key tells.
pub(in crate::find) fn count<I: IndexView>(
    parts: &[Part<I>],
    most: u64,
    watch: &mut Watch,
) -> Result<Option<u64>> {
    let [part] = parts else { return Ok(None) };
    if !part.is_one_each() && !seeded::is_on(Bug::AnsweredPerEntry) {
        return Ok(None);
    }
    let mut count = 0;
    for range in &part.ranges {
        let mut walk = part.index.clone().walk(range.clone());
        if let Some(left) = walk.count_left(most - count)? {
            watch.met_entries(left)?;
            count += left;
            continue;
        }
        while count < most && walk.advance()? {
            watch.met_entry()?;
            count += 1;
        }
    }
    Ok(Some(count))
}

/// The least value of the first path of an index, or the greatest.
#[derive(Debug)]
pub(in crate::find) enum EndValue<I> {
    /// One entry alone has it.
    Of(Value),
    /// It is among those of these entries, which begin alike.
    Among(Part<I>),
}

/// The least value of the first path of an index, or the greatest; `None` where no document has a value. Adds to `met` how many entries it met.
pub(in crate::find) fn end_of<I: IndexView>(end: IndexEnd<I>, met: &mut u64) -> Result<Option<EndValue<I>>> {
    let IndexEnd { index, is_greatest } = end;
    let (definition, limits) = (index.definition(), index.limits());
    let nothing = match seeded::is_on(Bug::ExtremeOfNothing) {
        true => Bound::Unbounded,
        false => Bound::Excluded(definition.beginning(&[None], None, limits)?),
    };
    let is_descending = definition.paths().next().is_some_and(|(_, descending)| descending);
    let with_values = match is_descending {
        true => between(Bound::Unbounded, nothing),
        false => between(nothing, Bound::Unbounded),
    };
    let mut walk = index.clone().walk(with_values);
    if is_greatest != is_descending {
        walk.reverse();
    }
    let mut advance = |walk: &mut I::Entries| walk.advance().inspect(|is_there| *met += u64::from(*is_there));
    if !advance(&mut walk)? {
        return Ok(None);
    }
    let entry = walk.entry();
    let len = definition.end_of(1, entry, limits).map_err(broken)?.unwrap_or(limits.tuple);
    let tuple = definition.parse(entry, limits).map_err(broken)?.tuple;
    let beginning = entry[..len].to_vec();
    let is_alike = advance(&mut walk)? && walk.entry().starts_with(&beginning);
    if !is_alike && let Some(value) = tuple.and_then(|tuple| tuple.into_iter().next()?) {
        return Ok(Some(EndValue::Of(value)));
    }
    let ranges = vec![KeyRange::bytes_prefix(beginning)];
    Ok(Some(EndValue::Among(Part {
        index,
        ranges,
        is_exact: true,
        is_in_key_order: false,
        covers: false,
        entries: 1,
        is_counted: false,
    })))
}

/// The documents of a range of an index, in the order of sorts; or of several, in any order.
pub(in crate::find) struct Entries<E> {
    walk: E,
    /// Over the ranges that come next, in any order.
    others: std::vec::IntoIter<E>,
    limits: EntryLimits,
    components: usize,
    gathers: bool,
    /// Whether the entries themselves are wanted.
    with_entries: bool,
    wanted: KeysWanted,
    /// The key of the entry that the walk came to last.
    met: Key,
    /// Whether that entry's tuple is long.
    is_long: bool,
    /// Whether its document was not gone on to yet.
    is_ahead: bool,
    /// Documents that are the same to all sorts, or long ones that begin alike.
    alike: Option<Sorted>,
    /// The entry and the key of the document at hand, where these are not what the walk came to last.
    at_hand: Option<(Vec<u8>, Key)>,
    memory: usize,
}

impl<E: EntryWalk> std::fmt::Debug for Entries<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entries").field("index", &self.walk.definition().name()).finish_non_exhaustive()
    }
}

impl<E: EntryWalk> Entries<E> {
    /// Begins. `after` is a place to go on from, if there is one.
    pub(in crate::find) fn begin<I: IndexView<Entries = E>>(
        order: InOrder<I>,
        after: Option<&[u8]>,
        wanted: KeysWanted,
        memory: usize,
        with_entries: bool,
    ) -> Self {
        let InOrder { part, reverse, fixed, components, gathers } = order;
        let limits = part.index.limits();
        let mut ranges = part.ranges.into_iter();
        let range = ranges.next().expect("an order has a range");
        let range = match after.and_then(sorts_of) {
            Some(sorts) => from_place(range, fixed, sorts, reverse, limits),
            None => range,
        };
        let others: Vec<E> = ranges.map(|range| part.index.clone().walk(range)).collect();
        let mut walk = part.index.walk(range);
        if reverse {
            walk.reverse();
        }
        Entries {
            walk,
            others: others.into_iter(),
            limits,
            components,
            gathers,
            with_entries,
            wanted,
            met: Key::Int(0),
            is_long: false,
            is_ahead: false,
            alike: None,
            at_hand: None,
            memory,
        }
    }

    /// Goes on to the next document. Whether there is one. `walk` gives the documents of the same state.
    #[inline]
    pub(in crate::find) fn advance<W: Walk>(
        &mut self,
        walk: &W,
        order: &Order,
        watch: &mut Watch,
    ) -> Result<bool> {
        if self.alike.is_some() && self.next_alike()? {
            return Ok(true);
        }
        self.at_hand = None;
        if !self.meets(watch)? {
            return Ok(false);
        }
        self.is_ahead = false;
        if self.gathers || self.is_long { self.gather_alike(walk, order, watch) } else { Ok(true) }
    }

    /// The key of the document at hand.
    #[inline]
    pub(in crate::find) fn key(&self) -> &Key {
        self.at_hand.as_ref().map_or(&self.met, |(_, key)| key)
    }

    /// An entry of the document at hand. No bytes, perhaps, where entries are not wanted.
    #[inline]
    pub(in crate::find) fn entry(&self) -> &[u8] {
        self.at_hand.as_ref().map_or_else(|| self.walk.entry(), |(entry, _)| entry)
    }

    /// Puts the documents into order whose entries begin as the one that the walk came to last, and goes on to the first of them.
    fn gather_alike<W: Walk>(&mut self, walk: &W, order: &Order, watch: &mut Watch) -> Result<bool> {
        let met = self.walk.entry();
        let end = self.walk.definition().end_of(self.components, met, self.limits).map_err(broken)?;
        let end = end.or(seeded::is_on(Bug::CutTupleSorted).then_some(met.len().min(self.limits.tuple)));
        if end.is_some() && (!self.gathers || seeded::is_on(Bug::TiesAsIndexed)) {
            return Ok(true);
        }
        //= spec/query.md#q-10-1-plans
        //# What depends on the bytes of a long tuple (I-2.6) MUST be told by the documents.
        // Where the tuple is cut, the documents tell the order of all that begin so.
        let beginning = met[..end.unwrap_or(self.limits.tuple)].to_vec();
        let (mut entry, mut key) = self.met_last();
        if !self.meets_alike(&beginning, watch)? {
            self.at_hand = Some((entry, key));
            return Ok(true);
        }
        let storage = &walk.db().core().shared.log.storage;
        let mut sorter = Sorter::new(u64::MAX, self.memory, storage).or_in_memory();
        let mut place = Vec::new();
        loop {
            place.clear();
            match end {
                Some(_) => put_key(key.as_ref(), &mut place),
                None => {
                    let document = walk.document(key.as_ref())?.ok_or_else(no_document)?;
                    order.place(key.as_ref(), document.raw(), &mut place)?;
                }
            }
            put_entry(&entry, &mut place);
            sorter.push(&place)?;
            // The second was met above, and stays ahead until it is gone on to here.
            if !self.meets_alike(&beginning, watch)? {
                break;
            }
            self.is_ahead = false;
            (entry, key) = self.met_last();
        }
        self.alike = Some(sorter.finish()?);
        self.next_alike()
    }

    /// The entry that the walk came to last, where entries are wanted, and its key.
    fn met_last(&self) -> (Vec<u8>, Key) {
        let entry = if self.with_entries { self.walk.entry().to_vec() } else { Vec::new() };
        (entry, self.met.clone())
    }

    /// Leads the walk to the next entry, unless it is ahead already. Whether there is one that begins so.
    fn meets_alike(&mut self, beginning: &[u8], watch: &mut Watch) -> Result<bool> {
        Ok(self.meets(watch)? && self.walk.entry().starts_with(beginning))
    }

    /// Goes on to the next of the documents that are alike. Whether there is one.
    fn next_alike(&mut self) -> Result<bool> {
        let Some(alike) = &mut self.alike else { return Ok(false) };
        let mut place = Vec::new();
        if !alike.next(&mut place)? {
            self.alike = None;
            return Ok(false);
        }
        let entry = take_entry(&mut place)?;
        self.at_hand = Some((entry, key_of(&place).ok_or_else(foreign)?));
        Ok(true)
    }

    /// Goes on to the walk over the next range. Whether there is one.
    #[cold]
    fn enter_next_range(&mut self) -> bool {
        self.others.next().map(|next| self.walk = next).is_some()
    }

    /// Leads the walk to the next entry of a document that can be wanted, unless it is ahead already. Whether there is one.
    #[inline]
    fn meets(&mut self, watch: &mut Watch) -> Result<bool> {
        while !self.is_ahead {
            if !self.walk.advance()? {
                match self.enter_next_range() {
                    true => continue,
                    false => return Ok(false),
                }
            }
            watch.met_entry()?;
            let (definition, entry) = (self.walk.definition(), self.walk.entry());
            let outline = definition.outline(entry, self.limits).map_err(broken)?;
            outline.read_key(entry, &mut self.met).map_err(broken)?;
            self.is_long = outline.is_long;
            self.is_ahead = self.wanted.contains(&self.met);
        }
        Ok(true)
    }
}

/// What of a range lies at a place to go on from, or behind it. In a place, sorts give what the components have that they sort by.
fn from_place(range: KeyRange, fixed: Vec<u8>, sorts: &[u8], reverse: bool, limits: EntryLimits) -> KeyRange {
    let mut beginning = fixed;
    beginning.extend(sorts.iter().map(|byte| if reverse { !*byte } else { *byte }));
    beginning.truncate(limits.tuple);
    let KeyRange { from, to } = KeyRange::bytes_prefix(beginning);
    let is_within = |end: &Bound<Key>| match end {
        Bound::Included(key) | Bound::Excluded(key) => range.contains(key),
        Bound::Unbounded => false,
    };
    match reverse {
        false if is_within(&from) => KeyRange { from, to: range.to },
        true if is_within(&to) => KeyRange { from: range.from, to },
        // What lies outside is asked of each document.
        _ => range,
    }
}

/// The document of an entry.
pub(in crate::find) fn no_document() -> Error {
    broken("an entry of a document that is not there")
}
