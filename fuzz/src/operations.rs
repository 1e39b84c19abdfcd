//! Bytes as calls, answered as an ordered map answers them.

use std::collections::BTreeMap;

use holotype::format::SEGMENTS_START;
use holotype::storage::sim::{Level, SimDisk};
use holotype::{
    Collection, Db, Document, Durability, Error, IndexDefinition, Key, Options, Result, Value, doc,
};

use holotype_crash_tests::input::Input;

/// Longer runs show what shorter ones show.
const CALLS_MAX: usize = 400;

/// Where the file may not grow for ever: soon full, and more than what is kept back for deleting and cleaning.
const SEGMENTS_MAX: u64 = 24;

const NAMES: [&str; 3] = ["a", "b", "c"];
const INDEXES: [&str; 2] = ["i", "j"];

/// Values of a byte that choose calls on indexes. They are the last ones, so that every other value chooses what it chose before.
const INDEX_CHANGE: u8 = 255;
const INDEX_READ: u8 = 254;

/// Makes the calls that `bytes` stand for, and compares every answer with that of an ordered map.
///
/// # Panics
/// If an answer differs, if the store refuses what it should do, or if it is not in order at the end.
pub fn operations(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let segment_bytes = input.pick(&[512, 1024, 4096]);
    let mut options = Options::tiny().segment_bytes(segment_bytes);
    let choice = input.byte();
    if choice % 2 == 1 {
        options = options.count_max(8);
    }
    let is_limited = choice >= 128;
    let len_max = SEGMENTS_START + SEGMENTS_MAX * u64::from(segment_bytes);
    let disk = SimDisk::new(64, Level::Sectors);
    // By what the store was told, or by the disk that says so when it is asked for more.
    if (128..192).contains(&choice) {
        options = options.max_file_bytes(len_max);
    } else if is_limited {
        disk.set_capacity(Some(len_max));
    }
    let mut run = Run::begin(disk, options);
    for _ in 0..CALLS_MAX {
        let Some(call) = input.next() else { break };
        match run.step(call, &mut input) {
            // It is as if it had not been called; what comes next shows whether it is.
            Err(Error::StorageFull { .. }) if is_limited => {}
            // An index has room for shorter keys only, and for those of all documents.
            Err(Error::KeyTooLong { .. } | Error::DocumentTooLarge { .. }) if run.is_oversized => {}
            answer => answer.expect("every call of this target can be carried out"),
        }
    }
    run.check_all().expect("every document can be read");
}

/// What a collection should hold.
#[derive(Debug, Default)]
struct Expected {
    documents: BTreeMap<Key, Document>,
    largest_id: i64,
    indexes: BTreeMap<&'static str, By>,
}

/// What an index is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// The number, which no two documents share.
    Number,
    /// The same, the greatest first.
    NumberDown,
    /// The text, which many have, and which may be too long for an entry.
    Text,
}

impl By {
    fn definition(self, name: &str) -> Result<IndexDefinition> {
        match self {
            By::Number => Ok(IndexDefinition::new(name, ["$.n"])?.unique()),
            By::NumberDown => IndexDefinition::new(name, ["-$.n"]),
            By::Text => IndexDefinition::new(name, ["$.text"]),
        }
    }
}

impl Expected {
    fn put(&mut self, key: Key, document: Document) -> Option<Document> {
        if let Key::Int(id) = key {
            self.largest_id = self.largest_id.max(id);
        }
        self.documents.insert(key, document)
    }

    /// The documents as an index has them; those that it may have in several orders, in that of their keys.
    fn in_order(&self, by: By, is_reverse: bool) -> Vec<(Key, Vec<u8>)> {
        let mut documents: Vec<_> = self.documents.iter().collect();
        if by != By::Text {
            documents.sort_by_key(|(_, document)| document.get("n").and_then(Value::as_i64));
        }
        if (by == By::NumberDown) != (is_reverse && by != By::Text) {
            documents.reverse();
        }
        documents.into_iter().map(|(key, document)| (key.clone(), document.encode())).collect()
    }
}

#[derive(Debug)]
struct Run {
    disk: SimDisk,
    options: Options,
    db: Db,
    expected: BTreeMap<&'static str, Expected>,
    /// So that no two documents are alike.
    written: i64,
    /// Whether the last call named a key or a document that may be too long for so small segments.
    is_oversized: bool,
}

