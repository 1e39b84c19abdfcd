//! What the store did that it may not do, by the law that it broke.

use std::fmt;

use holotype_model::Disagreement;

/// The laws of the store, as far as a life of it can break them; and `verify`, which is to find nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Law {
    /// 1. After a crash there is a prefix of the commits, and all that was acknowledged as durable.
    Prefix,
    /// 2. No call panics, or fails where nothing is wrong.
    RightOrTyped,
    /// 3. What is torn is cut, and what is damaged is told; neither is taken for the other.
    TornIsNotCorrupt,
    /// 4. After a failed sync nothing is written any more.
    FailedSync,
    /// 5. A snapshot shows one state.
    Snapshots,
    /// 6. Each answer is that of one order of the calls.
    Serial,
    /// The store finds itself in order.
    Verify,
}

impl Law {
    /// The law that an error breaks where nothing is wrong.
    pub(super) fn of_error(error: &holotype::Error) -> Law {
        match error {
            holotype::Error::Corrupt(_) => Law::TornIsNotCorrupt,
            _ => Law::RightOrTyped,
        }
    }
}

/// What the store did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The law that it broke.
    pub law: Law,
    /// In words.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let law = match self.law {
            Law::Prefix => "law 1, prefix",
            Law::RightOrTyped => "law 2, right data or a typed error",
            Law::TornIsNotCorrupt => "law 3, torn is not corrupt",
            Law::FailedSync => "law 4, a failed sync is final",
            Law::Snapshots => "law 5, snapshots are stable",
            Law::Serial => "law 6, strict serializability",
            Law::Verify => "the store finds itself in order",
        };
        write!(f, "{law}: {}", self.what)
    }
}

impl Finding {
    pub(super) fn new(law: Law, what: String) -> Self {
        Finding { law, what }
    }

    pub(super) fn disagreement(law: Law, disagreement: &Disagreement) -> Self {
        let what =
            format!("found {}; legal is: {}", disagreement.found, disagreement.expected.join(" | or: "));
        Finding { law, what }
    }
}
