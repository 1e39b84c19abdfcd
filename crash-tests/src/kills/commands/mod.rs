//! A story of commands: each life is one run of the built command line on the story's store, killed after some
//! milliseconds. What that leaves is looked at by every other command.
//!
//! | file | what it is |
//! |---|---|
//! | `mod` | one life: a command, its kill, and what the store may hold afterwards |
//! | `look` | every other command on what the kill left |
//! | `run` | one run of a command, and its answer |
//!
//! A command commits once or in a known order, so that a kill leaves one of a few states. What it has printed, or has
//! acknowledged by exit code 0, is there.

mod look;
mod run;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use holotype::{Document, Value, doc};
use holotype_model::check::Rng;

use super::process::Worker;
use super::tally::{Tally, When};
pub use look::names;
use run::Run;

/// The documents of the one collection, by their keys.
type State = BTreeMap<i64, Document>;

const COLLECTION: &str = "docs";
/// What a life may import, and what `--batch` asks for.
const DOCUMENTS_MAX: usize = 300;
const BATCH: usize = 40;
/// What commands are given before they are killed, at most, until one has come to its end.
const DELAY_MAX: Duration = Duration::from_millis(20);
/// No command takes less.
const DELAY_MAX_MIN: Duration = Duration::from_millis(1);
/// Now and then one may be given longer: the one before may have been a short one.
const DELAY_LONG_MAX: Duration = Duration::from_millis(80);
/// Keys are taken from so few that later lives replace and delete what earlier ones put.
const KEYS: usize = 500;

/// The judge of a store that commands write, each of which is killed.
#[derive(Debug)]
pub(super) struct Commands {
    directory: PathBuf,
    rng: Rng,
    /// The longest that the next command is given: twice what the last one took that came to its end. On a fast machine, a kill after
    /// [`DELAY_MAX`] meets none.
    delay_max: Duration,
    /// What the store may hold; several states after a kill, until somebody looks.
    states: Vec<State>,
    /// Whether a command has ended well that needs a store: from then on there is one.
    is_there: bool,
    /// The copies that commands made under their own names, and what each may hold.
    copies: BTreeMap<&'static str, Vec<State>>,
}

/// One command that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    /// All documents in one commit, or in one commit for each [`BATCH`].
    Import {
        is_batched: bool,
    },
    /// What `export --with-keys` wrote.
    ImportWithKeys,
    Put,
    Delete,
    Update,
    /// Many documents in one commit.
    UpdateMany,
    DeleteMany,
    Checkpoint,
    Compact,
    /// From the backup that is there, if there is one.
    Backup,
    Salvage,
    /// An index of either direction, in the place of the one that is there.
    ReplaceIndex,
    /// Two from a file, in one commit each.
    CreateIndexes,
    RenameIndex,
    DropIndex,
}

/// Twice those that write most; first those that create a store.
const COMMANDS: [Command; 19] = [
    Command::Import { is_batched: false },
    Command::Import { is_batched: false },
    Command::Import { is_batched: true },
    Command::ImportWithKeys,
    Command::Put,
    Command::Delete,
    Command::Update,
    Command::UpdateMany,
    Command::DeleteMany,
    Command::Checkpoint,
    Command::Compact,
    Command::Backup,
    Command::Backup,
    Command::Salvage,
    Command::ReplaceIndex,
    Command::ReplaceIndex,
    Command::CreateIndexes,
    Command::RenameIndex,
    Command::DropIndex,
];

impl Commands {
    /// The judge of an empty directory.
    pub(super) fn new(directory: &Path, rng: Rng) -> Commands {
        let (directory, states) = (directory.to_owned(), vec![State::new()]);
        Commands { directory, rng, delay_max: DELAY_MAX, states, is_there: false, copies: BTreeMap::new() }
    }

