//! Documents changed in a store: one call, one commit.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use holotype::update::{Changes, JsonPatch, UpdateFault};
use holotype::{Collection, Db, Document, Error, Key, OnConflict, doc};

fn birds() -> (Db, Collection) {
    let db = Db::in_memory();
    let birds = db.collection("birds");
    birds.put("wren", doc! { "seen": 1, "places": ["hedge"] }).unwrap();
    (db, birds)
}

fn patch(text: &str) -> JsonPatch {
    JsonPatch::parse(text).unwrap()
}

fn wren(birds: &Collection) -> Document {
    birds.get("wren").unwrap().expect("it was put").to_document().unwrap()
}

//= spec/update.md#u-6-1-one-commit
//# The document that a call reads and the one that it writes MUST follow each other in the order of commits,
//# with no other change of that document between them.
#[test]
fn no_update_is_lost_between_threads() {
    let (_db, birds) = birds();
    let add = patch(r#"[{"op":"add","path":"/places/-","value":"barn"}]"#);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..50).for_each(|_| drop(birds.patch("wren", &add).unwrap())));
        }
    });
    assert_eq!(wren(&birds).get("places").and_then(|places| places.as_array()).map(<[_]>::len), Some(201));
}

#[test]
fn a_call_answers_the_document_before_and_after() {
    let (db, birds) = birds();
    let updated = birds.merge("wren", &doc! { "seen": 2, "places": null }).unwrap();
    assert!(updated.matched() && updated.changed());
    let before = updated.before().expect("there was one").to_document().unwrap();
    assert_eq!(before, doc! { "seen": 1, "places": ["hedge"] });
    assert_eq!(updated.after().expect("there is one").to_document().unwrap(), doc! { "seen": 2 });
    assert_eq!(wren(&birds), doc! { "seen": 2 });
    let none = birds.merge("robin", &doc! { "seen": 2 }).unwrap();
    assert!(!none.matched() && !none.changed() && none.before().is_none() && none.after().is_none());
    assert!(!birds.contains("robin").unwrap());
    let nowhere = db.collection("nowhere").merge("wren", &doc! {});
    assert!(matches!(nowhere, Err(Error::UnknownCollection { .. })));
    assert!(matches!(birds.merge("k".repeat(1025), &doc! {}), Err(Error::KeyTooLong { .. })));
}

