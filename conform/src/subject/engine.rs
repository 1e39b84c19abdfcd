//! The engine as a subject.

use std::sync::Arc;

use holotype::document::{JsonMode, JsonPointer, RawDocument, json, order_key};
use holotype::storage::{MemoryStorage, Storage};
use holotype::{Background, Db, Document, Error, IndexDefinition, Key, KeyRef, Options, Value};
use holotype::{index_definition, index_entries, index_entry};
use serde_json::value::RawValue;

use super::{Subject, Trouble, asked};
use crate::answer::{Answer, Refusal, Rejection};
use crate::case::{Collection, Index, Mode, Order, Request, State};
use crate::hex::Hex;

/// The engine of this repository, asked in memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct Engine;

impl Subject for Engine {
    fn ask(&mut self, request: &Request, file: Option<&mut Vec<u8>>) -> Result<Answer, Trouble> {
        Ok(match request {
            Request::Open { .. } => open(file.ok_or_else(no_file)?),
            Request::OpenWrite { .. } => open_write(file.ok_or_else(no_file)?),
            Request::DecodeDocument { bytes } => match Document::decode(&bytes.0) {
                Ok(document) => value(&Value::Object(document)),
                Err(error) => rejected(&error),
            },
            Request::DecodeKey { bytes } => match KeyRef::decode(&bytes.0) {
                Ok((key, len)) if len == bytes.0.len() => value(&key_value(key)),
                Ok(_) => Answer::Rejected(Rejection::default()),
                Err(error) => rejected(&error),
            },
            Request::ReadJson { text } => match json::parse_document(text.as_bytes()).and_then(|document| {
                // A store takes a document as bytes, and refuses there what is too long or too deep.
                let mut bytes = Vec::new();
                document.encode_into(&mut bytes).map(|()| bytes)
            }) {
                Ok(bytes) => Answer::Bytes(bytes.into()),
                Err(error) => rejected(&error),
            },
            Request::ReadEntry { text } => match json::parse_entry(text.as_bytes())
                .and_then(|(key, document)| key.as_ref().check_len().map(|()| (key, document)))
            {
                Ok((key, document)) => Answer::Entry((encoded(key.as_ref()), document.encode().into())),
                Err(error) => rejected(&error),
            },
            Request::WriteJson { bytes, mode } => match Document::decode(&bytes.0) {
                Ok(document) => Answer::Text(document.to_json(json_mode(*mode))),
                Err(error) => rejected(&error),
            },
            Request::OrderKey { bytes } => with_value(bytes, |value| {
                let mut out = Vec::new();
                order_key::encode(value, &mut out);
                Answer::Bytes(out.into())
            }),
            Request::KeyOfOrderKey { bytes } => match order_key::decode_key(&bytes.0) {
                Ok((key, len)) if len == bytes.0.len() => Answer::Bytes(encoded(key.as_ref())),
                Ok(_) => Answer::Rejected(Rejection::default()),
                Err(error) => rejected(&error),
            },
            Request::Compare { a, b } => with_value(a, |a| with_value(b, |b| compare(a, b))),
            Request::Get { bytes, pointer } => match RawDocument::from_bytes(&bytes.0)
                .and_then(|document| JsonPointer::parse(pointer).map(|_| document))
            {
                Ok(document) => get(&document, pointer),
                Err(error) => rejected(&error),
            },
            Request::DecodeDefinition { bytes } => match definition(&bytes.0) {
                Ok(definition) => value(&Value::Object(stated(&definition))),
                Err(error) => rejected(&error),
            },
            Request::IndexEntries { definition, limit, key, bytes } => {
                match self::definition(&definition.0).and_then(|definition| {
                    let (key, _) = KeyRef::decode(&key.0)?;
                    index_entries(&definition, *limit as usize, key, &RawDocument::from_bytes(&bytes.0)?)
                }) {
                    Ok(entries) => Answer::Entries(entries.into_iter().map(Into::into).collect()),
                    Err(error) => rejected(&error),
                }
            }
            Request::DecodeIndexEntry { definition, limit, bytes } => {
                match self::definition(&definition.0)
                    .and_then(|definition| index_entry(&definition, *limit as usize, &bytes.0))
                {
                    Ok((key, tuple)) => value(&Value::Object(entry(&key, tuple))),
                    Err(error) => rejected(&error),
                }
            }
            other => asked::answered(other),
        })
    }
}

