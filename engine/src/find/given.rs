//! What expressions give of one document: each place once, with the first value there, or nothing; and every combination of them.

use std::collections::BTreeSet;
use std::ops::Range;

use super::part;
use crate::document::{KeyRef, RawDocument};
use crate::error::Result;
use crate::query::Expression;
use crate::seeded::{self, Bug};

/// In the place of what gives nothing: below every order key.
const NOTHING: u8 = 0;

/// Kept from document to document, so that a steady run allocates nothing.
#[derive(Debug, Default)]
pub(super) struct GivenParts {
    /// The places and the encoded values of all parts.
    bytes: Vec<u8>,
    parts: Vec<GivenPart>,
    /// Of each expression, which parts it gave; and the one that is in the combination at hand.
    wheels: Vec<(Range<usize>, usize)>,
    shown: Vec<u8>,
}

#[derive(Debug)]
struct GivenPart {
    place: Range<usize>,
    /// Nothing where it is empty.
    value: Range<usize>,
}

impl GivenParts {
    /// Asks each expression. The first combination is at hand then.
    pub(super) fn read(
        &mut self,
        by: &[Expression],
        key: KeyRef<'_>,
        document: RawDocument<'_>,
    ) -> Result<()> {
        let GivenParts { bytes, parts, wheels, .. } = self;
        bytes.clear();
        parts.clear();
        wheels.clear();
        for expression in by {
            let first = parts.len();
            // A single expression gives no place twice.
            let mut seen = (!expression.is_single()).then(BTreeSet::new);
            expression.give(Some(key), document, &mut |value| {
                let start = bytes.len();
                value.encode_order_key(bytes);
                let place = start..bytes.len();
                let is_new = seen.as_mut().is_none_or(|seen| seen.insert(bytes[place.clone()].to_vec()));
                if is_new || seeded::is_on(Bug::GroupedOncePerItem) {
                    value.encode(bytes)?;
                    let value = place.end..bytes.len();
                    parts.push(GivenPart { place, value });
                } else {
                    bytes.truncate(start);
                }
                Ok(())
            })?;
            if parts.len() == first {
                let start = bytes.len();
                bytes.push(NOTHING);
                parts.push(GivenPart { place: start..bytes.len(), value: 0..0 });
            }
            wheels.push((first..parts.len(), first));
        }
        Ok(())
    }

    fn combination(&self) -> impl Iterator<Item = &GivenPart> {
        self.wheels.iter().map(|(_, at)| &self.parts[*at])
    }

    /// The places of the combination at hand.
    pub(super) fn place(&self, out: &mut Vec<u8>) {
        out.clear();
        self.combination().for_each(|part| out.extend_from_slice(&self.bytes[part.place.clone()]));
    }

    /// Its values, encoded.
    pub(super) fn shown(&mut self) -> &[u8] {
        let mut shown = std::mem::take(&mut self.shown);
        shown.clear();
        for part in self.combination() {
            let value = &self.bytes[part.value.clone()];
            part::put_value((!value.is_empty()).then_some(value), &mut shown);
        }
        self.shown = shown;
        &self.shown
    }

    /// Goes on to the next combination; whether there is one.
    pub(super) fn turn(&mut self) -> bool {
        for (parts, at) in self.wheels.iter_mut().rev() {
            *at += 1;
            if *at < parts.end {
                return true;
            }
            *at = parts.start;
        }
        false
    }
}
