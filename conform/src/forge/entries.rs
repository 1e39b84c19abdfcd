//! Indexes: their definitions as maps (F-8.10), and the entries that documents give them (I-2, I-7.1).

use std::collections::{BTreeMap, BTreeSet};

use holotype_model::query::{Expression, Filter};
use holotype_model::{Document, Key, Value};

use super::cbor;
use crate::case;

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A field.
    Name(String),
    /// An item, from the end where it is negative.
    Item(i64),
    /// All fields, or all items.
    Any,
}

/// Steps behind one another, and whether the path is descending.
pub type Path = (Vec<Step>, bool);

/// What a component of a tuple is: a value, or nothing.
pub type Component = Option<Value>;

/// A definition that is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The name of the index.
    pub name: String,
    /// Its paths.
    pub on: Vec<Path>,
    /// The functions that they are under (I-1.5).
    pub by: Vec<Option<&'static str>>,
    /// I-3
    pub unique: bool,
    /// I-2.2
    pub sparse: bool,
    /// I-1.6, in normal form
    pub filter: Option<&'static str>,
}

/// A field of this name.
#[must_use]
pub fn field(name: &str) -> Step {
    Step::Name(name.to_owned())
}

impl Definition {
    /// Of ascending paths.
    #[must_use]
    pub fn new(name: &str, paths: &[&[Step]]) -> Self {
        let on = paths.iter().map(|path| (path.to_vec(), false)).collect();
        let by = vec![None; paths.len()];
        Definition { name: name.to_owned(), on, by, unique: false, sparse: false, filter: None }
    }

    /// Over one field.
    #[must_use]
    pub fn over(name: &str, of: &str) -> Self {
        Definition::new(name, &[&[field(of)]])
    }

    /// The same with these paths descending.
    #[must_use]
    pub fn descending(mut self, which: &[usize]) -> Self {
        which.iter().for_each(|place| self.on[*place].1 = true);
        self
    }

    /// The same with this path under a function.
    #[must_use]
    pub fn under(mut self, which: usize, function: &'static str) -> Self {
        self.by[which] = Some(function);
        self
    }

    /// The same, sparse.
    #[must_use]
    pub fn sparse(self) -> Self {
        Definition { sparse: true, ..self }
    }

    /// The same of what this filter admits.
    #[must_use]
    pub fn filtered(self, filter: &'static str) -> Self {
        Definition { filter: Some(filter), ..self }
    }

    /// The paths as texts, under their functions: all names are such as may stand behind a dot.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let under = |(text, function): (String, &Option<&str>)| match (function, text.strip_prefix('-')) {
            (None, _) => text,
            (Some(name), None) => format!("{name}({text})"),
            (Some(name), Some(path)) => format!("-{name}({path})"),
        };
        self.plain().into_iter().zip(&self.by).map(under).collect()
    }

    fn plain(&self) -> Vec<String> {
        let step = |step: &Step| match step {
            Step::Name(name) => format!(".{name}"),
            Step::Item(item) => format!("[{item}]"),
            Step::Any => "[*]".to_owned(),
        };
        let text = |(steps, descending): &Path| {
            let sign = if *descending { "-$" } else { "$" };
            sign.to_owned() + &steps.iter().map(step).collect::<String>()
        };
        self.on.iter().map(text).collect()
    }

    /// The map of F-8.10.
    #[must_use]
    pub fn map(&self) -> Document {
        let on = self.plain().into_iter().map(|text| Value::from(text.as_str())).collect();
        let mut map = Document::from([
            ("name".to_owned(), Value::from(self.name.as_str())),
            ("on".to_owned(), Value::Array(on)),
        ]);
        let flags = [("unique", self.unique), ("sparse", self.sparse)];
        map.extend(
            flags.iter().filter(|(_, is)| *is).map(|(name, _)| ((*name).to_owned(), Value::Bool(true))),
        );
        if self.by.iter().any(Option::is_some) {
            let by = self.by.iter().map(|name| name.map_or(Value::Null, Value::from)).collect();
            map.insert("by".to_owned(), Value::Array(by));
        }
        if let Some(filter) = self.filter {
            map.insert("where".to_owned(), Value::from(filter));
        }
        let required: Vec<_> = ["by", "where"].into_iter().filter(|key| map.contains_key(*key)).collect();
        if !required.is_empty() {
            map.insert("required".to_owned(), Value::Array(required.into_iter().map(Value::from).collect()));
        }
        map
    }

    /// I-2.1
    #[must_use]
    pub fn tuples(&self, document: &Value) -> Vec<Vec<Component>> {
        let width = |steps: &[Step]| steps.iter().rposition(|step| *step == Step::Any).map(|last| last + 1);
        let paths = || self.on.iter().zip(&self.by);
        let alone =
            paths().map(
                |((steps, _), by)| {
                    if width(steps).is_none() { given(*by, first(document, steps)) } else { None }
                },
            );
        let alone: Vec<Component> = alone.collect();
        let fan = self.on.iter().find_map(|(steps, _)| width(steps).map(|width| &steps[..width]));
        let Some(fan) = fan else { return vec![alone] };
        let mut found = Vec::new();
        for top in select(document, fan) {
            let rest = |((steps, _), by): (&Path, &Option<&str>)| {
                width(steps).and_then(|width| given(*by, first(&top, &steps[width..])))
            };
            let rests: Vec<_> = paths().map(rest).collect();
            if rests.iter().any(Option::is_some) {
                found.push(rests.into_iter().zip(&alone).map(|(rest, one)| rest.or(one.clone())).collect());
            }
        }
        if found.is_empty() { vec![alone] } else { found }
    }

    /// I-7.1
    #[must_use]
    pub fn entry(&self, limit: usize, tuple: &[Component], key: &Key) -> Vec<u8> {
        let (mut bytes, mut all_marks) = (Vec::new(), Vec::new());
        for (component, (_, descending)) in tuple.iter().zip(&self.on) {
            let part = component.as_ref().map_or_else(|| vec![0], cbor::order_key);
            bytes.extend(part.iter().map(|byte| if *descending { !byte } else { *byte }));
            component.iter().for_each(|value| marks(value, &mut all_marks));
        }
        let is_long = bytes.len() > limit;
        bytes.truncate(limit);
        bytes.extend(order_key(key));
        let len = all_marks.iter().rposition(|mark| *mark != 0).map_or(0, |last| last + 1);
        bytes.extend(&all_marks[..if is_long { 0 } else { len }]);
        bytes
    }

    /// I-2.8
    fn admits(&self, document: &Value) -> bool {
        let Value::Object(document) = document else { return self.filter.is_none() };
        let filter = self.filter.map(|text| Filter::parse(text).expect("it is one"));
        filter.is_none_or(|filter| filter.admits(None, document, &BTreeMap::new()))
    }

    /// I-2.3
    #[must_use]
    pub fn entries(&self, limit: usize, key: &Key, document: &Value) -> BTreeSet<Vec<u8>> {
        if !self.admits(document) {
            return BTreeSet::new();
        }
        let tuples = self.tuples(document).into_iter();
        let kept = tuples.filter(|tuple| !self.sparse || tuple.iter().any(Option::is_some));
        kept.map(|tuple| self.entry(limit, &tuple, key)).collect()
    }

    /// As an answer has it.
    #[must_use]
    pub fn stated(&self, entries: BTreeSet<Vec<u8>>) -> case::Index {
        let (unique, sparse) = (self.unique, self.sparse);
        let entries = entries.into_iter().map(Into::into).collect();
        let filter = self.filter.map(str::to_owned);
        case::Index { name: self.name.clone(), on: self.texts(), unique, sparse, filter, entries }
    }
}

