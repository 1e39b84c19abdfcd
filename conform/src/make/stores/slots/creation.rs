//! Files without a slot: unfinished creations, and what is none of ours.

use crate::case::Outcome;
use crate::forge::Forge;
use crate::make::stores::sample::commits;
use crate::make::stores::{Maker, corrupt, valid};

/// The creation length of the default geometry (F-2.3).
const CREATION_LEN: usize = 65_536;

pub(super) fn creation(maker: &mut Maker) {
    let mut incomplete = |name: &str, bytes: &[u8]| {
        maker.refused(&["R-5.1", "R-6.1", "F-2.3"], &["Creation"], name, bytes, Outcome::Incomplete(true));
    };
    incomplete("An empty file", &[]);
    for len in [1, 512, 4096, 16_384, 20_000, CREATION_LEN] {
        incomplete(&format!("{len} zeros"), &vec![0; len]);
    }
    let whole = created();
    let mut no_slots = whole.clone();
    no_slots[..512].fill(0);
    incomplete("The header of segment 0, and no slot", &no_slots);
    for sectors in 1..8 {
        let mut torn = no_slots.clone();
        torn[..64 * sectors].copy_from_slice(&whole[..64 * sectors]);
        incomplete(&format!("{sectors} sectors of 64 bytes of slot A, and no slot B"), &torn);
    }
    let mut torn = no_slots.clone();
    torn[16_384 + 32..16_384 + 64].fill(0);
    incomplete("Half a header of segment 0", &torn);
    let mut torn = no_slots;
    torn[16_384 + 32..16_384 + 64].fill(0);
    torn[..64].copy_from_slice(&whole[..64]);
    incomplete("Half a header of segment 0, and a part of slot A", &torn);

    let name = "A creation that was cut before slot B";
    let empty = crate::forge::World::default().state(0);
    maker.holds(&["R-6.1", "R-6.2", "R-5.1", "F-4.5"], &["Creation"], name, &whole, empty.clone());
    let fresh = Forge::new(64, 512, 1);
    maker.holds(&["R-6.2", "F-4.5", "R-1.2"], &["Creation"], "A new store", &fresh.data, empty.clone());
    let state = maker.state(empty);
    maker.written(
        &valid(&["R-5.4", "R-5.5", "R-6.2"], &["Creation"]),
        "A new store is opened for writing",
        &fresh.data,
        vec![Outcome::State(state)],
    );
    let mut damaged = fresh;
    damaged.data[16_384 + 20] ^= 1;
    let name = "The header of segment 0 is damaged, and F-4.5 says what it was";
    let opened = Forge::opened(64, 512, 4);
    maker.holds(
        &["F-4.5", "R-2.6"],
        &["Chain"],
        name,
        &damaged.data,
        crate::forge::World::default().state(0),
    );
    let mut damaged = commits(opened, 12, u32::MAX);
    damaged.data[16_384 + 20] ^= 1;
    let name = "The header of segment 0 is damaged, and the log goes on in another segment";
    maker.holds(&["F-4.5", "R-2.6"], &["Chain"], name, &damaged.data, damaged.state());
}

/// A file of the default geometry as it is before slot B is written.
fn created() -> Vec<u8> {
    let mut forge = Forge::new(512, 1 << 20, 1);
    forge.data.truncate(CREATION_LEN);
    forge.slot(0, |_| ());
    forge.data[4096..4608].fill(0);
    forge.data
}

/// Slot B is of zeros: never written before the first commit, damaged after it. Either opens, and a writer writes it.
pub(super) fn between_slots(maker: &mut Maker) {
    let clauses = ["R-6.3", "R-5.4", "R-6.1"];
    let empty = maker.state(crate::forge::World::default().state(0));
    maker.written(
        &valid(&clauses, &["Creation"]),
        "A creation that was cut before slot B is opened for writing",
        &created(),
        vec![Outcome::State(empty)],
    );
    let mut damaged = commits(Forge::opened(64, 512, 4), 3, u32::MAX);
    damaged.slot(0, |_| ());
    damaged.data[4096..4608].fill(0);
    let name = "Slot A is as creation writes it, slot B is of zeros, and the log has commits";
    maker.holds(&clauses, &["Creation"], name, &damaged.data, damaged.state());
    let state = maker.state(damaged.state());
    let name = "A writer writes slot B, which is of zeros, of a store whose log has commits";
    maker.written(&valid(&clauses, &["Creation"]), name, &damaged.data, vec![Outcome::State(state)]);
}

pub(super) fn strangers(maker: &mut Maker) {
    let mut none = |name: &str, bytes: &[u8]| {
        maker.refused(&["R-5.1"], &["NotOurs"], name, bytes, Outcome::NotHolotype(true));
    };
    none("A text", b"A letter to a friend, which is not a store.");
    none("One byte", b"x");
    none("More zeros than a creation leaves", &vec![0; CREATION_LEN + 1]);
    let mut bytes = vec![0; CREATION_LEN];
    bytes[10_000] = 1;
    none("Zeros with one byte among them", &bytes);
    let mut bytes = vec![0; CREATION_LEN];
    bytes[8192] = 1;
    none("Zeros with one byte where processes are coordinated", &bytes);
    let mut bytes = vec![0; CREATION_LEN];
    bytes[3] = b'O';
    none("Zeros with one letter of the magic, not the first", &bytes);
    let mut bytes = vec![0; CREATION_LEN];
    bytes[16_384..16_388].copy_from_slice(b"HCPK");
    none("Zeros with the magic of another segment", &bytes);
    let mut bytes = vec![0; 4096];
    bytes[..16].copy_from_slice(b"SQLite format 3\0");
    none("A file of another database", &bytes);
    let mut bytes = vec![0xff; 20_000];
    bytes[0] = 0;
    none("Ones", &bytes);

    let mut magic = vec![0; 16];
    magic[..8].copy_from_slice(b"HOLOTYPE");
    let corrupted = || corrupt(&["R-5.1", "F-3.3"], None);
    let clauses = ["R-5.1"];
    maker.refused(&clauses, &["Creation"], "The magic, and nothing else", &magic, corrupted());
    magic.resize(CREATION_LEN - 1, 0);
    maker.refused(
        &clauses,
        &["Creation"],
        "The magic in a file that is a byte too short for a slot",
        &magic,
        corrupted(),
    );
    let mut in_b = vec![0; CREATION_LEN];
    in_b[4096..4104].copy_from_slice(b"HOLOTYPE");
    maker.refused(&clauses, &["Creation"], "The magic in slot B alone", &in_b, corrupted());
}
