//! Every command on what a killed one left: those that read on the very files, those that write on a copy of them each.

use std::path::Path;

use holotype::document::json;
use holotype::{Document, Key};

use super::super::process::Worker;
use super::run::Run;
use super::{COLLECTION, Commands, State, write_file};

const EXPORT: &str = "export store.holo --collection docs --with-keys";
/// Readers whose answer is not compared.
const READERS: [&str; 7] = [
    "verify store.holo",
    "verify store.holo --deep",
    "stats store.holo",
    "inspect store.holo",
    "inspect store.holo --json",
    "index list store.holo",
    "index check store.holo",
];
/// Readers that print the document of a key.
const GETTERS: [&str; 3] = [
    "get store.holo docs KEY",
    "scan store.holo docs --from KEY --limit 1",
    "find store.holo docs key()==KEY",
];
/// A reader that counts the documents of a key.
const COUNTER: &str = "group store.holo docs --by key() --where key()==KEY";
/// A key that no life puts.
const NEW: i64 = 1_000_000;
/// Commands that write, with what each changes. What stands behind `; ` is run after it.
const WRITERS: [(&str, Change); 13] = [
    ("put store.holo docs 1000000 {\"k\":1000000}", Change::Adds),
    ("import store.holo new.jsonl --key k --collection docs", Change::Adds),
    ("import store.holo new.jsonl --key k --collection docs --batch 1", Change::Adds),
    ("update store.holo docs KEY --set $.k=1000000", Change::Sets),
    ("update store.holo docs --where key()==KEY --set $.k=1000000", Change::Sets),
    ("delete store.holo docs KEY", Change::Deletes),
    ("delete store.holo docs --where key()==KEY", Change::Deletes),
    ("index create store.holo docs by_k --on $.k", Change::Nothing),
    (
        "index create store.holo docs old --on $.k; index rename store.holo docs old new; index scan store.holo docs new; \
         index drop store.holo docs new",
        Change::Nothing,
    ),
    ("checkpoint store.holo", Change::Nothing),
    ("compact store.holo", Change::Nothing),
    ("backup store.holo backup.holo", Change::Copies("backup.holo")),
    ("salvage store.holo salvaged.holo", Change::Copies("salvaged.holo")),
];

/// The commands that are run on what a kill left, each by its name: all that take a store.
pub fn names() -> impl Iterator<Item = String> {
    let lines =
        READERS.into_iter().chain(GETTERS).chain([EXPORT, COUNTER]).chain(WRITERS.map(|(words, _)| words));
    lines.flat_map(|words| words.split("; ")).map(name)
}

/// The name of a command: what stands before its store.
fn name(words: &str) -> String {
    words.split(" store.holo").next().unwrap_or_default().to_owned()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Adds,
    /// The field `k` of the document.
    Sets,
    Deletes,
    Nothing,
    /// Makes this file, which holds what the store does.
    Copies(&'static str),
}

impl Commands {
    /// Judges what is there; how many commands were run for it.
    pub(super) fn look(&mut self, worker: &Worker) -> Result<u64, String> {
        let directory = self.directory.clone();
        let mut look = Look { worker, directory: &directory, count: 0 };
        match look.state(&directory, "store.holo")? {
            None if self.is_there => return Err("the store is gone".to_owned()),
            None if !self.states.contains(&State::new()) => return Err("the store is gone".to_owned()),
            None => {
                self.states = vec![State::new()];
                look.at_none()?;
            }
            Some(found) => {
                if !self.states.contains(&found) {
                    let legal: Vec<String> = self.states.iter().map(summary).collect();
                    return Err(format!("it holds {}; legal is {}", summary(&found), legal.join(", or ")));
                }
                self.is_there = true;
                look.at_store(&found)?;
                self.states = vec![found];
            }
        }
        for (name, states) in &mut self.copies {
            if !directory.join(name).exists() {
                continue;
            }
            look.done(&directory, &format!("verify {name} --deep"))?;
            let found = look.state(&directory, name)?.ok_or_else(|| format!("{name} is no store"))?;
            if !states.contains(&found) {
                return Err(format!("{name} holds {}", summary(&found)));
            }
            *states = vec![found];
        }
        Ok(look.count)
    }
}

struct Look<'a> {
    worker: &'a Worker,
    directory: &'a Path,
    count: u64,
}

