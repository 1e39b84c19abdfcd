//! The superblock: the root of the file, in two slots that are written in turn (F-3).
//!
//! | offset | length | field                                                       spec F-3.1 |
//! |-------:|-------:|--------------------------------------------------------------------|
//! |      0 |      8 | magic: `HOLOTYPE`                                                  |
//! |      8 |      2 | format major                                                       |
//! |     10 |      2 | format minor                                                       |
//! |     12 |      1 | checksum kind                                                      |
//! |     13 |      3 | reserved                                                           |
//! |     16 |      8 | incompatible feature mask                                          |
//! |     24 |      8 | read-only-compatible feature mask                                  |
//! |     32 |      8 | compatible feature mask                                            |
//! |     40 |      4 | sector                                                             |
//! |     44 |      4 | segment_bytes                                                      |
//! |     48 |     16 | lineage id                                                         |
//! |     64 |     16 | instance id                                                        |
//! |     80 |      4 | application id                                                     |
//! |     84 |      4 | user version                                                       |
//! |     88 |      8 | quota in bytes; 0 is none                                          |
//! |     96 |    256 | reserved for encryption                                            |
//! |    352 |      8 | generation                                                         |
//! |    360 |      4 | incarnation                                                        |
//! |    364 |      4 | flags: bit 0 is clean close                                        |
//! |    368 |      8 | durable LSN                                                        |
//! |    376 |      8 | file_len                                                           |
//! |    384 |     48 | newest checkpoint                                                  |
//! |    432 |     48 | the checkpoint before                                              |
//! |    480 |     28 | reserved                                                           |
//! |    508 |      4 | CRC(bytes 0..508)                                                  |

use std::ops::Range;

use super::checkpoint_ref::CHECKPOINT_REF_LEN;
use super::checksum::crc;
use super::fields::{put, u16_at, u32_at, u64_at};
use super::{Geometry, Lineage, Lsn};
use crate::error::{Corruption, Error};
use crate::seeded::{self, Bug};

pub use super::bounds::SEGMENTS_START;
pub use super::checkpoint_ref::CheckpointRef;

/// The length of a slot: what is written of the 4,096 bytes set aside for it.
pub const SLOT_LEN: usize = 512;
/// Where slot A and slot B begin in the file.
pub const SLOT_OFFSETS: [u64; 2] = [0, 4096];

/// The first bytes of a slot.
pub const MAGIC: [u8; 8] = *b"HOLOTYPE";
/// The format's major version: a reader refuses any other.
pub const FORMAT_MAJOR: u16 = 3;
/// The format's minor version, as new files have it.
pub const FORMAT_MINOR: u16 = 0;

/// CRC-32C, the one checksum of version 3.
const CHECKSUM_KIND_CRC32C: u8 = 1;
/// The incompatible features that this reader knows: version 3.0 defines none.
const INCOMPATIBLE_KNOWN: u64 = 0;
/// The read-only-compatible features that this writer knows: version 3.0 defines none.
const READ_ONLY_COMPATIBLE_KNOWN: u64 = 0;
const FLAG_CLEAN: u32 = 1;

const MAGIC_FIELD: Range<usize> = 0..8;
const MAJOR: Range<usize> = MAGIC_FIELD.end..MAGIC_FIELD.end + 2;
const MINOR: Range<usize> = MAJOR.end..MAJOR.end + 2;
const CHECKSUM_KIND: usize = MINOR.end;
const INCOMPATIBLE: Range<usize> = 16..24;
const READ_ONLY_COMPATIBLE: Range<usize> = INCOMPATIBLE.end..INCOMPATIBLE.end + 8;
const COMPATIBLE: Range<usize> = READ_ONLY_COMPATIBLE.end..READ_ONLY_COMPATIBLE.end + 8;
const SECTOR: Range<usize> = COMPATIBLE.end..COMPATIBLE.end + 4;
const SEGMENT_BYTES: Range<usize> = SECTOR.end..SECTOR.end + 4;
const LINEAGE: Range<usize> = SEGMENT_BYTES.end..SEGMENT_BYTES.end + 16;
const INSTANCE: Range<usize> = LINEAGE.end..LINEAGE.end + 16;
const APPLICATION_ID: Range<usize> = INSTANCE.end..INSTANCE.end + 4;
const USER_VERSION: Range<usize> = APPLICATION_ID.end..APPLICATION_ID.end + 4;
const QUOTA: Range<usize> = USER_VERSION.end..USER_VERSION.end + 8;
const ENCRYPTION: Range<usize> = QUOTA.end..QUOTA.end + 256;
const GENERATION: Range<usize> = ENCRYPTION.end..ENCRYPTION.end + 8;
const INCARNATION: Range<usize> = GENERATION.end..GENERATION.end + 4;
const FLAGS: Range<usize> = INCARNATION.end..INCARNATION.end + 4;
const DURABLE_LSN: Range<usize> = FLAGS.end..FLAGS.end + 8;
const FILE_LEN: Range<usize> = DURABLE_LSN.end..DURABLE_LSN.end + 8;
const NEWEST: Range<usize> = FILE_LEN.end..FILE_LEN.end + CHECKPOINT_REF_LEN;
const BEFORE: Range<usize> = NEWEST.end..NEWEST.end + CHECKPOINT_REF_LEN;
const CRC: Range<usize> = SLOT_LEN - 4..SLOT_LEN;

