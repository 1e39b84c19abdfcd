//! Projections over encoded documents. spec: Q-8.

use std::ops::ControlFlow;

use super::evaluate::{Run, Scope};
use super::one_pass::{FOUND_MAX, OnePass};
use super::path::JsonPath;
use crate::document::cbor::encode;
use crate::document::{KeyRef, Kind, RawDocument, RawValue};
use crate::error::Result;

/// The paths of a projection.
#[derive(Debug)]
pub(crate) struct Projector {
    /// Some of names and indexes, found in one pass.
    one_pass: OnePass,
    /// Whether each path is one name.
    has_names_alone: bool,
    /// All others, each looked for by itself.
    others: Vec<JsonPath>,
    /// What is left from each selected value to the end of the document at hand, which tells it from all others.
    selected: Vec<usize>,
}

impl Projector {
    pub(crate) fn new(mut paths: Vec<JsonPath>) -> Self {
        let mut one_pass = OnePass::default();
        paths.retain(|path| one_pass.number_of(path.segments()).is_none());
        let has_names_alone = paths.is_empty() && one_pass.has_names_alone();
        Projector { one_pass, has_names_alone, others: paths, selected: Vec::new() }
    }

    //= spec/query.md#q-8-1-projection
    //# A projection MUST have each selected node with everything in it, in the objects and arrays that it is
    //# in, and nothing else. Items of an array stay in their order, without gaps.
    /// Appends the projection of a document, encoded.
    pub(crate) fn project(
        &mut self,
        key: KeyRef<'_>,
        document: RawDocument<'_>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let Some(root) = document.value() else {
            encode::head(out, encode::OBJECT, 0);
            return Ok(());
        };
        let (mut found, selected) = ([None; FOUND_MAX], &mut self.selected);
        self.one_pass.find(document.as_bytes(), &mut found);
        if self.has_names_alone {
            let fields =
                self.one_pass.names().filter_map(|(name, at)| Some((name, found[usize::from(at?)]?)));
            encode::head(out, encode::OBJECT, fields.clone().count() as u64);
            for (name, field) in fields {
                encode::text(out, name);
                out.extend_from_slice(field.encoded()?);
            }
            return Ok(());
        }
        selected.clear();
        selected.extend(found.iter().flatten().map(RawValue::bytes_left));
        let run = Run::of_document(Some(key), &[]);
        for path in &self.others {
            let _ = Scope::new(&root, &run).select(path.segments(), root, &mut |node| {
                selected.push(node.bytes_left());
                ControlFlow::Continue(())
            });
        }
        run.end()?;
        selected.sort_unstable();
        if !restrict(root, selected, out)? {
            encode::head(out, encode::OBJECT, 0);
        }
        Ok(())
    }
}

/// Appends what is left of a value: all of it where it is selected, else its parts of which anything is left. Whether anything is.
fn restrict(value: RawValue<'_>, selected: &[usize], out: &mut Vec<u8>) -> Result<bool> {
    let is_selected = |value: &RawValue<'_>| selected.binary_search(&value.bytes_left()).is_ok();
    if is_selected(&value) {
        out.extend_from_slice(value.encoded()?);
        return Ok(true);
    }
    let (start, mut count) = (out.len(), 0);
    let major = match (value.fields(), value.items()) {
        (Some(fields), _) => {
            for (name, field) in fields {
                let has_parts = matches!(field.kind(), Kind::Object | Kind::Array);
                if !has_parts && !is_selected(&field) {
                    continue;
                }
                let before = out.len();
                encode::text(out, name);
                match restrict(field, selected, out)? {
                    true => count += 1,
                    false => out.truncate(before),
                }
            }
            encode::OBJECT
        }
        (_, Some(items)) => {
            for item in items {
                count += u64::from(restrict(item, selected, out)?);
            }
            encode::ARRAY
        }
        _ => return Ok(false),
    };
    if count == 0 {
        return Ok(false);
    }
    // The head with their count stands in front of the parts, and the count is known once they are written.
    let end = out.len();
    encode::head(out, major, count);
    let head_len = out.len() - end;
    out[start..].rotate_right(head_len);
    Ok(true)
}
