//! Deterministic CBOR: RFC 8949 with the core deterministic encoding of its section 4.2.1, cut down to what values need.
//! `spec/encoding.md` E-1 to E-3 is the authority. One encoding per value: the decoder refuses every other.
//!
//! | file | job |
//! |---|---|
//! | `head` | reads the first bytes of an item: type, number, length; steps over items |
//! | `float` | the shortest of three float widths that keeps the value |
//! | `encode` | values to bytes |
//! | `decode` | bytes to values, all rules checked; the same check without the values |

pub(crate) mod decode;
pub(crate) mod encode;
mod float;
pub(crate) mod head;

pub use decode::validate;