const _: () = assert!(SLOT_OFFSETS[1] + 4096 == SEGMENTS_START / 2);
const _: () = assert!(SLOT_LEN as u64 <= SLOT_OFFSETS[1]);
const _: () = assert!(CHECKSUM_KIND == 12 && CHECKSUM_KIND + 1 + 3 == INCOMPATIBLE.start);
const _: () = assert!(SECTOR.start == 40 && LINEAGE.start == 48 && QUOTA.start == 88);
const _: () = assert!(GENERATION.start == 352 && FLAGS.start == 364 && FILE_LEN.start == 376);
const _: () = assert!(NEWEST.start == 384 && BEFORE.start == 432 && BEFORE.end + 28 == CRC.start);

/// What a superblock slot holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Superblock {
    /// The format's minor version; a higher one than ours changes nothing for a reader.
    pub minor: u16,
    /// Features without which the file cannot be read.
    pub incompatible: u64,
    /// Features without which the file can be read but not written.
    pub read_only_compatible: u64,
    /// Features that do no harm to those who do not know them.
    pub compatible: u64,
    /// Sector and segment length, fixed at creation.
    pub geometry: Geometry,
    /// Which store this is: its copies have the same.
    pub lineage: Lineage,
    /// Which file this is: a copy takes its own.
    pub instance: [u8; 16],
    /// What the application marks its files with; 0 for nothing.
    pub application_id: u32,
    /// A number that the application keeps here, as a schema version.
    pub user_version: u32,
    /// The most bytes that the file may have; 0 for no limit.
    pub quota: u64,
    /// One more than in the slot that was newest before; modulo 2 it is the slot's index.
    pub generation: u64,
    /// The last opening for writing.
    pub incarnation: u32,
    /// The store was closed for good. Adds evidence; never replaces a step of recovery.
    pub clean: bool,
    /// Every commit up to this one was durable before the slot was written.
    pub durable_lsn: Lsn,
    /// The length that the file had at least when the slot was written, in bytes.
    pub file_len: u64,
    /// The newest checkpoint and the one before.
    pub checkpoints: [Option<CheckpointRef>; 2],
}

impl Superblock {
    /// That of a store which nothing was written to, and which has no instance yet.
    pub(crate) fn new(geometry: Geometry, lineage: Lineage) -> Self {
        Superblock { minor: FORMAT_MINOR, geometry, lineage, ..Superblock::default() }
    }

    /// What was freed at or below this LSN is freed in every checkpoint that the slot names; where it names only one, in none.
    #[must_use]
    pub fn reuse_floor(&self) -> Lsn {
        let [newest, before] = self.checkpoints.map(|named| named.map_or(Lsn::ZERO, |named| named.lsn));
        newest.min(before)
    }

