//! Documents of a thousand bytes. One that was updated has other bytes with the same sum, so a reader beside a writer can be held to
//! the sum of what it read, whichever it met; and to update one twice makes the same bytes, whoever comes last.

use std::sync::LazyLock;

use holotype::{Document, Value, doc};

use crate::failure::{Failure, Of, Result};

use super::keys::Random;

/// Bytes of the value in a document.
pub const VALUE: usize = 1_000;

/// What values are cut from: nothing that compresses.
static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut random = Random::new(3);
    (0..2 * VALUE).map(|_| random.word() as u8).collect()
});

fn document(id: u64, mark: [u8; 2]) -> Document {
    let from = id as usize % VALUE;
    let mut value = BYTES[from..from + VALUE].to_vec();
    value[..2].copy_from_slice(&mark);
    value[2..10].copy_from_slice(&id.to_le_bytes());
    doc! { "id": id as i64, "value": Value::Bytes(value) }
}

/// The document under `id` in one of many versions, each of other bytes.
pub fn version(id: u64, version: u16) -> Document {
    document(id, version.to_be_bytes())
}

/// The document under `id` as it is first put.
pub fn first(id: u64) -> Document {
    document(id, [0, 1])
}

/// The document under `id` once it was updated.
pub fn updated(id: u64) -> Document {
    document(id, [1, 0])
}

/// What is put in the place of a document that was read: the update, made of the bytes that were found.
pub fn rewritten(who: &'static str, read: &[u8]) -> Result<Document> {
    let mut document = Document::decode(read).of(who, "decoding what was read")?;
    let Some(Value::Bytes(value)) = document.get_mut("value") else {
        return Err(Failure::new(who, "decoding what was read", "it has no value"));
    };
    value[..2].sort_unstable_by(|a, b| b.cmp(a));
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::byte_sum;

    #[test]
    fn an_update_has_other_bytes_with_the_same_sum_and_comes_out_of_either() {
        for id in [1, 24, 1_000, 70_000] {
            let (first, updated) = (first(id), updated(id));
            assert_ne!(first, updated);
            assert_eq!(byte_sum(&first.encode()), byte_sum(&updated.encode()));
            for read in [&first, &updated] {
                assert_eq!(rewritten("a store", &read.encode()).unwrap(), updated);
            }
        }
    }
}
