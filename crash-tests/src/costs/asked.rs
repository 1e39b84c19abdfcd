//! Lives of stores that are asked for what is seldom asked for: chapters that the lives in `chapters` have no time for.

use holotype::{Background, Durability, KeyRef, Options};

use super::Chapter;
use super::life::{Life, Setup};
use super::{apart, built, ends, past, states, unread, wrong};

const LONG_SEGMENTS: &[Chapter] = &[
    ("documents of many blocks", apart::put),
    ("read as they are placed", apart::read),
    ("moved", apart::longest),
    ("closed and opened", Life::reopen),
    ("read when nothing is at hand", apart::read),
    ("damaged documents", apart::damaged),
    ("lives of a feed", past::lives),
    ("entries that cannot be compared", built::damaged),
    ("rest", Life::come_to_rest),
];

const SHORT_SEGMENTS: &[Chapter] = &[
    ("documents of many blocks", apart::put),
    ("read as they are placed", apart::read),
    ("the longest documents", apart::longest),
    ("closed and opened", Life::reopen),
    ("read when nothing is at hand", apart::read),
    ("damaged documents", apart::damaged),
    ("lives of a feed", past::lives),
    ("leaves that were not read", unread::unread),
    ("leaves of other checkpoints", unread::of_other_checkpoints),
    ("rest", Life::come_to_rest),
];

const IN_MEMORY: &[Chapter] = &[
    ("documents that are in memory", apart::put),
    ("read as they are placed", apart::read),
    ("many states", states::many),
    ("many states at once that wait for a sync", states::pending),
    ("states that are taken back", states::taken_back),
    ("a sync that fails", states::failed),
    ("lives of a feed", past::lives),
    ("tuples that are cut", built::cut_tuples),
    ("builds that others disturb", built::disturbed),
    ("entries that cannot be compared", built::damaged),
    ("leaves that were not read", unread::unread),
    ("leaves of other checkpoints", unread::of_other_checkpoints),
    ("memory that is wrong", wrong::memory),
    ("parts of other futures", wrong::futures),
    ("slots of others", wrong::slots),
    ("closed behind a long checkpoint", ends::closed_behind_a_long_checkpoint),
    ("decisions of maintenance", ends::decisions),
    ("rest", Life::come_to_rest),
];

pub(super) fn lives() -> [(Setup, &'static [Chapter]); 3] {
    let setup = |name: &str, segment: usize, options: Options| Setup {
        name: name.to_owned(),
        seed: 0,
        segment,
        // Many copies are opened, and each is read whole.
        options: options.segment_bytes(segment as u32).background(Background::Manual).read_unit(segment),
        file_max: None,
        damaged: 0,
        is_busy: false,
    };
    let long = Options::tiny().sector(512).cache_bytes(100 << 10).checkpoint_bytes(256 << 10);
    let short = Options::tiny().cache_bytes(0).index_bytes(2 << 10).checkpoint_bytes(24 << 10);
    let in_memory = Options::tiny().sector(512).cache_bytes(40 << 10).flush_bytes(1 << 20).count_max(90);
    [
        (setup("asked, long segments", 64 << 10, long.durability(Durability::Written)), LONG_SEGMENTS),
        (setup("asked, short segments", 2 << 10, short.durability(Durability::Synced)), SHORT_SEGMENTS),
        (setup("asked, in memory", 16 << 10, in_memory.durability(Durability::Buffered)), IN_MEMORY),
    ]
}

/// What was answered, in a few numbers: other answers make others.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) documents: u64,
    pub(super) sum: u64,
}

impl Heard {
    pub(super) fn document(&mut self, key: KeyRef<'_>, version: u64, bytes: &[u8]) {
        self.documents += 1;
        let ends = [bytes.first(), bytes.get(bytes.len() / 2), bytes.last()];
        let ends = ends.into_iter().flatten().map(|byte| u64::from(*byte));
        self.number(ends.sum::<u64>() + 7 * bytes.len() as u64 + version % 0xff_ffff);
        self.key(key);
    }

    pub(super) fn key(&mut self, key: KeyRef<'_>) {
        let bytes = match key {
            KeyRef::Int(int) => return self.number(int as u64),
            KeyRef::Text(text) => text.as_bytes(),
            KeyRef::Bytes(bytes) => bytes,
        };
        bytes.iter().for_each(|byte| self.number(u64::from(*byte)));
    }

    pub(super) fn number(&mut self, number: u64) {
        self.sum = self.sum.wrapping_mul(31).wrapping_add(number) % 1_000_000_007;
    }

    pub(super) fn text(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.number(u64::from(byte)));
    }

    pub(super) fn tell(self, life: &mut Life) {
        life.note("heard", self.documents);
        life.note("sum", self.sum);
    }
}
