//! Projections over encoded documents. spec: Q-8.

use std::ops::ControlFlow;

use super::evaluate::{Run, Scope};
use super::path::JsonPath;
use crate::document::cbor::encode;
use crate::document::{KeyRef, RawDocument, RawValue};
use crate::error::Result;

//= spec/query.md#q-8-1-projection
//# A projection MUST have each selected node with everything in it, in the objects and arrays that it is
//# in, and nothing else. Items of an array stay in their order, without gaps.
/// Appends the projection of a document by `paths`, encoded.
pub(crate) fn project(
    paths: &[JsonPath],
    key: KeyRef<'_>,
    document: RawDocument<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let Some(root) = document.value() else {
        encode::head(out, encode::OBJECT, 0);
        return Ok(());
    };
    // What is left from a value to the end of the document tells it from all others.
    let mut selected: Vec<usize> = Vec::new();
    let run = Run::of_document(Some(key), &[]);
    for path in paths {
        let _ = Scope::new(&root, &run).select(path.segments(), root, &mut |node| {
            selected.push(node.bytes_left());
            ControlFlow::Continue(())
        });
    }
    run.end()?;
    selected.sort_unstable();
    if !restrict(root, &selected, out)? {
        encode::head(out, encode::OBJECT, 0);
    }
    Ok(())
}

/// Appends what is left of a value: all of it where it is selected, else its parts of which anything is left. Whether anything is.
fn restrict(value: RawValue<'_>, selected: &[usize], out: &mut Vec<u8>) -> Result<bool> {
    if selected.binary_search(&value.bytes_left()).is_ok() {
        out.extend_from_slice(value.encoded()?);
        return Ok(true);
    }
    let mut parts = Vec::new();
    let (major, count) = match (value.fields(), value.items()) {
        (Some(fields), _) => {
            let mut count = 0;
            for (name, field) in fields {
                let before = parts.len();
                encode::text(&mut parts, name);
                match restrict(field, selected, &mut parts)? {
                    true => count += 1,
                    false => parts.truncate(before),
                }
            }
            (encode::OBJECT, count)
        }
        (_, Some(items)) => {
            let mut count = 0;
            for item in items {
                count += u64::from(restrict(item, selected, &mut parts)?);
            }
            (encode::ARRAY, count)
        }
        _ => return Ok(false),
    };
    if count == 0 {
        return Ok(false);
    }
    encode::head(out, major, count);
    out.extend_from_slice(&parts);
    Ok(true)
}
