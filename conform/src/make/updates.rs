//! Patches, merges and updates of a document: what the model makes of it.

use holotype_model::update::{
    Action, Change, Failed, Misfit, PatchOp, PathStep, apply_patch, apply_update, merge,
};
use holotype_model::{Document, Limits, Value};

use super::filters::hex;
use super::ladder::{array, bytes, document, object, text};
use super::{Maker, invalid, rejected, valid};
use crate::case::{Group, Outcome, Position, Request};
use crate::forge::cbor;
use crate::question;

fn bird() -> Document {
    document([
        ("n", Value::Int(1)),
        ("big", Value::Int(i64::MAX)),
        ("f", Value::Float(1.5)),
        ("t", text("wren")),
        ("null", Value::Null),
        ("b", bytes(b"ab")),
        ("list", array([Value::Int(1), Value::Float(1.0), Value::Int(2), text("x")])),
        ("empty", array([])),
        (
            "o",
            object([
                ("a", object([("deep", Value::Int(7))])),
                ("", Value::Bool(true)),
                ("x/y~z", Value::Int(0)),
            ]),
        ),
        ("many", array([object([("n", Value::Int(1))]), object([("n", Value::Int(2))]), object([])])),
    ])
}

pub(super) fn make() -> Group {
    let mut maker =
        Maker::new("updates", "A document, and what a patch, a merge patch or an update makes of it");
    patches(&mut maker);
    forms(&mut maker);
    merges(&mut maker);
    updates(&mut maker);
    paths(&mut maker);
    maker.finish()
}

/// What came of a change of the document, as an outcome. One that leaves no object is refused (U-2.5).
fn outcome(came: Result<Value, Failed>) -> (bool, Vec<Outcome>) {
    match came {
        Ok(value @ Value::Object(_)) => (true, vec![Outcome::Bytes(hex(&value))]),
        Ok(_) => (false, rejected()),
        Err((operation, _)) => {
            let operation = Some(operation as u64);
            (false, vec![Outcome::Rejected(Position { operation, ..Position::default() })])
        }
    }
}

fn pointer(text: &str) -> Vec<String> {
    text.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")).collect()
}

/// The patch as JSON (U-3.1).
fn json(ops: &[(&str, &str, Option<&str>, Option<Value>)]) -> String {
    let object = |(op, path, from, value): &(&str, &str, Option<&str>, Option<Value>)| {
        let named = |name: &str, value: Value| (name.to_owned(), value);
        let fields = [named("op", text(op)), named("path", text(path))].into_iter();
        let from = from.map(|from| named("from", text(from)));
        Value::Object(fields.chain(from).chain(value.clone().map(|value| named("value", value))).collect())
    };
    cbor::canonical(&Value::Array(ops.iter().map(object).collect()))
}

