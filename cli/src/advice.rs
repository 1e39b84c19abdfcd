//! What to do about a failure. All advice of the command line is in one table, which `cli/tests/command/advice.rs`
//! includes: it does what each advice says, and does not compile while one has no test.

use std::fmt;

macro_rules! table {
    ($($name:ident = $text:literal,)*) => {
        /// What a message tells its reader to do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Advice { $($name,)* }

        impl Advice {
            /// Every advice, for the test.
            #[allow(dead_code, reason = "the test includes this file and uses it; the command does not")]
            pub(crate) const ALL: &[Advice] = &[$(Advice::$name,)*];

            pub(crate) const fn text(self) -> &'static str {
                match self { $(Advice::$name => $text,)* }
            }
        }
    };
}

table! {
    // A file that cannot be opened.
    CheckPath = "check the path",
    CreateStore = "check the path, or create a store with `holotype import` or `holotype put`",
    UseAnotherName = "check the path, or give the store another name",
    MakeDirectory = "make that directory first",
    CreateAnew = "`holotype import` or `holotype put` creates the store anew",
    NameNewFile = "give the new file another name",
    UseItsVersion = "open it with the version that wrote it",
    ExportThere = "`holotype export` of the version that wrote it writes a text that `holotype import` of this one reads",
    WaitUntilClosed = "wait until it is closed there, or let the command wait with --wait SECONDS",
    WaitLonger = "wait until it is closed there, or longer with --wait SECONDS",
    NameTarget = "the symbolic link leads to no file: name that file itself, or remove the link",
    BackUpWhole = "leave out --from to copy the whole store",
    // A damaged store, and one that cannot grow.
    VerifyAndSalvage = "keep a copy of the file; `holotype verify --deep` lists all that is wrong, and `holotype salvage` \
                        writes what can be proven into a new store",
    Salvage = "keep a copy of the file; `holotype salvage` writes what can be proven into a new store",
    WriteSlotAnew = "`holotype checkpoint` writes the slot anew",
    FreeSpace = "free some space and try again",
    FreeOrCompact = "free some space, or what deleted documents take with `holotype compact`, and try again",
    // Collections, keys and documents.
    ListCollections = "`holotype stats` lists the collections",
    NameCollection = "add --collection NAME",
    ChooseCollection = "say which one with --collection NAME",
    UseKeyRange = "use --from and --to",
    GiveKeys = "give keys yourself, with `holotype import --key FIELD` or `holotype put`",
    MakeBatches = "make several commits, with --batch N",
    QuoteText = "a text is JSON, in quotes of its own: '…=\"Wren\"'",
    NameFile = "FILE is the name of a file, or - for standard input, which is read once",
    NameInput = "name a file of JSON documents",
    // Indexes.
    ListIndexes = "`holotype index list` lists the indexes",
    ReplaceIndex = "give it another name, or put it in the place of that one with --replace",
    GiveIndexAnotherName = "take another name, or end that index first with `holotype index drop`",
    LeaveOutIndex = "leave out --index",
    SayDescending = "write PATH:desc for a descending path",
    LeaveOutUnique = "change these documents, or leave out --unique",
    // Reports.
    RestoreBackup = "nothing can be proven of it: put a backup in its place",
    GivePageAFile = "give the page a file of its own",
    NameVectors = "run this in a checkout, or name the folder with --vectors",
    PrintJson = "--json lists all",
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
