use super::super::body::{
    ChunkList, encode_chunk, encode_chunk_list, encode_opening, encode_segment_freed, parse_chunk,
    parse_commit_time, parse_opening, parse_segment_freed,
};
use super::super::{LogAddress, Lsn};
use super::hex;
use proptest::prelude::*;

// spec: F-6.3, F-6.5
#[test]
fn bodies_of_fixed_length_are_laid_out_as_the_table_says() {
    let opening = encode_opening(Lsn::new(2, 9), LogAddress(0x1234));
    assert_eq!(opening.as_slice(), hex("0900000002000000 3412000000000000"));
    assert_eq!(parse_opening(&opening), Some((Lsn::new(2, 9), LogAddress(0x1234))));

    let freed = encode_segment_freed(7, 3);
    assert_eq!(freed.as_slice(), hex("0700000000000000 03000000"));
    assert_eq!(parse_segment_freed(&freed), Some((7, 3)));

    let time = (-2_i64).to_le_bytes();
    assert_eq!(time.as_slice(), hex("feffffffffffffff"));
    assert_eq!(parse_commit_time(&time), Some(-2));
}

#[test]
fn bodies_of_another_length_are_rejected() {
    let bytes = [0; 20];
    for len in (0..20).filter(|len| *len != 16) {
        assert_eq!(parse_opening(&bytes[..len]), None, "{len}");
    }
    for len in (0..20).filter(|len| *len != 12) {
        assert_eq!(parse_segment_freed(&bytes[..len]), None, "{len}");
    }
    for len in (0..20).filter(|len| *len != 8) {
        assert_eq!(parse_commit_time(&bytes[..len]), None, "{len}");
    }
}

// spec: F-6.7
#[test]
fn a_chunk_list_is_length_count_and_addresses() {
    let mut body = Vec::new();
    encode_chunk_list(300, &[LogAddress(4096), LogAddress(1 << 40)], &mut body);
    assert_eq!(body, hex("ac02 02 0010000000000000 0000000000010000"));
    let list = ChunkList::parse(&body).expect("a chunk list");
    assert_eq!((list.document_len(), list.count()), (300, 2));
    assert_eq!(list.addresses().collect::<Vec<_>>(), [LogAddress(4096), LogAddress(1 << 40)]);
}

// spec: F-6.7
#[test]
fn a_chunk_list_whose_count_is_not_that_of_its_addresses_is_rejected() {
    for digits in [
        "",
        "01",
        "01 01",
        "01 01 00000000000000",
        "01 00 00",
        "01 ffffffffffffffffff01",
        "01 8080808080808080 20",
    ] {
        assert_eq!(ChunkList::parse(&hex(digits)), None, "{digits}");
    }
}

proptest! {
    #[test]
    fn a_chunk_reads_back_as_it_was_written(number: u64, bytes: Vec<u8>) {
        let mut body = Vec::new();
        encode_chunk(number, &bytes, &mut body);
        prop_assert_eq!(parse_chunk(&body), Some((number, bytes.as_slice())));
    }

    #[test]
    fn a_chunk_list_reads_back_as_it_was_written(len: u64, addresses: Vec<u64>) {
        let addresses: Vec<_> = addresses.into_iter().map(LogAddress).collect();
        let mut body = Vec::new();
        encode_chunk_list(len, &addresses, &mut body);
        let list = ChunkList::parse(&body).expect("a chunk list");
        prop_assert_eq!(list.document_len(), len);
        prop_assert_eq!(list.addresses().collect::<Vec<_>>(), addresses);
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
        let _ = parse_chunk(&bytes);
        if let Some(list) = ChunkList::parse(&bytes) {
            prop_assert_eq!(list.addresses().count(), list.count());
        }
    }
}
