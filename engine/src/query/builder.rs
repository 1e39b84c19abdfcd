//! Filters from calls instead of text: the same trees.

use std::iter;

use super::ast::{Argument, Call, Comparison, Expr, Operand, Query, Segment, Selector};
use super::filter::Filter;
use super::function::{Function, IN_ARGUMENTS_MAX};
use crate::document::{JsonMode, Text, Value};
use crate::error::Result;

/// Begins a filter at a field of the document.
///
/// ```
/// use holotype::query::{Filter, field};
///
/// let filter = field("year").ge(1850) & !field("tags").any().eq("x");
/// assert_eq!(filter.to_string(), "@.year >= 1850 && !@.tags[?@ == 'x']");
/// assert_eq!(Filter::parse("@.year >= 1850 && !@.tags[?@ == 'x']")?, filter);
/// # Ok::<(), holotype::Error>(())
/// ```
pub fn field(name: impl Into<Text>) -> Field {
    Field { outer: Vec::new(), path: Vec::new() }.field(name)
}

/// A parameter, in the place of a value: [`Filter::bind`] gives it one.
pub fn arg(name: impl Into<Text>) -> Parameter {
    Parameter(name.into())
}

/// What [`arg`] makes.
#[derive(Debug, Clone)]
pub struct Parameter(Text);

/// What a field can be compared with: anything that is a [`Value`], or a [`Parameter`].
pub trait Comparable {
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "called by this crate alone")]
    fn into_operand(self) -> Operand;
}

#[expect(private_interfaces, reason = "called by this crate alone")]
impl<T: Into<Value>> Comparable for T {
    fn into_operand(self) -> Operand {
        match self.into() {
            // The grammar has no literal for these, so they are parameters with a value, named by their JSON.
            value @ (Value::Array(_) | Value::Object(_)) => as_parameter(value),
            Value::Float(float) if !float.is_finite() => as_parameter(Value::Float(float)),
            value => Operand::Literal(value),
        }
    }
}

#[expect(private_interfaces, reason = "called by this crate alone")]
impl Comparable for Parameter {
    fn into_operand(self) -> Operand {
        Operand::Parameter(self.0, None)
    }
}

fn as_parameter(value: Value) -> Operand {
    Operand::Parameter(value.to_json(JsonMode::Relaxed).into(), Some(value))
}

/// A place in the documents, of which something is asked. Made by [`field`].
#[derive(Debug, Clone)]
pub struct Field {
    /// The paths to each array or object of which any part is asked, from the outside.
    outer: Vec<Vec<Segment>>,
    path: Vec<Segment>,
}

impl Field {
    /// The field `name` of the object here.
    #[must_use]
    pub fn field(mut self, name: impl Into<Text>) -> Self {
        self.path.push(Segment::child(Selector::Name(name.into())));
        self
    }

    /// The item at `index` of the array here; below 0, from its end.
    #[must_use]
    pub fn item(mut self, index: i32) -> Self {
        self.path.push(Segment::child(Selector::Index(index.into())));
        self
    }

    /// Any item of the array, or value of the object, here.
    #[must_use]
    pub fn any(mut self) -> Self {
        self.outer.push(std::mem::take(&mut self.path));
        self
    }

    /// That there is something here, null included.
    pub fn exists(self) -> Filter {
        self.ask(Expr::Exists)
    }

    /// That the value here is equal.
    pub fn eq(self, value: impl Comparable) -> Filter {
        self.compare(Comparison::Equal, value)
    }

    /// That the value here is not equal, or that there is none.
    pub fn ne(self, value: impl Comparable) -> Filter {
        self.compare(Comparison::NotEqual, value)
    }

    /// That the value here is less, and of the same kind.
    pub fn lt(self, value: impl Comparable) -> Filter {
        self.compare(Comparison::Less, value)
    }

    /// That the value here is less or equal, and of the same kind.
    pub fn le(self, value: impl Comparable) -> Filter {
        self.compare(Comparison::LessOrEqual, value)
    }

    /// That the value here is greater, and of the same kind.
    pub fn gt(self, value: impl Comparable) -> Filter {
        self.compare(Comparison::Greater, value)
    }

    /// That the value here is greater or equal, and of the same kind.
    pub fn ge(self, value: impl Comparable) -> Filter {
        self.compare(Comparison::GreaterOrEqual, value)
    }

    /// That the text or byte string here begins so.
    pub fn starts_with(self, value: impl Comparable) -> Filter {
        self.test(Function::StartsWith, [value.into_operand()])
    }

    /// That the text or byte string here ends so.
    pub fn ends_with(self, value: impl Comparable) -> Filter {
        self.test(Function::EndsWith, [value.into_operand()])
    }

    /// That the text or byte string here has this within it.
    pub fn contains(self, value: impl Comparable) -> Filter {
        self.test(Function::Contains, [value.into_operand()])
    }

    /// That the value here is from `low` to `high`, both included.
    pub fn between(self, low: impl Comparable, high: impl Comparable) -> Filter {
        self.test(Function::Between, [low.into_operand(), high.into_operand()])
    }

    /// That the value here is equal to one of `values`.
    pub fn is_in<V: Into<Value>>(self, values: impl IntoIterator<Item = V>) -> Filter {
        // A list that is empty, is longer than what `in` takes, or has a value without a literal is one
        // parameter.
        let values: Vec<Value> = values.into_iter().map(Into::into).collect();
        let each: Vec<Operand> = values.iter().cloned().map(Comparable::into_operand).collect();
        let have_literals = each.iter().all(|value| matches!(value, Operand::Literal(_)));
        let list = match have_literals && (1..IN_ARGUMENTS_MAX).contains(&each.len()) {
            true => each,
            false => vec![as_parameter(Value::Array(values))],
        };
        self.ask(|query| {
            let args = iter::once(Operand::Singular(query)).chain(list);
            Expr::Test(Call::of_in(args.map(Argument::Value).collect()))
        })
    }

    /// That the text here, as a whole, is one that the regular expression of RFC 9485 describes.
    ///
    /// # Errors
    /// `PatternTooLarge`.
    pub fn matches(self, pattern: &str) -> Result<Filter> {
        let (outer, query) = self.parts();
        let args = vec![
            Argument::Value(Operand::Singular(query)),
            Argument::Value(Operand::Literal(pattern.into())),
        ];
        Ok(asked(outer, Expr::Test(Call::new(Function::Match, args)?)))
    }

    fn parts(self) -> (Vec<Vec<Segment>>, Query) {
        (self.outer, Query::new(false, self.path))
    }

    fn compare(self, comparison: Comparison, value: impl Comparable) -> Filter {
        self.ask(|query| Expr::Compare(Operand::Singular(query), comparison, value.into_operand()))
    }

    fn test(self, function: Function, others: impl IntoIterator<Item = Operand>) -> Filter {
        self.ask(|query| {
            let args = std::iter::once(Operand::Singular(query)).chain(others).map(Argument::Value).collect();
            Expr::Test(Call { function, args, prepared: None })
        })
    }

    fn ask(self, expr: impl FnOnce(Query) -> Expr) -> Filter {
        let (outer, query) = self.parts();
        asked(outer, expr(query))
    }
}

/// That `expr` holds of some part of what each path leads to.
fn asked(outer: Vec<Vec<Segment>>, expr: Expr) -> Filter {
    outer.into_iter().rev().fold(Filter::of(expr), |filter, mut path| {
        filter.grown(|expr| {
            path.push(Segment::child(Selector::Filter(expr)));
            Expr::Exists(Query::new(false, path))
        })
    })
}
