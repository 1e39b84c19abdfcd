//! Fuzz targets as plain functions of bytes. Each panics when a promise is broken, and only then.
//!
//! | target | the bytes are | what must hold |
//! |---|---|---|
//! | [`document_decode`] | an encoded document | decoded to what encodes to the same bytes, or refused; lazy access agrees |
//! | [`json_import`] | JSON text | parsed to what survives export and import in both modes, or refused |
//! | [`file_image`] | a whole file | opened to one state however it is opened, or refused and left as it was |
//! | [`resealed_image`] | edits of a valid file, whose checksums are then made right again | the same |
//! | [`operations`] | calls | answered as an ordered map answers them, across reopening and with a full disk |
//! | [`lives`] | steps: calls, maintenance, closings, kills and power cuts | legal by the model, and the store in order after each cut |
//! | [`query_texts`] | a text that is nearly a filter or a path | taken by engine and model alike, and read back from its normal form |
//! | [`filters`] | a filter, a path and a document | over bytes what the model says of values |
//! | [`mod@queries`] | documents and a question | answered by a transaction, a snapshot and a store as the model answers; groups too |
//! | [`updates`] | a document and what changes it | changed to one result decoded, over its bytes and by the model, or refused for one reason |
//! | [`backups`] | steps, backups among them, whole and incremental, beside writers and on disks that fail | each opens to the state of its moment |
//!
//! The same functions serve three callers: `cargo test` replays `corpus/`, the mains in `mains/` drive them with coverage
//! feedback, and a crash found anywhere else becomes one more file in the corpus.

mod backups;
mod disk;
mod document;
mod image;
mod json;
mod layout;
mod lives;
mod mutate;
mod operations;
mod patches;
mod reseal;
mod sample;

use holotype_crash_tests::queries;

pub use backups::backups;
pub use document::document_decode;
pub use image::file_image;
pub use json::json_import;
pub use layout::Layout;
pub use lives::lives;
pub use mutate::mutate_image;
pub use operations::operations;
pub use reseal::{AGED, DAMAGE, STRETCH, forged, resealed_image};
pub use sample::{aged_store, sample_store};

/// Bytes as a document and what it is changed by.
///
/// # Panics
/// If engine and model do not agree on what becomes of it, or engine and the crate `json-patch` on a patch.
pub fn updates(bytes: &[u8]) {
    let checked = holotype_crash_tests::updates::check(bytes).and_then(|()| patches::check(bytes));
    checked.unwrap_or_else(|what| panic!("{what}"));
}

fn hold(checked: Result<queries::Seen, String>) {
    checked.unwrap_or_else(|what| panic!("{what}"));
}

/// Bytes as a text that is a filter or a path, or nearly one.
///
/// # Panics
/// If engine and model do not both take it, or its normal form is read back as something else.
pub fn query_texts(bytes: &[u8]) {
    hold(queries::text(bytes));
}

/// Bytes as a filter, a path and a document.
///
/// # Panics
/// If the engine, over the document's bytes, says something else than the model.
pub fn filters(bytes: &[u8]) {
    hold(queries::filter(bytes));
}

/// Bytes as documents and questions about them.
///
/// # Panics
/// If engine and model answer one in two ways.
pub fn queries(bytes: &[u8]) {
    hold(queries::query(bytes));
    hold(queries::groups(bytes));
}

/// A target: a function of any bytes that returns if all is well.
pub type Target = fn(&[u8]);

/// Every target, under the name of its corpus.
pub const TARGETS: [(&str, Target); 11] = [
    ("document_decode", document_decode),
    ("json_import", json_import),
    ("file_image", file_image),
    ("resealed_image", resealed_image),
    ("operations", operations),
    ("query_texts", query_texts),
    ("filters", filters),
    ("queries", queries),
    ("updates", updates),
    ("lives", lives),
    ("backups", backups),
];
