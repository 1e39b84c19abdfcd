//! Indexes, reads through them, and documents whose values meet in them.

use std::ops::Bound;

use crate::index::{DefinitionText, PathText, Place, Tuple, TupleRange};
use crate::key::Key;
use crate::limits::Limits;
use crate::op::{Durability, Op};
use crate::subject::{Feature, Features};
use crate::value::{Document, Value};

use super::rng::Rng;
use super::updates;

/// The names of indexes of one path, and of two. What has one of these names has so many components in every state, so that
/// ends of ranges fit.
const NAMES: [[&str; 2]; 2] = [["i", "j"], ["p", "q"]];

/// Bytes of a key that fits into an entry of every store.
const KEY_LEN_MAX: usize = 4;

/// Definitions of one path; a `-` stands before a path that is descending.
const OF_ONE: [&[&str]; 10] = [
    &["$.a"],
    &["-$.a"],
    &["$.tags[*]"],
    &["-$.tags[*]"],
    &["$.tags[*].a"],
    &["$.a[0]"],
    &["$.*"],
    &["$.b"],
    &["length($.a)"],
    &["-fold($.tags[*])"],
];

/// Definitions of two paths.
const OF_TWO: [&[&str]; 7] = [
    &["$.a", "$.b"],
    &["$.a", "-$.b"],
    &["-$.b", "$.tags[*]"],
    &["$.tags[*].a", "-$.tags[*].b"],
    &["$.tags[*]", "$.tags[*].a"],
    &["-$.a[-1]", "$.aa"],
    &["$.a", "-length($.a)"],
];

/// What is no definition.
const REFUSED: [&[&str]; 10] = [
    &[],
    &["$"],
    &["a"],
    &["$..a"],
    &["$['a', 'b']"],
    &["$.a[0:1]"],
    &["$.a", "-$['a']"],
    &["$.a[*]", "$.b[*]"],
    &["upper($.a)"],
    &["fold($.a)", "-fold($['a'])"],
];

/// Filters of partial indexes, of which some documents are admitted, and changes bring others under them.
const FILTERS: [&str; 8] = [
    "@.a",
    "!@.b",
    "@.a == 1",
    "@.a == 1 && @.b",
    "@.tags[?@ == 1]",
    "@.a >= 1 || fold(@.b) == 'a'",
    "length(@.tags) > 1",
    "type(@.a) != 'int'",
];

/// What no index can have as a filter.
const REFUSED_FILTERS: [&str; 5] =
    ["@.a ==", "@.a == arg('x')", "@.tags[?key() == @]", "!match(@.a, 'a')", "@.a && search(@.b, 'b')"];

/// A change of the indexes, a write beside one, or a read through one. `made` are the indexes that may be there, the last one
/// last, and `place` a collection and a key that may be, too.
pub(super) fn step(
    rng: &mut Rng,
    made: &[(String, String)],
    place: (String, Key),
    durability: Durability,
    features: &Features,
) -> Op {
    match rng.below(12) {
        // Without an index there is nothing to read through, or to write beside.
        3.. if made.is_empty() => {
            let components = rng.below(NAMES.len());
            let (index, definition) = (name(rng, components), definition(rng, components));
            Op::CreateIndex { collection: place.0, index, definition, durability }
        }
        0..2 => change(rng, made, place.0, durability),
        2..8 => write(rng, made, place, durability, features),
        _ => read(rng, made, place),
    }
}

fn write(
    rng: &mut Rng,
    made: &[(String, String)],
    place: (String, Key),
    durability: Durability,
    features: &Features,
) -> Op {
    let collection = made.last().map_or(place.0, |(collection, _)| collection.clone());
    let limits = &features.limits();
    let document = document(rng, limits);
    match rng.below(4) {
        0 => Op::Insert { collection, document, durability },
        1 => {
            let entries =
                vec![(place.1, document), (Key::Int(1 + rng.below(4) as i64), self::document(rng, limits))];
            Op::PutMany { collection, entries, durability }
        }
        2 if features.has(Feature::Updates) => {
            let on_conflict = updates::on_conflict(rng);
            Op::InsertOnConflict { collection, key: place.1, document, on_conflict, durability }
        }
        _ => Op::Put { collection, key: place.1, document, durability },
    }
}

