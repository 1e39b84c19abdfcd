//! The documents that are asked for, in both forms, and what a model needs of them.

use holotype::{Document, Value, doc};

use crate::failure::{Of, Result};

pub const CATEGORIES: [&str; 5] = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"];
/// Values are below this, in no order.
const VALUES: i64 = 1_000_000;
/// A prime, so that values are told apart as well as they can be.
const STEP: i64 = 618_049;
pub const GROUPS: i64 = 1_000;
/// Fields of the one wide document.
const FIELDS: i64 = 200;

/// What the model knows of a document. Its key is its number, from 1 on.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    pub id: i64,
    pub value: i64,
    pub category: usize,
    pub group: i64,
}

pub fn items(count: u64) -> Vec<Item> {
    let item = |id: i64| Item {
        id,
        value: id * STEP % VALUES,
        category: (id * 31 % 97) as usize % CATEGORIES.len(),
        group: id * 7 % GROUPS,
    };
    (1..=count as i64).map(item).collect()
}

impl Item {
    pub fn document(&self) -> Document {
        doc! {
            "id": self.id,
            "name": format!("User {}", self.id),
            "value": self.value,
            "text": format!("{:050}", self.value * 31),
            "category": CATEGORIES[self.category],
            "group": self.group,
        }
    }
}

/// One document of many fields, the last of them a text and an object.
pub fn wide() -> Document {
    let mut wide: Document = (0..FIELDS).map(|at| (format!("f{at:03}"), Value::Int(at))).collect();
    wide.insert("late", "a text at the end");
    wide.insert("nest", doc! { "deep": { "n": 7 } });
    wide
}

/// The same document as JSON.
pub fn json(document: &Document) -> Result<String> {
    serde_json::to_string(document).of("the data", "writing JSON")
}
