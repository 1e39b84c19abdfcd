//! Each advice is given by some error, and whoever follows it gets through.

use std::sync::Arc;
use std::time::Duration;

use holotype::document::{JsonMode, RawDocument, json};
use holotype::query::Filter;
use holotype::storage::sim::{CallKind, FaultKind, FaultPlan, Nth, SimDisk};
use holotype::storage::{MemoryStorage, Storage};
use holotype::update::JsonPatch;
use holotype::{Background, Db, Document, Durability, Error, Hint, IndexDefinition, Options, doc};

#[path = "../src/error/advice.rs"]
mod table;
use table::Advice;

/// How an advice is carried out. An advice that is added to the table needs an arm here before anything compiles.
fn followed(advice: Advice) -> fn() {
    match advice {
        Advice::CheckPath => a_store_under_another_name,
        Advice::UseItsVersion => the_version_that_wrote_it,
        Advice::ExportThere => exported_by_the_version_that_wrote_it,
        Advice::CloseElsewhere => closed_there_or_read_in_both,
        Advice::CreateAnew => created_anew,
        Advice::FreeSpace => space_is_freed,
        Advice::Reopen => reopened,
        Advice::OpenForWriting => opened_for_writing,
        Advice::WaitOrWriteWithin => written_within,
        Advice::TakeNewSnapshot => a_new_snapshot,
        Advice::CommitInParts => committed_in_parts,
        Advice::ReadAgain => read_again,
        Advice::ResumeAtOldest => resumed_at_the_oldest,
        Advice::BeginFromSnapshot => begun_from_a_snapshot,
        Advice::GiveKeys => keys_are_given,
        Advice::LongerSegments => segments_are_longer,
        Advice::WriteLess => less_is_written,
        Advice::WriteFloatOrText => a_float_or_a_text,
        Advice::EscapeIt => escaped,
        Advice::PutIntoLiteral => put_into_a_literal,
        Advice::CompareEach => each_is_compared,
        Advice::AskWhetherAny => any_is_asked_for,
        Advice::WriteThis => this_is_written,
        Advice::DeleteByKey => deleted_by_its_key,
        Advice::LeaveHintOut => the_hint_is_left_out,
    }
}

#[test]
fn every_advice_is_given_and_helps() {
    for advice in Advice::ALL {
        println!("{advice}");
        followed(*advice)();
    }
}

/// The call failed, with this advice in its message.
#[track_caller]
fn told<T: std::fmt::Debug>(advice: Advice, result: Result<T, Error>) -> Error {
    let error = result.expect_err("it is refused");
    assert!(error.to_string().ends_with(&format!("; {advice}")), "{error}");
    assert!(!error.condition().to_string().contains(advice.text()), "{error}");
    error
}

fn manual() -> Options {
    Options::new().background(Background::Manual)
}

fn in_memory(options: &Options) -> Db {
    Db::open_on(MemoryStorage::new(), options).expect("memory refuses nothing")
}

fn on(disk: &Arc<MemoryStorage>, options: &Options) -> Result<Db, Error> {
    Db::open_on(Arc::clone(disk), options)
}

fn put(db: &Db) -> Result<(), Error> {
    db.collection("notes").put("a", doc! { "n": 1 }).map(drop)
}

fn a_store_under_another_name() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("letter");
    std::fs::write(&path, "a letter to a friend").expect("there is room");
    told(Advice::CheckPath, Db::open(&path));
    put(&Db::open(directory.path().join("notes")).expect("the name is free")).expect("it is a store");
    assert_eq!(std::fs::read(&path).expect("it is there"), b"a letter to a friend");
}

/// A store with one document, whose slots are given these bytes.
fn with_slots(at: usize, bytes: &[u8], disk: &Arc<MemoryStorage>) {
    use holotype::format::superblock::{SLOT_LEN, SLOT_OFFSETS};
    for offset in SLOT_OFFSETS {
        let mut slot = [0; SLOT_LEN];
        disk.read_at(offset, &mut slot).expect("memory refuses nothing");
        slot[at..at + bytes.len()].copy_from_slice(bytes);
        let crc = holotype::format::checksum::crc(&slot[..SLOT_LEN - 4]);
        slot[SLOT_LEN - 4..].copy_from_slice(&crc.to_le_bytes());
        disk.write_at(offset, &slot).expect("memory refuses nothing");
    }
}

/// The version that wrote the file knows the feature; here the feature goes.
fn the_version_that_wrote_it() {
    let disk = Arc::new(MemoryStorage::new());
    put(&on(&disk, &manual()).expect("a new store")).expect("there is room");
    with_slots(16, &(1u64 << 40).to_le_bytes(), &disk);
    told(Advice::UseItsVersion, on(&disk, &manual()));
    with_slots(16, &[0; 8], &disk);
    let db = on(&disk, &manual()).expect("a version that knows it");
    assert!(db.collection("notes").contains("a").expect("it can be read"));
}

