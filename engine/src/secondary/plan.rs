//! What of a document an index looks at, and the tuples that this makes. spec: I-1.3, I-2.1.

use crate::document::node::{Node, View};
use crate::document::{RawValue, Value};
use crate::error::Result;
use crate::query::function::Function;
use crate::query::{FOUND_MAX, JsonPath, OnePass, Segment, child, lead, of_value};
use crate::seeded::{self, Bug};

/// The most paths of an index.
pub(crate) const PATHS_MAX: usize = 16;

/// The paths of a definition, made ready to be followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// Up to the last wildcard, if there is one.
    fan_out: Option<Vec<Segment>>,
    components: Vec<Component>,
    of_document: OnePass,
    of_item: OnePass,
}

/// Where a component of the tuples comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Component {
    /// From the document, or from an item of the fan-out.
    steps: Vec<Segment>,
    function: Option<Function>,
    is_of_item: bool,
    /// Where a pass over all paths of its kind puts it.
    number: Option<u8>,
}

/// What a path gives.
#[derive(Debug)]
pub(super) enum Part<'v> {
    /// A value of the document.
    Node(RawValue<'v>),
    /// What a function gives of one.
    Made(Value),
}

/// A component for each path; none beyond.
type Tuple<'v> = [Option<Part<'v>>; PATHS_MAX];

/// The path up to its last wildcard.
pub(super) fn fan_out(path: &JsonPath) -> Option<&[Segment]> {
    let last = path.segments().iter().rposition(|segment| segment.singular().is_none())?;
    Some(&path.segments()[..=last])
}

impl Plan {
    /// The plan for paths that a definition can have.
    pub(super) fn new<'p>(paths: impl Iterator<Item = (Option<Function>, &'p JsonPath)>) -> Self {
        let mut plan = Plan::default();
        for (function, path) in paths {
            let fan_out = fan_out(path);
            let steps = path.segments()[fan_out.map_or(0, <[Segment]>::len)..].to_vec();
            plan.components.push(Component { steps, function, is_of_item: fan_out.is_some(), number: None });
            plan.fan_out = plan.fan_out.or(fan_out.map(<[Segment]>::to_vec));
        }
        for is_of_item in [false, true] {
            let alike = || plan.components.iter().filter(|component| component.is_of_item == is_of_item);
            // A pass takes its time to begin: one path alone is followed by itself.
            if alike().count() > 1 {
                let pass = if is_of_item { &mut plan.of_item } else { &mut plan.of_document };
                for component in
                    plan.components.iter_mut().filter(|component| component.is_of_item == is_of_item)
                {
                    component.number = pass.number_of(&component.steps);
                }
            }
        }
        plan
    }

    /// Hands over the tuples of a document in the order of its parts, equal ones too.
    ///
    /// # Errors
    /// What `each` says.
    pub(super) fn each_tuple<'v>(
        &self,
        document: RawValue<'v>,
        each: &mut dyn FnMut(&[Option<Part<'v>>]) -> Result<()>,
    ) -> Result<()> {
        let count = self.components.len();
        let mut tuple: Tuple<'v> = [const { None }; PATHS_MAX];
        self.fill(false, document, &mut tuple);
        let Some(fan_out) = &self.fan_out else {
            return each(&tuple[..count]);
        };
        let mut gave_one = false;
        fan(fan_out, document, &mut |item| {
            if self.fill(true, item, &mut tuple) {
                gave_one = true;
                each(&tuple[..count])?;
            }
            Ok(())
        })?;
        // The last node gave nothing, if there was one: that is what stands in the tuple.
        if gave_one { Ok(()) } else { each(&tuple[..count]) }
    }

    /// Sets the components that are of the document, or of an item. Whether one of them has a value.
    fn fill<'v>(&self, is_of_item: bool, node: RawValue<'v>, tuple: &mut Tuple<'v>) -> bool {
        let pass = if is_of_item { &self.of_item } else { &self.of_document };
        let mut found = [None; FOUND_MAX];
        pass.find(node.bytes_from(), &mut found);
        let mut has_one = false;
        for (component, value) in self.components.iter().zip(tuple) {
            if component.is_of_item == is_of_item {
                let node = match component.number {
                    Some(number) => found[usize::from(number)],
                    None => lead(&component.steps, node),
                };
                *value = node.and_then(|node| match component.function {
                    None => Some(Part::Node(node)),
                    Some(_) if seeded::is_on(Bug::FunctionNotApplied) => Some(Part::Node(node)),
                    Some(function) => of_value(function, node).map(Part::Made),
                });
                has_one |= value.is_some();
            }
        }
        has_one
    }
}

/// Hands over the nodes that the steps select from `node`.
fn fan<'v>(
    steps: &[Segment],
    node: RawValue<'v>,
    each: &mut dyn FnMut(RawValue<'v>) -> Result<()>,
) -> Result<()> {
    let Some((first, rest)) = steps.split_first() else {
        return each(node);
    };
    match (first.singular(), Node::view(&node)) {
        (Some(selector), _) => child(&node, selector).map_or(Ok(()), |node| fan(rest, node, each)),
        (None, View::Array(_, mut items)) => items.try_for_each(|item| fan(rest, item, each)),
        (None, View::Object(..)) if seeded::is_on(Bug::MembersLeftOut) => Ok(()),
        (None, View::Object(_, mut fields)) => fields.try_for_each(|(_, value)| fan(rest, value, each)),
        (None, View::Scalar(_)) => Ok(()),
    }
}
