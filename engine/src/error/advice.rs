//! What to do about an error. All advice of the engine is in one table, which `engine/tests/advice.rs` includes: it
//! does what each advice says, and does not compile while one has no test.

use std::fmt;

macro_rules! table {
    ($($name:ident = $text:literal,)*) => {
        /// What a message tells its reader to do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Advice { $($name,)* }

        impl Advice {
            /// Every advice, for the test.
            #[allow(dead_code, reason = "the test includes this file and uses it; the engine does not")]
            pub(crate) const ALL: &[Advice] = &[$(Advice::$name,)*];

            pub(crate) const fn text(self) -> &'static str {
                match self { $(Advice::$name => $text,)* }
            }
        }
    };
}

table! {
    CheckPath = "check the path, or create a store under another name",
    UseItsVersion = "open it with the version that wrote it",
    ExportThere = "export it with the version that wrote it, and import that into a new store",
    CloseElsewhere = "close it there, or open it read-only in both",
    CreateAnew = "open it for writing to create it anew",
    FreeSpace = "free some space and try again",
    Reopen = "reopen the store to recover",
    OpenForWriting = "open it for writing",
    WaitOrWriteWithin = "wait for it, or write within it",
    TakeNewSnapshot = "take a new one",
    CommitInParts = "commit in parts, or raise transaction_bytes",
    ReadAgain = "read it again",
    ResumeAtOldest = "resume at the oldest position, or begin again from a snapshot",
    BeginFromSnapshot = "begin again from a snapshot",
    GiveKeys = "give keys yourself",
    LongerSegments = "put it into a store with segment_bytes of 16,384 or more",
    WriteLess = "write less at once",
    WriteFloatOrText = "write it as a float or as text",
    EscapeIt = "escape it",
    CompareEach = "a filter selector compares each",
    AskWhetherAny = "to ask whether any of them does, write this",
    WriteThis = "write this",
    DeleteByKey = "delete it by its key",
    PutIntoLiteral = "put the whole object into a `$literal`",
    LeaveHintOut = "leave the hint out, or say that it is a scan",
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