impl Run {
    fn begin(disk: SimDisk, options: Options) -> Self {
        let db = Db::open_on(disk.clone(), &options).expect("an empty file becomes a store");
        Run { disk, options, db, expected: BTreeMap::new(), written: 0, is_oversized: false }
    }

    fn step(&mut self, call: u8, input: &mut Input<'_>) -> Result<()> {
        let name = input.pick(&NAMES);
        self.is_oversized = false;
        match call {
            INDEX_CHANGE => return self.change_index(name, input),
            INDEX_READ => return self.read_index(name, input),
            _ => {}
        }
        match call % 18 {
            12 => self.change_collection(name, input),
            13 => self.db.flush(),
            14 => self.verify(input.byte() % 2 == 1),
            15 => self.reopen(input.byte() % 2 == 1),
            16 => self.db.maintain().map(|_| ()),
            17 => self.db.compact().map(|_| ()),
            call => self.use_collection(call, name, input),
        }
    }

    fn use_collection(&mut self, call: u8, name: &'static str, input: &mut Input<'_>) -> Result<()> {
        let durability = input.pick(&[Durability::Synced, Durability::Written, Durability::Buffered]);
        let collection = self.db.collection(name).with_durability(durability);
        match call {
            0 | 1 => self.insert(name, &collection, input),
            2 => self.insert_many(name, &collection, input),
            3 | 4 => self.put(name, &collection, input),
            5 => self.insert_with_key(name, &collection, input),
            6 => self.replace(name, &collection, input),
            7 | 8 => self.delete(name, &collection, input),
            9 => self.get(name, &collection, input),
            _ => self.scan(name, &collection, input),
        }
    }

    fn largest_id(&self, name: &str) -> i64 {
        self.expected.get(name).map_or(0, |expected| expected.largest_id)
    }

    fn document(&mut self, input: &mut Input<'_>) -> Document {
        // Around what fills a sector and a segment.
        let len = input.pick(&[0, 1, 20, 40, 64, 100, 300, 440, 600, 1500, 1500, 20_000]);
        self.is_oversized |= len >= 20_000;
        self.written += 1;
        doc! { "n": self.written, "text": "x".repeat(len) }
    }

    fn insert(&mut self, name: &'static str, collection: &Collection, input: &mut Input<'_>) -> Result<()> {
        let document = self.document(input);
        let Some(id) = self.largest_id(name).checked_add(1) else {
            let refused = collection.insert(&document);
            assert!(matches!(refused, Err(Error::IdsExhausted)), "{refused:?}");
            return Ok(());
        };
        assert_eq!(collection.insert(&document)?, Key::Int(id));
        self.expected.entry(name).or_default().put(Key::Int(id), document);
        Ok(())
    }

    /// Now and then one that a small segment has no room for.
    fn long_key(&mut self, input: &mut Input<'_>) -> Key {
        let key = key(input);
        match key {
            Key::Bytes(bytes) if bytes.len() == 2 => {
                self.is_oversized = true;
                Key::Bytes(bytes.repeat(usize::from(input.byte()) * 2).into())
            }
            key => key,
        }
    }

    fn insert_many(
        &mut self,
        name: &'static str,
        collection: &Collection,
        input: &mut Input<'_>,
    ) -> Result<()> {
        let documents: Vec<_> = (0..1 + input.byte() % 5).map(|_| self.document(input)).collect();
        if self.largest_id(name).checked_add(documents.len() as i64).is_none() {
            let refused = collection.insert_many(&documents);
            assert!(matches!(refused, Err(Error::IdsExhausted)), "{refused:?}");
            return Ok(());
        }
        let keys = collection.insert_many(&documents)?;
        let expected = self.expected.entry(name).or_default();
        for (key, document) in keys.into_iter().zip(documents) {
            assert_eq!(key, Key::Int(expected.largest_id + 1));
            expected.put(key, document);
        }
        Ok(())
    }

    fn put(&mut self, name: &'static str, collection: &Collection, input: &mut Input<'_>) -> Result<()> {
        let (key, document) = (self.long_key(input), self.document(input));
        collection.put(&key, &document)?;
        self.expected.entry(name).or_default().put(key, document);
        Ok(())
    }

    fn insert_with_key(
        &mut self,
        name: &'static str,
        collection: &Collection,
        input: &mut Input<'_>,
    ) -> Result<()> {
        let (key, document) = (key(input), self.document(input));
        let taken = self.expected.get(name).is_some_and(|expected| expected.documents.contains_key(&key));
        match collection.insert_with_key(&key, &document) {
            Err(Error::KeyExists { key: told }) => assert!(taken && told == key, "{key} is free"),
            answer => {
                answer?;
                assert!(!taken, "{key} is taken");
                self.expected.entry(name).or_default().put(key, document);
            }
        }
        Ok(())
    }

