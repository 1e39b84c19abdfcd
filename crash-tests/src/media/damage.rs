//! What may happen to a file at rest.

use std::fmt;

use holotype::storage::sim::SimDisk;

use super::store::Specimen;

/// One damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// A bit is the other way round.
    Flip {
        /// Which: bit `bit % 8` of byte `bit / 8`.
        bit: u64,
        /// The sector that it is in.
        sector: u64,
    },
    /// A sector is zeros.
    Zero(u64),
    /// Two sectors stand in each other's place.
    Swap(u64, u64),
    /// A sector has what another one has: a write went astray.
    Copy {
        /// The other one.
        from: u64,
        /// The one that is lost.
        to: u64,
    },
    /// A sector has what it had before one of the last steps: a write was lost.
    Stale {
        /// Which.
        sector: u64,
        /// Before which step.
        step: usize,
    },
    /// The file ends early.
    Truncate(u64),
    /// The file goes on with bytes that nobody wrote.
    Extend(u64),
}

impl Damage {
    /// Sectors whose bytes are not what they were. What is missing from a file that was cut is not among them: its length says so.
    pub(super) fn sectors(&self) -> Vec<u64> {
        match *self {
            Damage::Flip { sector, .. } | Damage::Stale { sector, .. } | Damage::Zero(sector) => vec![sector],
            Damage::Copy { to, .. } => vec![to],
            Damage::Swap(a, b) => vec![a, b],
            Damage::Truncate(_) | Damage::Extend(_) => vec![],
        }
    }

    pub(super) fn apply(&self, disk: &SimDisk, specimen: &Specimen) {
        match *self {
            Damage::Flip { bit, .. } => disk.flip_bit(bit),
            Damage::Zero(sector) => disk.zero_sector(sector),
            Damage::Swap(a, b) => disk.swap_sectors(a, b),
            Damage::Copy { from, to } => disk.copy_sector(from, to),
            Damage::Stale { sector, step } => {
                let stale = specimen.sector_of(&specimen.earlier[step].bytes, sector);
                disk.overwrite(sector * u64::from(specimen.setup.sector), stale);
            }
            Damage::Truncate(len) => disk.truncate(len),
            Damage::Extend(len) => {
                let garbage: Vec<u8> = (0..len).map(|i| (i * 31 + 7) as u8 | 1).collect();
                disk.extend_with(&garbage);
            }
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Flip { bit, .. } => write!(f, "bit {} of byte {} flipped", bit % 8, bit / 8),
            Damage::Zero(sector) => write!(f, "sector {sector} zeroed"),
            Damage::Swap(a, b) => write!(f, "sectors {a} and {b} swapped"),
            Damage::Copy { from, to } => write!(f, "sector {from} written over sector {to}"),
            Damage::Stale { sector, step } => write!(f, "sector {sector} as it was before step {step}"),
            Damage::Truncate(len) => write!(f, "file cut at {len} bytes"),
            Damage::Extend(len) => write!(f, "file extended by {len} bytes"),
        }
    }
}

/// Every damage of each kind, those that hit something in use first.
pub fn all(specimen: &Specimen) -> Vec<Damage> {
    let (blank, used): (Vec<u64>, Vec<u64>) =
        (0..specimen.sectors()).partition(|sector| specimen.is_blank(*sector));
    let mut all = sectors_lost(specimen, &used);
    // An empty file is a new one: that it was longer, nothing in it can say.
    all.extend((1..specimen.bytes.len() as u64).map(Damage::Truncate));
    all.extend([1, 63, 64, 512, 4096].map(Damage::Extend));
    all.extend(flips(specimen, &used));
    let sectors = specimen.sectors();
    all.extend(used.iter().flat_map(|a| {
        (0..sectors).filter(move |b| b != a).map(move |b| Damage::Swap(*a.min(&b), *a.max(&b)))
    }));
    all.extend(flips(specimen, &blank));
    all
}

fn sectors_lost(specimen: &Specimen, used: &[u64]) -> Vec<Damage> {
    let mut lost: Vec<Damage> = used.iter().map(|sector| Damage::Zero(*sector)).collect();
    for (step, earlier) in specimen.earlier.iter().enumerate() {
        let is_stale = |sector: &&u64| {
            let before = specimen.sector_of(&earlier.bytes, **sector);
            !before.is_empty() && before != specimen.sector_of(&specimen.bytes, **sector)
        };
        lost.extend(used.iter().filter(is_stale).map(|sector| Damage::Stale { sector: *sector, step }));
    }
    lost.extend(used.iter().flat_map(|from| {
        used.iter().filter(move |to| *to != from).map(move |to| Damage::Copy { from: *from, to: *to })
    }));
    lost
}

fn flips(specimen: &Specimen, sectors: &[u64]) -> Vec<Damage> {
    let sector_len = u64::from(specimen.setup.sector);
    let bits = specimen.bytes.len() as u64 * 8;
    sectors
        .iter()
        .flat_map(|sector| {
            let first = sector * sector_len * 8;
            (first..(first + sector_len * 8).min(bits)).map(|bit| Damage::Flip { bit, sector: *sector })
        })
        .collect()
}
