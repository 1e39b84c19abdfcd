//! Aggregates over a group: what is kept while documents come, as a part that a run holds, and the result. spec.

use std::collections::BTreeSet;
use std::mem::size_of;

use super::part::{self, Part};
use super::sum::ExactSum;
use crate::document::{Value, order_key};
use crate::error::{Error, Result};
use crate::query::GivenValue;
use crate::seeded::{self, Bug};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aggregate {
    CountDistinct,
    Sum,
    Min,
    Max,
    Avg,
}

impl Aggregate {
    pub(super) const ALL: [Aggregate; 5] =
        [Aggregate::CountDistinct, Aggregate::Sum, Aggregate::Min, Aggregate::Max, Aggregate::Avg];

    pub(super) fn name(self) -> &'static str {
        match self {
            Aggregate::CountDistinct => "count_distinct",
            Aggregate::Sum => "sum",
            Aggregate::Min => "min",
            Aggregate::Max => "max",
            Aggregate::Avg => "avg",
        }
    }

    /// Whether a value at `place` takes the place of one at `known`. Of one place the first stays, which the document of the least key gave.
    fn is_nearer(self, place: &[u8], known: &[u8]) -> bool {
        match self {
            Aggregate::Min => place < known,
            _ => place > known,
        }
    }
}

/// An aggregate under way.
#[derive(Debug)]
pub(super) enum State {
    /// The places that are held, and the count of others, which no run has in common with them.
    Places(BTreeSet<Box<[u8]>>, i64),
    Sum(ExactSum),
    Extreme(Option<Extreme>),
}

/// The place of the nearest value, and its encoding.
#[derive(Debug)]
pub(super) struct Extreme {
    place: Vec<u8>,
    encoded: Vec<u8>,
    /// The order key of the key of the document that gave it; empty where documents come in the order of their keys.
    key: Vec<u8>,
}

/// Bytes that a node of a set takes beside its place, about.
const NODE_LEN: usize = 3 * size_of::<Box<[u8]>>();

impl Extreme {
    /// Bytes of memory that it takes beside itself, about.
    fn heap_len(&self) -> usize {
        self.place.len() + self.encoded.len()
    }
}

impl State {
    pub(super) fn new(kind: Aggregate) -> Self {
        match kind {
            Aggregate::CountDistinct => State::Places(BTreeSet::new(), 0),
            Aggregate::Sum | Aggregate::Avg => State::Sum(ExactSum::default()),
            Aggregate::Min | Aggregate::Max => State::Extreme(None),
        }
    }

    /// Adds a value; how many bytes more are taken, about. `key` is the order key of the document's key, or empty where documents
    /// come in that order.
    #[inline]
    pub(super) fn add(&mut self, kind: Aggregate, value: &GivenValue<'_, '_>, key: &[u8]) -> Result<usize> {
        match self {
            State::Sum(sum) => Ok(value.number().map_or(0, |number| sum.add(number))),
            State::Places(places, _) => {
                let mut place = Vec::new();
                value.encode_order_key(&mut place);
                let len = place.len() + NODE_LEN;
                Ok(if places.insert(place.into()) { len } else { 0 })
            }
            State::Extreme(extreme) => {
                let mut place = Vec::new();
                value.encode_order_key(&mut place);
                let is_first = |known: &Extreme| {
                    place == known.place && key < known.key.as_slice() && !seeded::is_on(Bug::ExtremeOfAnyKey)
                };
                if extreme
                    .as_ref()
                    .is_none_or(|known| kind.is_nearer(&place, &known.place) || is_first(known))
                {
                    let before = extreme.as_ref().map_or(0, Extreme::heap_len);
                    let mut encoded = Vec::new();
                    value.encode(&mut encoded)?;
                    let nearer = extreme.insert(Extreme { place, encoded, key: key.to_vec() });
                    return Ok(nearer.heap_len().saturating_sub(before));
                }
                Ok(0)
            }
        }
    }

    /// Appends all of it, but of places their count alone.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        match self {
            State::Places(places, count) => {
                out.extend_from_slice(&(count + places.len() as i64).to_le_bytes());
            }
            State::Sum(sum) => sum.put(out),
            State::Extreme(extreme) => {
                part::put_value(extreme.as_ref().map(|known| known.encoded.as_slice()), out);
            }
        }
    }

    /// What [`put`](Self::put) wrote.
    pub(super) fn take(kind: Aggregate, part: &mut Part<'_>) -> Result<Self> {
        let mut state = State::new(kind);
        match &mut state {
            State::Places(_, count) => *count = i64::from_le_bytes(part.array()?),
            State::Sum(sum) => *sum = ExactSum::take(part)?,
            State::Extreme(extreme) => {
                *extreme = part.value()?.map(|(encoded, value)| {
                    let mut place = Vec::new();
                    order_key::encode_node(&value, &mut place);
                    Extreme { place, encoded: encoded.to_vec(), key: Vec::new() }
                });
            }
        }
        Ok(state)
    }

    /// Adds what documents of greater keys gave.
    pub(super) fn merge(&mut self, kind: Aggregate, later: State) {
        match (self, later) {
            (State::Sum(sum), State::Sum(later)) => sum.merge(later),
            (State::Extreme(extreme), State::Extreme(Some(later)))
                if extreme.as_ref().is_none_or(|known| kind.is_nearer(&later.place, &known.place)) =>
            {
                *extreme = Some(later);
            }
            (State::Places(_, count), State::Places(_, later)) => *count += later,
            _ => {}
        }
    }

    /// The places, which are taken out.
    pub(super) fn take_places(&mut self) -> BTreeSet<Box<[u8]>> {
        match self {
            State::Places(places, _) => std::mem::take(places),
            _ => BTreeSet::new(),
        }
    }

    /// Counts a place more, which no other part has.
    pub(super) fn count_place(&mut self) {
        if let State::Places(_, count) = self {
            *count += 1;
        }
    }

    pub(super) fn finish(self, kind: Aggregate, of: &str) -> Result<Option<Value>> {
        Ok(match self {
            State::Places(places, count) => Some(Value::Int(count + places.len() as i64)),
            State::Extreme(extreme) => extreme.map(|known| part::decoded(&known.encoded)).transpose()?,
            State::Sum(sum) if kind == Aggregate::Avg => sum.mean(),
            State::Sum(sum) => {
                let overflow = || Error::SumOverflow { expression: of.to_owned() };
                Some(sum.sum().ok_or_else(overflow)?)
            }
        })
    }
}
