//! Order keys: byte strings that compare as the values they stand for. What an index sorts by. spec: E-5.
//!
//! | value | bytes |
//! |---|---|
//! | null | `01` |
//! | false, true | `02`, `03` |
//! | number | `04`, the float at or below it (8 bytes), and from 2^53 on the difference (2 bytes) |
//! | text, bytes | `05` or `06`, the bytes with `00` written as `00 ff`, `00 00` |
//! | array | `07`, the items, `00` |
//! | object | `08`, each name as CBOR and its value, `00` |
//!
//! No order key is the beginning of another, so they can stand one behind the other. Values at one place of the order, such
//! as `1` and `1.0`, have one order key: it sorts a value, and does not keep it. With the marks of its numbers it does.

mod cursor;
mod decode;
mod encode;
mod number;
mod tag;

pub(crate) use cursor::{Cursor, Stop};
pub use decode::decode_key;
pub(crate) use decode::{Marks, decode_value, near_int, skip_value, take_key};
pub(crate) use encode::{begin_text, encode_node, encode_scalar, encode_within};
pub use encode::{encode, encode_key};
