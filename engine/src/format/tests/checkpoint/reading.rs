//! How much is read of a checkpoint, and how often.

use std::cell::Cell;

use super::*;

/// Counts.
#[derive(Debug)]
struct Counted<'a> {
    disk: &'a Disk,
    reads: Cell<u64>,
    bytes: Cell<u64>,
}

impl IndexSource for Counted<'_> {
    fn file_len(&self) -> u64 {
        self.disk.file_len()
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> Result<()> {
        self.reads.set(self.reads.get() + 1);
        self.bytes.set(self.bytes.get() + out.len() as u64);
        self.disk.read_at(at, out)
    }
}

/// The leaves of a tree stand one behind the other, with a directory page now and then: what is read ahead serves many of them, and such a page costs no
/// more than itself.
#[test]
fn leaves_are_read_many_at_a_time_and_few_bytes_twice() {
    let geometry = Geometry::new(64, 1 << 20).expect("a geometry");
    let text = |n: u64| (Key::from(format!("{n:06}{:0900}", 0)), 4 * (n + 1));
    let given = Given::new(vec![Collection::new(1, (0..4000).map(text).collect())]);
    let mut disk = Disk::new(geometry);
    let (reference, written) = given.write(&mut disk);
    let counted = Counted { disk: &disk, reads: Cell::new(0), bytes: Cell::new(0) };
    let mut checkpoint = Checkpoint::open(&counted, geometry, &LINEAGE, &reference).expect("it is sound");
    let (root, trees) = checkpoint.parts();
    counted.reads.set(0);
    counted.bytes.set(0);
    let mut entries = Vec::new();
    let tree = TreeOf::from(&root.catalog[0]);
    trees.read(tree, Limits::new(LogAddress::MAX, 4), &mut entries).expect("it is sound");
    assert_eq!(entries.len(), 4000);
    let (reads, bytes, count) = (counted.reads.get(), counted.bytes.get(), records(&disk, LSN).len() as u64);
    assert!(reads < count / 4, "{reads} reads for {count} records");
    assert!(bytes < written.bytes * 3 / 2, "{bytes} bytes are read of {}", written.bytes);
}
