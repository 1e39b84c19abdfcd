//! Changes of documents: decoded, over their bytes, in a store, and by the model.

use holotype::document::RawDocument;
use holotype::query::Filter;
use holotype::update::{self as engine, Changes, JsonPatch, UpdateFault};
use holotype::{Db, Document, Error, Update, Value, doc};
use holotype_model::Limits;
use holotype_model::check::Rng;
use holotype_model::update::{self as model, Action, Change, Misfit, PatchOp, PathStep};

use crate::input::Input;
use crate::story::ensure;
use crate::{changes, convert};

/// Few names, so that many paths lead somewhere.
const NAMES: [&str; 5] = ["a", "b", "aa", "", "0"];

/// Tokens of pointers: names and indexes, and what is neither.
const TOKENS: [&str; 9] = ["a", "b", "aa", "", "0", "1", "2", "-", "01"];

/// Paths of `each`.
const FAN_OUTS: [&str; 8] =
    ["$", "$.*", "$..*", "$..[0, 0]", "$[?@ == 1]", "$..[?@.a]", "$['a', 'b'][-2:]", "$..['a', 'aa'].*"];

const OPERATIONS_MAX: usize = 12;

/// Of a case from a seed.
const BYTES_MAX: usize = 400;

/// Changes documents that come from seeds from `seed` on, `cases` of them.
///
/// # Errors
/// The seed of the first on which engine and model do not agree, and how.
pub fn every_check(seed: u64, cases: u64) -> Result<u64, (u64, String)> {
    in_a_store().and_then(|()| of_an_array()).map_err(|what| (seed, what))?;
    for seed in seed..seed.saturating_add(cases) {
        let mut rng = Rng::seeded(seed);
        let bytes: Vec<u8> = (0..rng.below(BYTES_MAX)).map(|_| rng.below(256) as u8).collect();
        check(&bytes).map_err(|what| (seed, what))?;
    }
    Ok(cases)
}

/// What only a store shows: versions, and which documents a call on many changes.
fn in_a_store() -> Result<(), String> {
    let say = |error: Error| error.to_string();
    let (db, every) = (Db::in_memory(), Filter::parse("@").map_err(say)?);
    let birds = db.collection("birds");
    birds.put("wren", doc! { "seen": 1 }).map_err(say)?;
    let version = || Ok::<_, String>(birds.get("wren").map_err(say)?.map(|found| found.version()));
    let before = version()?;
    birds.update("wren", Update::new().set("$.seen", 1)).map_err(say)?;
    ensure(version()? == before, || "a document that stays equal has another version".to_owned())?;
    let other = birds.update_if("wren", 1, Update::new().inc("$.seen", 1));
    ensure(matches!(other, Err(Error::VersionMismatch { .. })), || format!("another version: {other:?}"))?;
    let (inc, seen) = (Update::new().inc("$.seen", 1), |seen: i64| Some(doc! { "seen": seen }));
    birds.update_many(&every, &inc).map_err(say)?;
    let wren = birds.get("wren").and_then(|wren| wren.map(|wren| wren.to_document()).transpose());
    ensure(wren.as_ref().ok() == Some(&seen(2)), || format!("changed once of 1: {wren:?}"))?;
    let tx = db.begin_write().map_err(say)?;
    let birds = tx.collection("birds");
    birds.put("yaffle", doc! { "seen": "often" }).map_err(say)?;
    let refused = birds.update_many(&every, &inc);
    let wren = birds.get("wren").and_then(|wren| wren.map(|wren| wren.to_document()).transpose());
    let is_refused = refused.is_err() && wren.as_ref().ok() == Some(&seen(2));
    ensure(is_refused, || format!("a call that fails for one: {refused:?}, and the other is {wren:?}"))
}

/// A document and a patch of it.
pub fn patch_of(bytes: &[u8]) -> (holotype_model::Document, Vec<PatchOp>) {
    let mut input = Input::new(bytes);
    let document = fields(&mut input, 3);
    let count = usize::from(input.byte()) % OPERATIONS_MAX;
    (document, (0..count).map(|_| patch_op(&mut input)).collect())
}

