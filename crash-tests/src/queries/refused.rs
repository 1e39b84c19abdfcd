//! What random questions do not come to, or late: each in a store of its own.

use std::ops::ControlFlow;
use std::time::Instant;

use holotype::{
    Collection, Cursor, Db, Document, Error, Hint, IndexDefinition, Key, PlanAccess, Sort, Value, doc,
};

use crate::story::{ensure, say};

/// # Errors
/// Which of them is not refused, or not as it must be.
pub(super) fn every_check() -> Result<(), String> {
    for check in
        [cursors, prefix, shown, parameters, ends, runs, groups_in_runs, beyond_memory, plans, partial, equal]
    {
        check()?;
    }
    Ok(())
}

fn of(documents: impl IntoIterator<Item = Document>) -> Result<Collection, String> {
    let birds = Db::in_memory().collection("birds");
    birds.insert_many(documents).map_err(say)?;
    Ok(birds)
}

/// A cursor of another query, and one of which a sign is another.
fn cursors() -> Result<(), String> {
    let birds = of([doc! { "n": 1 }, doc! { "n": 2 }, doc! { "n": 3 }])?;
    let mut found = birds.find(..).sort("$.n").run().map_err(say)?;
    found.next();
    let cursor = found.cursor().ok_or("no cursor after an answer")?;
    for other in
        [birds.find(..), birds.find("@.n").sort("$.n"), birds.find(..).sort(Sort::by("$.n").descending())]
    {
        let other = other.after(cursor.clone()).run();
        ensure(matches!(other, Err(Error::InvalidCursor { .. })), || {
            format!("the cursor of another query: {:?}", other.map(drop))
        })?;
    }
    let text = cursor.to_string();
    for (at, _) in text.char_indices() {
        let sign = if text[at..].starts_with('A') { "B" } else { "A" };
        let changed = format!("{}{sign}{}", &text[..at], &text[at + 1..]);
        ensure(changed.parse::<Cursor>().is_err(), || {
            format!("{changed} is taken for a cursor, as {text} is")
        })?;
        let cut = &text[..at];
        ensure(cut.parse::<Cursor>().is_err(), || format!("{cut} is taken for a cursor, as {text} is"))?;
    }
    Ok(())
}

/// Keys that begin so, the beginning itself among them, and a range that the filter leaves more out of.
fn prefix() -> Result<(), String> {
    let birds = Db::in_memory().collection("birds");
    birds.put_many([("a", doc! {}), ("ab", doc! { "n": 1 }), ("b", doc! {})]).map_err(say)?;
    for (filter, count) in
        [("starts_with(key(), 'a')", 2), ("starts_with(key(), 'a') && @.n", 1), ("key() <= 'ab'", 2)]
    {
        let found = birds.find(filter).count().map_err(say)?;
        ensure(found == count, || format!("{filter} admits {found}"))?;
    }
    Ok(())
}

/// Of values that are equal in the order of values, a group shows the first. A document that has both is in the group once. A
/// field that is not there is not null.
fn shown() -> Result<(), String> {
    let birds = of([doc! { "n": 1 }, doc! { "n": 1.0 }, doc! { "n": [2, 2.0] }])?;
    let distinct = birds.find("@.n == 1").distinct("$.n").map_err(say)?;
    ensure(distinct == [Value::from(1)], || format!("the distinct values of 1 and 1.0: {distinct:?}"))?;
    let groups = birds.find("@.n[0]").group_by(["$.n[*]"]).run().map_err(say)?;
    ensure(groups == [doc! { "n": 2, "count": 1 }], || format!("a document with 2 and 2.0: {groups:?}"))?;
    let ints = of([doc! { "n": i64::MAX }, doc! { "n": 1 }])?.find(..).group_by(["$.none"]).sum("$.n").run();
    ensure(matches!(ints, Err(Error::SumOverflow { .. })), || format!("a sum beyond the ints: {ints:?}"))?;
    let nothing = birds.find("@.none == null").count().map_err(say)?;
    ensure(nothing == 0, || format!("{nothing} documents without a field have null in it"))
}

fn parameters() -> Result<(), String> {
    let birds = of([doc! {}])?;
    let unbound = birds.find("@.n == arg('n')").count();
    ensure(matches!(unbound, Err(Error::Parameter { .. })), || {
        format!("a parameter that is not bound: {unbound:?}")
    })
}

/// A deadline that passed, and a caller who ends it.
fn ends() -> Result<(), String> {
    let late = of([doc! {}])?.find(..).deadline(Instant::now()).count();
    ensure(matches!(late, Err(Error::DeadlinePassed { .. })), || format!("after its deadline: {late:?}"))?;
    let birds = of((0..200).map(|n| doc! { "n": n }))?;
    let stopped = birds.find("@.n").progress(|progress| match progress.scanned {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    });
    let answers: Vec<_> = stopped.run().map_err(say)?.collect();
    ensure(matches!(answers.last(), Some(Err(Error::Cancelled { .. }))), || {
        format!("cancelled: {} answers and no error", answers.len())
    })
}