/// The version that wrote the file reads its format; here the file is of this one again.
fn exported_by_the_version_that_wrote_it() {
    let disk = Arc::new(MemoryStorage::new());
    put(&on(&disk, &manual()).expect("a new store")).expect("there is room");
    with_slots(8, &1u16.to_le_bytes(), &disk);
    told(Advice::ExportThere, on(&disk, &manual()));
    with_slots(8, &holotype::format::superblock::FORMAT_MAJOR.to_le_bytes(), &disk);
    let from = on(&disk, &manual()).expect("a version that reads it");
    let to = in_memory(&manual());
    for found in from.collection("notes").scan(..).expect("it can be read") {
        let found = found.expect("it is sound");
        let (key, document) = (found.key().to_key(), found.to_document().expect("it is sound"));
        let mut text = String::new();
        json::write_entry(&key, &document, JsonMode::Canonical, &mut text);
        let (key, document) = json::parse_entry(text.as_bytes()).expect("it was written so");
        to.collection("notes").put(key, document).expect("there is room");
    }
    assert!(to.collection("notes").contains("a").expect("it can be read"));
}

fn closed_there_or_read_in_both() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("notes");
    let first = Db::open(&path).expect("a new store");
    told(Advice::CloseElsewhere, Db::open(&path));
    drop(first);
    drop(Db::open(&path).expect("nobody has it"));
    let read_only = Options::new().read_only(true);
    let both = [Db::open_with(&path, &read_only), Db::open_with(&path, &read_only)];
    assert!(both.iter().all(Result::is_ok), "{both:?}");
}

fn created_anew() {
    let disk = Arc::new(MemoryStorage::new());
    disk.set_len(65_536).expect("memory refuses nothing");
    told(Advice::CreateAnew, on(&disk, &manual().read_only(true)));
    put(&on(&disk, &manual()).expect("it is created anew")).expect("there is room");
}

fn full() -> Db {
    let db = in_memory(&manual().segment_bytes(4096).max_file_bytes(57_344));
    let notes = db.collection("notes").with_durability(Durability::Written);
    while notes.insert(doc! { "text": "x".repeat(200) }).is_ok() {}
    db
}

fn space_is_freed() {
    let db = full();
    let more = || db.collection("notes").insert(doc! { "text": "x".repeat(200) });
    told(Advice::FreeSpace, more());
    for id in 1..=40 {
        db.collection("notes").delete(id).expect("deletes have room");
    }
    db.compact().expect("nothing hinders it");
    more().expect("there is room again");
}

fn reopened() {
    let disk = Arc::new(SimDisk::seeded(1));
    let db = Db::open_on(Arc::clone(&disk), &manual()).expect("a new store");
    put(&db).expect("there is room");
    disk.set_faults(FaultPlan::none().from(Nth::Of(CallKind::Sync, 0), FaultKind::Io));
    assert!(put(&db).is_err());
    disk.set_faults(FaultPlan::none());
    told(Advice::Reopen, put(&db));
    drop(db);
    put(&Db::open_on(disk, &manual()).expect("it recovers")).expect("it writes again");
}

fn opened_for_writing() {
    let disk = Arc::new(MemoryStorage::new());
    put(&on(&disk, &manual()).expect("a new store")).expect("there is room");
    told(Advice::OpenForWriting, put(&on(&disk, &manual().read_only(true)).expect("a store")));
    put(&on(&disk, &manual()).expect("a store")).expect("it writes");
}

fn written_within() {
    let db = in_memory(&manual().write_wait(Duration::ZERO));
    let transaction = db.begin_write().expect("nobody writes");
    told(Advice::WaitOrWriteWithin, put(&db));
    transaction.collection("notes").put("a", doc! {}).expect("written within");
    transaction.commit().expect("there is room");
    put(&db).expect("waited for");
}

fn a_new_snapshot() {
    let age = Duration::from_secs(1);
    let db = in_memory(&manual().snapshot_max_age(age));
    put(&db).expect("there is room");
    let snapshot = db.snapshot();
    std::thread::sleep(age + age / 8);
    put(&db).expect("there is room");
    told(Advice::TakeNewSnapshot, snapshot.collections());
    assert_eq!(db.snapshot().collections().expect("it is new"), ["notes"]);
}