fn definition(bytes: &[u8]) -> holotype::Result<IndexDefinition> {
    index_definition(&Document::decode(bytes)?)
}

/// Name, paths, both flags and the filter of a definition.
fn stated(definition: &IndexDefinition) -> Document {
    let on = definition.texts().map(Value::from);
    let mut map = Document::new();
    map.insert("name", definition.name());
    map.insert("on", Value::Array(on.collect()));
    map.insert("unique", definition.is_unique());
    map.insert("sparse", definition.is_sparse());
    if let Some(filter) = definition.filter() {
        map.insert("where", filter.to_string());
    }
    map
}

/// The key of an entry, and its tuple unless that is long: each component an array, of a value or of nothing.
fn entry(key: &Key, tuple: Option<Vec<Option<Value>>>) -> Document {
    let mut map = Document::new();
    map.insert("key", key_value(key.as_ref()));
    if let Some(tuple) = tuple {
        let components = tuple.into_iter().map(|component| Value::Array(component.into_iter().collect()));
        map.insert("tuple", Value::Array(components.collect()));
    }
    map
}

fn no_file() -> Trouble {
    Trouble::Scratch { what: "the case has no file".to_owned() }
}

fn json_mode(mode: Mode) -> JsonMode {
    match mode {
        Mode::Relaxed => JsonMode::Relaxed,
        Mode::Canonical => JsonMode::Canonical,
    }
}

fn value(value: &Value) -> Answer {
    let text = value.to_json(JsonMode::Canonical);
    Answer::Value(RawValue::from_string(text).expect("the engine writes JSON"))
}

fn key_value(key: KeyRef<'_>) -> Value {
    match key {
        KeyRef::Int(int) => Value::Int(int),
        KeyRef::Text(text) => Value::Text(text.into()),
        KeyRef::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
    }
}

fn encoded(key: KeyRef<'_>) -> Hex {
    let mut bytes = Vec::new();
    key.encode_into(&mut bytes);
    bytes.into()
}

fn rejected(error: &Error) -> Answer {
    Answer::Rejected(match error {
        Error::Json { line, column, .. } => {
            Rejection { line: Some(*line), column: Some(*column), ..Rejection::default() }
        }
        _ => Rejection::default(),
    })
}

fn with_value(bytes: &Hex, then: impl FnOnce(&Value) -> Answer) -> Answer {
    asked::value_of(bytes).map_or_else(|error| rejected(&error), |value| then(&value))
}

fn compare(a: &Value, b: &Value) -> Answer {
    let order = match a.order_cmp(b) {
        std::cmp::Ordering::Less => "less",
        std::cmp::Ordering::Equal => "same",
        std::cmp::Ordering::Greater => "greater",
    };
    Answer::Order(Order { order: order.to_owned(), equal: a == b })
}

fn get(document: &RawDocument<'_>, pointer: &str) -> Answer {
    match document.pointer(pointer).map(|found| found.encoded().map(<[u8]>::to_vec)) {
        Some(Ok(bytes)) => Answer::Bytes(bytes.into()),
        Some(Err(error)) => rejected(&error),
        None => Answer::None,
    }
}

fn options() -> Options {
    Options::new()
        .seed(1)
        .cache_bytes(1 << 20)
        .create(false)
        .background(Background::Manual)
        .verify_index(true)
}

fn disk_with(bytes: &[u8]) -> Arc<MemoryStorage> {
    let disk = MemoryStorage::new();
    disk.write_at(0, bytes).expect("memory refuses nothing");
    Arc::new(disk)
}

