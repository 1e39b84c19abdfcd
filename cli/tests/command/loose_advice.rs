//! Advice stands in the two tables whose every entry is tried, `advice.rs` of the engine and of the command line, and
//! nowhere else: a scan of all texts in the sources.

use std::fs;
use std::path::{Path, PathBuf};

/// What a clause begins with that tells somebody to do something.
const VERBS: [&str; 60] = [
    "add", "ask", "back", "begin", "call", "change", "check", "choose", "close", "commit", "compact", "copy",
    "create", "cut", "delete", "drop", "escape", "export", "fix", "free", "get", "give", "import", "insert",
    "keep", "leave", "look", "lower", "make", "move", "name", "open", "pass", "pick", "put", "raise", "read",
    "recover", "remove", "rename", "reopen", "repair", "repeat", "replace", "restart", "restore", "resume",
    "retry", "run", "salvage", "say", "see", "set", "start", "stop", "take", "try", "update", "use", "write",
];

/// Words that speak to the reader wherever they stand.
const WORDS: [&str; 8] =
    ["`holotype ", "try again", "yourself", "instead", "please", "you must", "you can", "mends it"];

fn is_advice(text: &str) -> bool {
    let begins = |clause: &str| {
        let word = clause.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        VERBS.contains(&word)
    };
    let shows = |verb: &&str| ["`", "'"].iter().any(|quote| text.contains(&format!(" {verb} {quote}")));
    [": ", "; "].iter().any(|end| text.split(end).skip(1).any(begins))
        || VERBS.iter().any(shows)
        || WORDS.iter().any(|word| text.contains(word))
}

/// Every string literal in a source, without those in comments and behind the first inline test module.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let (mut found, mut rest) = (Vec::new(), source);
    while let Some(at) = rest.find(['"', '/', '\'']) {
        rest = &rest[at..];
        if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, behind)| behind);
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            rest = &rest[3..];
        } else if let Some(text) = rest.strip_prefix('"') {
            let mut escaped = false;
            let end = text.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            let (text, behind) = text.split_at(end.unwrap_or(text.len()));
            found.push(text.to_owned());
            rest = behind.get(1..).unwrap_or_default();
        } else {
            rest = &rest[1..];
        }
    }
    found
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let is_test = ["tests", "schedules", "loom", "sim", "testing"].contains(&name);
        if path.is_dir() && !is_test {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test && name != "advice"
        {
            found.push(path);
        }
    }
}

#[test]
fn no_message_gives_advice_that_is_not_in_a_table() {
    let mut files = Vec::new();
    for folder in ["src", "../engine/src"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    }
    let (mut loose, mut count) = (Vec::new(), 0);
    for file in files {
        let texts = literals(&fs::read_to_string(&file).unwrap());
        count += texts.len();
        loose.extend(
            texts
                .into_iter()
                .filter(|text| is_advice(text))
                .map(|text| format!("{}: {text:?}", file.display())),
        );
    }
    assert!(count > 1000, "only {count} texts were looked at");
    assert!(loose.is_empty(), "put it into the table, and a test beside it:\n{}", loose.join("\n"));
}

#[test]
fn advice_is_known_when_it_is_seen() {
    for text in [
        "the file is an unfinished creation; open it for writing to create it anew",
        "the store has several collections: {names}; say which one with --collection NAME",
        "no room for the {operation}; free some space and try again: nothing is lost",
        "a superblock slot is not valid; opening the store for writing mends it",
        "`holotype stats` lists the collections",
        "reopen the store yourself",
        "--on {text}: write '{path}:desc' for a descending path",
        "{what}; to ask whether any of them does, write `{root}[?@ {comparison} {right}]`",
    ] {
        let source = format!("let a = '\"'; // \"; open it\n let b = \"{text}\"; let c = \"a \\\" b\";");
        assert_eq!(literals(&source), [text, "a \\\" b"]);
        assert!(is_advice(text), "{text}");
    }
    for text in [
        "write at offset 16384",
        "the key has {len} bytes; the limit is {max}",
        "cannot read {name}: {error}",
    ] {
        assert!(!is_advice(text), "{text}");
    }
}
