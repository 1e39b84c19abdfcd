//! The bytes that tell one store from another.

/// Sixteen random bytes that a store and all its copies share; every checksum below the superblock is seeded
/// with them, so that bytes of another store never pass for ours.
pub type Lineage = [u8; 16];