    //= spec/format.md#f-1-4-reserved-bytes
    //# A writer MUST set bytes that this page calls reserved to zero.
    /// The slot's bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; SLOT_LEN] {
        // spec: F-3.1, F-1.4. Reserved bytes stay zero.
        let mut bytes = [0; SLOT_LEN];
        put(&mut bytes, MAGIC_FIELD, MAGIC);
        put(&mut bytes, MAJOR, FORMAT_MAJOR.to_le_bytes());
        put(&mut bytes, MINOR, self.minor.to_le_bytes());
        bytes[CHECKSUM_KIND] = CHECKSUM_KIND_CRC32C;
        put(&mut bytes, INCOMPATIBLE, self.incompatible.to_le_bytes());
        put(&mut bytes, READ_ONLY_COMPATIBLE, self.read_only_compatible.to_le_bytes());
        put(&mut bytes, COMPATIBLE, self.compatible.to_le_bytes());
        put(&mut bytes, SECTOR, self.geometry.sector().to_le_bytes());
        put(&mut bytes, SEGMENT_BYTES, self.geometry.segment_bytes().to_le_bytes());
        put(&mut bytes, LINEAGE, self.lineage);
        put(&mut bytes, INSTANCE, self.instance);
        put(&mut bytes, APPLICATION_ID, self.application_id.to_le_bytes());
        put(&mut bytes, USER_VERSION, self.user_version.to_le_bytes());
        put(&mut bytes, QUOTA, self.quota.to_le_bytes());
        put(&mut bytes, GENERATION, self.generation.to_le_bytes());
        put(&mut bytes, INCARNATION, self.incarnation.to_le_bytes());
        put(&mut bytes, FLAGS, if self.clean { FLAG_CLEAN } else { 0 }.to_le_bytes());
        put(&mut bytes, DURABLE_LSN, self.durable_lsn.0.to_le_bytes());
        put(&mut bytes, FILE_LEN, self.file_len.to_le_bytes());
        let [newest, before] = self.checkpoints;
        put(&mut bytes, NEWEST, CheckpointRef::encode(newest));
        put(&mut bytes, BEFORE, CheckpointRef::encode(before));
        bytes[CHECKSUM_KIND + 1] = u8::from(seeded::is_on(Bug::ReservedByteSet));
        let sum = crc(&bytes[..CRC.start]);
        put(&mut bytes, CRC, sum.to_le_bytes());
        bytes
    }

    /// The index of the slot that holds this generation: 0 for A, 1 for B.
    #[must_use]
    pub const fn slot(&self) -> usize {
        (self.generation % 2) as usize
    }

    //= spec/format.md#f-3-4-versions-and-features
    //# A reader MUST NOT write to a file whose read-only-compatible mask has a bit that it does not know.
    /// Whether the file uses a feature that this version may read but not write (F-3.4).
    #[must_use]
    pub const fn read_only(&self) -> bool {
        self.read_only_compatible & !READ_ONLY_COMPATIBLE_KNOWN != 0
    }

    /// The first byte, counted from the start of a slot, in which `other` differs in what creation fixes, with the byte of either.
    pub(crate) fn of_another_creation(&self, other: &Superblock) -> Option<(usize, [u8; 2])> {
        let (a, b) = (self.encode(), other.encode());
        (SECTOR.start..LINEAGE.end).find(|at| a[*at] != b[*at]).map(|at| (at, [a[at], b[at]]))
    }
}

//= spec/recovery.md#r-5-1-no-valid-slot
//# When neither slot is valid and one begins with the magic and a format major above 3, a reader MUST refuse
//# the file as of a newer format (C-2.1).
/// What the first bytes of a slot that is not valid say of a newer major version, which may have other checksums (spec: C-4.1).
pub(crate) fn newer_major(bytes: &[u8]) -> Option<Error> {
    let major = u16_at(bytes.get(..MINOR.end)?, MAJOR);
    let is_newer = bytes.starts_with(&MAGIC) && major > FORMAT_MAJOR;
    is_newer.then(|| Error::NewerFormat { major, minor: u16_at(bytes, MINOR), unknown_features: 0 })
}

/// What the 512 bytes of a slot turned out to be.
#[derive(Debug, Clone)]
pub enum Slot {
    /// All zeros: never written.
    Blank,
    /// Does not begin with the magic.
    Foreign,
    /// Begins with the magic, but its checksum does not hold or it belongs into the other slot.
    Torn,
    /// As it was written.
    Valid(Box<Superblock>),
    /// As it was written, but by another version, or not by the rules: the file is not to be opened.
    Refused(Error),
}

//= spec/format.md#f-3-3-validity
//# A reader MUST NOT use any field of a slot that is not valid, save its magic and its format version, and
//# these only to say what the file is.
//= spec/versions.md#c-2-2-newer-minor
//# A reader MUST open a file of its own major and a higher minor version as it opens one of its own, unless a
//# rule of C-2.3 refuses.
/// Reads the slot of an `index`, 0 for A and 1 for B.
///
/// # Panics
/// If `index` is neither.
#[must_use]
pub fn parse_slot(bytes: &[u8; SLOT_LEN], index: usize) -> Slot {
    assert!(index < SLOT_OFFSETS.len(), "there are two slots");
    if bytes.iter().all(|&byte| byte == 0) {
        return Slot::Blank;
    }
    if bytes[MAGIC_FIELD] != MAGIC {
        return Slot::Foreign;
    }
    // spec: F-3.3. Past this point the bytes are those of one whole write of this very slot.
    let sum_holds = crc(&bytes[..CRC.start]) == u32_at(bytes, CRC);
    if !sum_holds || u64_at(bytes, GENERATION) % 2 != index as u64 {
        return Slot::Torn;
    }
    if let Some(other) = other_format(bytes) {
        return Slot::Refused(other);
    }
    match decode(bytes, SLOT_OFFSETS[index]) {
        Ok(superblock) => Slot::Valid(Box::new(superblock)),
        Err(corruption) => Slot::Refused(Error::Corrupt(corruption)),
    }
}

