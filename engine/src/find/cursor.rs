//! A cursor: a place in the order of one query, as a text.

use std::fmt;
use std::str::FromStr;

use super::sort::key_of;
use crate::document::Key;
use crate::document::json::base64;
use crate::error::{Error, Result};
use crate::seeded::{self, Bug};

/// A place in the answers of a query, to go on from: what the sorts give of a document, and its key. spec: Q-7.4.
///
/// It prints as a text, and is parsed from it. The document may be changed or gone by the time that it is used.
///
/// ```
/// use holotype::{Cursor, Db, doc};
///
/// let birds = Db::in_memory().collection("birds");
/// birds.insert_many((0..5).map(|n| doc! { "seen": n % 2 }))?;
/// let page = birds.find(..).sort("$.seen").limit(2);
/// let mut first = page.clone().run()?;
/// assert_eq!(first.by_ref().count(), 2);
/// let text = first.cursor().expect("something was answered").to_string();
/// let mut next = page.after(text.parse::<Cursor>()?).run()?;
/// assert_eq!(next.next().transpose()?.map(|bird| bird.key().to_key()), Some(5.into()));
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// What query it is of.
    pub(super) query: u64,
    pub(super) place: Vec<u8>,
}

/// | offset | len | field |
/// |---|---|---|
/// | 0 | 8 | the query's identity, hashed |
/// | 8 | n | the place |
/// | 8 + n | 4 | CRC-32C of all before |
const QUERY_LEN: usize = 8;
const CRC_LEN: usize = 4;

impl Cursor {
    /// The key of the document whose place it is.
    pub fn key(&self) -> Key {
        key_of(&self.place).expect("it was decoded when the cursor was made")
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [&self.query.to_le_bytes()[..], &self.place].concat();
        bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
        let mut text = String::new();
        base64::encode(&bytes, &mut text);
        f.write_str(&text)
    }
}

impl FromStr for Cursor {
    type Err = Error;

    //= spec/query.md#q-7-4-cursors
    //# A store MUST refuse a text of which a part is missing, or that is no cursor.
    fn from_str(text: &str) -> Result<Self> {
        let parsed = || {
            let bytes = base64::decode(text)?;
            let (front, crc) = bytes.split_last_chunk::<CRC_LEN>()?;
            let (query, place) = front.split_first_chunk::<QUERY_LEN>()?;
            let is_whole = crc32c::crc32c(front) == u32::from_le_bytes(*crc);
            key_of(place).filter(|_| is_whole || seeded::is_on(Bug::CursorUnchecked))?;
            Some(Cursor { query: u64::from_le_bytes(*query), place: place.to_vec() })
        };
        parsed().ok_or(Error::InvalidCursor { what: "it is not whole, or is no cursor" })
    }
}

/// One number for the parts that tell queries apart (FNV-1a, of 64 bits).
pub(super) fn identity<'p>(parts: impl IntoIterator<Item = &'p str>) -> u64 {
    let bytes = parts.into_iter().flat_map(|part| {
        // The length keeps the ends of two parts from being taken for one another.
        (part.len() as u64).to_le_bytes().into_iter().chain(part.bytes())
    });
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