/// What few seeds meet: items that are equal in the order of values alone, and a cap on an array that has items.
fn of_an_array() -> Result<(), String> {
    use holotype_model::Value::{Array, Float, Int};
    let document = holotype_model::Document::from([("a".to_owned(), Array(vec![Int(1), Int(2), Int(3)]))]);
    let before = holotype_model::Value::Object(document.clone());
    let push = Action::Push { items: vec![Int(4)], keep_last: Some(2) };
    for action in [Action::Pull(Float(1.0)), Action::AddToSet(Float(1.0)), push] {
        let made = [Change::At { path: vec![PathStep::Name("a".to_owned())], action }];
        let expected = model::apply_update(&before, &made, &Limits::default());
        let update = changes::update(&made);
        compare(&document, &Changes::from(&update), |value| update.apply(value), &expected)?;
    }
    let test = [PatchOp::Test { path: vec!["a".to_owned(), "0".to_owned()], value: Float(1.0) }];
    let expected = model::apply_patch(&before, &test, &Limits::default());
    let patch = changes::patch(&test);
    compare(&document, &Changes::from(&patch), |value| patch.apply(value), &expected)
}

/// Changes a document by a patch, a merge patch or an update, all from `bytes`: decoded, over its bytes, and by the model.
///
/// # Errors
/// How the three do not agree on the result, or on the operation that fails and why.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let mut input = Input::new(bytes);
    let document = fields(&mut input, 3);
    let kind = input.byte() % 3;
    let count = usize::from(input.byte()) % OPERATIONS_MAX;
    let before = holotype_model::Value::Object(document.clone());
    match kind {
        0 => {
            let patch: Vec<PatchOp> = (0..count).map(|_| patch_op(&mut input)).collect();
            let expected = model::apply_patch(&before, &patch, &Limits::default());
            let patch = changes::patch(&patch);
            let written = JsonPatch::parse(patch.to_json(Default::default()));
            ensure(written.as_ref().ok() == Some(&patch), || {
                format!("{patch:?} is read back as {written:?}")
            })?;
            compare(&document, &Changes::from(&patch), |value| patch.apply(value), &expected)
        }
        1 => {
            let patch = fields(&mut input, 3);
            let expected =
                model::merge(&before, &holotype_model::Value::Object(patch.clone()), &Limits::default());
            let patch = convert::document(&patch);
            let merge = |value: &Value| engine::merge(value, &Value::from(&patch));
            compare(&document, &Changes::merge(&patch), merge, &expected.map_err(|misfit| (0, misfit)))
        }
        _ => {
            let made: Vec<Change> = (0..count).map(|_| change(&mut input, 2)).collect();
            let expected = model::apply_update(&before, &made, &Limits::default());
            let update = changes::update(&made);
            compare(&document, &Changes::from(&update), |value| update.apply(value), &expected)
        }
    }
}

fn compare(
    document: &holotype_model::Document,
    changes: &Changes<'_>,
    apply: impl Fn(&Value) -> Result<Value, Error>,
    expected: &Result<holotype_model::Value, model::Failed>,
) -> Result<(), String> {
    let document = convert::document(document);
    let what = || format!("{changes:?} of {document}");
    let decoded = apply(&Value::from(&document));
    let agree = match (&decoded, expected) {
        (Ok(value), Ok(expected)) => convert::model_value(value) == *expected,
        (Err(Error::Update(error)), Err(expected)) => failed(error) == Some(*expected),
        _ => false,
    };
    ensure(agree, || format!("{}: {decoded:?}, and the model has {expected:?}", what()))?;
    let bytes = document.encode();
    let encoded = changes.apply(RawDocument::from_verified(&bytes));
    let agree = match (&encoded, &decoded) {
        (Ok(bytes), Ok(Value::Object(expected))) => Document::decode(bytes).ok().as_ref() == Some(expected),
        (Err(Error::Update(error)), Ok(other)) => {
            matches!(error.fault, UpdateFault::NoDocument { found } if found == other.kind())
        }
        (Err(over_bytes), Err(decoded)) => over_bytes.to_string() == decoded.to_string(),
        _ => false,
    };
    ensure(agree, || format!("{}: {encoded:?} over bytes, and {decoded:?} decoded", what()))
}

/// An error in the model's words; `None` for one that no value gives.
fn failed(error: &engine::UpdateError) -> Option<model::Failed> {
    misfit(&error.fault).map(|misfit| (error.operation, misfit))
}