fn committed_in_parts() {
    let disk = Arc::new(MemoryStorage::new());
    let db = on(&disk, &manual().transaction_bytes(20_000)).expect("a new store");
    let long = doc! { "b": vec![0_u8; 15_000] };
    let both = || db.write(|tx| tx.collection("notes").insert_many([&long, &long]));
    told(Advice::CommitInParts, both());
    for _ in 0..2 {
        db.write(|tx| tx.collection("notes").insert(&long)).expect("one at a time");
    }
    drop(db);
    let db = on(&disk, &manual().transaction_bytes(200_000)).expect("a store");
    db.write(|tx| tx.collection("notes").insert_many([&long, &long])).expect("the limit is raised");
}

fn read_again() {
    let db = in_memory(&manual());
    put(&db).expect("there is room");
    let notes = db.collection("notes");
    let version = || notes.get("a").expect("it can be read").expect("it is there").version();
    let seen = version();
    put(&db).expect("there is room");
    told(Advice::ReadAgain, notes.replace_if("a", seen, doc! {}));
    notes.replace_if("a", version(), doc! {}).expect("nobody came in between");
    notes.delete("a").expect("there is room");
    told(Advice::ReadAgain, notes.replace_if("a", seen, doc! {}));
}

/// A store whose first commits are not in its log any more.
fn cleaned() -> Db {
    let db = in_memory(&manual().sector(64).segment_bytes(512).checkpoint_bytes(2048));
    for n in 0..300 {
        db.collection("notes").put(n % 10, doc! { "n": n }).expect("there is room");
    }
    db.compact().expect("nothing hinders it");
    db
}

fn resumed_at_the_oldest() {
    let db = cleaned();
    let error = told(Advice::ResumeAtOldest, db.watch(0).map(drop));
    let Error::LsnGone { oldest, .. } = error else { panic!("{error}") };
    db.watch(oldest).expect("the log is whole from there");
    db.watch(db.snapshot().lsn()).expect("and from a snapshot");
}

fn begun_from_a_snapshot() {
    let db = in_memory(&manual());
    put(&db).expect("there is room");
    told(Advice::BeginFromSnapshot, db.watch(u64::MAX).map(drop));
    let snapshot = db.snapshot();
    assert_eq!(snapshot.collections().expect("it can be read"), ["notes"]);
    let mut watch = db.watch(snapshot.lsn()).expect("it is a commit's");
    put(&db).expect("there is room");
    assert!(watch.try_next().expect("it can be read").is_some());
}

fn keys_are_given() {
    let db = in_memory(&manual());
    let notes = db.collection("notes");
    notes.put(i64::MAX, doc! {}).expect("there is room");
    told(Advice::GiveKeys, notes.insert(doc! {}));
    notes.insert_with_key(5, doc! {}).expect("the key is free");
}

fn segments_are_longer() {
    let long = "k".repeat(1024);
    let put = |segment_bytes| {
        let notes = in_memory(&manual().segment_bytes(segment_bytes)).collection("notes");
        notes
            .create_index(IndexDefinition::new("by_n", ["$.n"]).expect("a definition"))
            .expect("there is room");
        notes.put(&*long, doc! { "n": 1 })
    };
    told(
        Advice::LongerSegments,
        put(4096).map_err(|error| {
            assert!(matches!(error, Error::KeyTooLong { len: 1024, max } if max < 1024), "{error:?}");
            error
        }),
    );
    put(16_384).expect("the key has room");
}

fn less_is_written() {
    let db = in_memory(&manual().sector(64).segment_bytes(512));
    let documents: Vec<Document> = (0..30_000).map(|_| doc! { "b": vec![0_u8; 300] }).collect();
    told(Advice::WriteLess, db.collection("notes").insert_many(&documents));
    for few in documents[..200].chunks(100) {
        db.collection("notes").insert_many(few).expect("they are few");
    }
}

#[track_caller]
fn told_of_json(advice: Advice, text: &str) {
    let error = json::parse_document(text.as_bytes()).expect_err("it is refused");
    assert!(error.to_string().ends_with(&format!("; {advice}")), "{error}");
}

#[track_caller]
fn reads(text: &str) -> Document {
    json::parse_document(text.as_bytes()).expect("it is a document")
}

fn a_float_or_a_text() {
    told_of_json(Advice::WriteFloatOrText, "{\"n\":9223372036854775808}");
    told_of_query(Advice::WriteFloatOrText, "@.n == 9223372036854775808");
    for helps in ["@.n == 9223372036854775808.0", "@.n == '9223372036854775808'"] {
        Filter::parse(helps).expect("it helps");
    }
    assert!(reads("{\"n\":9223372036854775808.0}").get("n").is_some_and(|n| n.as_f64().is_some()));
    assert!(reads("{\"n\":\"9223372036854775808\"}").get("n").is_some_and(|n| n.as_str().is_some()));
}

