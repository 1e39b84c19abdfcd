//! A store on a file that counts, and what it is at any moment.

use std::fmt::Write;

use holotype::{Background, Db, Document, Durability, Error, Options, Value, doc};

use crate::metered::{Asked, Metered};
use crate::story::{ensure, say};

/// More steps than a store of these lives ever needs at once.
const STEPS_MAX: usize = 20_000;

/// How a store is made.
#[derive(Clone)]
pub(super) struct Setup {
    pub(super) name: String,
    /// What its random calls follow from.
    pub(super) seed: u64,
    /// Bytes of a segment.
    pub(super) segment: usize,
    pub(super) options: Options,
    /// The file may have so many bytes.
    pub(super) file_max: Option<u64>,
    /// So many copies of it are damaged; fewer where the index has little room, since all of it is read again and again.
    pub(super) damaged: u64,
    /// Steps of maintenance are those that are taken while others write.
    pub(super) is_busy: bool,
}

pub(super) fn setups() -> [Setup; 4] {
    let short = Options::tiny().segment_bytes(2 << 10).cache_bytes(8 << 10).checkpoint_bytes(24 << 10);
    let little_room = medium().durability(Durability::Buffered).flush_bytes(3000).index_bytes(4 << 10);
    let long = medium().durability(Durability::Written).segment_bytes(64 << 10).cache_bytes(8 << 20);
    let setup = |name: &str, segment, options| Setup {
        name: name.to_owned(),
        seed: 0,
        segment,
        options,
        file_max: None,
        damaged: 9,
        is_busy: false,
    };
    [
        setup("written", 16 << 10, medium().durability(Durability::Written)),
        setup("synced, short segments", 2 << 10, short.durability(Durability::Synced)),
        Setup {
            file_max: Some(1 << 20),
            damaged: 3,
            ..setup("buffered, little room", 16 << 10, little_room)
        },
        setup("long segments, all in the cache", 64 << 10, long),
    ]
}

fn medium() -> Options {
    let options = Options::tiny().sector(512).segment_bytes(16 << 10).cache_bytes(64 << 10);
    options.background(Background::Manual).checkpoint_bytes(96 << 10)
}

impl Setup {
    pub(super) fn open(&self, file: &Metered) -> Result<Db, Error> {
        self.open_with(file, |options| options)
    }

    /// A store that only reads what is in `file`.
    pub(super) fn read(&self, file: &Metered) -> Result<Db, Error> {
        Db::open_on(file.clone(), &self.options.clone().read_only(true))
    }

    pub(super) fn open_with(
        &self,
        file: &Metered,
        change: impl FnOnce(Options) -> Options,
    ) -> Result<Db, Error> {
        let options = self.options.clone();
        let options = self.file_max.map_or(options.clone(), |most| options.max_file_bytes(most));
        Db::open_on(file.clone(), &change(options))
    }
}

pub(super) const WORDS: [&str; 7] = ["oak", "ash", "elm", "birch", "lime", "yew", "alder"];

/// One that shares its word with others, and has so many bytes beside.
pub(super) fn document(number: i64, len: usize) -> Document {
    let word = WORDS[(number * number) as usize % WORDS.len()];
    doc! { "n": number, "word": word, "p": Value::Bytes(vec![number as u8; len]) }
}

/// Names in no order.
pub(super) fn name(number: i64) -> String {
    format!("{:04}", number * 7919 % 10_007)
}

/// A store, and what was counted until its last chapter.
pub(super) struct Life {
    pub(super) db: Db,
    pub(super) setup: Setup,
    pub(super) file: Metered,
    before: Asked,
    /// How many chapters there were.
    pub(super) chapters: u64,
    /// What calls were refused for.
    refused: Vec<String>,
    /// How many calls answered true, and how many false.
    yes: u64,
    no: u64,
    steps: u64,
    /// What else a chapter counted.
    noted: Vec<(&'static str, u64)>,
}

impl Life {
    pub(super) fn begin(setup: Setup) -> Result<Self, String> {
        let file = Metered::default();
        let db = setup.open(&file).map_err(say)?;
        let (refused, noted) = (Vec::new(), Vec::new());
        Ok(Life {
            db,
            setup,
            file,
            before: Asked::default(),
            chapters: 0,
            refused,
            yes: 0,
            no: 0,
            steps: 0,
            noted,
        })
    }

    /// The answer of a call. Where the store refuses the call there is none, and the refusal is counted.
    pub(super) fn call<T>(&mut self, answer: Result<T, Error>) -> Option<T> {
        answer.map_err(|error| self.refused.push(error.to_string())).ok()
    }

    /// As [`call`](Self::call), and counts what was answered.
    pub(super) fn told(&mut self, answer: Result<bool, Error>) {
        let count = match self.call(answer) {
            Some(true) => &mut self.yes,
            Some(false) => &mut self.no,
            None => return,
        };
        *count += 1;
    }

    pub(super) fn note(&mut self, what: &'static str, count: u64) {
        self.noted.push((what, count));
    }

