//! The first bytes of order keys, and the bytes that end their parts. spec: E-5.

/// Ends the items of an array, the fields of an object and, twice, a text or a byte string.
pub(super) const END: u8 = 0x00;
pub(super) const NULL: u8 = 0x01;
pub(super) const FALSE: u8 = 0x02;
pub(super) const TRUE: u8 = 0x03;
pub(super) const NUMBER: u8 = 0x04;
pub(super) const TEXT: u8 = 0x05;
pub(super) const BYTES: u8 = 0x06;
pub(super) const ARRAY: u8 = 0x07;
pub(super) const OBJECT: u8 = 0x08;
/// Behind a zero: the zero is one of the text, and not the first of the two that end it.
pub(super) const ESCAPE: u8 = 0xff;
