use super::super::varint;
use super::hex;
use proptest::prelude::*;

// spec: F-1.2
#[test]
fn varints_look_as_in_the_specification() {
    for (value, digits) in [
        (0, "00"),
        (1, "01"),
        (0x7f, "7f"),
        (0x80, "80 01"),
        (300, "ac 02"),
        (0x3fff, "ff 7f"),
        (0x4000, "80 80 01"),
        (u64::MAX >> 1, "ff ff ff ff ff ff ff ff 7f"),
        (u64::MAX, "ff ff ff ff ff ff ff ff ff 01"),
    ] {
        let mut bytes = Vec::new();
        varint::put(&mut bytes, value);
        assert_eq!(bytes, hex(digits), "{value}");
        assert_eq!(varint::len(value), bytes.len(), "{value}");
        assert_eq!(varint::get(&bytes), Some((value, bytes.len())), "{value}");
    }
}

//= spec/format.md#f-1-2-varints
//= type=test
//# A varint MUST have its shortest form; a reader MUST reject any other, and any that exceeds 64 bits.
#[test]
fn a_longer_form_an_overflow_and_a_missing_end_are_rejected() {
    for digits in [
        "",
        "80",
        "ff ff",
        "80 00",                                  // 0 in two bytes
        "ff 80 00",                               // 127 in three
        "ff ff ff ff ff ff ff ff ff 02",          // 65 bits
        "ff ff ff ff ff ff ff ff ff 7f",          // 70 bits
        "80 80 80 80 80 80 80 80 80 00",          // 0 in ten bytes
        "80 80 80 80 80 80 80 80 80 80 01",       // eleven bytes
        "ff ff ff ff ff ff ff ff ff ff ff ff ff", // no end
    ] {
        assert_eq!(varint::get(&hex(digits)), None, "{digits}");
    }
}

#[test]
fn the_length_changes_where_a_group_of_seven_bits_begins() {
    for bits in 1..=64_u32 {
        let longest = u64::MAX >> (64 - bits);
        assert_eq!(varint::len(longest), bits.div_ceil(7) as usize, "{bits} bits");
        assert_eq!(varint::len(1 << (bits - 1)), bits.div_ceil(7) as usize, "{bits} bits");
    }
}

proptest! {
    #[test]
    fn a_varint_reads_back_whatever_follows_it(value: u64, rest: Vec<u8>) {
        let mut bytes = Vec::new();
        varint::put(&mut bytes, value);
        let len = bytes.len();
        bytes.extend(rest);
        prop_assert_eq!(varint::get(&bytes), Some((value, len)));
    }

    #[test]
    fn what_reads_as_a_varint_is_what_would_be_written(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
        if let Some((value, len)) = varint::get(&bytes) {
            let mut again = Vec::new();
            varint::put(&mut again, value);
            prop_assert_eq!(&again, &bytes[..len]);
        }
    }
}

// spec: F-1.2
#[test]
fn bytes_behind_a_varint_do_not_change_it() {
    for shift in 0..64 {
        for value in [1 << shift, (1 << shift) - 1, u64::MAX >> shift] {
            let mut bytes = Vec::new();
            varint::put(&mut bytes, value);
            let len = bytes.len();
            let mut longer_form = bytes.clone();
            *longer_form.last_mut().expect("a byte at least") |= 0x80;
            longer_form.push(0);
            for behind in [0x00, 0x7f, 0x80, 0xff] {
                bytes.resize(len + 10, behind);
                assert_eq!(varint::get(&bytes), Some((value, len)), "{value} before {behind:#x}");
                bytes.truncate(len);
                let mut longer_form = longer_form.clone();
                longer_form.resize(len + 11, behind);
                assert_eq!(varint::get(&longer_form), None, "{value} in {} bytes", len + 1);
            }
        }
    }
}