    fn replace(&mut self, name: &'static str, collection: &Collection, input: &mut Input<'_>) -> Result<()> {
        let (key, document) = (key(input), self.document(input));
        let answer = collection.replace(&key, &document);
        let Some(expected) = self.known(name, &answer) else { return Ok(()) };
        let there = expected.documents.contains_key(&key);
        assert_eq!(answer?, there);
        if there {
            expected.put(key, document);
        }
        Ok(())
    }

    fn delete(&mut self, name: &'static str, collection: &Collection, input: &mut Input<'_>) -> Result<()> {
        let key = key(input);
        let answer = collection.delete(&key);
        let Some(expected) = self.known(name, &answer) else { return Ok(()) };
        assert_eq!(answer?, expected.documents.remove(&key).is_some(), "delete of {key}");
        Ok(())
    }

    fn get(&mut self, name: &'static str, collection: &Collection, input: &mut Input<'_>) -> Result<()> {
        let key = key(input);
        let answer = collection.get(&key);
        let Some(expected) = self.known(name, &answer) else { return Ok(()) };
        let there = expected.documents.get(&key);
        assert_eq!(answer?.map(|found| found.bytes().to_vec()), there.map(Document::encode), "get of {key}");
        assert_eq!(collection.contains(&key)?, there.is_some(), "contains of {key}");
        Ok(())
    }

    fn scan(&mut self, name: &'static str, collection: &Collection, input: &mut Input<'_>) -> Result<()> {
        let (a, b) = (key(input), key(input));
        let (from, to) = if a <= b { (a, b) } else { (b, a) };
        let scan = collection.scan(&from..=&to);
        let Some(expected) = self.known(name, &scan) else { return Ok(()) };
        let mut range: Vec<_> =
            expected.documents.range(&from..=&to).map(|(key, doc)| (key.clone(), doc.encode())).collect();
        let mut scan = scan?;
        if input.byte() % 2 == 1 {
            scan = scan.reversed();
            range.reverse();
        }
        let found: Result<Vec<_>> =
            scan.map(|doc| doc.map(|doc| (doc.key().to_key(), doc.bytes().to_vec()))).collect();
        assert_eq!(found?, range, "scan from {from} to {to}");
        Ok(())
    }

