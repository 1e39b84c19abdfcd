//! Documents as JSON and back, with nothing lost. spec: E-6.
//!
//! What plain JSON cannot say is written as MongoDB Extended JSON v2 does it:
//!
//! | value | [`JsonMode::Relaxed`] | [`JsonMode::Canonical`] |
//! |---|---|---|
//! | int of 32 bits | `5` | `{"$numberInt":"5"}` |
//! | int of 53 bits | `5000000000` | `{"$numberLong":"5000000000"}` |
//! | any other int | `{"$numberLong":"9007199254740993"}` | the same |
//! | float | `1.0`, `1e300` | `{"$numberDouble":"1.0"}` |
//! | NaN, infinities | `{"$numberDouble":"NaN"}` | the same |
//! | bytes | `{"$binary":{"base64":"AQI=","subType":"00"}}` | the same |
//! | an object in the shape of one of these | `{"$literal":{"$numberInt":"5"}}` | the same |
//!
//! Both modes are read alike. A number with neither fraction nor exponent is an int, every other a float; so a float always
//! shows one, and `-0` is the float. Objects with other names that begin with `$` are data.
//!
//! ```
//! use holotype::{Document, doc, document::JsonMode};
//!
//! let bird = doc! { "ring": 9_007_199_254_740_993i64, "weight": 9.0, "song": vec![1u8, 2] };
//! let text = bird.to_json(JsonMode::Relaxed);
//! assert_eq!(
//!     text,
//!     r#"{"ring":{"$numberLong":"9007199254740993"},"song":{"$binary":{"base64":"AQI=","subType":"00"}},"weight":9.0}"#,
//! );
//! assert_eq!(Document::from_json(text)?, bird);
//! # Ok::<(), holotype::Error>(())
//! ```

pub(crate) mod base64;
mod lexer;
mod mode;
mod parse;
mod read;
mod stream;
mod wrapper;
mod write;

pub(crate) use read::parse_patch;

pub use mode::JsonMode;
pub use read::{FromJson, parse_document, parse_entry, parse_value};
pub use stream::{Array, Lines, read_array, read_lines};
pub use write::{write_document, write_document_by, write_entry, write_value};