fn misfit(fault: &UpdateFault) -> Option<Misfit> {
    Some(match fault {
        UpdateFault::NoSuchPlace { .. } => Misfit::NoSuchPlace,
        UpdateFault::TestFailed { .. } => Misfit::TestFailed,
        UpdateFault::IntoItself { .. } => Misfit::IntoItself,
        UpdateFault::WrongKind { .. } => Misfit::WrongKind,
        UpdateFault::Overflow { .. } => Misfit::Overflow,
        UpdateFault::NothingLeft => Misfit::NothingLeft,
        UpdateFault::NoFieldToRename => Misfit::NoFieldToRename,
        UpdateFault::InNode { error, .. } => return misfit(&error.fault),
        _ => return None,
    })
}

fn fields(input: &mut Input<'_>, levels: usize) -> holotype_model::Document {
    let count = input.byte() % 4;
    (0..count).map(|_| (input.pick(&NAMES).to_owned(), value(input, levels))).collect()
}

fn value(input: &mut Input<'_>, levels: usize) -> holotype_model::Value {
    use holotype_model::Value;
    match input.byte() % 10 {
        0 => Value::Null,
        1 => Value::Bool(true),
        2 => Value::Int(i64::from(input.byte()) - 2),
        3 => Value::Int(input.pick(&[i64::MAX, i64::MIN, (1 << 53) + 1, 1])),
        4 => Value::Float(input.pick(&[1.0, -0.0, 1.5, f64::NAN, 9_007_199_254_740_992.0])),
        5 => Value::Text(input.pick(&NAMES).to_owned()),
        6 => Value::Bytes(vec![input.byte()]),
        7 | 8 if levels > 0 => {
            let count = input.byte() % 4;
            Value::Array((0..count).map(|_| value(input, levels - 1)).collect())
        }
        _ if levels > 0 => Value::Object(fields(input, levels - 1)),
        _ => Value::Int(0),
    }
}

fn pointer(input: &mut Input<'_>) -> Vec<String> {
    let count = input.byte() % 4;
    (0..count).map(|_| input.pick(&TOKENS).to_owned()).collect()
}

fn patch_op(input: &mut Input<'_>) -> PatchOp {
    let (op, path) = (input.byte() % 6, pointer(input));
    match op {
        0 => PatchOp::Add { path, value: value(input, 2) },
        1 => PatchOp::Remove { path },
        2 => PatchOp::Replace { path, value: value(input, 2) },
        3 => PatchOp::Move { from: pointer(input), path },
        4 => PatchOp::Copy { from: pointer(input), path },
        _ => PatchOp::Test { path, value: value(input, 2) },
    }
}

fn change(input: &mut Input<'_>, levels: usize) -> Change {
    if levels > 0 && input.byte().is_multiple_of(8) {
        let path = input.pick(&FAN_OUTS).to_owned();
        let count = input.byte() % 3;
        return Change::Each { path, changes: (0..count).map(|_| change(input, levels - 1)).collect() };
    }
    let count = input.byte() % 4;
    let path = (0..count)
        .map(|_| match input.byte() % 3 {
            0 => PathStep::Index(i64::from(input.byte() % 6) - 3),
            _ => PathStep::Name(input.pick(&NAMES).to_owned()),
        })
        .collect();
    let number = |input: &mut Input<'_>| match value(input, 0) {
        number @ (holotype_model::Value::Int(_) | holotype_model::Value::Float(_)) => number,
        _ => holotype_model::Value::Int(1),
    };
    let action = match input.byte() % 12 {
        0 => Action::Set(value(input, 2)),
        1 => Action::Unset,
        2 => Action::Rename(input.pick(&NAMES).to_owned()),
        3 => Action::Inc(number(input)),
        4 => Action::Mul(number(input)),
        5 => Action::Min(value(input, 2)),
        6 => Action::Max(value(input, 2)),
        7 => {
            let keep_last = Some(usize::from(input.byte() % 6)).filter(|last| *last < 5);
            Action::Push { items: vec![value(input, 1), value(input, 1)], keep_last }
        }
        8 => Action::Pop,
        9 => Action::PopFirst,
        10 => Action::Pull(value(input, 1)),
        _ => Action::AddToSet(value(input, 1)),
    };
    Change::At { path, action }
}
