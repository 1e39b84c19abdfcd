//! Small stores to begin from.

use holotype_model::{Document, Key, Value};

use crate::forge::log::{Frame, NOTHING};
use crate::forge::{Forge, Record};
use crate::make::ladder::document;

/// A document that says how it came about.
pub(in crate::make) fn saying(n: i64) -> Document {
    document([("n", Value::Int(n))])
}

pub(in crate::make) fn text(text: &str) -> Key {
    Key::from(text)
}

/// Places a commit, in the next segment where this one has no room.
pub(in crate::make) fn push(forge: &mut Forge, records: &[Record], lag: u32) {
    let next = forge.last + 1;
    let body: usize = records.iter().map(|each| forge.record(each, 0, next, &[0; 16]).len()).sum();
    if !forge.has_room(body + records.len() * 8) {
        forge.segment(next);
    }
    forge.frame(records, &Frame { lag, ..Frame::default() });
}

/// A store of one incarnation with a few commits in two collections, in as many segments as they need. Nothing states anything durable.
pub(in crate::make) fn sample(sector: u32, segment_bytes: u32) -> Forge {
    commits(Forge::opened(sector, segment_bytes, 4), 12, NOTHING)
}

/// The same commits, so many of them, behind whatever there is.
pub(in crate::make) fn commits(mut forge: Forge, count: i64, lag: u32) -> Forge {
    push(&mut forge, &[Record::create(1, "notes"), Record::create(2, "other")], lag);
    for n in 1..count {
        let record = match n % 6 {
            0 => Record::delete(1, &Key::Int(n - 5)),
            1 => Record::put(1, &Key::Int(n), &saying(n)),
            2 => Record::put(1, &text("name"), &saying(n)),
            3 => Record::put(2, &Key::Bytes(vec![0, 0xff]), &saying(n)),
            4 => Record::put(1, &Key::Int(n), &document([("text", Value::from("x".repeat(40).as_str()))])),
            _ => Record::put(2, &Key::Int(-n), &saying(n)),
        };
        push(&mut forge, &[record], lag);
    }
    forge
}

/// A store that has two collections and one document, with room in its first segment.
pub(in crate::make) fn small() -> Forge {
    let mut forge = Forge::opened(64, 4096, 2);
    forge.commit(&[Record::create(1, "notes"), Record::create(2, "other")]);
    forge.commit(&[Record::put(1, &Key::Int(1), &saying(1))]);
    forge
}