/// What a file of this version asks for, and this version does not know: a newer one with the same number wrote it.
pub(crate) const fn newer(unknown_features: u64) -> Error {
    Error::NewerFormat { major: FORMAT_MAJOR, minor: FORMAT_MINOR, unknown_features }
}

//= spec/format.md#f-3-4-versions-and-features
//# A reader MUST refuse the file when a valid slot, the newest or not, has a format major other than 3, a
//# checksum kind other than 1, or in its incompatible mask a bit that the reader does not know.
//= spec/versions.md#c-2-1-newer-major
//# The error MUST say which major and minor version the file has.
//= spec/versions.md#c-2-4-refused-is-not-corrupt
//# A reader that refuses because of something it does not know MUST say that a newer version wrote it, and
//# not that the file is corrupt.
//= spec/versions.md#c-2-6-older-major
//# A reader that refuses a file of an older major MUST say that an older version wrote it, and which, and not
//# that the file is corrupt.
/// Why a valid slot is none of ours to read, if so.
fn other_format(bytes: &[u8; SLOT_LEN]) -> Option<Error> {
    let (major, minor) = (u16_at(bytes, MAJOR), u16_at(bytes, MINOR));
    if major < FORMAT_MAJOR {
        return Some(Error::OlderFormat { major, minor });
    }
    let unknown_features = u64_at(bytes, INCOMPATIBLE) & !INCOMPATIBLE_KNOWN;
    let known =
        major == FORMAT_MAJOR && bytes[CHECKSUM_KIND] == CHECKSUM_KIND_CRC32C && unknown_features == 0;
    (!known).then_some(Error::NewerFormat { major, minor, unknown_features })
}

//= spec/format.md#f-1-4-reserved-bytes
//# A reader MUST ignore the value of reserved bytes in a superblock slot whose checksum holds.
fn decode(bytes: &[u8; SLOT_LEN], at: u64) -> Result<Superblock, Corruption> {
    let geometry = decode_geometry(bytes, at)?;
    let checkpoint =
        |field: Range<usize>| CheckpointRef::decode(&bytes[field.clone()], geometry, at + field.start as u64);
    Ok(Superblock {
        minor: u16_at(bytes, MINOR),
        incompatible: u64_at(bytes, INCOMPATIBLE),
        read_only_compatible: u64_at(bytes, READ_ONLY_COMPATIBLE),
        compatible: u64_at(bytes, COMPATIBLE),
        geometry,
        lineage: bytes[LINEAGE].try_into().expect("the lineage id has 16 bytes"),
        instance: bytes[INSTANCE].try_into().expect("the instance id has 16 bytes"),
        application_id: u32_at(bytes, APPLICATION_ID),
        user_version: u32_at(bytes, USER_VERSION),
        quota: u64_at(bytes, QUOTA),
        generation: u64_at(bytes, GENERATION),
        incarnation: u32_at(bytes, INCARNATION),
        clean: u32_at(bytes, FLAGS) & FLAG_CLEAN != 0,
        durable_lsn: Lsn(u64_at(bytes, DURABLE_LSN)),
        file_len: u64_at(bytes, FILE_LEN),
        checkpoints: [checkpoint(NEWEST)?, checkpoint(BEFORE)?],
    })
}

//= spec/format.md#f-2-1-regions
//# A reader MUST report the file as corrupt when a valid slot, the newest or not, has a geometry outside of
//# these bounds.
fn decode_geometry(bytes: &[u8; SLOT_LEN], at: u64) -> Result<Geometry, Corruption> {
    let (sector, segment_bytes) = (u32_at(bytes, SECTOR), u32_at(bytes, SEGMENT_BYTES));
    let (at, legal) = (at + SECTOR.start as u64, Geometry::default());
    let wrong = Corruption::new(at, "F-2.1", "sector and segment length out of bounds")
        .comparing(pair(legal.sector(), legal.segment_bytes()), pair(sector, segment_bytes));
    Geometry::new(sector, segment_bytes).map_err(|_| wrong)
}

/// Both lengths in one field of an error: the sector in the high half.
fn pair(sector: u32, segment_bytes: u32) -> u64 {
    u64::from(sector) << 32 | u64::from(segment_bytes)
}
