use super::super::Lsn;
use super::super::checksum::{crc, crc_append};
use super::super::page::{PAGE_HEADER_LEN, PAGE_LEN_MAX, Page, PageFault, PageHeader, PageKind};
use super::{LINEAGE, for_every_bit_flip, hex};
use proptest::prelude::*;

const CHECKPOINT: Lsn = Lsn::new(3, 9);

fn header() -> PageHeader {
    PageHeader {
        number: 7,
        tree: 1,
        kind: PageKind::Primary,
        level: 0,
        entry_count: 1,
        lower_fence_len: 1,
        upper_fence_len: 2,
    }
}

/// Page 7: keys from 1 to below 100, one entry of three bytes.
fn example() -> Vec<u8> {
    let mut page = vec![0x77; PAGE_HEADER_LEN];
    page.extend(hex("01 1864 aabbcc"));
    header().seal(&mut page, &LINEAGE, CHECKPOINT);
    page
}

/// The example after `change`, under a checksum that holds.
fn resealed(change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut page = example();
    change(&mut page);
    let life = crc_append(crc(&LINEAGE), &CHECKPOINT.0.to_le_bytes());
    let sum = crc_append(crc_append(life, &7_u32.to_le_bytes()), &page[4..]);
    page[..4].copy_from_slice(&sum.to_le_bytes());
    page
}

// spec: F-8.1
#[test]
fn a_page_is_laid_out_as_the_table_says() {
    let bytes = example();
    let expected = hex("
        4d553edf 26000000 07000000 01000000 04 00 0000 01000000 01000000 02000000
        01 1864 aabbcc");
    assert_eq!(bytes, expected);
    let page = Page::parse(&bytes, &LINEAGE, CHECKPOINT, 7).expect("a page");
    assert_eq!((page.header(), page.crc(), page.page_len()), (&header(), 0xdf3e_554d, 38));
    assert_eq!(page.lower_fence(), [0x01]);
    assert_eq!(page.upper_fence(), [0x18, 0x64]);
    assert_eq!(page.entries(), [0xaa, 0xbb, 0xcc]);
}

// spec: F-8.1
#[test]
fn a_flip_of_any_bit_makes_a_page_invalid() {
    for_every_bit_flip(&example(), |bit, flipped| {
        assert!(Page::parse(flipped, &LINEAGE, CHECKPOINT, 7).is_err(), "bit {bit}");
    });
}

// spec: F-8.1
#[test]
fn a_page_is_valid_in_no_other_checkpoint_store_or_under_another_number() {
    let bytes = example();
    assert!(Page::parse(&bytes, &LINEAGE, Lsn::new(3, 8), 7).is_err());
    assert!(Page::parse(&bytes, &[0; 16], CHECKPOINT, 7).is_err());
    assert!(Page::parse(&bytes, &LINEAGE, CHECKPOINT, 8).is_err());
}

//= spec/format.md#f-1-3-checksums
//= type=test
//# A reader MUST verify a checksum before it uses any byte under it, except to find how many bytes the
//# checksum covers; such a length MUST be checked against its bounds first.
#[test]
fn a_length_that_is_none_of_a_page_is_not_followed() {
    for len in [0, 31, 39, PAGE_LEN_MAX as u32 + 1, u32::MAX] {
        let bytes = resealed(|page| page[4..8].copy_from_slice(&len.to_le_bytes()));
        assert_eq!(Page::parse(&bytes, &LINEAGE, CHECKPOINT, 7), Err(PageFault::Length), "{len}");
    }
    assert_eq!(Page::parse(&example()[..31], &LINEAGE, CHECKPOINT, 7), Err(PageFault::Length));
}

// spec: F-8.1
#[test]
fn fields_that_contradict_the_page_are_damage() {
    let fault = |at: usize, value: u32| {
        let bytes = resealed(|page| page[at..at + 4].copy_from_slice(&value.to_le_bytes()));
        Page::parse(&bytes, &LINEAGE, CHECKPOINT, 7).map(|page| *page.header())
    };
    assert_eq!(fault(8, 6), Err(PageFault::Malformed("a page of another number")));
    assert_eq!(fault(16, 7), Err(PageFault::Malformed("an unknown kind of page")));
    assert_eq!(fault(24, 5), Err(PageFault::Malformed("fences go on beyond their page")));
    assert_eq!(fault(28, u32::MAX), Err(PageFault::Malformed("fences go on beyond their page")));
}

// spec: F-8.1
#[test]
fn fences_may_fill_a_page_without_entries() {
    let mut page = vec![0; PAGE_HEADER_LEN + 3];
    let crc = PageHeader { entry_count: 0, ..header() }.seal(&mut page, &LINEAGE, CHECKPOINT);
    let parsed = Page::parse(&page, &LINEAGE, CHECKPOINT, 7).expect("a page");
    assert_eq!((parsed.entries(), parsed.crc()), ([].as_slice(), crc));
}

proptest! {
    #[test]
    fn any_bytes_under_a_checksum_that_holds_are_read_without_panic(bytes: [u8; 26], at in 12_usize..38) {
        let bytes = resealed(|page| {
            let len = 38 - at;
            page[at..].copy_from_slice(&bytes[..len]);
        });
        if let Ok(page) = Page::parse(&bytes, &LINEAGE, CHECKPOINT, 7) {
            let len = page.lower_fence().len() + page.upper_fence().len() + page.entries().len();
            prop_assert_eq!(PAGE_HEADER_LEN + len, page.page_len());
        }
    }
}