//= spec/update.md#u-6-2-equal
//# A document that the changes leave equal MUST NOT be written.
#[test]
fn a_document_that_stays_equal_keeps_its_version() {
    let (_db, birds) = birds();
    let version = |birds: &Collection| birds.get("wren").unwrap().expect("it was put").version();
    let before = version(&birds);
    for updated in [
        birds.merge("wren", &doc! { "seen": 1 }).unwrap(),
        birds.patch("wren", &patch(r#"[{"op":"test","path":"/seen","value":1.0}]"#)).unwrap(),
        birds
            .insert_on_conflict("wren", doc! { "seen": 1, "places": ["hedge"] }, OnConflict::Replace)
            .unwrap(),
    ] {
        assert!(updated.matched() && !updated.changed());
        assert!(updated.after().is_some());
    }
    assert_eq!(version(&birds), before);
    // 1.0 stands at the place of 1, and is another value.
    assert!(birds.merge("wren", &doc! { "seen": 1.0 }).unwrap().changed());
    assert!(version(&birds) > before);
}

//= spec/update.md#u-6-3-version
//# An update that names a version MUST be refused as `VersionMismatch` unless the key's document is of that
//# version.
#[test]
fn an_update_of_a_version_is_refused_once_there_is_another() {
    let (db, birds) = birds();
    let add = patch(r#"[{"op":"add","path":"/x","value":1}]"#);
    let nothing = patch("[]");
    let seen = birds.get("wren").unwrap().expect("it was put").version();
    assert!(birds.patch_if("wren", seen, &add).unwrap().changed());
    for patch in [&add, &nothing] {
        let again = birds.patch_if("wren", seen, patch);
        assert!(
            matches!(again, Err(Error::VersionMismatch { expected, found: Some(_) }) if expected == seen)
        );
    }
    let gone = birds.patch_if("robin", seen, &add);
    assert!(matches!(gone, Err(Error::VersionMismatch { found: None, .. })));
    let own = db.write(|tx| {
        let birds = tx.collection("birds");
        birds.put("wren", doc! {})?;
        birds.patch_if("wren", 0, &nothing).map(|_| ())
    });
    assert!(matches!(own, Err(Error::VersionMismatch { expected: 0, found: Some(0) })));
}

//= spec/update.md#u-6-4-update-or-insert
//# An update or insert MUST update the key's document, and put the given one when the key has none.
#[test]
fn an_update_or_insert_updates_or_inserts() {
    let counters = Db::in_memory().collection("counters");
    let made = AtomicU64::new(0);
    let hit = |n: i64| {
        counters
            .update_or_insert("hits", Changes::merge(&doc! { "n": n }), || {
                made.fetch_add(1, Ordering::Relaxed);
                doc! { "n": 0 }
            })
            .unwrap()
    };
    let (first, second) = (hit(7), hit(8));
    assert!(!first.matched() && first.changed() && second.matched() && second.changed());
    assert_eq!(made.load(Ordering::Relaxed), 1);
    assert_eq!(counters.get("hits").unwrap().expect("it is there").to_document().unwrap(), doc! { "n": 8 });
}

//= spec/update.md#u-6-5-insert-on-conflict
//# An insert on conflict MUST put the given document when the key has none, and otherwise leave the key's
//# document, replace it by the given one, or update it, as was asked.
#[test]
fn an_insert_on_conflict_does_what_it_is_told() {
    let (_db, birds) = birds();
    let change = doc! { "seen": 5 };
    for (on_conflict, expected) in [
        (OnConflict::Skip, doc! { "seen": 1, "places": ["hedge"] }),
        (OnConflict::Update(Changes::merge(&change)), doc! { "seen": 5, "places": ["hedge"] }),
        (OnConflict::Replace, doc! { "new": true }),
    ] {
        birds.insert_on_conflict("wren", doc! { "new": true }, on_conflict).unwrap();
        assert_eq!(wren(&birds), expected);
    }
    for (key, on_conflict) in
        [(1, OnConflict::Skip), (2, OnConflict::Replace), (3, OnConflict::Update(Changes::merge(&change)))]
    {
        let updated = birds.insert_on_conflict(key, doc! { "new": true }, on_conflict).unwrap();
        assert!(!updated.matched() && updated.changed());
        assert_eq!(
            birds.get(key).unwrap().expect("it was inserted").to_document().unwrap(),
            doc! { "new": true }
        );
    }
    // The ids that the store gives come after it (S-4.2).
    assert_eq!(birds.insert(doc! {}).unwrap(), Key::Int(4));
}

//= spec/update.md#u-2-1-all-or-nothing
//# When an operation fails, the patch, merge or update MUST fail as a whole, and change nothing.
//= spec/update.md#u-2-5-documents
//# A patch or an update of a document whose result is no object MUST be refused.
#[test]
fn a_patch_that_fails_leaves_the_document_and_the_transaction_as_they_were() {
    let (db, birds) = birds();
    let before = birds.get("wren").unwrap().expect("it was put").version();
    let half = r#"[{"op":"add","path":"/x","value":1},{"op":"test","path":"/x","value":2}]"#;
    let Err(Error::Update(error)) = birds.patch("wren", &patch(half)) else { panic!("1 is not 2") };
    assert_eq!((error.key, error.operation), (Some(Key::from("wren")), 1));
    for whole in ["[]", "1", "null"] {
        let whole = patch(&format!(r#"[{{"op":"replace","path":"","value":{whole}}}]"#));
        let Err(Error::Update(error)) = birds.patch("wren", &whole) else { panic!("that is no document") };
        assert!(matches!(error.fault, UpdateFault::NoDocument { .. }));
    }
    assert_eq!(birds.get("wren").unwrap().expect("it was put").version(), before);
    db.write(|tx| {
        let birds = tx.collection("birds");
        birds.put("robin", doc! { "seen": 3 })?;
        assert!(birds.patch("robin", &patch(half)).is_err());
        assert!(birds.merge("robin", &doc! { "seen": 4 })?.changed());
        assert_eq!(birds.get("robin")?.expect("it was put").to_document()?, doc! { "seen": 4 });
        Ok::<_, Error>(())
    })
    .unwrap();
    assert_eq!(birds.get("robin").unwrap().expect("it was put").to_document().unwrap(), doc! { "seen": 4 });
}