/// The tuple limit of stores of this geometry (I-2.6), of segments of 512 bytes and more.
#[must_use]
pub fn tuple_limit(sector: u32, segment_bytes: u32) -> usize {
    let form = ((segment_bytes - sector).min(16_384) as usize - 66) / 3;
    // The head of a byte string has three bytes from a length of 256 on.
    let longest = if form >= 256 + 3 { form - 3 } else { 255.min(form - 2) };
    1024.min(longest / 3)
}

/// The order key of a key.
#[must_use]
pub fn order_key(key: &Key) -> Vec<u8> {
    cbor::order_key(&match key {
        Key::Int(int) => Value::Int(*int),
        Key::Text(text) => Value::from(text.as_str()),
        Key::Bytes(bytes) => Value::Bytes(bytes.clone()),
    })
}

/// I-1.5
fn given(function: Option<&str>, component: Component) -> Component {
    let (Some(name), Some(value)) = (function, &component) else { return component };
    let expression = Expression::parse(&format!("{name}($.v)")).expect("it is one");
    let document = Document::from([("v".to_owned(), value.clone())]);
    expression.values(None, &document, &BTreeMap::new()).pop()
}

fn first(value: &Value, steps: &[Step]) -> Component {
    select(value, steps).into_iter().next()
}

fn select(value: &Value, steps: &[Step]) -> Vec<Value> {
    let Some((step, rest)) = steps.split_first() else { return vec![value.clone()] };
    let next: Vec<&Value> = match (step, value) {
        (Step::Name(name), Value::Object(fields)) => fields.get(name).into_iter().collect(),
        (Step::Item(item), Value::Array(items)) => {
            let place = if *item < 0 { items.len() as i64 + item } else { *item };
            usize::try_from(place).ok().and_then(|place| items.get(place)).into_iter().collect()
        }
        (Step::Any, Value::Object(fields)) => fields.values().collect(),
        (Step::Any, Value::Array(items)) => items.iter().collect(),
        _ => Vec::new(),
    };
    next.into_iter().flat_map(|value| select(value, rest)).collect()
}

/// I-2.4
fn marks(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Int(_) => out.push(0),
        Value::Float(float) => {
            let is_whole = float.fract() == 0.0 && (-2f64.powi(63)..2f64.powi(63)).contains(float);
            let is_negative_zero = float.to_bits() == (-0f64).to_bits();
            out.push(if is_negative_zero { 2 } else { u8::from(is_whole) });
        }
        Value::Array(items) => items.iter().for_each(|item| marks(item, out)),
        Value::Object(fields) => {
            let mut named: Vec<_> = fields.iter().map(|(name, value)| (cbor::text(name), value)).collect();
            named.sort_by(|a, b| a.0.cmp(&b.0));
            named.into_iter().for_each(|(_, value)| marks(value, out));
        }
        Value::Null | Value::Bool(_) | Value::Text(_) | Value::Bytes(_) => {}
    }
}