impl Look<'_> {
    fn run(&mut self, directory: &Path, words: &str) -> Result<Run, String> {
        self.count += 1;
        Run::of(self.worker, directory, words)
    }

    fn done(&mut self, directory: &Path, words: &str) -> Result<String, String> {
        self.run(directory, words)?.done().map(str::to_owned)
    }

    /// All that the store of this name holds; none where there is no store yet, and the command says so.
    fn state(&mut self, directory: &Path, name: &str) -> Result<Option<State>, String> {
        let run = self.run(directory, &EXPORT.replace("store.holo", name))?;
        match run.code() {
            Some(0) => run.out().lines().map(entry).collect::<Result<State, _>>().map(Some),
            Some(1) if run.said("there is no collection") => Ok(Some(State::new())),
            Some(3) if run.said("does not exist") || run.said("unfinished creation") => Ok(None),
            _ => Err(format!("it cannot be read: {run}")),
        }
    }

    /// There is a store that holds this: every command does what it is for.
    fn at_store(&mut self, found: &State) -> Result<(), String> {
        let directory = self.directory;
        for reader in READERS {
            self.done(directory, reader)?;
        }
        let key = found.keys().next().copied();
        for reader in GETTERS {
            let Some(key) = key else { break };
            let printed = self.done(directory, &reader.replace("KEY", &key.to_string()))?;
            let read = json::parse_document(printed.trim().as_bytes());
            if read.ok().as_ref() != found.get(&key) {
                return Err(format!("{reader}, of {key}, prints {printed}"));
            }
        }
        if let Some(key) = key {
            let printed = self.done(directory, &COUNTER.replace("KEY", &key.to_string()))?;
            if printed.trim() != format!("{{\"key()\":{key},\"count\":1}}") {
                return Err(format!("{COUNTER}, of {key}, prints {printed}"));
            }
        }
        for (writer, change) in WRITERS {
            let mut expected = found.clone();
            match (change, key) {
                (Change::Adds, _) => drop(expected.insert(NEW, holotype::doc! { "k": NEW })),
                (Change::Deletes, Some(key)) => drop(expected.remove(&key)),
                (Change::Sets, Some(key)) => {
                    drop(expected.get_mut(&key).expect("it was found").insert("k", NEW));
                }
                (Change::Deletes | Change::Sets, None) => continue,
                (Change::Nothing | Change::Copies(_), _) => {}
            }
            let words = writer.replace("KEY", &key.unwrap_or_default().to_string());
            self.write(&words, change, &expected)?;
        }
        Ok(())
    }

    /// There is no store yet: the commands that create one do, and each other one names them, rightly.
    fn at_none(&mut self) -> Result<(), String> {
        let directory = self.directory;
        let others = READERS.into_iter().chain(GETTERS).chain([EXPORT, COUNTER]);
        let writers = WRITERS.into_iter().filter(|(_, change)| *change != Change::Adds);
        let others: Vec<&str> =
            others.chain(writers.map(|(words, _)| words)).flat_map(|words| words.split("; ")).collect();
        for words in others {
            let run = self.run(directory, &words.replace("KEY", "1"))?;
            let is_named = run.said("holotype import") && run.said("holotype put");
            // Nothing comes of a copy of a store that is made for it.
            if run.code() != Some(3) || !(is_named || run.said("check the path")) {
                return Err(format!("there is no store, and this does not help: {run}"));
            }
        }
        let expected = State::from([(NEW, holotype::doc! { "k": NEW })]);
        for (words, change) in WRITERS.into_iter().filter(|(_, change)| *change == Change::Adds) {
            self.write(words, change, &expected)?;
        }
        Ok(())
    }

    /// A command that writes, on a copy of the files, and what it made of them.
    fn write(&mut self, words: &str, change: Change, expected: &State) -> Result<(), String> {
        let scratch = self.directory.join("scratch");
        copy_files(self.directory, &scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
        write_file(&scratch.join("new.jsonl"), format!("{{\"k\":{NEW}}}\n").as_bytes())?;
        let made = if let Change::Copies(name) = change { name } else { "store.holo" };
        let mut words = words.to_owned();
        if made == "backup.holo" && scratch.join(made).exists() {
            words.push_str(" --from backup.holo");
        } else if made != "store.holo" {
            // Nothing is written over but an earlier backup; one that a kill left unnamed is.
            let _ = std::fs::remove_file(scratch.join(made));
        }
        for words in words.split("; ") {
            self.done(&scratch, words)?;
        }
        let both = [made, "store.holo"];
        let names = if made == "store.holo" { &both[..1] } else { &both[..] };
        for name in names {
            self.done(&scratch, &format!("verify {name} --deep"))?;
            let found = self.state(&scratch, name)?;
            if found.as_ref() != Some(expected) {
                let found = found.as_ref().map_or_else(|| "no store".to_owned(), summary);
                return Err(format!(
                    "`holotype {words}` makes {name} hold {found}, not {}",
                    summary(expected)
                ));
            }
        }
        let partial = scratch.join(format!("{made}.partial"));
        if made != "store.holo" && partial.exists() {
            return Err(format!("`holotype {words}` leaves {}", partial.display()));
        }
        std::fs::remove_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))
    }
}

