//! Documents changed in a store: one call, one commit.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use holotype::query::Filter;
use holotype::update::{Changes, JsonPatch, UpdateFault};
use holotype::{Collection, Db, Document, Error, IndexDefinition, Key, OnConflict, Update, doc};

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
//# An insert on conflict MUST put the given document when none is in the way. Otherwise it MUST leave all
//# documents as they are, put the given one in the place of all that are in the way, or update the first of
//# them, as was asked.
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

//= spec/update.md#u-6-5-insert-on-conflict
//= type=test
//# In the way of an insert on conflict are the key's document, and those of other keys for which a unique index
//# would refuse the given one (I-3.1); in this order, that in which the indexes were made, in each that of the
//# given document's entries, and for one entry that of their keys.
#[test]
fn documents_of_other_keys_are_in_the_way_where_a_unique_index_says_so() {
    let db = Db::in_memory();
    let users = db.collection("users");
    for (name, path) in [("z", "$.mail"), ("a", "$.name")] {
        let index = IndexDefinition::new(name, [path]).unwrap().unique();
        users.create_index(index).unwrap();
    }
    let (ada, bob, new) = (
        doc! { "name": "Ada", "mail": "a@x" },
        doc! { "name": "Bob", "mail": "b@x" },
        doc! { "name": "Ada", "mail": "b@x" },
    );
    let all =
        || users.scan(..).unwrap().map(|found| found.unwrap().to_document().unwrap()).collect::<Vec<_>>();
    users.put_many([(1, &ada), (2, &bob)]).unwrap();
    for key in [3, 1] {
        let skipped = users.insert_on_conflict(key, &new, OnConflict::Skip).unwrap();
        assert!(skipped.matched() && !skipped.changed());
        // The index of mails was made before that of names, and the key comes before both.
        let first = if key == 1 { &ada } else { &bob };
        assert_eq!(skipped.before().expect("it is in the way").to_document().unwrap(), *first);
        assert_eq!(all(), [ada.clone(), bob.clone()]);
    }
    let change = doc! { "name": "Bo" };
    let updated = users.insert_on_conflict(3, &new, OnConflict::Update(Changes::merge(&change))).unwrap();
    assert!(updated.matched() && updated.changed());
    assert_eq!(all(), [ada.clone(), doc! { "name": "Bo", "mail": "b@x" }]);
    // What comes of an update is held to the indexes as any write.
    let change = doc! { "name": "Ada" };
    let refused = users.insert_on_conflict(3, &new, OnConflict::Update(Changes::merge(&change)));
    assert!(matches!(refused, Err(Error::UniqueViolation { key: Key::Int(1), .. })), "{refused:?}");
    assert!(matches!(
        users.update_or_insert(3, Changes::merge(&change), || &new),
        Err(Error::UniqueViolation { .. })
    ));
    assert_eq!(users.len().unwrap(), 2);
    let replaced = users.insert_on_conflict(3, &new, OnConflict::Replace).unwrap();
    assert!(replaced.matched() && replaced.changed());
    assert_eq!(all(), std::slice::from_ref(&new));
    db.write(|tx| {
        let users = tx.collection("users");
        assert!(!users.insert_on_conflict(1, &new, OnConflict::Skip)?.changed());
        users.insert_on_conflict(1, &new, OnConflict::Replace)?;
        users.insert_on_conflict(2, &ada, OnConflict::Skip).map(drop)
    })
    .unwrap();
    assert_eq!(users.get(1).unwrap().expect("it was put").to_document().unwrap(), new);
    let tagged = db.collection("tagged");
    tagged.create_index(IndexDefinition::new("tags", ["$.tags[*]"]).unwrap().unique()).unwrap();
    tagged.put_many([(1, doc! { "tags": ["b"] }), (2, doc! { "tags": ["a"] })]).unwrap();
    let skipped = tagged.insert_on_conflict(3, doc! { "tags": ["b", "a"] }, OnConflict::Skip).unwrap();
    assert_eq!(skipped.before().expect("it is in the way").to_document().unwrap(), doc! { "tags": ["a"] });
    assert!(db.verify(true).unwrap().is_clean());
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

//= spec/update.md#u-5-3-nothing-there
//= type=test
//# `unset`, `rename`, `pop` and `pull` of nothing change nothing.
#[test]
fn what_leads_through_nothing_is_nothing() {
    let (_db, birds) = birds();
    let through_nothing = Update::new()
        .unset("$.tags[0]")
        .unset("$.tags[0].of")
        .pull("$.tags[-1]", 1)
        .pop("$.tags[0].of[2]")
        .rename("$.tags[0].of", "off");
    assert!(!birds.update("wren", through_nothing).unwrap().changed());
    for creates in [Update::new().set("$.tags[0]", 1), Update::new().push("$.tags.of[0]", 1)] {
        assert!(matches!(birds.update("wren", creates), Err(Error::Update(_))));
    }
    // It is the first step that leads nowhere which is told.
    let Err(Error::Update(error)) = birds.update("wren", Update::new().set("$.tags[0].of[1]", 1)) else {
        panic!("an index in what is not there")
    };
    assert!(matches!(error.fault, UpdateFault::NoSuchPlace { ref at, .. } if at == "$.tags[0]"), "{error}");
}

//= spec/update.md#u-5-2-paths
//= type=test
//# A path of another form MUST be refused with the byte at which it goes wrong.
#[test]
fn a_path_that_is_none_is_refused_whether_or_not_there_is_a_document() {
    let (_db, birds) = birds();
    let wrong = Update::new().set("$.seen[", 1);
    let nothing = Filter::parse("@.seen > 100").unwrap();
    let conflict = OnConflict::Update((&wrong).into());
    for refused in [
        birds.update("robin", &wrong).map(drop),
        birds.update_or_insert("robin", &wrong, || doc! {}).map(drop),
        birds.insert_on_conflict("robin", doc! {}, conflict).map(drop),
        birds.update_many(&nothing, &wrong).map(drop),
        birds.batches_of(1).update_many(&nothing, &wrong).map(drop).map_err(Error::from),
    ] {
        assert!(matches!(refused, Err(Error::InvalidPath { .. })), "{refused:?}");
    }
    assert_eq!(birds.len().unwrap(), 1);
}

//= spec/update.md#u-2-2-errors
//= type=test
//# Where a call has several patches, merges and updates, the numbers MUST go on from one to the next.
#[test]
fn operations_of_a_call_are_counted_through() {
    let (_db, birds) = birds();
    let (patch, merge) =
        (JsonPatch::parse(r#"[{"op":"add","path":"/a","value":1}]"#).unwrap(), doc! { "b": 2 });
    let set = Update::new().set("$.c", 1).inc("$.places", 1);
    let changes = Changes::from(&patch).then(Changes::merge(&merge)).then(&set);
    let Err(Error::Update(error)) = birds.update("wren", changes) else { panic!("places are no number") };
    assert_eq!((error.operation, error.name, error.path.as_str()), (3, "inc", "$.places"));
}

#[test]
fn two_documents_of_one_call_are_told_of_as_two() {
    let db = Db::in_memory();
    let users = db.collection("users");
    users.create_index(IndexDefinition::new("mail", ["$.mail"]).unwrap().unique()).unwrap();
    users.put_many([(1, doc! { "mail": "a" }), (2, doc! { "mail": "b" })]).unwrap();
    let refused = users.update_many(&Filter::parse("@").unwrap(), Update::new().set("$.mail", "c"));
    let message = refused.unwrap_err().to_string();
    assert!(message.contains(r#"would have ["c"] twice, once of the document 2"#), "{message}");
}