    /// One command, its kill, and a look by all others.
    pub(super) fn live(&mut self, worker: &Worker, life: u64, tally: &mut Tally) -> Result<(), String> {
        // The first lives kill creations.
        let command = match self.is_there {
            true => *self.rng.pick(&COMMANDS),
            false => *self.rng.pick(&COMMANDS[..5]),
        };
        let (words, after) = self.prepare(command, life)?;
        let run = Run::killed_after(Some(self.delay()), worker, &self.directory, words)?;
        if !run.is_killed() {
            self.delay_max = DELAY_MAX_MIN.max(2 * run.took());
        }
        let shown = run.to_string();
        self.ended(command, &run, after).map_err(|what| format!("{what}: {shown}"))?;
        tally.count_end(run.is_killed().then_some(When::Command));
        tally.commands += self.look(worker).map_err(|what| format!("after {shown}: {what}"))?;
        Ok(())
    }

    fn delay(&mut self) -> Duration {
        let long = DELAY_LONG_MAX.max(2 * self.delay_max);
        let max = if self.rng.one_in(5) { long } else { self.delay_max };
        Duration::from_micros(self.rng.below(max.as_micros() as usize) as u64)
    }

    /// The words of the command line, and the states that it goes through, the last being that after its end.
    fn prepare(&mut self, command: Command, life: u64) -> Result<(Vec<String>, Vec<State>), String> {
        let [state] = &self.states[..] else { unreachable!("the look before left one") };
        let mut state = state.clone();
        let (mut words, mut after) = (Vec::new(), Vec::new());
        let mut say = |text: &str| words.extend(text.split(' ').map(str::to_owned));
        match command {
            Command::Import { is_batched } => {
                let mut lines = String::new();
                let count = 1 + self.rng.below(DOCUMENTS_MAX);
                for number in 1..=count {
                    let (key, document) = self.document(life);
                    let text = document.to_json(holotype::document::JsonMode::Relaxed);
                    writeln!(lines, "{text}").expect("a string takes all");
                    state.insert(key, document);
                    if is_batched && number % BATCH == 0 {
                        after.push(state.clone());
                    }
                }
                write_file(&self.directory.join("documents.jsonl"), lines.as_bytes())?;
                say("import store.holo documents.jsonl --key k --collection docs");
                if is_batched {
                    say(&format!("--batch {BATCH}"));
                }
                after.push(state);
            }
            Command::Put => {
                let (key, document) = self.document(life);
                say(&format!("put store.holo docs {key}"));
                words.push(document.to_json(holotype::document::JsonMode::Relaxed));
                state.insert(key, document);
                after.push(state);
            }
            Command::ImportWithKeys => {
                let mut lines = String::new();
                for _ in 0..1 + self.rng.below(BATCH) {
                    let (key, document) = self.document(life);
                    let text = document.to_json(holotype::document::JsonMode::Relaxed);
                    writeln!(lines, "{{\"key\":{key},\"doc\":{text}}}").expect("a string takes all");
                    state.insert(key, document);
                }
                write_file(&self.directory.join("entries.jsonl"), lines.as_bytes())?;
                say("import store.holo entries.jsonl --with-keys --collection docs");
                after.push(state);
            }
            Command::Update => {
                let key = self.a_key(&state);
                say(&format!("update store.holo docs {key} --set $.life={life}"));
                if let Some(document) = state.get_mut(&key) {
                    document.insert("life", life as i64);
                }
                after.push(state);
            }
            Command::Delete => {
                let key = self.a_key(&state);
                say(&format!("delete store.holo docs {key}"));
                state.remove(&key);
                after.push(state);
            }
            Command::UpdateMany => {
                let from = self.rng.below(KEYS) as i64;
                say(&format!("update store.holo docs --where @.k>={from} --set $.life={life} --inc $.n=1"));
                for (_, document) in state.range_mut(from..) {
                    let n = document.get("n").and_then(Value::as_i64).unwrap_or(0);
                    document.insert("life", life as i64);
                    document.insert("n", n + 1);
                }
                after.push(state);
            }
            Command::DeleteMany => {
                let from = self.rng.below(KEYS) as i64;
                say(&format!("delete store.holo docs --where key()>={from}&&key()<{}", from + 20));
                state.retain(|key, _| !(from..from + 20).contains(key));
                after.push(state);
            }
            Command::Checkpoint => say("checkpoint store.holo"),
            Command::Compact => say("compact store.holo"),
            Command::Backup => {
                say("backup store.holo backup.holo");
                if self.rng.one_in(3) {
                    self.remove("backup.holo")?;
                }
                if self.directory.join("backup.holo").exists() {
                    say("--from backup.holo");
                }
            }
            Command::Salvage => {
                self.remove("salvaged.holo")?;
                say("salvage store.holo salvaged.holo");
            }
            Command::ReplaceIndex => {
                let direction = *self.rng.pick(&["asc", "desc"]);
                say(&format!("index create store.holo docs killed --on $.k:{direction} --replace"));
            }
            Command::CreateIndexes => {
                let definitions =
                    ["killed", "renamed"].map(|name| format!("{{\"on\":[\"$.n\"],\"name\":\"{name}\"}}\n"));
                write_file(&self.directory.join("definitions.jsonl"), definitions.concat().as_bytes())?;
                say("index create store.holo docs --from definitions.jsonl --replace");
            }
            Command::RenameIndex => say("index rename store.holo docs killed renamed"),
            Command::DropIndex => {
                let name = *self.rng.pick(&["killed", "renamed"]);
                say(&format!("index drop store.holo docs {name}"));
            }
        }
        Ok((words, after))
    }