/// Copies the files of a directory. One file of two names stays one.
fn copy_files(from: &Path, to: &Path) -> std::io::Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    std::fs::create_dir(to)?;
    let mut copied: Vec<(Identity, std::path::PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if !metadata.is_file() {
            continue;
        }
        let (copy, identity) = (to.join(entry.file_name()), identity(&metadata));
        match copied.iter().find(|(known, _)| known.is_some() && *known == identity) {
            Some((_, first)) => std::fs::hard_link(first, copy)?,
            None => {
                std::fs::copy(entry.path(), &copy)?;
                copied.push((identity, copy));
            }
        }
    }
    Ok(())
}

/// Which file it is, where the system tells.
type Identity = Option<(u64, u64)>;

#[cfg(unix)]
fn identity(metadata: &std::fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &std::fs::Metadata) -> Identity {
    None
}

fn entry(line: &str) -> Result<(i64, Document), String> {
    match json::parse_entry(line.as_bytes()) {
        Ok((Key::Int(key), document)) => Ok((key, document)),
        other => Err(format!("{COLLECTION} holds what nobody put there: {line:?}: {other:?}")),
    }
}

fn summary(state: &State) -> String {
    let lives = state.values().filter_map(|document| document.get("life")?.as_i64());
    format!("{} documents, the newest of life {:?}", state.len(), lives.max())
}

#[cfg(test)]
mod tests {
    use holotype_model::check::Rng;

    use super::super::COMMANDS;
    use super::*;

    #[test]
    fn every_command_that_writes_is_killed() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut commands = Commands::new(directory.path(), Rng::seeded(1));
        let mut killed = Vec::new();
        for command in COMMANDS {
            let (words, _) = commands.prepare(command, 1).expect("it can be prepared");
            killed.push(name(&words.join(" ")));
        }
        let writers = WRITERS.iter().flat_map(|(words, _)| words.split("; ")).map(name);
        // It reads an index that was made for it.
        for writer in writers.filter(|writer| writer != "index scan") {
            assert!(killed.contains(&writer), "{writer} is not killed");
        }
    }
}
