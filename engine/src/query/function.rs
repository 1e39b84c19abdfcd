//! The functions of filters: their names and types, in one table. spec: Q-5.

/// A function that an expression can call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    // RFC 9535, section 2.4.
    Length,
    Count,
    Match,
    Search,
    Value,
    // Ours.
    Arg,
    Key,
    Bytes,
    In,
    Between,
    StartsWith,
    EndsWith,
    Contains,
    Lower,
    Fold,
    Time,
    Type,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

/// The type of a result: a value or nothing, or true or false. None of the functions gives a list of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gives {
    Value,
    Logical,
}

/// The type of the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Values, that many.
    Values(usize),
    /// Values, from `.0` to `.1` of them.
    Between(usize, usize),
    /// One list of nodes.
    Nodes,
    /// One text that stands in the query itself.
    Literal,
}

/// What a function is called, takes and gives.
pub(crate) struct Signature {
    pub(crate) function: Function,
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    pub(crate) gives: Gives,
}

const fn signature(function: Function, name: &'static str, takes: Takes, gives: Gives) -> Signature {
    Signature { function, name, takes, gives }
}

/// The most arguments of `in`, the value included.
pub(super) const IN_ARGUMENTS_MAX: usize = 4096;

const SIGNATURES: &[Signature] = &[
    signature(Function::Length, "length", Takes::Values(1), Gives::Value),
    signature(Function::Count, "count", Takes::Nodes, Gives::Value),
    signature(Function::Match, "match", Takes::Values(2), Gives::Logical),
    signature(Function::Search, "search", Takes::Values(2), Gives::Logical),
    signature(Function::Value, "value", Takes::Nodes, Gives::Value),
    signature(Function::Arg, "arg", Takes::Literal, Gives::Value),
    signature(Function::Key, "key", Takes::Values(0), Gives::Value),
    signature(Function::Bytes, "bytes", Takes::Literal, Gives::Value),
    signature(Function::In, "in", Takes::Between(2, IN_ARGUMENTS_MAX), Gives::Logical),
    signature(Function::Between, "between", Takes::Values(3), Gives::Logical),
    signature(Function::StartsWith, "starts_with", Takes::Values(2), Gives::Logical),
    signature(Function::EndsWith, "ends_with", Takes::Values(2), Gives::Logical),
    signature(Function::Contains, "contains", Takes::Values(2), Gives::Logical),
    signature(Function::Lower, "lower", Takes::Values(1), Gives::Value),
    signature(Function::Fold, "fold", Takes::Values(1), Gives::Value),
    signature(Function::Time, "time", Takes::Values(1), Gives::Value),
    signature(Function::Type, "type", Takes::Values(1), Gives::Value),
    signature(Function::Add, "add", Takes::Values(2), Gives::Value),
    signature(Function::Sub, "sub", Takes::Values(2), Gives::Value),
    signature(Function::Mul, "mul", Takes::Values(2), Gives::Value),
    signature(Function::Div, "div", Takes::Values(2), Gives::Value),
    signature(Function::Mod, "mod", Takes::Values(2), Gives::Value),
];

impl Function {
    /// Those that an index can have of a path. spec: I-1.5.
    pub(crate) const OF_PATHS: [Function; 4] =
        [Function::Fold, Function::Lower, Function::Time, Function::Length];

    /// Whether the filter of an index can call it: what it gives follows from the document, in every version. spec: I-1.6.
    pub(crate) fn is_for_indexes(self) -> bool {
        // Patterns have classes of characters that Unicode goes on to change, and limits of a version.
        !matches!(self, Function::Arg | Function::Key | Function::Match | Function::Search)
    }

    /// The function called `name`.
    pub(crate) fn named(name: &str) -> Option<&'static Signature> {
        SIGNATURES.iter().find(|signature| signature.name == name)
    }

    pub(crate) fn signature(self) -> &'static Signature {
        SIGNATURES
            .iter()
            .find(|signature| signature.function == self)
            .expect("every function has a signature")
    }
}

impl Takes {
    /// How many arguments there may be.
    pub(crate) fn counts(self) -> (usize, usize) {
        match self {
            Takes::Values(count) => (count, count),
            Takes::Between(least, most) => (least, most),
            Takes::Nodes | Takes::Literal => (1, 1),
        }
    }
}
