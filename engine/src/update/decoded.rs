//! A decoded value that is being changed, and how long it is encoded.

use super::tree::{NormalizedPath, Tree};
use crate::document::cbor::encode;
use crate::document::limits::check_len;
use crate::document::{DEPTH_MAX, Document, Value};
use crate::error::Result;
use crate::query::Step;

/// A decoded value, and the length of its encoding.
#[derive(Debug)]
pub(super) struct Decoded {
    value: Value,
    len: usize,
}

impl Decoded {
    /// # Errors
    /// `TooDeep`, `DocumentTooLarge`.
    pub(super) fn new(value: Value) -> Result<Self> {
        let len = encoded_len(&value, DEPTH_MAX)?;
        check_len(len)?;
        Ok(Decoded { value, len })
    }

    pub(super) fn into_value(self) -> Value {
        self.value
    }

    /// The value at `place`, which is there, to be changed.
    fn value_at(&mut self, place: &[Step]) -> &mut Value {
        place.iter().fold(&mut self.value, |value, step| match (value, step) {
            (Value::Object(fields), Step::Name(name)) => fields.get_mut(name).expect("the place is there"),
            (Value::Array(items), Step::Index(index)) => &mut items[*index],
            _ => unreachable!("steps fit the values that they start from"),
        })
    }

    /// A container has `count` entries where it had `before`.
    fn count_changed(&mut self, before: usize, count: usize) {
        self.len = self.len - head_len(before) + head_len(count);
    }
}

impl Tree for Decoded {
    type Node<'a> = &'a Value;
    type Part = Value;
    type At = NormalizedPath;

    fn root(&self) -> &Value {
        &self.value
    }

    fn at(_node: &Value, place: impl FnOnce() -> NormalizedPath) -> NormalizedPath {
        place()
    }

    fn copy(node: &Value) -> Result<Value> {
        Ok(node.clone())
    }

    fn part(value: &Value) -> Result<Value> {
        Ok(value.clone())
    }

    fn decode(node: &Value) -> Result<Value> {
        Ok(node.clone())
    }

    fn items<'n>(node: &'n Value) -> impl Iterator<Item = &'n Value>
    where
        Self: 'n,
    {
        node.as_array().unwrap_or_default().iter()
    }

    fn put(&mut self, place: &[Step], part: Value) -> Result<()> {
        self.len += encoded_len(&part, DEPTH_MAX.saturating_sub(place.len()))?;
        let before = match place.split_last() {
            None => Some(std::mem::replace(&mut self.value, part)),
            Some((Step::Index(index), array)) => {
                Some(std::mem::replace(&mut items(self.value_at(array))[*index], part))
            }
            Some((Step::Name(name), object)) => {
                let fields = fields(self.value_at(object));
                let before = fields.insert(name.clone(), part);
                if before.is_none() {
                    let count = fields.len();
                    self.count_changed(count - 1, count);
                    self.len += head_len(name.len()) + name.len();
                }
                before
            }
        };
        self.len -= before.map_or(Ok(0), |before| encoded_len(&before, DEPTH_MAX))?;
        Ok(())
    }

    fn replace(&mut self, place: NormalizedPath, _levels_around: usize, value: &Value) -> Result<()> {
        self.put(&place, value.clone())
    }

    fn insert(&mut self, place: &[Step], part: Value) -> Result<()> {
        let Some((Step::Index(index), array)) = place.split_last() else {
            unreachable!("items are inserted by index")
        };
        self.len += encoded_len(&part, DEPTH_MAX.saturating_sub(place.len()))?;
        let items = items(self.value_at(array));
        items.insert(*index, part);
        let count = items.len();
        self.count_changed(count - 1, count);
        Ok(())
    }

    fn remove(&mut self, place: &[Step]) -> Result<Value> {
        let (last, around) = place.split_last().expect("the whole value is not removed");
        let around = self.value_at(around);
        let (removed, count) = match last {
            Step::Index(index) => (items(around).remove(*index), items(around).len()),
            Step::Name(name) => {
                let fields = fields(around);
                (fields.remove(name).expect("the place is there"), fields.len())
            }
        };
        if let Step::Name(name) = last {
            self.len -= head_len(name.len()) + name.len();
        }
        self.len -= encoded_len(&removed, DEPTH_MAX)?;
        self.count_changed(count + 1, count);
        Ok(removed)
    }

    fn retain(&mut self, array: &[Step], keep: &[bool]) -> Result<()> {
        let items = items(self.value_at(array));
        let all = std::mem::take(items);
        let before = all.len();
        let (kept, removed): (Vec<_>, Vec<_>) = all.into_iter().zip(keep).partition(|(_, keep)| **keep);
        *items = kept.into_iter().map(|(item, _)| item).collect();
        let count = items.len();
        self.count_changed(before, count);
        for (item, _) in removed {
            self.len -= encoded_len(&item, DEPTH_MAX)?;
        }
        Ok(())
    }

    fn check_len(&self) -> Result<()> {
        check_len(self.len)
    }
}

fn head_len(count: usize) -> usize {
    encode::head_len(count as u64)
}

/// How many bytes `value` has encoded, if it has `levels` levels at most.
fn encoded_len(value: &Value, levels: usize) -> Result<usize> {
    let mut out = Vec::new();
    encode::value(&mut out, value, levels)?;
    Ok(out.len())
}

fn items(value: &mut Value) -> &mut Vec<Value> {
    match value {
        Value::Array(items) => items,
        _ => unreachable!("an index is a step in an array"),
    }
}

fn fields(value: &mut Value) -> &mut Document {
    match value {
        Value::Object(fields) => fields,
        _ => unreachable!("a name is a step in an object"),
    }
}
