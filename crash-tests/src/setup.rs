//! The sizes in which a store is checked: small ones, in which rare things come soon.

use std::time::Duration;

use holotype::format::Geometry;
use holotype::storage::sim::{Level, SimDisk};
use holotype::{KeyRef, Options};
use holotype_model::Limits;

/// A geometry, and how freely a power cut chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// What reports call it.
    pub name: &'static str,
    /// Length of a sector, in bytes.
    pub sector: u32,
    /// Length of a segment, in bytes.
    pub segment_bytes: u32,
    /// LSNs that one incarnation gives; none for as many as there are.
    pub count_max: Option<u32>,
    /// How much of the index stays in memory of what can be read again.
    pub index_bytes: Option<u64>,
    /// What a power cut may do.
    pub level: Level,
}

impl Setup {
    /// Segments of eight sectors of 64 bytes: each second commit begins one.
    pub const TINY: Setup = Setup {
        name: "tiny",
        sector: 64,
        segment_bytes: 512,
        count_max: None,
        index_bytes: None,
        level: Level::Sectors,
    };

    /// The same, with an incarnation used up after a few commits.
    pub const SHORT_LIVES: Setup = Setup { name: "short-lives", count_max: Some(4), ..Setup::TINY };

    /// Room for several commits in a segment; and next to nothing of the index stays in memory.
    pub const SMALL: Setup =
        Setup { name: "small", sector: 128, segment_bytes: 1024, index_bytes: Some(200), ..Setup::TINY };

    /// As tiny, with garbage in sectors that were being written.
    pub const GARBAGE: Setup = Setup { name: "garbage", level: Level::Garbage, ..Setup::TINY };

    /// Sectors as disks have them, and segments still small.
    pub const SECTORS: Setup = Setup { name: "sectors", sector: 512, segment_bytes: 4096, ..Setup::TINY };

    /// A geometry in which segments hold some dozens of documents.
    pub const LARGE: Setup = Setup { name: "large", segment_bytes: 65_536, ..Setup::SECTORS };

    /// What a store has when nobody says otherwise.
    pub const DEFAULT: Setup = Setup { name: "default", segment_bytes: 128 << 10, ..Setup::SECTORS };

    /// The options that open a store of this geometry.
    pub fn options(&self) -> Options {
        let options = Options::tiny()
            .sector(self.sector)
            .segment_bytes(self.segment_bytes)
            // Nobody else ends a transaction while a check waits for it.
            .write_wait(Duration::ZERO)
            .read_unit(self.sector as usize)
            // What lies in a segment that is given out again must not be answered from memory.
            .cache_bytes((2 * self.segment_bytes as usize).min(1 << 20))
            .checkpoint_bytes(4 * u64::from(self.segment_bytes));
        let options = match self.index_bytes {
            Some(bytes) => options.index_bytes(bytes),
            None => options,
        };
        match self.count_max {
            Some(count) => options.count_max(count),
            None => options,
        }
    }

    /// Where things stand in a file of this geometry.
    pub fn geometry(&self) -> Geometry {
        Geometry::new(self.sector, self.segment_bytes).expect("these sizes are within bounds")
    }

    /// The limits of a store of this geometry: in small segments, keys must fit the index records of a checkpoint.
    pub fn limits(&self) -> Limits {
        let geometry = self.geometry();
        let fits =
            |len: usize| KeyRef::Bytes(&vec![0; len]).encoded_len() <= geometry.checkpoint_key_len_max();
        let limits = Limits::default();
        Limits {
            key_len: (0..=limits.key_len).rfind(|len| fits(*len)).unwrap_or(0),
            entry_len: geometry.checkpoint_entry_len_max(),
            ..limits
        }
    }

    /// A disk for it, with nothing on it.
    pub fn disk(&self) -> SimDisk {
        SimDisk::new(self.sector, self.level)
    }
}
