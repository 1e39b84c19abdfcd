//! Paths of names and indexes that a filter, an index or a projection asks for, up to eight, found in one pass over a document's bytes.

use super::ast::{Argument, Call, Expr, Operand, Query, Segment, Selector};
use crate::document::cbor::head::{Fault, Head, Reader};
use crate::document::map::key_cmp;
use crate::document::{RawValue, Text};

/// How many paths are found so; any others are looked for by themselves.
pub(crate) const FOUND_MAX: usize = 8;

/// Such paths as a tree, so that what they have in common is walked once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct OnePass {
    paths: Vec<Vec<Segment>>,
    root: Wanted,
}

/// What is wanted of one value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Wanted {
    /// Where the value itself goes.
    number: Option<u8>,
    /// In name order.
    names: Vec<(Text, Wanted)>,
    /// Ascending.
    indexes: Vec<(usize, Wanted)>,
}

impl OnePass {
    /// Numbers the paths of `expr`, if there is more than one use of any.
    pub(super) fn over(expr: &mut Expr) -> Self {
        let mut uses = 0;
        each_path(expr, &mut |query| {
            query.number = None;
            uses += 1;
        });
        let mut pass = OnePass::default();
        if uses > 1 {
            each_path(expr, &mut |query| query.number = pass.number_of(&query.segments));
        }
        pass
    }

    /// Takes the path up. The number that it is found under; none if it is one of those that are looked for by themselves.
    pub(crate) fn number_of(&mut self, path: &[Segment]) -> Option<u8> {
        if let Some(at) = self.paths.iter().position(|known| known == path) {
            return u8::try_from(at).ok();
        }
        let steps: Option<Vec<&Selector>> = path.iter().map(Segment::singular).collect();
        let steps = steps?;
        let from_the_end = |step: &&Selector| matches!(step, Selector::Index(index) if *index < 0);
        if self.paths.len() == FOUND_MAX || steps.iter().any(from_the_end) {
            return None;
        }
        let number = u8::try_from(self.paths.len()).ok()?;
        let wanted = steps.into_iter().fold(&mut self.root, |wanted, step| wanted.child(step));
        wanted.number = Some(number);
        self.paths.push(path.to_vec());
        Some(number)
    }

    /// Whether each path is one name.
    pub(super) fn has_names_alone(&self) -> bool {
        self.paths.iter().all(
            |path| matches!(path.as_slice(), [step] if matches!(step.singular(), Some(Selector::Name(_)))),
        )
    }

    /// The names with which paths begin, in name order, and the number under which each is found, if it is a path.
    pub(super) fn names(&self) -> impl Iterator<Item = (&Text, Option<u8>)> + Clone {
        self.root.names.iter().map(|(name, inner)| (name, inner.number))
    }

    /// Finds what the paths lead to. A path that leads nowhere, or into bytes that are no document, finds nothing.
    #[inline]
    pub(crate) fn find<'v>(&self, bytes: &'v [u8], found: &mut [Option<RawValue<'v>>; FOUND_MAX]) {
        if !self.paths.is_empty() {
            let _ = self.root.find(&mut Reader::new(bytes), false, found);
        }
    }
}

impl Wanted {
    fn child(&mut self, step: &Selector) -> &mut Wanted {
        match step {
            Selector::Name(name) => {
                let order = |known: &(Text, Wanted)| key_cmp(known.0.as_bytes(), name.as_bytes());
                let at = self.names.binary_search_by(order).unwrap_or_else(|at| {
                    self.names.insert(at, (name.clone(), Wanted::default()));
                    at
                });
                &mut self.names[at].1
            }
            Selector::Index(index) => {
                let index = usize::try_from(*index).unwrap_or(usize::MAX);
                let at = self.indexes.binary_search_by_key(&index, |known| known.0).unwrap_or_else(|at| {
                    self.indexes.insert(at, (index, Wanted::default()));
                    at
                });
                &mut self.indexes[at].1
            }
            _ => unreachable!("a singular path has only names and indexes"),
        }
    }

    /// Reads the next value. Goes on to its end only where `to_end` asks for it.
    fn find<'v>(
        &self,
        reader: &mut Reader<'v>,
        to_end: bool,
        found: &mut [Option<RawValue<'v>>; FOUND_MAX],
    ) -> Result<(), Fault> {
        if let Some(number) = self.number {
            found[usize::from(number)] = RawValue::at(*reader);
        }
        if self.names.is_empty() && self.indexes.is_empty() {
            return if to_end { reader.skip() } else { Ok(()) };
        }
        match { *reader }.head()? {
            Head::Object(count) if !self.names.is_empty() => self.find_names(reader, count, to_end, found),
            Head::Array(count) if !self.indexes.is_empty() => self.find_items(reader, count, to_end, found),
            _ if to_end => reader.skip(),
            _ => Ok(()),
        }
    }

    fn find_names<'v>(
        &self,
        reader: &mut Reader<'v>,
        mut left: usize,
        to_end: bool,
        found: &mut [Option<RawValue<'v>>; FOUND_MAX],
    ) -> Result<(), Fault> {
        reader.head()?;
        // What is wanted is in name order, too.
        for (at, (name, inner)) in self.names.iter().enumerate() {
            if reader.find(name.as_bytes(), &mut left)? {
                let is_last = at + 1 == self.names.len();
                inner.find(reader, to_end || !is_last, found)?;
            }
        }
        if to_end { skip_fields(reader, left) } else { Ok(()) }
    }

    fn find_items<'v>(
        &self,
        reader: &mut Reader<'v>,
        count: usize,
        to_end: bool,
        found: &mut [Option<RawValue<'v>>; FOUND_MAX],
    ) -> Result<(), Fault> {
        reader.head()?;
        let mut wanted = self.indexes.as_slice();
        for index in 0..count {
            match wanted.split_first() {
                Some(((first, inner), rest)) if *first == index => {
                    wanted = rest;
                    inner.find(reader, to_end || !rest.is_empty(), found)?;
                }
                None if !to_end => return Ok(()),
                _ => reader.skip()?,
            }
        }
        Ok(())
    }
}

fn skip_fields(reader: &mut Reader<'_>, count: usize) -> Result<(), Fault> {
    for _ in 0..count {
        reader.name_bytes()?;
        reader.skip()?;
    }
    Ok(())
}

/// The paths of names and indexes from the document, those within brackets apart.
fn each_path(expr: &mut Expr, visit: &mut dyn FnMut(&mut Query)) {
    match expr {
        Expr::Or(parts) | Expr::And(parts) => parts.iter_mut().for_each(|part| each_path(part, visit)),
        Expr::Not(inner) => each_path(inner, visit),
        Expr::Exists(query) if query.is_singular() => visit(query),
        Expr::Exists(_) => {}
        Expr::Compare(left, _, right) => [left, right].into_iter().for_each(|side| of_operand(side, visit)),
        Expr::Test(call) => of_call(call, visit),
    }
}

fn of_operand(operand: &mut Operand, visit: &mut dyn FnMut(&mut Query)) {
    match operand {
        Operand::Singular(query) => visit(query),
        Operand::Call(call) => of_call(call, visit),
        Operand::Literal(_) | Operand::Parameter(..) => {}
    }
}

fn of_call(call: &mut Call, visit: &mut dyn FnMut(&mut Query)) {
    for argument in &mut call.args {
        if let Argument::Value(operand) = argument {
            of_operand(operand, visit);
        }
    }
}
