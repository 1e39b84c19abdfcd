//! Power cuts for any store: the checks that Holotype is put under, for those who write another.
//!
//! Write an adapter, a [`Subject`]: a store of keys and values, opened on a [`Disk`] of ours in place of a file. [`life`] makes commits
//! from a seed, cuts the power after each write, change of length and sync, and opens what that may have left: in every way that makes a
//! difference to what the store reads, or, where these are too many, in some, with weight on the corners (nothing persisted, everything, all but one
//! sector, only the last write). What a store must hold is what it said:
//!
//! * a commit that was acknowledged as durable is there after any cut;
//! * a commit is there as a whole or not at all, and with it all before it;
//! * what an opening after a kill shows stays, if the store says so ([`Subject::FOUND_STAYS`]);
//! * a cut while the store recovers, and one after the next commit, takes nothing that was promised;
//! * a store that a cut left can be opened, and finds itself in order.
//!
//! The disk keeps what real ones keep: what a sync that returned has covered. Of the writes since, each sector persists or does not,
//! by itself, and so does the length (`spec/media.md`). All is deterministic: the seed of a life that went wrong is its replay, and it
//! comes with the shortest list of steps that was found to go wrong too.
//!
//! `other-stores/` puts another store through this; `crash-tests/tests/torture.rs` has Holotype, and a small store with one mistake after the
//! other. To hold a store against all of Holotype's semantics, and not its crashes alone, see [`holotype_model::Subject`].
//!
//! ```
//! use std::collections::BTreeMap;
//! use holotype_crash_tests::torture::{Change, Contents, Disk, Durability, Plan, Subject, life};
//!
//! /// Keeps all it holds in one checksummed block, twice in turn. Fit for very small data.
//! struct Toy { disk: Disk, contents: Contents, turn: u64 }
//!
//! const ROOM: usize = 1 << 16;
//!
//! fn sum(bytes: &[u8]) -> u64 {
//!     bytes.iter().fold(1 << 63, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
//! }
//!
//! fn parse(block: &[u8]) -> Option<(u64, Contents)> {
//!     let number = |at: usize| u64::from_le_bytes(block[at..at + 8].try_into().unwrap());
//!     let mut rest = block[24..].get(..number(16) as usize).filter(|body| sum(body) ^ number(8) == number(0))?;
//!     let mut contents = Contents::new();
//!     let mut take = || {
//!         let (len, behind) = rest.split_first_chunk::<8>()?;
//!         let (field, behind) = behind.split_at(u64::from_le_bytes(*len) as usize);
//!         rest = behind;
//!         Some(field.to_vec())
//!     };
//!     while let (Some(key), Some(value)) = (take(), take()) {
//!         contents.insert(key, value);
//!     }
//!     Some((number(8), contents))
//! }
//!
//! impl Subject for Toy {
//!     fn open(disk: Disk) -> Result<Toy, String> {
//!         let say = |error: std::io::Error| error.to_string();
//!         disk.set_len(2 * ROOM as u64).map_err(say)?;
//!         let mut block = [vec![0; ROOM], vec![0; ROOM]];
//!         disk.read_exact_at(0, &mut block[0]).map_err(say)?;
//!         disk.read_exact_at(ROOM as u64, &mut block[1]).map_err(say)?;
//!         let newest = block.iter().filter_map(|block| parse(block)).max_by_key(|(turn, _)| *turn);
//!         let (turn, contents) = newest.unwrap_or_default();
//!         // What was found is to stay, whatever its own sync came to.
//!         disk.sync().map_err(say)?;
//!         Ok(Toy { disk, contents, turn })
//!     }
//!
//!     fn commit(&mut self, changes: &[Change], _: Durability) -> Result<(), String> {
//!         changes.iter().for_each(|change| change.apply(&mut self.contents));
//!         self.turn += 1;
//!         let mut body = Vec::new();
//!         for field in self.contents.iter().flat_map(|(key, value)| [key, value]) {
//!             body.extend((field.len() as u64).to_le_bytes());
//!             body.extend(field);
//!         }
//!         let head = [sum(&body) ^ self.turn, self.turn, body.len() as u64].map(u64::to_le_bytes).concat();
//!         let at = self.turn % 2 * ROOM as u64;
//!         self.disk.write_all_at(at, &[head, body].concat()).map_err(|error| error.to_string())?;
//!         self.disk.sync().map_err(|error| error.to_string())
//!     }
//!
//!     fn contents(&mut self) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, String> {
//!         Ok(self.contents.clone())
//!     }
//!
//!     fn close(self) -> Result<(), String> {
//!         Ok(())
//!     }
//! }
//!
//! let tally = life::<Toy>(&Plan::new(7)).unwrap_or_else(|finding| panic!("{finding}"));
//! assert!(tally.recoveries > 100, "{tally}");
//! ```

mod cut;
mod disk;
mod life;
mod promises;
mod steps;
mod tally;

pub use disk::Disk;
pub use life::{Finding, Plan, life};
pub use steps::Step;
pub use tally::Tally;

use std::collections::BTreeMap;

/// All that a store holds.
pub type Contents = BTreeMap<Vec<u8>, Vec<u8>>;

/// What a commit has survived once it returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A power cut.
    Durable,
    /// Nothing yet. A store that knows no such commits makes it durable.
    Buffered,
}

/// One change in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The key has this value from now on.
    Put(Vec<u8>, Vec<u8>),
    /// The key, which may be one that is not there, has none.
    Delete(Vec<u8>),
}

impl Change {
    /// Carries it out.
    pub fn apply(&self, contents: &mut Contents) {
        match self {
            Change::Put(key, value) => contents.insert(key.clone(), value.clone()),
            Change::Delete(key) => contents.remove(key),
        };
    }
}

/// A store of keys and values, open on a [`Disk`]. Every error is a violation, as nothing is wrong with the disk but that its power goes.
///
/// A store that threads write for in the background makes its lives different each time: let it work in its calls alone, where it can.
pub trait Subject: Sized {
    /// Whether what a store shows when it is opened after a kill is there to stay, though nobody had acknowledged it as durable: the process is gone, but
    /// the operating system still has what it wrote, and a power cut may take that. A store that syncs what it found before it answers can say so.
    const FOUND_STAYS: bool = true;

    /// Opens the store on the disk, or creates one where the file is empty.
    ///
    /// # Errors
    /// In words.
    fn open(disk: Disk) -> Result<Self, String>;

    /// Makes one commit of these changes, in their order.
    ///
    /// # Errors
    /// In words.
    fn commit(&mut self, changes: &[Change], durability: Durability) -> Result<(), String>;

    /// Reads all that it holds.
    ///
    /// # Errors
    /// In words.
    fn contents(&mut self) -> Result<Contents, String>;

    /// Checks itself, as deep as it can.
    ///
    /// # Errors
    /// What is not in order.
    fn verify(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Closes the store. What it holds is durable then.
    ///
    /// # Errors
    /// In words.
    fn close(self) -> Result<(), String>;
}