    /// The key of a document that is there, if any is.
    fn a_key(&mut self, state: &State) -> i64 {
        let keys: Vec<i64> = state.keys().copied().collect();
        if keys.is_empty() { 0 } else { *self.rng.pick(&keys) }
    }

    /// A document that no other life puts, under a key that others may put as well.
    fn document(&mut self, life: u64) -> (i64, Document) {
        let key = self.rng.below(KEYS) as i64;
        let len = *self.rng.pick(&[0, 10, 100, 700, 3000]);
        (
            key,
            doc! { "k": key, "life": life as i64, "n": self.rng.below(1 << 30) as i64, "body": "x".repeat(len) },
        )
    }

    fn remove(&mut self, name: &'static str) -> Result<(), String> {
        self.copies.remove(name);
        match std::fs::remove_file(self.directory.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(format!("{name}: {error}")),
            _ => Ok(()),
        }
    }

    /// What the store, and the copies, may hold now.
    fn ended(&mut self, command: Command, run: &Run, mut after: Vec<State>) -> Result<(), String> {
        let before = self.states.clone();
        let is_acknowledged = match command {
            // Its one document may not be there, nor its collection.
            Command::Delete | Command::Update if run.code() == Some(1) && run.said("no document") => true,
            Command::DropIndex | Command::RenameIndex if run.code() == Some(1) && run.said("no index") => {
                true
            }
            Command::RenameIndex if run.code() == Some(1) && run.said("has an index named") => true,
            Command::Delete
            | Command::Update
            | Command::UpdateMany
            | Command::DeleteMany
            | Command::DropIndex
            | Command::RenameIndex
                if run.code() == Some(1) && run.said("no collection") =>
            {
                true
            }
            _ if run.code().is_some_and(|code| code != 0) => {
                return Err("a command that nothing hinders fails".to_owned());
            }
            // What was printed was done, even where the end of the process was not waited for.
            _ => run.code() == Some(0) || !run.out().is_empty(),
        };
        self.is_there |= is_acknowledged;
        let copied = match command {
            Command::Backup => Some("backup.holo"),
            Command::Salvage => Some("salvaged.holo"),
            _ => None,
        };
        if let Some(name) = copied {
            let older = self.copies.remove(name).filter(|_| !is_acknowledged).unwrap_or_default();
            self.copies.insert(name, before.iter().cloned().chain(older).collect());
        }
        match after.pop() {
            Some(last) if is_acknowledged => self.states = vec![last],
            last => self.states.extend(after.into_iter().chain(last)),
        }
        Ok(())
    }
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}