fn patches(maker: &mut Maker) {
    let put = |op: &'static str, path: &'static str, value: Value| (op, path, None, Some(value));
    let one = |op: &'static str, path: &'static str| (op, path, None, None);
    let from = |op: &'static str, from: &'static str, path: &'static str| (op, path, Some(from), None);
    let int = Value::Int;
    let cases = [
        ("U-3.2", vec![put("add", "/new", int(5))]),
        ("U-3.2", vec![put("add", "/n", text("replaced"))]),
        ("U-3.2", vec![put("add", "/list/0", int(0))]),
        ("U-3.2", vec![put("add", "/list/4", int(9))]),
        ("U-3.2", vec![put("add", "/list/-", int(9))]),
        ("U-3.2", vec![put("add", "/list/5", int(9))]),
        ("U-3.2", vec![put("add", "/list/01", int(9))]),
        ("U-3.2", vec![put("add", "/list/-1", int(9))]),
        ("U-3.2", vec![put("add", "/t/x", int(9))]),
        ("U-3.2", vec![put("add", "/no/x", int(9))]),
        ("U-3.2", vec![put("add", "/o/x~1y~0z", int(9))]),
        ("U-3.2", vec![put("add", "/o/", int(9))]),
        ("U-2.5", vec![put("add", "", int(9))]),
        ("U-2.5", vec![put("add", "", object([("only", int(1))]))]),
        ("U-3.3", vec![one("remove", "/n")]),
        ("U-3.3", vec![one("remove", "/list/1")]),
        ("U-3.3", vec![one("remove", "/list/-")]),
        ("U-3.3", vec![one("remove", "/no")]),
        ("U-3.3", vec![one("remove", "")]),
        ("U-3.3", vec![put("replace", "/n", Value::Null)]),
        ("U-3.3", vec![put("replace", "/no", Value::Null)]),
        ("U-3.3", vec![put("replace", "/list/3", array([]))]),
        ("U-3.4", vec![from("move", "/n", "/m")]),
        ("U-3.4", vec![from("move", "/n", "/n")]),
        ("U-3.4", vec![from("move", "/list/0", "/list/3")]),
        ("U-3.4", vec![from("move", "/list/0", "/list/4")]),
        ("U-3.4", vec![from("move", "/o", "/o/a")]),
        ("U-3.4", vec![from("move", "/o/a", "/o")]),
        ("U-3.4", vec![from("move", "/many/0", "/many/0/x")]),
        ("U-3.4", vec![from("move", "/no", "/m")]),
        ("U-3.5", vec![from("copy", "/o", "/o/a")]),
        ("U-3.5", vec![from("copy", "/list/3", "/list/0")]),
        ("U-3.5", vec![from("copy", "/no", "/m")]),
        ("U-2.4", vec![put("test", "/n", Value::Float(1.0))]),
        ("U-3.6", vec![put("test", "/list", array([Value::Float(1.0), int(1), int(2), text("x")]))]),
        ("U-3.6", vec![put("test", "/null", Value::Null)]),
        ("U-3.6", vec![put("test", "/no", Value::Null)]),
        ("U-3.6", vec![put("test", "/b", text("ab"))]),
        ("U-3.6", vec![put("test", "/n", int(2))]),
        ("U-2.1", vec![put("add", "/a", int(1)), from("move", "/a", "/c"), put("test", "/c", int(1))]),
        ("U-2.2", vec![put("add", "/a", int(1)), one("remove", "/n"), one("remove", "/n")]),
        ("U-2.1", vec![put("add", "/a", int(1)), one("remove", "/no")]),
        ("U-2.1", vec![]),
    ];
    for (clause, ops) in cases {
        let op = |(op, path, from, value): &(&str, &str, Option<&str>, Option<Value>)| {
            let (path, from) = (pointer(path), pointer(from.unwrap_or_default()));
            let value = value.clone().unwrap_or(Value::Null);
            match *op {
                "add" => PatchOp::Add { path, value },
                "remove" => PatchOp::Remove { path },
                "replace" => PatchOp::Replace { path, value },
                "move" => PatchOp::Move { from, path },
                "copy" => PatchOp::Copy { from, path },
                _ => PatchOp::Test { path, value },
            }
        };
        let patch: Vec<PatchOp> = ops.iter().map(op).collect();
        let (is_good, expect) = outcome(apply_patch(&Value::Object(bird()), &patch, &Limits::default()));
        let words = ops.iter().map(|(op, path, from, _)| {
            format!("{op} {}{path}", from.map_or(String::new(), |from| format!("{from} to ")))
        });
        let name = format!("A patch: {}", words.collect::<Vec<_>>().join(", "));
        let clauses = [clause, "U-3.1"];
        let what =
            if is_good { valid(&clauses, &["PatchMeaning"]) } else { invalid(&clauses, &["PatchMeaning"]) };
        let request = Request::Patch { bytes: cbor::document(&bird()).into(), patch: json(&ops) };
        maker.case(&what, name, request, expect);
    }
}