/// A creation, a replacement, an end or another name of an index, or the list of those of a collection.
fn change(rng: &mut Rng, made: &[(String, String)], collection: String, durability: Durability) -> Op {
    let components = rng.below(NAMES.len());
    let (collection, index, components) = match made.last() {
        Some(_) if rng.one_in(2) => {
            let (collection, index) = rng.pick(made).clone();
            let components = components_of(&index);
            (collection, index, components)
        }
        _ => (collection, name(rng, components), components),
    };
    match rng.below(12) {
        0..6 => {
            let definition = definition(rng, components);
            Op::CreateIndex { collection, index, definition, durability }
        }
        6..8 => {
            let definition = definition(rng, components);
            Op::ReplaceIndex { collection, index, definition, durability }
        }
        8 => Op::DropIndex { collection, index, durability },
        9 | 10 => {
            let to = name(rng, components);
            Op::RenameIndex { collection, index, to, durability }
        }
        _ => Op::Indexes { collection },
    }
}

fn name(rng: &mut Rng, components: usize) -> String {
    match rng.below(48) {
        0 => String::new(),
        1 => "$reserved".to_owned(),
        _ => (*rng.pick(&NAMES[components])).to_owned(),
    }
}

fn components_of(name: &str) -> usize {
    usize::from(NAMES[1].contains(&name))
}

fn definition(rng: &mut Rng, components: usize) -> DefinitionText {
    let paths = match (rng.below(16), components) {
        (0, _) => *rng.pick(&REFUSED),
        (_, 0) => *rng.pick(&OF_ONE),
        _ => *rng.pick(&OF_TWO),
    };
    let (unique, sparse) = (rng.one_in(2), rng.one_in(3));
    let filter = match rng.below(32) {
        0 => Some(*rng.pick(&REFUSED_FILTERS)),
        1..9 => Some(*rng.pick(&FILTERS)),
        _ => None,
    };
    DefinitionText { unique, sparse, filter: filter.map(str::to_owned), ..definition_text(paths) }
}

fn definition_text(paths: &[&str]) -> DefinitionText {
    let path = |text: &&str| PathText {
        path: text.trim_start_matches('-').to_owned(),
        descending: text.starts_with('-'),
    };
    DefinitionText { paths: paths.iter().map(path).collect(), ..DefinitionText::default() }
}

/// A read through an index, mostly one that may be there.
pub(super) fn read(rng: &mut Rng, made: &[(String, String)], (collection, key): (String, Key)) -> Op {
    let components = rng.below(NAMES.len());
    let (collection, index) = match made.last() {
        Some(last) if rng.one_in(2) => last.clone(),
        Some(_) if !rng.one_in(8) => rng.pick(made).clone(),
        _ => (collection, name(rng, components)),
    };
    let paths = components_of(&index) + 1;
    let range = if rng.one_in(48) { range(rng, paths + 1) } else { range(rng, paths) };
    // A place is that of an entry as it could be: of a value at least, for a sparse index, and under a short key.
    let may_go_on = key.len() <= KEY_LEN_MAX;
    let after = (may_go_on && rng.one_in(4)).then(|| {
        let mut tuple = tuple(rng, paths);
        tuple[rng.below(paths)] = Some(scalar(rng));
        Place { tuple, key }
    });
    let reverse = rng.one_in(2);
    let limit = rng.one_in(3).then(|| rng.below(5));
    match rng.below(6) {
        0 => Op::IndexCount { collection, index, range },
        1 | 2 => Op::IndexDocuments { collection, index, range, after, reverse, limit },
        _ => Op::IndexScan { collection, index, range, after, reverse, limit },
    }
}

fn range(rng: &mut Rng, components: usize) -> TupleRange {
    match rng.below(8) {
        0 | 1 => TupleRange::ALL,
        2 | 3 => TupleRange::get(beginning(rng, components)),
        4 => {
            let (before, text) = (rng.below(components), *rng.pick(&["", "a", "ab", "é"]));
            TupleRange::Prefix { values: tuple(rng, before), text: text.to_owned() }
        }
        _ => TupleRange::Between { from: end(rng, components), to: end(rng, components) },
    }
}

fn end(rng: &mut Rng, components: usize) -> Bound<Tuple> {
    match rng.below(4) {
        0 => Bound::Unbounded,
        1 => Bound::Excluded(beginning(rng, components)),
        _ => Bound::Included(beginning(rng, components)),
    }
}

/// The values of an end: mostly some, rarely none.
fn beginning(rng: &mut Rng, components: usize) -> Tuple {
    let len = if rng.one_in(16) { 0 } else { 1 + rng.below(components) };
    tuple(rng, len)
}

