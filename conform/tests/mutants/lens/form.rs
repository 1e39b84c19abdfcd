//! Numbers in their forms, read wrongly.

use holotype_conform::forge::{cbor, varint};

use super::Misreading;

/// The form of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Of fixed width, little-endian (F-1.1).
    Fixed,
    /// F-1.2
    Varint,
    /// A CBOR unsigned integer; where the item behind it in its array stands, if there is one.
    Cbor(Option<usize>),
}

/// Where a number stands in a structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) form: Form,
}

/// The bytes that would have to stand in this spot for the engine to read there what is misread; none where nothing would do.
pub(super) fn misread(bytes: &[u8], spot: Spot, misreading: Misreading) -> Option<Vec<u8>> {
    let (start, end) = (spot.at, spot.at + spot.len);
    match spot.form {
        Form::Fixed => {
            let mut copy = bytes.to_vec();
            misread_fixed(&mut copy, spot.at, spot.len, misreading);
            Some(copy[start..end].to_vec())
        }
        Form::Varint => match misreading {
            // What has nothing behind it is read a byte before its place.
            Misreading::Shifted if end == bytes.len() => {
                varint_at(bytes, start - 1).map(|read| varint(read.0))
            }
            Misreading::Shifted => varint_at(bytes, start + 1).map(|read| varint(read.0)),
            Misreading::Reversed => {
                let groups = bytes[start..end].iter().map(|byte| u64::from(byte & 0x7f));
                Some(varint(groups.fold(0, |number, group| number << 7 | group)))
            }
            Misreading::Zero => Some(vec![0]),
            Misreading::Off => varint_at(bytes, start)?.0.checked_add(1).map(varint),
            Misreading::Narrow => Some(varint(varint_at(bytes, start)?.0 & 0x7f)),
        },
        Form::Cbor(behind) => {
            let (_, number, _) = head_at(bytes, start)?;
            match misreading {
                Misreading::Shifted => {
                    let (major, number, _) = head_at(bytes, behind?)?;
                    (major == 0).then(|| cbor::head(0, number))
                }
                Misreading::Reversed => {
                    let argument = if spot.len == 1 { &bytes[start..end] } else { &bytes[start + 1..end] };
                    let reversed =
                        argument.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
                    Some(cbor::head(0, reversed))
                }
                Misreading::Zero => Some(cbor::head(0, 0)),
                Misreading::Off => number.checked_add(1).map(|number| cbor::head(0, number)),
                Misreading::Narrow => {
                    let bits = 4 * (spot.len as u32 - 1);
                    Some(cbor::head(0, if bits == 0 { number } else { number & ((1 << bits) - 1) }))
                }
            }
        }
    }
}

/// Misreads a number of fixed width in place.
pub(super) fn misread_fixed(bytes: &mut [u8], start: usize, len: usize, misreading: Misreading) {
    let end = start + len;
    match misreading {
        // The last field of a structure has nothing behind it: it is read a byte before its place.
        Misreading::Shifted if end < bytes.len() => bytes.copy_within(start + 1..end + 1, start),
        Misreading::Shifted => bytes.copy_within(start - 1..end - 1, start),
        Misreading::Reversed => bytes[start..end].reverse(),
        Misreading::Zero => bytes[start..end].fill(0),
        Misreading::Narrow => bytes[start + len.div_ceil(2)..end].fill(0),
        Misreading::Off => {
            for byte in &mut bytes[start..end] {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
        }
    }
}

/// A varint in its shortest form and its length.
pub(super) fn varint_at(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let len = bytes.get(at..)?.iter().take(9).position(|byte| byte & 0x80 == 0)? + 1;
    let groups = bytes[at..at + len].iter().rev().map(|byte| u64::from(byte & 0x7f));
    let number = groups.fold(0, |number, group| number << 7 | group);
    (varint(number).len() == len).then_some((number, len))
}

/// Major type, argument and length of a CBOR head.
pub(super) fn head_at(bytes: &[u8], at: usize) -> Option<(u8, u64, usize)> {
    let first = *bytes.get(at)?;
    let (major, code) = (first >> 5, first & 31);
    if code < 24 {
        return Some((major, code.into(), 1));
    }
    let width = 1usize << code.checked_sub(24).filter(|width| *width < 4)?;
    let argument = bytes.get(at + 1..at + 1 + width)?;
    Some((major, argument.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)), 1 + width))
}

/// The length of a CBOR item.
pub(super) fn item_len(bytes: &[u8], at: usize) -> Option<usize> {
    let (major, argument, mut len) = head_at(bytes, at)?;
    let items = match major {
        2 | 3 => {
            len = len.checked_add(usize::try_from(argument).ok()?)?;
            0
        }
        4 => argument,
        5 => argument.checked_mul(2)?,
        _ => 0,
    };
    for _ in 0..items {
        len += item_len(bytes, at + len)?;
    }
    (at + len <= bytes.len()).then_some(len)
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
