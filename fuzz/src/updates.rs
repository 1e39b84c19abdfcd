//! Bytes as a document and what it is changed by.

use holotype::document::RawDocument;
use holotype::update::{Changes, JsonPatch, UpdateFault};
use holotype::{Document, Error, Value};
use holotype_crash_tests::{changes, convert};
use holotype_model::Limits;
use holotype_model::update::{self as model, Action, Change, Misfit, PatchOp, PathStep};

use crate::input::Input;

/// Few names, so that many paths lead somewhere.
const NAMES: [&str; 5] = ["a", "b", "aa", "", "0"];

/// Tokens of pointers: names and indexes, and what is neither.
const TOKENS: [&str; 9] = ["a", "b", "aa", "", "0", "1", "2", "-", "01"];

/// Paths of `each`.
const FAN_OUTS: [&str; 8] =
    ["$", "$.*", "$..*", "$..[0, 0]", "$[?@ == 1]", "$..[?@.a]", "$['a', 'b'][-2:]", "$..['a', 'aa'].*"];

const OPERATIONS_MAX: usize = 12;

/// Changes a document by a patch, a merge patch or an update: decoded, over its bytes, and by the model.
///
/// # Panics
/// If the three do not agree on the result, or on the operation that fails and why.
pub fn updates(bytes: &[u8]) {
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
            let written =
                JsonPatch::parse(patch.to_json(Default::default())).expect("a patch can be read back");
            assert_eq!(written, patch);
            check(&document, &Changes::from(&patch), |value| patch.apply(value), expected);
        }
        1 => {
            let patch = fields(&mut input, 3);
            let expected =
                model::merge(&before, &holotype_model::Value::Object(patch.clone()), &Limits::default());
            let patch = convert::document(&patch);
            let merge = |value: &Value| holotype::update::merge(value, &Value::from(&patch));
            check(&document, &Changes::merge(&patch), merge, expected.map_err(|misfit| (0, misfit)));
        }
        _ => {
            let made: Vec<Change> = (0..count).map(|_| change(&mut input, 2)).collect();
            let expected = model::apply_update(&before, &made, &Limits::default());
            let update = changes::update(&made);
            check(&document, &Changes::from(&update), |value| update.apply(value), expected);
        }
    }
}

fn check(
    document: &holotype_model::Document,
    changes: &Changes<'_>,
    apply: impl Fn(&Value) -> Result<Value, Error>,
    expected: Result<holotype_model::Value, model::Failed>,
) {
    let document = convert::document(document);
    let decoded = apply(&Value::from(&document));
    let bytes = document.encode();
    let encoded = changes.apply(RawDocument::from_verified(&bytes));
    match (&decoded, expected) {
        (Ok(value), Ok(expected)) => assert_eq!(convert::model_value(value), expected),
        (Err(error), Err(expected)) => assert_eq!(failed(error), expected, "{error}"),
        (decoded, expected) => panic!("{decoded:?} where the model has {expected:?}"),
    }
    match (encoded, decoded) {
        (Ok(bytes), Ok(Value::Object(expected))) => {
            assert_eq!(Document::decode(&bytes).expect("what is left is a document"), expected);
        }
        (Err(Error::Update(error)), Ok(other)) => {
            assert!(
                matches!(error.fault, UpdateFault::NoDocument { found } if found == other.kind()),
                "{error}"
            );
        }
        (Err(over_bytes), Err(decoded)) => assert_eq!(over_bytes.to_string(), decoded.to_string()),
        (encoded, decoded) => panic!("{encoded:?} over bytes, and {decoded:?} decoded"),
    }
}

/// An error in the model's words.
fn failed(error: &Error) -> model::Failed {
    let Error::Update(error) = error else { panic!("{error} is no reason to refuse these") };
    (error.operation, misfit(&error.fault))
}

fn misfit(fault: &UpdateFault) -> Misfit {
    match fault {
        UpdateFault::NoSuchPlace { .. } => Misfit::NoSuchPlace,
        UpdateFault::TestFailed { .. } => Misfit::TestFailed,
        UpdateFault::IntoItself { .. } => Misfit::IntoItself,
        UpdateFault::WrongKind { .. } => Misfit::WrongKind,
        UpdateFault::Overflow { .. } => Misfit::Overflow,
        UpdateFault::NothingLeft => Misfit::NothingLeft,
        UpdateFault::NoFieldToRename => Misfit::NoFieldToRename,
        UpdateFault::InNode { error, .. } => misfit(&error.fault),
        other => panic!("{other} is none of a value"),
    }
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
