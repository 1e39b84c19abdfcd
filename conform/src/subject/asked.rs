//! Filters, queries and updates, asked of the engine.

use holotype::document::RawDocument;
use holotype::query::{Filter, JsonPath};
use holotype::update::{self, Changes, JsonPatch, Number};
use holotype::{Collection, Cursor, Db, Document, Error, Key, KeyRef, Result, Sort, Update, Value};

use crate::answer::{Answer, Rejection};
use crate::case::Request;
use crate::hex::Hex;
use crate::question::{Args, Asked, Change, End, Grouped, SortBy};

/// The value that bytes encode: read as the only field of a document, since the engine has no door for a value by itself.
pub(super) fn value_of(bytes: &Hex) -> Result<Value> {
    const ONE_FIELD: [u8; 3] = [0xa1, 0x61, b'v'];
    let mut document = Document::decode(&[&ONE_FIELD, bytes.0.as_slice()].concat())?;
    Ok(document.remove("v").expect("it has that field"))
}

fn key_of(bytes: &Hex) -> Result<Key> {
    KeyRef::decode(&bytes.0).map(|(key, _)| key.to_key())
}

/// The encoding of a value: that of the only field of a document, without the rest.
fn encoded(value: Value) -> Hex {
    Document::from([("v", value)]).encode()[3..].into()
}

fn list(items: impl IntoIterator<Item = Value>) -> Answer {
    Answer::Bytes(encoded(items.into_iter().collect()))
}

/// The answer to a request that opens no file.
pub(super) fn answered(request: &Request) -> Answer {
    let came = match request {
        Request::Filter { filter, bytes, key, args } => self::filter(filter, bytes, key.as_ref(), args),
        Request::Select { path, bytes } => select(path, bytes),
        Request::Find { asked } => find(asked),
        Request::Distinct { of, asked } => distinct(asked, of),
        Request::Group { grouped } => group(grouped),
        Request::Project { bytes, paths } => project(bytes, paths),
        Request::Patch { bytes, patch } => self::patch(bytes, patch),
        Request::Merge { bytes, patch } => merge(bytes, patch),
        Request::Update { bytes, changes } => update(bytes, changes),
        _ => return Answer::Unsupported,
    };
    came.unwrap_or_else(|error| {
        let operation = match &error {
            Error::Update(failed) => Some(failed.operation as u64),
            Error::InvalidPatch { operation, .. } => operation.map(|operation| operation as u64),
            _ => None,
        };
        Answer::Rejected(Rejection { operation, ..Rejection::default() })
    })
}

fn filter(text: &str, bytes: &Hex, key: Option<&Hex>, args: &Args) -> Result<Answer> {
    let mut filter = Filter::parse(text)?;
    for (name, value) in args {
        filter = filter.bind(name, value_of(value)?)?;
    }
    let document = RawDocument::from_bytes(&bytes.0)?;
    let admits = match key {
        Some(key) => filter.matches_with_key(key_of(key)?.as_ref(), document)?,
        None => filter.matches(document)?,
    };
    Ok(Answer::Bytes(encoded(Value::Bool(admits))))
}

fn select(path: &str, bytes: &Hex) -> Result<Answer> {
    let (path, value) = (JsonPath::parse(path)?, value_of(bytes)?);
    Ok(list(path.select(&value)?.into_iter().cloned()))
}

fn collection(asked: &Asked) -> Result<Collection> {
    let db = Db::in_memory();
    db.create_collection("c")?;
    let collection = db.collection("c");
    for (key, document) in &asked.documents {
        collection.put(key_of(key)?, Document::decode(&document.0)?)?;
    }
    Ok(collection)
}

type Query<'c> = holotype::Query<'c, Collection>;

fn sort(by: &SortBy) -> Sort {
    let sort = Sort::by(by.by.as_str());
    let sort = if by.descending { sort.descending() } else { sort };
    match by.nothing {
        None => sort,
        Some(End::First) => sort.nothing_first(),
        Some(End::Last) => sort.nothing_last(),
    }
}

fn bound<'c>(asked: &Asked, mut query: Query<'c>) -> Result<Query<'c>> {
    for (name, value) in &asked.args {
        query = query.bind(name.as_str(), value_of(value)?);
    }
    Ok(query)
}