fn contents(disk: &MemoryStorage) -> Vec<u8> {
    let mut bytes = vec![0; disk.len().expect("memory refuses nothing") as usize];
    disk.read_at(0, &mut bytes).expect("memory refuses nothing");
    bytes
}

fn open(file: &mut Vec<u8>) -> Answer {
    let disk = disk_with(file);
    let answer = match Db::open_on(Arc::clone(&disk), &options().read_only(true)) {
        Ok(db) => state(&db, file),
        Err(error) => refused(&error),
    };
    *file = contents(&disk);
    answer
}

fn open_write(file: &mut Vec<u8>) -> Answer {
    let disk = disk_with(file);
    let answer = match Db::open_on(Arc::clone(&disk), &options()) {
        Ok(db) => {
            let before = contents(&disk);
            let answer = state(&db, &before);
            match db.close() {
                Ok(()) => answer,
                Err(error) => refused(&error),
            }
        }
        Err(error) => refused(&error),
    };
    *file = contents(&disk);
    answer
}

fn refused(error: &Error) -> Answer {
    match error {
        Error::Corrupt(found) => {
            Answer::Corrupt(Refusal { clause: Some(found.clause.to_string()), at: Some(found.at) })
        }
        // What verifies and is no document was damaged before its checksum was made.
        Error::Decode { .. } => Answer::Corrupt(Refusal::default()),
        Error::NewerFormat { .. } => Answer::Newer(Refusal::default()),
        Error::OlderFormat { .. } => Answer::Older(Refusal::default()),
        Error::Incomplete => Answer::Incomplete,
        Error::NotHolotype { .. } => Answer::NotHolotype,
        // Nothing else is due of a file that is in memory: no clause of a case will fit.
        other => Answer::Corrupt(Refusal { clause: Some(format!("none: {other}")), at: None }),
    }
}

/// Every document of an open store.
fn state(db: &Db, file: &[u8]) -> Answer {
    let snapshot = db.snapshot();
    let mut state = State { lsn: Some(format!("{:016x}", snapshot.lsn())), collections: Vec::new() };
    for name in db.collections() {
        match documents(db, &name).and_then(|documents| Ok((documents, indexes(db, &name)?))) {
            Ok((documents, indexes)) => {
                let next = next_id(file, &name);
                state.collections.push(Collection { name, next, documents, indexes: Some(indexes) });
            }
            Err(error) => return refused(&error),
        }
    }
    Answer::State(state)
}

fn documents(db: &Db, name: &str) -> holotype::Result<Vec<(Hex, Hex)>> {
    let mut found = Vec::new();
    for document in db.collection(name).scan(..)? {
        let document = document?;
        holotype::document::validate(document.bytes())?;
        found.push((encoded(document.key()), document.bytes().into()));
    }
    Ok(found)
}

/// The indexes of a collection with their entries, as the store reads them.
fn indexes(db: &Db, name: &str) -> holotype::Result<Vec<Index>> {
    let collection = db.collection(name);
    let mut found = Vec::new();
    for definition in collection.indexes()? {
        let entries = collection.index(definition.name()).range(..)?;
        found.push(Index {
            name: definition.name().to_owned(),
            on: definition.texts().collect(),
            unique: definition.is_unique(),
            sparse: definition.is_sparse(),
            filter: definition.filter().map(ToString::to_string),
            entries: entries
                .map(|entry| entry.map(|entry| entry.place().into()))
                .collect::<Result<_, _>>()?,
        });
    }
    Ok(found)
}

/// What the next document without a key would get: asked of a copy, in a transaction that is rolled back. None where the file may not be
/// written to.
fn next_id(file: &[u8], name: &str) -> Option<String> {
    let db = Db::open_on(disk_with(file), &options()).ok()?;
    let tx = db.begin_write().ok()?;
    match tx.collection(name).insert(Document::new()) {
        Ok(key) => Some(key.to_string()),
        Err(Error::IdsExhausted) => Some((1u64 << 63).to_string()),
        Err(_) => None,
    }
}
