//! Stores of former formats, as their last programs wrote them: refused by name, and left as they are.

use std::sync::Arc;

use holotype::format::superblock::SLOT_OFFSETS;
use holotype::storage::MemoryStorage;
use holotype::{Db, Error};

use super::forge::{Forge, options};

fn formers() -> [(u16, Forge); 2] {
    let forge = |bytes: &[u8]| Forge { bytes: bytes.to_vec() };
    [
        (1, forge(include_bytes!("../fixtures/format-1.0.holo"))),
        (2, forge(include_bytes!("../fixtures/format-2.0.holo"))),
    ]
}

//= spec/versions.md#c-2-6-older-major
//# A reader that refuses a file of an older major MUST say that an older version wrote it, and which, and not
//# that the file is corrupt.
#[test]
fn a_file_of_an_older_format_is_refused_by_name_and_never_as_corrupt() {
    for (of, former) in formers() {
        refused(of, &former);
    }
}

fn refused(of: u16, former: &Forge) {
    let mut stores = vec![former.clone()];
    // One slot that is whole says it.
    for at in SLOT_OFFSETS {
        let mut damaged = former.clone();
        damaged.bytes[at as usize + 200] ^= 1;
        stores.push(damaged);
    }
    let mut later = former.clone();
    let last = later.bytes.len() - 1;
    later.bytes[16_384..last].fill(0xff);
    stores.push(later);
    for store in stores {
        store.assert_older("opened for writing");
        let told = |result: Result<(), Error>, by: &str| {
            let Err(error) = result else { panic!("{by} took it") };
            assert!(
                matches!(error, Error::OlderFormat { major, minor: 0 } if major == of),
                "{by}: {error:?}"
            );
            assert_eq!(
                error.to_string(),
                format!(
                    "the file has format {of}.0, which this version does not read any more; \
                     export it with the version that wrote it, and import that into a new store"
                )
            );
        };
        told(Db::open_on(store.disk(), &options().read_only(true)).map(drop), "a reader");
        let target = Arc::new(MemoryStorage::new());
        told(holotype::salvage_to(store.disk(), target).map(drop), "salvage");
        told(holotype::inspect::open_on(store.disk()).map(drop), "inspect");
    }
}
