//! The documents that are asked for, and what a model needs of them.

use holotype::{Document, Value, doc};

use crate::failure::{Of, Result};

pub const CATEGORIES: [&str; 5] = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"];
/// Values are below this, in no order.
const VALUES: i64 = 1_000_000;
/// A prime, so that values are told apart as well as they can be.
const STEP: i64 = 618_049;
pub const GROUPS: i64 = 1_000;
/// Both fields of a pair are below this, and no two of the first 250,000 documents have one pair.
pub const PAIRS: i64 = 500;
/// Fields of the one wide document.
const FIELDS: i64 = 200;
/// Bytes of a long text.
const PAYLOAD: usize = 1_000;

/// What the model knows of a document. Its key is its number, from 1 on.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    pub id: i64,
    pub value: i64,
    pub category: usize,
    pub group: i64,
    pub a: i64,
    pub b: i64,
}

pub fn items(count: u64) -> Vec<Item> {
    let item = |id: i64| Item {
        id,
        value: id * STEP % VALUES,
        category: (id * 31 % 97) as usize % CATEGORIES.len(),
        group: id * 7 % GROUPS,
        a: id % PAIRS,
        b: id / PAIRS % PAIRS,
    };
    (1..=count as i64).map(item).collect()
}

/// Eight fields.
pub fn flat(item: &Item) -> Document {
    doc! {
        "id": item.id,
        "name": format!("User {}", item.id),
        "value": item.value,
        "text": format!("{:050}", item.value * 31),
        "category": CATEGORIES[item.category],
        "group": item.group,
        "a": item.a,
        "b": item.b,
    }
}

/// One of each form that an index may reach.
pub fn nested(item: &Item) -> Document {
    doc! {
        "n": item.id,
        "text": text(item.id),
        "address": { "city": CATEGORIES[item.category] },
        "tags": [CATEGORIES[item.category], "each"],
        "orders": [{ "sku": CATEGORIES[item.category], "n": 1 }, { "sku": text(item.id), "n": 2 }],
        "guid": guid(item.id),
        "day": day(item.id),
    }
}

/// Texts in the order of their numbers.
pub fn text(number: i64) -> String {
    format!("text-{number:08}")
}

pub fn guid(number: i64) -> String {
    let hash = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{number:012x}",
        hash >> 32,
        hash >> 16 & 0xffff,
        hash & 0xfff,
        hash >> 52
    )
}

/// Days in the order of their numbers, in years of twelve months of 28 days.
pub fn day(number: i64) -> String {
    format!("{:04}-{:02}-{:02}", 1990 + number / 336, number / 28 % 12 + 1, number % 28 + 1)
}

/// A name, and a text many times as long.
pub fn long(item: &Item) -> Document {
    doc! { "name": format!("key_{}", item.id), "payload": "p".repeat(PAYLOAD), "value": item.value }
}

/// One document of many fields, the last of them a text and an object.
pub fn wide(_: &Item) -> Document {
    let mut wide: Document = (0..FIELDS).map(|at| (format!("f{at:03}"), Value::Int(at))).collect();
    wide.insert("late", "a text at the end");
    wide.insert("nest", doc! { "deep": { "n": 7 } });
    wide
}

/// The same document as JSON.
pub fn json(document: &Document) -> Result<String> {
    serde_json::to_string(document).of("the data", "writing JSON")
}
