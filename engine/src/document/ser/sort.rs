//! Fields that were written in any order, put into the order of their encoded names.
//!
//! Structs declare their fields in an order of their own, so this is on the path of most writes.

use crate::document::cbor::head::Reader;
use crate::error::Result;

use super::encoder::error;

/// Objects of more fields than this need an allocation to be sorted.
pub(super) const FEW: usize = 16;

/// Where a field stands.
#[derive(Debug, Clone, Copy, Default)]
struct Field {
    /// Its first 8 bytes, most significant first: they mostly decide where it belongs.
    prefix: u64,
    start: usize,
    end: usize,
}

impl Field {
    fn new(out: &[u8], start: usize, end: usize) -> Self {
        Field { prefix: prefix(&out[start..end]), start, end }
    }
}

/// Sorts the `count` fields that stand in `out` from `first` on. `starts` says where the first few of them begin.
pub(super) fn sort_fields(
    out: &mut Vec<u8>,
    first: usize,
    count: usize,
    starts: &[usize; FEW],
) -> Result<()> {
    if count > FEW {
        let mut fields = find_fields(out, first, count)?;
        return rearrange(out, first, &mut fields);
    }
    let mut fields = [Field::default(); FEW];
    let mut end = out.len();
    for (field, &start) in fields.iter_mut().zip(&starts[..count]).rev() {
        *field = Field::new(out, start, end);
        end = start;
    }
    rearrange(out, first, &mut fields[..count])
}

fn find_fields(out: &[u8], first: usize, count: usize) -> Result<Vec<Field>> {
    let mut reader = Reader::new(&out[first..]);
    (0..count)
        .map(|_| {
            let start = first + reader.position();
            reader.name_bytes()?;
            reader.skip()?;
            Ok(Field::new(out, start, first + reader.position()))
        })
        .collect()
}

fn rearrange(out: &mut Vec<u8>, first: usize, fields: &mut [Field]) -> Result<()> {
    // No encoded name is the beginning of another: fields compare as their names do, and what follows a name never decides, unless
    // two names are the same.
    let bytes = |field: &Field| &out[field.start..field.end];
    fields.sort_unstable_by(|a, b| a.prefix.cmp(&b.prefix).then_with(|| bytes(a).cmp(bytes(b))));
    for pair in fields.windows(2) {
        let [a, b] = [bytes(&pair[0]), bytes(&pair[1])];
        if a[0] == b[0] && Reader::new(a).name_bytes()? == Reader::new(b).name_bytes()? {
            return Err(error(format!("the field {:?} comes twice", Reader::new(a).name()?)));
        }
    }
    // The sorted copy is made behind the fields and moved over them: `out` is used again and again, so this allocates
    // only while it grows.
    let end = out.len();
    for field in fields.iter() {
        out.extend_from_within(field.start..field.end);
    }
    out.copy_within(end.., first);
    out.truncate(end);
    Ok(())
}

/// The first 8 bytes as a number; zeros stand for what is not there.
#[expect(clippy::big_endian_bytes, reason = "big-endian numbers compare as their bytes do")]
fn prefix(bytes: &[u8]) -> u64 {
    let padded = bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        padded
    });
    u64::from_be_bytes(padded)
}
