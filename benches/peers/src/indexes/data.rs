//! The documents, what of them is indexed, and what a model says of ranges of it.

use holotype::document::RawDocument;
use holotype::{Document, doc};

use crate::contents::byte_sum;
use crate::order::shuffled;

/// A field that may have an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Of 16 bytes, in no order.
    Text,
    /// In the order of keys.
    Number,
}

impl Field {
    pub fn name(self) -> &'static str {
        match self {
            Field::Text => "text",
            Field::Number => "number",
        }
    }
}

/// A document. Its key is its number, from 1 on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub id: i64,
    pub text: String,
    /// What no index has.
    pub score: i64,
}

impl Item {
    fn of(id: i64, round: u64) -> Self {
        let hash = (id as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(round as u32);
        Item { id, text: format!("{hash:016x}"), score: 0 }
    }

    pub fn document(&self) -> Document {
        doc! { "id": self.id, "text": &*self.text, "number": self.id, "score": self.score, "active": true }
    }

    /// What a document comes to.
    fn says(&self) -> i64 {
        self.id + self.score
    }

    /// The same with another text.
    pub fn with_other_text(&self, round: u64) -> Self {
        Item { score: self.score, ..Item::of(self.id, round) }
    }

    /// The same but for what no index has.
    pub fn with_other_score(&self) -> Self {
        Item { score: self.score + 1, ..self.clone() }
    }
}

pub fn items(count: u64) -> Vec<Item> {
    (1..=count as i64).map(|id| Item::of(id, 0)).collect()
}

/// All of them in no order.
pub fn strewn(items: &[Item]) -> Vec<Item> {
    shuffled(items.len() as u64, 1).into_iter().map(|id| items[id as usize - 1].clone()).collect()
}

/// One end of a range of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Text(String),
    Number(i64),
}

/// The documents whose field lies between two places, both taken in.
#[derive(Debug, Clone)]
pub struct Ask {
    pub field: Field,
    pub from: Place,
    pub to: Place,
    /// What its keys must come to, and its documents.
    pub keys: Came,
    pub documents: Came,
}

impl Ask {
    /// Whether it is for one place.
    pub fn is_one(&self) -> bool {
        self.from == self.to
    }
}

/// How many came, and the sum of the keys, or of what documents say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Came {
    count: u64,
    sum: i64,
}

impl Came {
    pub fn add(&mut self, one: i64) {
        self.count += 1;
        self.sum += one;
    }

    pub fn and(self, other: Came) -> Came {
        Came { count: self.count + other.count, sum: self.sum + other.sum }
    }
}

/// Reads all bytes of a document, and tells what [`Item::says`] does.
pub fn read(bytes: &[u8]) -> i64 {
    std::hint::black_box(byte_sum(bytes));
    let document = RawDocument::from_verified(bytes);
    let field = |name| document.get(name).and_then(|value| value.as_i64()).unwrap_or_default();
    field("id") + field("score")
}

/// Ranges of `len` documents by a field, each from another document on.
pub fn asks(items: &[Item], field: Field, len: usize, count: usize) -> Vec<Ask> {
    let place = |item: &Item| match field {
        Field::Text => Place::Text(item.text.clone()),
        Field::Number => Place::Number(item.id),
    };
    let mut sorted: Vec<&Item> = items.iter().collect();
    if field == Field::Text {
        sorted.sort_by(|a, b| a.text.cmp(&b.text));
    }
    let begins = (sorted.len() - len + 1) as u64;
    let starts = shuffled(begins, 2).into_iter().cycle().take(count);
    let ask = |start: u64| {
        let range = &sorted[start as usize - 1..][..len];
        let (mut keys, mut documents) = (Came::default(), Came::default());
        for item in range {
            keys.add(item.id);
            documents.add(item.says());
        }
        Ask { field, from: place(range[0]), to: place(range[len - 1]), keys, documents }
    };
    starts.map(ask).collect()
}
