//! What the end of the log means, as the table of spec clause. A person can check it, and a test exhausts it.

/// The file beside the length that the newest valid slot names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    Enough,
    Short,
}

/// What stands behind the last accepted commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follows {
    Continuation,
    Nothing,
}

/// The highest claim that anything in the file makes, beside the last accepted commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// Nothing later was ever durable, as far as the file knows.
    Within,
    /// Something later was.
    Above,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The commit counts.
    Replay,
    /// A torn tail: never acknowledged, and dropped without a word.
    Cut,
    /// Something that was once durable is gone.
    Corrupt,
}

//= spec/recovery.md#r-4-2-torn-tail
//# A reader MUST drop what lies beyond a torn tail silently: none of it was ever acknowledged as durable.
//= spec/recovery.md#r-4-3-corrupt
//# A reader MUST refuse a file that the table calls corrupt, with the offset of the place where the log
//# breaks off and the claim.
// spec
pub(crate) fn decide(length: Length, follows: Follows, evidence: Evidence) -> Decision {
    match (length, follows, evidence) {
        (Length::Short, _, _) => Decision::Corrupt,
        (Length::Enough, Follows::Continuation, _) => Decision::Replay,
        (Length::Enough, Follows::Nothing, Evidence::Within) => Decision::Cut,
        (Length::Enough, Follows::Nothing, Evidence::Above) => Decision::Corrupt,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= spec/recovery.md#r-4-2-torn-tail
    //= type=test
    //# A reader MUST drop what lies beyond a torn tail silently: none of it was ever acknowledged as durable.
    #[test]
    fn every_row_of_the_table_decides_as_the_specification_says() {
        use Decision::{Corrupt, Cut, Replay};
        use Evidence::{Above, Within};
        use Follows::{Continuation, Nothing};
        use Length::{Enough, Short};
        let table = [
            (Short, Continuation, Within, Corrupt),
            (Short, Continuation, Above, Corrupt),
            (Short, Nothing, Within, Corrupt),
            (Short, Nothing, Above, Corrupt),
            (Enough, Continuation, Within, Replay),
            (Enough, Continuation, Above, Replay),
            (Enough, Nothing, Within, Cut),
            (Enough, Nothing, Above, Corrupt),
        ];
        for (length, follows, evidence, decision) in table {
            assert_eq!(decide(length, follows, evidence), decision, "{length:?}, {follows:?}, {evidence:?}");
        }
    }
}