fn escaped() {
    told_of_json(Advice::EscapeIt, "{\"n\":\"\t\"}");
    told_of_query(Advice::EscapeIt, "@.n == '\t'");
    Filter::parse("@.n == '\\t'").expect("it helps");
    assert_eq!(reads("{\"n\":\"\\t\"}").get("n").and_then(|n| n.as_str()), Some("\t"));
}

/// The query is refused with this advice.
#[track_caller]
fn told_of_query(advice: Advice, text: &str) -> String {
    let error = Filter::parse(text).expect_err("it is refused").to_string();
    assert!(error.contains(&format!("; {advice}")), "{error}");
    error
}

/// What a message shows in its last backticks.
fn shown(message: &str) -> &str {
    message.rsplit('`').nth(1).expect("it shows something")
}

fn each_is_compared() {
    let message = told_of_query(Advice::CompareEach, "@.n[0, 1] == 7");
    let selector = shown(&message);
    let filter = Filter::parse(&format!("@.n{selector}")).expect("it helps");
    assert!(filter.matches(RawDocument::from_bytes(&reads("{\"n\":[1,7]}").encode()).unwrap()).unwrap());
}

fn any_is_asked_for() {
    let message = told_of_query(Advice::AskWhetherAny, "@.n[*].m == 7");
    let filter = Filter::parse(shown(&message)).expect("it helps");
    assert!(
        filter.matches(RawDocument::from_bytes(&reads("{\"n\":[{},{\"m\":7}]}").encode()).unwrap()).unwrap()
    );
}

fn this_is_written() {
    let document = reads("{\"n\":7,\"s\":\"it's\",\"Age\":7,\"name\":\"a\"}").encode();
    for (written_so, in_the_place_of) in [
        ("@.n {} 7", "="),
        ("@.n {} 7", "==="),
        ("@.n {} 8", "<>"),
        ("'it\\'s' {} @.s", "="),
        ("(@.n {} 7)", "="),
        ("@.n > 1 {} @.n < 9", "and"),
        ("@.n > 9 {} @.s", "OR"),
        ("{} @.x", "not"),
        ("@.n {} 7", "is"),
        ("{} == 7", "n"),
        ("@.n == {}", "Age"),
        ("@.s == 'it{}s'", "''"),
    ] {
        let text = written_so.replace("{}", in_the_place_of);
        let message = told_of_query(Advice::WriteThis, &text);
        let filter = Filter::parse(&written_so.replace("{}", shown(&message)));
        let filter = filter.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(filter.matches(RawDocument::from_bytes(&document).unwrap()).unwrap(), "{text}");
    }
    for text in ["@.n in (1, 2)", "@.n BETWEEN 1 AND 9", "@.name like 'a%'"] {
        Filter::parse(shown(&told_of_query(Advice::WriteThis, text))).expect("it helps");
    }
    // What no expression is due for is no word of another language.
    for text in ["@.n[1 = 2]", "@.=", "@.n == 7 nothing"] {
        let error = Filter::parse(text).expect_err("it is refused").to_string();
        assert!(!error.contains(Advice::WriteThis.text()), "{error}");
    }
}

fn put_into_a_literal() {
    told_of_json(Advice::PutIntoLiteral, "{\"a\":1,\"$literal\":{}}");
    let document = reads("{\"$literal\":{\"a\":1,\"$literal\":{}}}");
    assert_eq!(document.len(), 2, "{}", document.to_json(JsonMode::Relaxed));
}

fn deleted_by_its_key() {
    let db = in_memory(&manual());
    put(&db).expect("there is room");
    let patch = JsonPatch::parse("[{\"op\":\"remove\",\"path\":\"\"}]").expect("a patch");
    let whole = holotype::Value::Object(reads("{\"n\":1}"));
    let error = patch.apply(&whole).expect_err("nothing would be left");
    assert!(error.to_string().contains(&format!("; {}", Advice::DeleteByKey)), "{error}");
    assert!(db.collection("notes").delete("a").expect("there is room"));
}

fn the_hint_is_left_out() {
    let db = in_memory(&manual());
    put(&db).expect("there is room");
    let notes = db.collection("notes");
    notes.create_index(IndexDefinition::new("bird", ["$.bird"]).expect("one")).expect("there is room");
    let query = notes.find("@.n >= 0");
    told(Advice::LeaveHintOut, query.clone().hint(Hint::Index("bird".into())).count());
    assert_eq!(query.clone().count().expect("by the keys"), 1);
    assert_eq!(query.hint(Hint::Scan).count().expect("by the keys"), 1);
}
