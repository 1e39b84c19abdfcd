//! What cannot be stored is refused, whatever else the call would have done (spec: S-2.2).

use holotype::{Db, Document, Error, Value, doc};

fn too_deep() -> Document {
    let inner = (0..200).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    doc! { "nested": inner }
}

//= spec/semantics.md#s-2-2-one-of-the-reasons
//# Where several reasons to refuse a call hold, a store MUST report one of them.
#[test]
fn a_document_that_nests_too_deep_is_refused_where_there_is_none_to_replace() {
    let db = Db::in_memory();
    let notes = db.collection("notes");
    notes.put("there", doc! {}).expect("memory refuses nothing");
    let refused = notes.replace("not there", too_deep());
    assert!(matches!(refused, Err(Error::TooDeep { .. })), "{refused:?}");
    assert!(!notes.replace("not there", doc! {}).expect("memory refuses nothing"));
}

#[test]
fn a_document_that_nests_too_deep_is_refused_though_a_later_one_takes_its_key() {
    let db = Db::in_memory();
    let notes = db.collection("notes");
    let refused = notes.put_many([("a", too_deep()), ("a", doc! {})]);
    assert!(matches!(refused, Err(Error::TooDeep { .. })), "{refused:?}");
    assert!(db.collections().is_empty(), "a refused write leaves nothing");
}