/// A sort that takes many runs on the disk.
fn runs() -> Result<(), String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let db = Db::open(directory.path().join("store.holo")).map_err(say)?;
    let birds = db.collection("birds");
    birds.insert_many((0..100).map(|n| doc! { "n": n * 37 % 100 })).map_err(say)?;
    let mut sorted = Vec::new();
    for found in birds.find(..).sort("$.n").sort_memory(500).run().map_err(say)? {
        sorted.push(found.map_err(say)?.get("n").and_then(|n| n.as_i64()));
    }
    ensure(sorted.iter().copied().eq((0..100).map(Some)), || format!("a sort in runs: {sorted:?}"))
}

/// Groups, what they have of many documents, and distinct values, in many runs on the disk.
fn groups_in_runs() -> Result<(), String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let db = Db::open(directory.path().join("store.holo")).map_err(say)?;
    let birds = db.collection("birds");
    birds.insert_many((0..100).map(|n| doc! { "n": n % 10, "m": n % 3 })).map_err(say)?;
    let small = || birds.find(..).sort_memory(500);
    let distinct = small().distinct("$.n").map_err(say)?;
    ensure(distinct.iter().cloned().eq((0..10).map(Value::from)), || {
        format!("distinct values in runs: {distinct:?}")
    })?;
    let groups = small().group_by(["$.n"]).count_distinct("$.m").sum("$.m").run().map_err(say)?;
    let whole = birds.find(..).group_by(["$.n"]).count_distinct("$.m").sum("$.m").run().map_err(say)?;
    ensure(groups == whole && groups.len() == 10, || format!("groups in runs: {groups:?}, {whole:?}"))
}

/// The same where there is no disk.
fn beyond_memory() -> Result<(), String> {
    let birds = of((0..100).map(|n| doc! { "n": n }))?;
    let sorted = birds.find(..).sort("$.n").sort_memory(500).run();
    ensure(matches!(sorted, Err(Error::QueryMemory { max: 500 })), || {
        format!("a sort beyond its memory: {:?}", sorted.map(drop))
    })?;
    let groups = birds.find(..).sort_memory(500).group_by(["$.n"]).run();
    ensure(matches!(groups, Err(Error::QueryMemory { max: 500 })), || {
        format!("groups beyond their memory: {:?}", groups.map(drop))
    })
}

/// What indexes cut, what lies behind a beginning, what is asked of a function of a path, and both sides of an "or".
fn plans() -> Result<(), String> {
    let long = |end: &str| format!("{}{end}", "l".repeat(1100));
    let birds =
        of([doc! { "n": long("b") }, doc! { "n": long("a") }, doc! { "n": "a" }, doc! { "n": "ba" }])?;
    birds.create_index(IndexDefinition::new("n", ["$.n"]).map_err(say)?).map_err(say)?;
    let by_index = |filter: &str| birds.find(filter).hint(Hint::Index("n".to_owned()));
    for (filter, count) in [("@.n == arg('n')", 1), ("starts_with(@.n, 'a') && @.n != arg('n')", 1)] {
        let found = by_index(filter).bind("n", long("a")).count().map_err(say)?;
        ensure(found == count, || format!("{filter} admits {found} by an index"))?;
    }
    let begin = by_index("starts_with(@.n, 'a')").count().map_err(say)?;
    ensure(begin == 1, || format!("{begin} texts begin with an a"))?;
    let sorted = by_index("@.n >= 'l'").sort("$.n").keys().map_err(say)?;
    let sorted = sorted.collect::<Result<Vec<Key>, _>>().map_err(say)?;
    ensure(sorted == [Key::Int(2), Key::Int(1)], || format!("long texts by an index: {sorted:?}"))?;
    let cased = of([doc! { "n": "A" }, doc! { "n": "a" }])?;
    cased.create_index(IndexDefinition::new("n", ["$.n"]).map_err(say)?).map_err(say)?;
    let folded = cased.find("fold(@.n) == 'a' && @.n > ''").hint(Hint::Index("n".to_owned()));
    let folded = folded.count().map_err(say)?;
    ensure(folded == 2, || format!("{folded} of 2 texts that fold to an a, by an index of the path"))?;
    cased.create_index(IndexDefinition::new("f", ["fold($.n)"]).map_err(say)?).map_err(say)?;
    let folded = cased.find("fold(@.n) == fold(arg('n'))").bind("n", "A").hint(Hint::Index("f".to_owned()));
    let folded = folded.count().map_err(say)?;
    ensure(folded == 2, || format!("{folded} of 2 texts that fold to what an A folds to"))?;
    let many = of((0..60).map(|n| doc! { "a": n, "b": n }))?;
    for path in ["$.a", "$.b"] {
        many.create_index(IndexDefinition::new(&path[2..], [path]).map_err(say)?).map_err(say)?;
    }
    let either = many.find("@.a == 1 || @.b == 2 || @.a == 2");
    let plan = either.clone().explain().map_err(say)?;
    ensure(matches!(&plan.access, PlanAccess::Indexes(parts) if !parts.is_empty()), || plan.to_string())?;
    let (count, keys) = (either.clone().count().map_err(say)?, either.keys().map_err(say)?.count());
    ensure((count, keys) == (2, 2), || format!("{count} and {keys} documents for an or"))
}