fn tuple(rng: &mut Rng, len: usize) -> Tuple {
    (0..len).map(|_| (!rng.one_in(6)).then(|| scalar(rng))).collect()
}

/// A document of few different values under the names that indexes are of.
pub(super) fn document(rng: &mut Rng, limits: &Limits) -> Document {
    let mut document = Document::new();
    for name in ["a", "b", "tags"] {
        // Fields are missing often enough for entries of nothing.
        if rng.one_in(4) {
            continue;
        }
        let is_list = name == "tags" || rng.one_in(6);
        let value = match is_list {
            true => Value::Array(items(rng)),
            false if rng.one_in(12) => long(rng, limits),
            false => scalar(rng),
        };
        document.insert(name.to_owned(), value);
    }
    document
}

fn items(rng: &mut Rng) -> Vec<Value> {
    let item = |rng: &mut Rng| {
        let field = |name: &str, rng: &mut Rng| (name.to_owned(), scalar(rng));
        match rng.below(4) {
            0 => Value::Object(Document::from([field("a", rng), field("b", rng)])),
            1 => Value::Object(Document::from([field("a", rng)])),
            _ => scalar(rng),
        }
    };
    (0..rng.below(4)).map(|_| item(rng)).collect()
}

/// One of two texts that are too long for an entry, and alike in all that an entry holds of them.
fn long(rng: &mut Rng, limits: &Limits) -> Value {
    Value::Text(format!("{}{}", "l".repeat(limits.tuple_len()), rng.pick(&["a", "b"])))
}

/// Numbers at one place and others beside them, texts of which one begins as the other, and null, which is a value.
fn scalar(rng: &mut Rng) -> Value {
    match rng.below(20) {
        0 | 1 => Value::Null,
        2 => Value::Bool(true),
        3 => Value::Float(f64::NAN),
        4 => Value::Float(1.5),
        5 => Value::Float(*rng.pick(&[0.0, -0.0])),
        6 => Value::Int(0),
        7..11 => Value::Int(1),
        11..15 => Value::Float(1.0),
        15 => Value::Int((1 << 53) + rng.below(2) as i64),
        16 => Value::Float(9_007_199_254_740_992.0),
        17 => Value::Bytes(b"a".to_vec()),
        _ => Value::from(*rng.pick(&["", "a", "ab", "\0", "é"])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::values;
    use crate::index::{Definition, Entry};

    const TUPLE_LEN: usize = 24;

    fn entry(rng: &mut Rng, definition: &Definition) -> Entry {
        let components = definition.paths.len();
        let mut tuple = tuple(rng, components);
        if rng.one_in(3) {
            let document = values::document(rng, &[], &Limits::default());
            tuple[rng.below(components)] = document.into_values().next();
        }
        let key = if rng.one_in(2) { Key::Int(1) } else { values::key(rng, &Limits::default()) };
        Entry::new(definition, tuple, key, TUPLE_LEN)
    }

    //= spec/index.md#i-7-1-entry-bytes
    //= type=test
    //# The bytewise order of two entries of an index MUST be their order (I-2.4).
    #[test]
    fn the_order_of_entries_is_that_of_their_bytes() {
        let mut rng = Rng::seeded(1);
        let mut orders = [0; 3];
        for paths in OF_ONE.into_iter().chain(OF_TWO) {
            let definition = Definition::parse(&definition_text(paths)).expect("it is one");
            let entries: Vec<Entry> = (0..120).map(|_| entry(&mut rng, &definition)).collect();
            for (a, b) in entries.iter().flat_map(|a| entries.iter().map(move |b| (a, b))) {
                let order = a.order_cmp(b, &definition);
                assert_eq!(order, a.bytes(&definition).cmp(&b.bytes(&definition)), "{a:?} and {b:?}");
                orders[(order as i8 + 1) as usize] += 1;
            }
        }
        assert!(orders.iter().all(|count| *count > 1000), "{orders:?}");
    }

    #[test]
    fn what_is_to_be_refused_is_and_the_rest_is_not() {
        for paths in REFUSED {
            assert_eq!(Definition::parse(&definition_text(paths)), None, "{paths:?}");
        }
        let under = |filter: &str| {
            let filter = Some(filter.to_owned());
            Definition::parse(&DefinitionText { filter, ..definition_text(&["$.a"]) })
        };
        assert!(REFUSED_FILTERS.iter().all(|filter| under(filter).is_none()));
        assert!(FILTERS.iter().all(|filter| under(filter).is_some()));
    }
}
