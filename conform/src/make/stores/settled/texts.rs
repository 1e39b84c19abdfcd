//! Entries as JSON, and objects that stand for another.

use crate::case::{Outcome, Request, Text};
use crate::forge::cbor;
use crate::make::stores::Maker;
use crate::make::{invalid, rejected, valid};
use holotype_model::{Document, Key, Value};

/// An entry is itself; its key and what is in its document may be wrapped.
pub(super) fn entries(maker: &mut Maker) {
    let entry = |text: &str| Request::ReadEntry { text: Text::Utf8(text.to_owned()) };
    let clauses = ["E-6.12", "E-6.9"];
    for (json, name) in [
        (r#"{"$literal":{"key":1,"doc":{}}}"#, "An entry in a literal object"),
        (r#"{"$literal":{"$literal":{"key":1,"doc":{}}}}"#, "An entry in two literal objects"),
        (r#"{"$literal":{"key":1},"doc":{}}"#, "A key in a literal object beside the document"),
        (r#"{"key":1,"doc":{},"$literal":{}}"#, "An entry with a literal object beside its fields"),
        (r#"{"$literal":{}}"#, "A literal object in the place of the entry"),
        (r#"{"$numberInt":"5"}"#, "A wrapped int in the place of the entry"),
    ] {
        maker.case(&invalid(&clauses, &["Wrapper"]), format!("{name} is refused"), entry(json), rejected());
    }
    let five = || Document::from([("$numberInt".to_owned(), Value::from("5"))]);
    for (json, key, document, name) in [
        (
            r#"{"key":1,"doc":{"$literal":{}}}"#,
            Key::Int(1),
            Document::new(),
            "A document in a literal object",
        ),
        (
            r#"{"key":{"$numberLong":"7"},"doc":{"$literal":{"$numberInt":"5"}}}"#,
            Key::Int(7),
            five(),
            "A key in a wrapper, and a document in the shape of one",
        ),
    ] {
        let expect = vec![Outcome::Entry((cbor::key(&key).into(), cbor::document(&document).into()))];
        maker.case(&valid(&clauses, &["Wrapper"]), name, entry(json), expect);
    }
}