fn forms(maker: &mut Maker) {
    let good = r#"{"op":"test","path":"/t","value":"wren"}"#;
    let cases = [
        (r#"{}"#.to_owned(), None, "no array"),
        (format!("[{good},1]"), Some(1), "an operation that is no object"),
        (format!("[{good},{{\"path\":\"/t\"}}]"), Some(1), "no op"),
        (format!("[{good},{{\"op\":\"set\",\"path\":\"/t\"}}]"), Some(1), "an op that there is not"),
        (format!("[{good},{{\"op\":\"remove\"}}]"), Some(1), "no path"),
        (format!("[{{\"op\":\"remove\",\"path\":\"t\"}},{good}]"), Some(0), "a path that is no pointer"),
        (format!("[{{\"op\":\"remove\",\"path\":7}},{good}]"), Some(0), "a path that is no text"),
        (format!("[{good},{good},{{\"op\":\"add\",\"path\":\"/t\"}}]"), Some(2), "no value"),
        (format!("[{{\"op\":\"copy\",\"path\":\"/t\"}},{good}]"), Some(0), "no from"),
    ];
    for (patch, operation, what) in cases {
        let request = Request::Patch { bytes: cbor::document(&bird()).into(), patch };
        let expect = vec![Outcome::Rejected(Position { operation, ..Position::default() })];
        maker.case(&invalid(&["U-3.1"], &["PatchForm"]), format!("A patch with {what}"), request, expect);
    }
    let patch = r#"[{"op":"remove","path":"/t","value":1,"more":[],"from":"x"}]"#.to_owned();
    let after = apply_patch(
        &Value::Object(bird()),
        &[PatchOp::Remove { path: vec!["t".to_owned()] }],
        &Limits::default(),
    );
    let (_, expect) = outcome(after);
    let request = Request::Patch { bytes: cbor::document(&bird()).into(), patch };
    maker.case(&valid(&["U-3.1"], &["PatchForm"]), "A patch with fields that mean nothing", request, expect);
}

fn merges(maker: &mut Maker) {
    let patches = [
        object([]),
        object([("n", Value::Null)]),
        object([("no", Value::Null)]),
        object([("n", Value::Int(2)), ("new", text("x"))]),
        object([("o", object([("a", Value::Null), ("b", Value::Int(1))]))]),
        object([("t", object([("a", Value::Null), ("b", object([("c", Value::Null)]))]))]),
        object([("list", array([Value::Null]))]),
        object([("new", object([("a", Value::Null)]))]),
        object([("new", array([object([("a", Value::Null)])]))]),
        object([("o", text("x"))]),
    ];
    for patch in patches {
        let came = merge(&Value::Object(bird()), &patch, &Limits::default()).map_err(|misfit| (0, misfit));
        let (_, expect) = outcome(came);
        let name = format!("A merge with {}", cbor::relaxed(&patch));
        let request = Request::Merge { bytes: cbor::document(&bird()).into(), patch: hex(&patch) };
        maker.case(&valid(&["U-4.1"], &["MergeNull"]), name, request, expect);
    }
}

fn steps(path: &str) -> Vec<PathStep> {
    let step = |step: &str| match step.parse() {
        Ok(index) => PathStep::Index(index),
        Err(_) => PathStep::Name(step.to_owned()),
    };
    path.split('/').filter(|text| !text.is_empty()).map(step).collect()
}

fn path_text(path: &[PathStep]) -> String {
    path.iter().fold("$".to_owned(), |text, step| match step {
        PathStep::Name(name) => format!("{text}.{name}"),
        PathStep::Index(index) => format!("{text}[{index}]"),
    })
}

fn written(change: &Change) -> question::Change {
    let (path, action) = match change {
        Change::At { path, action } => (path_text(path), action),
        Change::Each { path, changes } => {
            let changes = changes.iter().map(written).collect();
            return question::Change {
                change: "each".to_owned(),
                path: path.clone(),
                changes,
                ..Default::default()
            };
        }
    };
    let (name, value) = match action {
        Action::Set(value) => ("set", Some(value)),
        Action::Unset => ("unset", None),
        Action::Rename(_) => ("rename", None),
        Action::Inc(value) => ("inc", Some(value)),
        Action::Mul(value) => ("mul", Some(value)),
        Action::Min(value) => ("min", Some(value)),
        Action::Max(value) => ("max", Some(value)),
        Action::Push { .. } => ("push", None),
        Action::Pop => ("pop", None),
        Action::PopFirst => ("pop_first", None),
        Action::Pull(value) => ("pull", Some(value)),
        Action::AddToSet(value) => ("add_to_set", Some(value)),
    };
    let mut change =
        question::Change { change: name.to_owned(), path, value: value.map(hex), ..Default::default() };
    if let Action::Rename(to) = action {
        change.name = Some(to.clone());
    }
    if let Action::Push { items, keep_last } = action {
        change.items = items.iter().map(hex).collect();
        change.keep_last = keep_last.map(|last| last as u64);
    }
    change
}

fn update(maker: &mut Maker, clauses: &[&str], changes: &[Change]) {
    let came = apply_update(&Value::Object(bird()), changes, &Limits::default());
    assert!(!matches!(came, Err((_, Misfit::Limit(_)))), "nothing here is beyond a limit");
    let (is_good, expect) = outcome(came);
    let written: Vec<_> = changes.iter().map(written).collect();
    let words = written.iter().map(|change| format!("{} {}", change.change, change.path));
    let name = format!("An update: {}", words.collect::<Vec<_>>().join(", "));
    let what =
        if is_good { valid(clauses, &["UpdateMeaning"]) } else { invalid(clauses, &["UpdateMeaning"]) };
    let request = Request::Update { bytes: cbor::document(&bird()).into(), changes: written };
    maker.case(&what, name, request, expect);
}

fn updates(maker: &mut Maker) {
    use Value::{Float, Int};
    let push = |items: &[i64], keep_last| Action::Push {
        items: items.iter().copied().map(Int).collect(),
        keep_last,
    };
    let actions = [
        ("U-5.4", Action::Set(text("new"))),
        ("U-5.4", Action::Unset),
        ("U-5.5", Action::Rename("other".to_owned())),
        ("U-5.5", Action::Rename("t".to_owned())),
        ("U-5.6", Action::Inc(Int(1))),
        ("U-5.6", Action::Inc(Float(0.5))),
        ("U-5.6", Action::Mul(Int(2))),
        ("U-5.6", Action::Mul(Float(-0.0))),
        ("U-5.7", Action::Min(Int(1))),
        ("U-5.7", Action::Min(Value::Null)),
        ("U-5.7", Action::Max(Float(1.0))),
        ("U-5.7", Action::Max(object([]))),
        ("U-5.8", push(&[8, 9], None)),
        ("U-5.8", push(&[8, 9], Some(3))),
        ("U-5.8", push(&[8, 9], Some(0))),
        ("U-5.9", Action::Pop),
        ("U-5.9", Action::PopFirst),
        ("U-5.10", Action::Pull(Float(1.0))),
        ("U-5.10", Action::AddToSet(Float(1.0))),
        ("U-5.10", Action::AddToSet(text("new"))),
    ];
    let places = [
        "/n",
        "/big",
        "/f",
        "/t",
        "/null",
        "/list",
        "/list/0",
        "/list/-1",
        "/list/9",
        "/empty",
        "/o/a",
        "/new",
        "/new/deep",
        "/new/0",
        "/t/x",
        "/o/0",
        "/list/x",
        "",
    ];
    for (clause, action) in &actions {
        for place in places {
            let change = Change::At { path: steps(place), action: action.clone() };
            update(maker, &[clause, "U-5.2", "U-5.3", "U-5.11"], &[change]);
        }
    }
    let at = |path: &str, action: Action| Change::At { path: steps(path), action };
    let each = |path: &str, changes: Vec<Change>| Change::Each { path: path.to_owned(), changes };
    let several = [
        ("U-2.1", vec![at("/n", Action::Inc(Int(1))), at("/n", Action::Mul(Int(10)))]),
        ("U-2.2", vec![at("/n", Action::Inc(Int(1))), at("/t", Action::Inc(Int(1)))]),
        ("U-5.12", vec![each("$.many[*]", vec![at("/n", Action::Inc(Int(1)))])]),
        ("U-5.12", vec![each("$.many[?@.n]", vec![at("/seen", Action::Set(Value::Bool(true)))])]),
        ("U-5.12", vec![each("$.list[?@ == 1]", vec![at("", Action::Unset)])]),
        ("U-5.12", vec![each("$.list[*]", vec![at("", Action::Inc(Int(1)))])]),
        ("U-5.12", vec![each("$..n", vec![at("", Action::Mul(Int(3)))])]),
        ("U-5.12", vec![each("$.many[0, 0]", vec![at("/n", Action::Inc(Int(1)))])]),
        ("U-5.12", vec![each("$..*", vec![at("", Action::Unset), at("/never", Action::Inc(Int(1)))])]),
        (
            "U-5.12",
            vec![each(
                "$.list[*]",
                vec![each("$", vec![at("", Action::Unset)]), at("", Action::Inc(Int(1)))],
            )],
        ),
        (
            "U-5.12",
            vec![each(
                "$.many",
                vec![
                    each("$..*", vec![at("", Action::Unset)]),
                    at("", Action::Push { items: vec![Int(1)], keep_last: None }),
                ],
            )],
        ),
        ("U-5.12", vec![each("$.missing[*]", vec![at("", Action::Unset)])]),
        ("U-5.12", vec![each("$.many[*]", vec![each("$.n", vec![at("", Action::Inc(Int(1)))])])]),
        ("U-5.12", vec![each("$", vec![at("", Action::Unset)])]),
        ("U-5.1", vec![]),
    ];
    for (clause, changes) in several {
        update(maker, &[clause], &changes);
    }
}

/// Paths that are none of a change.
fn paths(maker: &mut Maker) {
    for path in ["", "n", "@.n", "$.", "$.list[*]", "$..n", "$.list[0:1]", "$['n','t']", "$.n ", "$.list[?@]"]
    {
        let change = question::Change {
            change: "set".to_owned(),
            path: path.to_owned(),
            value: Some(hex(&Value::Int(1))),
            ..Default::default()
        };
        let request = Request::Update { bytes: cbor::document(&bird()).into(), changes: vec![change] };
        let name = format!("`{path}` is no path of a change");
        maker.case(&invalid(&["U-5.2"], &["QuerySyntax"]), name, request, rejected());
    }
}