/// A partial index is read for what asks for all of its filter, and for nothing else; and no range of numbers has nothing in it.
fn partial() -> Result<(), String> {
    let birds = of([
        doc! { "n": 1, "open": 1, "mine": 1 },
        doc! { "n": 2, "open": 1 },
        doc! { "n": 3, "mine": 1 },
        doc! { "open": 1, "mine": 1 },
    ])?;
    let by_n = IndexDefinition::new("n", ["$.n"]).and_then(|by_n| by_n.filtered("@.open && @.mine"));
    birds.create_index(by_n.map_err(say)?).map_err(say)?;
    let by_index = |filter: &str| birds.find(filter).hint(Hint::Index("n".to_owned())).count();
    for (filter, count) in
        [("@.mine && @.open", 2), ("@.open && @.n < 2 && @.mine", 1), ("@.mine && @.open && @.n > 1", 0)]
    {
        let found = by_index(filter).map_err(say)?;
        ensure(found == count, || format!("{filter} admits {found} by a partial index"))?;
    }
    for filter in
        ["@.open", "@.mine && @.n >= 1", "@.n == 1 && !(@.open && @.mine)", "@.mine || @.open && @.mine"]
    {
        let found = by_index(filter);
        ensure(matches!(found, Err(Error::IndexCannotServe { .. })), || {
            format!("{filter} by an index of a part of its documents: {found:?}")
        })?;
    }
    let greatest = birds.find(..).group_by(Vec::<&str>::new()).max("$.n").run().map_err(say)?;
    ensure(greatest == [doc! { "count": 4, "max": { "$.n": 3 } }], || format!("the greatest: {greatest:?}"))
}

/// Values that are equal and not the same, in entries that are not in the order of keys; and what has none.
fn equal() -> Result<(), String> {
    let birds = of([
        doc! {},
        doc! { "n": 2, "m": 1, "tags": [1.0, 1] },
        doc! { "n": 1.0, "m": 5 },
        doc! { "n": 1, "m": 3, "tags": [1, 2] },
    ])?;
    for (name, paths) in [("n", ["$.n"].as_slice()), ("nm", &["$.n", "$.m"]), ("tags", &["$.tags[*]"])] {
        birds.create_index(IndexDefinition::new(name, paths).map_err(say)?).map_err(say)?;
    }
    let by = |index: &str| birds.find(..).hint(Hint::Index(index.to_owned()));
    let whole = by("n").group_by(Vec::<&str>::new()).min("$.n").max("$.n").run().map_err(say)?;
    let right = doc! { "count": 4, "min": { "$.n": 1.0 }, "max": { "$.n": 2 } };
    ensure(whole == [right], || format!("the ends of an index: {whole:?}"))?;
    for index in ["n", "nm"] {
        let values = by(index).distinct("$.n").map_err(say)?;
        ensure(values == [Value::from(1.0), Value::from(2)], || format!("{values:?} by {index}"))?;
    }
    let summed = by("nm").group_by(Vec::<&str>::new()).min("$.n").sum("$.m").run().map_err(say)?;
    let right = doc! { "count": 4, "min": { "$.n": 1.0 }, "sum": { "$.m": 9 } };
    ensure(summed == [right], || format!("the least of entries: {summed:?}"))?;
    let tags = by("tags").group_by(["$.tags[*]"]).run().map_err(say)?;
    let right = [doc! { "count": 2 }, doc! { "tags": 1.0, "count": 2 }, doc! { "tags": 2, "count": 1 }];
    ensure(tags == right, || format!("documents with a tag, by an index: {tags:?}"))?;
    let many = of((0..4000).map(|n| doc! { "n": n / 1000 }))?;
    many.create_index(IndexDefinition::new("n", ["$.n"]).map_err(say)?).map_err(say)?;
    let plan = many.find(..).analyze_distinct("$.n").map_err(say)?;
    let read = plan.actual.ok_or("a query that was run tells what it read")?;
    let is_loose = read.answers == 4 && read.documents == 0 && read.entries < 500;
    ensure(is_loose, || format!("distinct values of 4,000 entries: {plan}"))
}