    /// As [`note`](Self::note), and one number for all that are noted so in a chapter.
    pub(super) fn add(&mut self, what: &'static str, count: u64) {
        match self.noted.iter_mut().find(|(noted, _)| *noted == what) {
            Some((_, sum)) => *sum += count,
            None => self.note(what, count),
        }
    }

    /// How many words of damage there were, and a sum of their bytes: another text has another sum.
    pub(super) fn note_said(&mut self, said: &[String]) {
        self.note("said of damage", said.len() as u64);
        self.note("sum of what was said", said.iter().flat_map(|text| text.bytes()).map(u64::from).sum());
    }

    /// Takes a step of maintenance. Whether there was one to take.
    pub(super) fn step(&mut self) -> Result<bool, String> {
        self.step_with(if self.setup.is_busy { Db::maintain_beside_writes } else { Db::maintain })
    }

    fn step_with(&mut self, step: fn(&Db) -> Result<bool, Error>) -> Result<bool, String> {
        let step = step(&self.db);
        let is_taken = self.call(step).unwrap_or(false);
        self.steps += u64::from(is_taken);
        Ok(is_taken)
    }

    pub(super) fn come_to_rest(&mut self) -> Result<(), String> {
        for _ in 0..STEPS_MAX {
            if !self.step_with(Db::maintain)? {
                return Ok(());
            }
        }
        Err(format!("maintenance goes on for ever: {:#?}", self.db.stats()))
    }

    /// The process is killed: what the file has by now is opened.
    pub(super) fn kill(&mut self) -> Result<(), String> {
        let copy = self.file.copy().map_err(say)?;
        let asked = self.file.asked();
        self.db = self.setup.open(&copy).map_err(say)?;
        copy.count_on_from(asked);
        self.file = copy;
        Ok(())
    }

    pub(super) fn reopen(&mut self) -> Result<(), String> {
        self.db.clone().close().map_err(say)?;
        self.db = self.setup.open(&self.file).map_err(say)?;
        Ok(())
    }

    /// What was asked of the file since the last look, and what the store says of itself.
    pub(super) fn look(&mut self) -> String {
        let (asked, before) = (self.file.asked(), self.before);
        self.before = asked;
        self.chapters += 1;
        let stats = self.db.stats();
        let space = stats.space;
        let counts = [
            ("reads", asked.reads - before.reads),
            ("read bytes", asked.read_bytes - before.read_bytes),
            ("writes", asked.writes - before.writes),
            ("written bytes", asked.written_bytes - before.written_bytes),
            ("sum of places read", asked.read_places.wrapping_sub(before.read_places)),
            ("sum of places written", asked.written_places.wrapping_sub(before.written_places)),
            ("sum of what was written", asked.written_contents.wrapping_sub(before.written_contents) >> 32),
            ("syncs", asked.syncs - before.syncs),
            ("syncs of the directory", asked.directory_syncs - before.directory_syncs),
            ("lengths", asked.lens - before.lens),
            ("steps", std::mem::take(&mut self.steps)),
            ("yes", std::mem::take(&mut self.yes)),
            ("no", std::mem::take(&mut self.no)),
            ("collections", stats.collections),
            ("documents", stats.documents),
            ("file", stats.file_bytes),
            ("segments", stats.segments),
            ("log", stats.log_end),
            ("slots", stats.superblock_generation),
            ("given up", stats.leaves_given_up),
            ("cached", stats.cache_bytes),
            ("missed", stats.cache_misses),
            ("pending", stats.pending_commits),
            ("snapshots", stats.snapshots),
            ("retained", stats.retained_versions),
            ("live", space.live_bytes),
            ("dead", space.dead_bytes),
            ("reclaimable", space.reclaimable_bytes),
            ("pinned", space.pinned_bytes),
            ("free", space.free_bytes),
            ("checkpoint", space.checkpoint_bytes),
            ("since", space.log_since_checkpoint),
            ("of callers", space.user_bytes),
            ("relocated", space.relocated_bytes),
            ("of checkpoints", space.checkpoint_written_bytes),
            ("unreadable", space.unreadable_segments),
            ("thousandths written for each byte", (stats.write_amplification() * 1000.0) as u64),
        ];
        let mut line = String::new();
        for (what, count) in counts.into_iter().chain(self.noted.drain(..)).filter(|(_, count)| *count > 0) {
            write!(line, "{what} {count}, ").expect("text takes everything");
        }
        write!(line, "refused {}", self.refused.len()).expect("text takes everything");
        if let Some(last) = self.refused.drain(..).next_back() {
            write!(line, ", at last: {last}").expect("text takes everything");
        }
        line
    }

    /// Nothing is wrong with it at the end.
    pub(super) fn end(&self) -> Result<(), String> {
        let report = self.db.verify(true).map_err(say)?;
        let problem = report.problems.first().map(ToString::to_string);
        ensure(problem.is_none(), || format!("verify finds {}", problem.unwrap_or_default()))
    }
}