/// The query, and its cursor if it has one.
fn query<'c>(asked: &Asked, collection: &'c Collection) -> Result<Query<'c>> {
    let query = match &asked.filter {
        Some(filter) => collection.find(filter.as_str()),
        None => collection.find(..),
    };
    let query = bound(asked, asked.sort.iter().fold(query, |query, by| query.sort(sort(by))))?;
    let query = asked.skip.iter().fold(query, |query, skip| query.skip(*skip));
    let query = asked.limit.iter().fold(query, |query, limit| query.limit(*limit));
    let Some((key, document)) = &asked.after else { return Ok(query) };
    let cursor = query.clone().cursor_at(key_of(key)?, &Document::decode(&document.0)?)?;
    // What is gone on from is the text: that is what a user keeps.
    Ok(query.after(cursor.to_string().parse::<Cursor>()?))
}

fn find(asked: &Asked) -> Result<Answer> {
    let collection = collection(asked)?;
    let keys = query(asked, &collection)?.keys()?.collect::<Result<Vec<Key>>>()?;
    Ok(list(keys.into_iter().map(|key| match key {
        Key::Int(int) => Value::Int(int),
        Key::Text(text) => Value::Text(text),
        Key::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
    })))
}

fn distinct(asked: &Asked, of: &str) -> Result<Answer> {
    let collection = collection(asked)?;
    Ok(list(query(asked, &collection)?.distinct(of)?))
}

fn group(grouped: &Grouped) -> Result<Answer> {
    let collection = collection(&grouped.asked)?;
    let mut groups = query(&grouped.asked, &collection)?.group_by(&grouped.by);
    for (name, of) in &grouped.aggregates {
        let of = of.as_str();
        groups = match name.as_str() {
            "count_distinct" => groups.count_distinct(of),
            "sum" => groups.sum(of),
            "min" => groups.min(of),
            "max" => groups.max(of),
            _ => groups.avg(of),
        };
    }
    if let Some(having) = &grouped.having {
        groups = groups.having(having.as_str());
    }
    groups = grouped.sort_groups.iter().fold(groups, |groups, by| groups.sort(sort(by)));
    groups = grouped.limit_groups.iter().fold(groups, |groups, limit| groups.limit(*limit));
    Ok(list(groups.run()?.into_iter().map(Value::Object)))
}

fn project(bytes: &Hex, paths: &[String]) -> Result<Answer> {
    let collection = Db::in_memory().collection("c");
    collection.put(1, Document::decode(&bytes.0)?)?;
    let mut parts = collection.find(..).project(paths).run()?;
    let part = parts.next().expect("there is a document")?;
    Ok(Answer::Bytes(part.to_document()?.encode().into()))
}

fn patch(bytes: &Hex, patch: &str) -> Result<Answer> {
    let patch = JsonPatch::parse(patch)?;
    changed(bytes, &Changes::from(&patch))
}

fn merge(bytes: &Hex, patch: &Hex) -> Result<Answer> {
    let merged = update::merge(&value_of(bytes)?, &value_of(patch)?)?;
    Ok(Answer::Bytes(encoded(merged)))
}

fn update(bytes: &Hex, changes: &[Change]) -> Result<Answer> {
    let update = update_of(changes)?;
    update.check()?;
    changed(bytes, &Changes::from(&update))
}

fn changed(bytes: &Hex, changes: &Changes<'_>) -> Result<Answer> {
    Ok(Answer::Bytes(changes.apply(RawDocument::from_bytes(&bytes.0)?)?.into()))
}

fn update_of(changes: &[Change]) -> Result<Update> {
    changes.iter().try_fold(Update::new(), |update, change| {
        let path = change.path.as_str();
        let value = || change.value.as_ref().map_or(Ok(Value::Null), value_of);
        let items = || change.items.iter().map(value_of).collect::<Result<Vec<Value>>>();
        let name = change.name.as_deref().unwrap_or_default();
        Ok(match change.change.as_str() {
            "set" => update.set(path, value()?),
            "unset" => update.unset(path),
            "rename" => update.rename(path, name),
            "inc" => update.inc(path, number(value()?)),
            "mul" => update.mul(path, number(value()?)),
            "min" => update.min(path, value()?),
            "max" => update.max(path, value()?),
            "push" => match change.keep_last {
                Some(last) => update.push_keep_last(path, items()?, last as usize),
                None => update.push_all(path, items()?),
            },
            "pop" => update.pop(path),
            "pop_first" => update.pop_first(path),
            "pull" => update.pull(path, value()?),
            "add_to_set" => update.add_to_set(path, value()?),
            _ => update.each(path, update_of(&change.changes)?),
        })
    })
}

fn number(value: Value) -> Number {
    match value {
        Value::Float(float) => Number::Float(float),
        other => Number::Int(other.as_i64().unwrap_or_default()),
    }
}