    fn change_collection(&mut self, name: &'static str, input: &mut Input<'_>) -> Result<()> {
        let there = self.expected.contains_key(name);
        match input.byte() % 4 {
            0 => {
                assert_eq!(self.db.create_collection(name)?, !there);
                self.expected.entry(name).or_default();
            }
            1 => {
                assert_eq!(self.db.drop_collection(name)?, there);
                self.expected.remove(name);
            }
            2 => match (self.db.collection(name).clear(), self.expected.get_mut(name)) {
                (Err(Error::UnknownCollection { .. }), None) => {}
                (Ok(()), Some(expected)) => expected.documents.clear(),
                // That there is no room is said before anything is looked up.
                (Err(full @ Error::StorageFull { .. }), _) => return Err(full),
                (answer, expected) => panic!("clear: {answer:?} for {expected:?}"),
            },
            _ => {
                let to = input.pick(&NAMES);
                match self.db.rename_collection(name, to) {
                    Err(Error::InvalidName { .. }) => assert!(there && self.expected.contains_key(to)),
                    answer => {
                        assert_eq!(answer?, there);
                        if let Some(moved) = self.expected.remove(name) {
                            self.expected.insert(to, moved);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn change_index(&mut self, name: &'static str, input: &mut Input<'_>) -> Result<()> {
        let (index, by) = (input.pick(&INDEXES), input.pick(&[By::Number, By::NumberDown, By::Text]));
        let collection = self.db.collection(name);
        let there = self.expected.get(name).and_then(|expected| expected.indexes.get(index)).copied();
        let choice = input.byte() % 4;
        if choice == 0 {
            let dropped = collection.drop_index(index);
            let Some(expected) = self.known(name, &dropped) else { return Ok(()) };
            assert_eq!(dropped?, there.is_some(), "drop of {index}");
            expected.indexes.remove(index);
            return Ok(());
        }
        let definition = by.definition(index)?;
        let made = match choice {
            1 => collection.replace_index(definition),
            _ => collection.create_index(definition),
        };
        let keys = self.expected.get(name).into_iter().flat_map(|expected| expected.documents.keys());
        self.is_oversized = keys.into_iter().any(|key| matches!(key, Key::Bytes(bytes) if bytes.len() > 2));
        match made {
            Err(Error::IndexExists { .. }) if choice != 1 => {
                assert!(there.is_some_and(|there| there != by), "{index} of {there:?} is not {by:?}");
            }
            made => {
                assert_eq!(made?, there != Some(by), "creation of {index}");
                self.expected.entry(name).or_default().indexes.insert(index, by);
            }
        }
        Ok(())
    }

    fn read_index(&mut self, name: &'static str, input: &mut Input<'_>) -> Result<()> {
        let (index, is_reverse) = (input.pick(&INDEXES), input.byte() % 2 == 1);
        let collection = self.db.collection(name);
        let scan = collection.index(index).range(..);
        if let Err(Error::UnknownIndex { .. }) = scan {
            let there = self.expected.get(name).and_then(|expected| expected.indexes.get(index));
            assert_eq!(there, None, "{index}");
            return Ok(());
        }
        let Some(expected) = self.known(name, &scan) else { return Ok(()) };
        let by = *expected.indexes.get(index).expect("an index that is not there answers nothing");
        let mut scan = scan?;
        if is_reverse {
            scan = scan.reversed();
        }
        let found: Result<Vec<_>> =
            scan.documents().map(|doc| doc.map(|doc| (doc.key().to_key(), doc.bytes().to_vec()))).collect();
        let mut found = found?;
        if by == By::Text {
            // How much of a text an entry holds depends on the segments.
            found.sort();
        }
        assert_eq!(found, expected.in_order(by, is_reverse), "documents by {index}");
        Ok(())
    }

    fn verify(&self, deep: bool) -> Result<()> {
        let report = self.db.verify(deep)?;
        assert!(report.is_clean(), "{report:?}");
        Ok(())
    }

    /// Opens the store again, after it was closed by name or by dropping its last handle.
    fn reopen(&mut self, close: bool) -> Result<()> {
        let db = std::mem::replace(&mut self.db, Db::in_memory());
        if close {
            db.close()?;
        } else {
            drop(db);
        }
        self.db = Db::open_on(self.disk.clone(), &self.options)?;
        self.check_all()
    }

    fn check_all(&self) -> Result<()> {
        assert_eq!(self.db.collections(), self.expected.keys().copied().collect::<Vec<_>>());
        for (name, expected) in &self.expected {
            let collection = self.db.collection(*name);
            assert_eq!(collection.len()?, expected.documents.len() as u64);
            let indexes = collection.indexes()?;
            assert!(
                indexes.iter().map(IndexDefinition::name).eq(expected.indexes.keys().copied()),
                "{indexes:?}"
            );
            let found: Result<Vec<_>> = collection
                .scan(..)?
                .map(|doc| doc.map(|doc| (doc.key().to_key(), doc.bytes().to_vec())))
                .collect();
            let all: Vec<_> =
                expected.documents.iter().map(|(key, doc)| (key.clone(), doc.encode())).collect();
            assert_eq!(found?, all, "collection {name}");
        }
        self.verify(true)
    }

    /// What the collection should hold; none for one that is not there, which the answer must say.
    fn known<T: std::fmt::Debug>(&mut self, name: &str, answer: &Result<T>) -> Option<&mut Expected> {
        let expected = self.expected.get_mut(name);
        if !matches!(answer, Err(Error::StorageFull { .. })) {
            let unknown = matches!(answer, Err(Error::UnknownCollection { .. }));
            assert_eq!(unknown, expected.is_none(), "collection {name}: {answer:?}");
        }
        expected
    }
}

/// Few keys, so that they meet; of every kind, some at the ends of their range.
fn key(input: &mut Input<'_>) -> Key {
    let n = input.byte();
    match n {
        0..=199 => Key::Int(i64::from(n % 40) - 2),
        200..=209 => Key::Int(i64::from(n) << 40),
        210 => Key::Int(i64::MIN),
        211 => Key::Int(i64::MAX),
        212..=233 => Key::Text(["", "a", "ab", "b", "\u{10ffff}"][usize::from(n) % 5].into()),
        _ => Key::Bytes([b"".as_slice(), b"\0", b"a", b"\xff", b"\xff\xff"][usize::from(n) % 5].into()),
    }
}
