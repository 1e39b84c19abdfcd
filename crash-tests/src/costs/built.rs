//! Chapters of indexes: values that are cut in them, builds that are disturbed, and what is said of damage.

use std::ops::ControlFlow;

use holotype::{Collection, Document, Error, IndexDefinition, Key, doc};

use super::asked::Heard;
use super::life::{Life, WORDS, document};
use crate::story::say;

/// One whose text is this long: those of one `kind` differ in what comes at their end alone.
fn cut(kind: i64, end: i64, len: usize) -> Document {
    doc! { "text": format!("{kind}{}{end}", "t".repeat(len)), "n": end }
}

fn definition(name: &str, paths: &[&str]) -> Result<IndexDefinition, String> {
    IndexDefinition::new(name, paths).map_err(say)
}

/// What came of making an index, and which values it names that are there twice.
fn hear_made(life: &mut Life, heard: &mut Heard, made: Result<bool, Error>) {
    if let Err(Error::UniqueViolations { violations, .. }) = &made {
        heard.number(violations.len() as u64);
        for (values, key, other) in violations {
            heard.number(values.len() as u64);
            heard.key(key.as_ref());
            heard.key(other.as_ref());
        }
    }
    life.told(made);
}

fn hear_index(collection: &Collection, name: &str, heard: &mut Heard) -> holotype::Result<()> {
    let index = collection.index(name);
    heard.number(index.count(..)?);
    let mut places = Vec::new();
    for entry in index.range(..)? {
        let entry = entry?;
        heard.key(entry.key().as_ref());
        heard.number(u64::from(entry.is_long()));
        places.push(entry.place().to_vec());
    }
    for place in places.iter().step_by(7) {
        for scan in [index.range(..)?, index.range(..)?.reversed()] {
            heard.number(scan.after(place)?.keys().count() as u64);
        }
    }
    for found in index.range(..)?.reversed().documents() {
        let found = found?;
        heard.document(found.key(), found.version(), found.bytes());
    }
    heard.number(index.check(|problem| heard_problem(&mut places, &problem.to_string()))?);
    heard.number(places.len() as u64);
    Ok(())
}

fn heard_problem(problems: &mut Vec<Vec<u8>>, problem: &str) {
    problems.push(problem.as_bytes().to_vec());
}

/// Texts so long that an index has a part of them alone, in an index that has each once.
pub(super) fn cut_tuples(life: &mut Life) -> Result<(), String> {
    let mut heard = Heard::default();
    let unique = definition("unique", &["$.text"])?.unique();
    let both = definition("both", &["$.text", "-$.n"])?.unique();
    for number in 0..12 {
        for len in [100, 400, 1100] {
            let put = life.db.collection("cut").put(number + 100 * len as i64, cut(number % 4, number, len));
            life.call(put);
        }
    }
    for (number, (key, kind, end, len)) in
        [(1, 1, 1, 1100), (2, 9, 77, 1100), (3, 9, 78, 1100), (4, 9, 77, 400)].into_iter().enumerate()
    {
        let made = life.db.collection("cut").create_index(unique.clone());
        hear_made(life, &mut heard, made);
        if number == 2 {
            let dropped = life.db.collection("cut").drop_index("unique");
            life.told(dropped);
        }
        life.call(life.db.collection("cut").put(key, cut(kind, end, len)));
        // Taken in this very moment, or given back: the same document again, and another one.
        life.call(life.db.collection("cut").put(key + 10, cut(kind, end, len)));
        life.call(life.db.collection("cut").put(key, cut(kind, end + 1000, len)));
        life.call(life.db.collection("cut").put(key, cut(kind, end, len)));
        let Some(transaction) = life.call(life.db.begin_write()) else { return Ok(()) };
        life.told(transaction.collection("cut").delete(key));
        life.call(transaction.collection("cut").put(key + 20, cut(kind, end, len)));
        life.call(transaction.collection("cut").put(key, cut(kind, end, len)));
        life.call(transaction.collection("cut").put(key, cut(kind, end + 2000, len)));
        life.call(transaction.commit());
    }
    let made = life.db.collection("cut").create_index(both);
    hear_made(life, &mut heard, made);
    // Twice the same, and nothing, more often than an error tells of.
    for number in 0..230 {
        life.call(life.db.collection("twice").put(number, cut(number % 115, 5, 1)));
        life.call(life.db.collection("long twice").put(number, cut(number % 115, 5, 1040)));
        life.call(life.db.collection("twice").put(1000 + number, doc! { "n": 1 }));
    }
    for name in ["twice", "long twice"] {
        let made = life.db.collection(name).create_index(unique.clone());
        hear_made(life, &mut heard, made);
        for number in 115..230 {
            life.told(life.db.collection(name).delete(number));
        }
        let made = life.db.collection(name).create_index(unique.clone());
        hear_made(life, &mut heard, made);
    }
    for (name, index) in [("cut", "unique"), ("cut", "both"), ("twice", "unique"), ("long twice", "unique")] {
        let asked = hear_index(&life.db.collection(name), index, &mut heard);
        life.call(asked);
    }
    life.reopen()?;
    for (name, index) in [("cut", "unique"), ("cut", "both"), ("twice", "unique"), ("long twice", "unique")] {
        let asked = hear_index(&life.db.collection(name), index, &mut heard);
        life.call(asked);
        life.told(life.db.drop_collection(name));
    }
    heard.tell(life);
    life.come_to_rest()
}

/// While an index is built, others do what a build has to take note of.
pub(super) fn disturbed(life: &mut Life) -> Result<(), String> {
    let mut heard = Heard::default();
    let by_n = definition("by_n", &["$.n"])?;
    let by_word = definition("by_word", &["$.word", "$.n"])?;
    for number in 0..70 {
        // Long ones, so that few are gone through at a time.
        life.call(life.db.collection("built").put(number, document(number, number as usize % 3 * 900)));
    }
    for disturbance in 0..9 {
        let built = life.db.collection("built");
        let mut steps = 0;
        let (mut said, mut told) = (Vec::new(), Heard::default());
        let made = built.create_index_with(by_n.clone(), disturbance % 2 == 1, |progress| {
            steps += 1;
            told.number(progress.documents);
            told.number(progress.of);
            if steps != 5 && steps != 20 {
                return ControlFlow::Continue(());
            }
            let done = match disturbance {
                0 => built.create_index(by_word.clone()),
                1 => built.drop_index("by_word"),
                2 => built.create_index(by_n.clone()),
                3 => built.replace_index(by_word.clone().with_name("by_n").unwrap_or(by_word.clone())),
                4 => built.clear().map(|()| true),
                5 => life.db.rename_collection("built", "elsewhere"),
                6 => {
                    // One build within another, which ends first; it is cancelled, or not.
                    let mut inner = 0;
                    built.create_index_with(by_word.clone(), true, |_| {
                        inner += 1;
                        let _ = built.put(inner + 300, document(inner, 3));
                        if inner > 9 && steps == 5 {
                            ControlFlow::Break(())
                        } else {
                            ControlFlow::Continue(())
                        }
                    })
                }
                7 => life.db.drop_collection("built"),
                _ => return ControlFlow::Break(()),
            };
            said.push(done.map_err(|error| error.to_string()));
            // Some that were gone through, and some that are to come, change.
            for key in [3, 4, 60, 61, 500, 501] {
                let _ = built.put(key, document(key + 7 * steps, 30));
                let _ = built.delete(key - 1);
            }
            ControlFlow::Continue(())
        });
        hear_made(life, &mut heard, made);
        heard.number(told.sum);
        heard.number(steps as u64);
        said.into_iter().for_each(|said| heard.text(&format!("{said:?}")));
        for number in 0..35 {
            // As before, for the next one.
            life.call(
                life.db.collection("built").put(number * 2, document(number, number as usize % 3 * 700)),
            );
        }
        for index in ["by_n", "by_word"] {
            let asked = hear_index(&life.db.collection("built"), index, &mut heard);
            life.call(asked);
            life.call(life.db.collection("built").drop_index(index));
        }
        life.told(life.db.drop_collection("elsewhere"));
    }
    // More than a collection may have.
    let mut made = 0;
    for number in 0..66 {
        let definition = definition(&format!("index {number}"), &["$.word"])?;
        made += u64::from(life.call(life.db.collection("few").create_index(definition)).is_some());
    }
    life.note("indexes", made);
    life.told(life.db.drop_collection("few"));
    heard.tell(life);
    life.come_to_rest()
}

/// Documents are damaged that an index has entries of: several of each.
pub(super) fn damaged(life: &mut Life) -> Result<(), String> {
    let by_tag = definition("by_tag", &["$.tags[*]", "$.n"])?;
    for number in 0..70_i64 {
        let tags: Vec<holotype::Value> = (0..4).map(|n| WORDS[((number + n) % 7) as usize].into()).collect();
        let put = life
            .db
            .collection("tagged")
            .put(number, doc! { "n": number, "tags": tags, "p": vec![3_u8; 150] });
        life.call(put);
    }
    // The one that an index has first.
    let first = doc! { "n": 0, "tags": ["a"], "p": vec![3_u8; 150] };
    life.call(life.db.collection("tagged").put(200, first));
    life.told(life.db.collection("tagged").create_index(by_tag));
    life.call(life.db.checkpoint());
    life.db.flush().map_err(say)?;
    let mut heard = Heard::default();
    for keys in [&[0, 69][..], &[200], &[5, 6, 7, 8, 9, 10, 200]] {
        let copy = life.file.copy().map_err(say)?;
        let db = life.setup.open(&copy).map_err(say)?;
        for key in keys {
            let at = db.record_offset("tagged", &Key::Int(*key)).ok_or("it is gone")?;
            copy.damage(at + 20).map_err(say)?;
        }
        let tagged = db.collection("tagged");
        let entries = tagged.index("by_tag").check(|problem| heard.text(&problem.to_string()));
        heard.number(life.call(entries).unwrap_or(0));
        // How much was read until it was known.
        heard.number(copy.asked().reads);
        heard.number(copy.asked().read_places);
        heard.number(db.stats().cache_misses);
        let found = tagged.find("@.tags[?@ == 'elm'] && @.n > 30").run().map_err(say)?;
        heard.number(found.filter(Result::is_ok).count() as u64);
        let report = db.verify(true).map_err(say)?;
        report.problems.iter().for_each(|problem| heard.text(&problem.to_string()));
        heard.number(report.entries);
        life.call(tagged.create_index(definition("by_n", &["$.n"])?));
        for key in keys {
            life.told(tagged.delete(*key));
        }
        let entries = tagged.index("by_tag").check(|problem| heard.text(&problem.to_string()));
        heard.number(life.call(entries).unwrap_or(0));
        // Opened anew, where the documents that changed cannot be read as they were.
        life.call(tagged.put(20, document(20, 3)));
        life.call(db.close());
        let again = life.setup.open(&copy);
        let Some(again) = life.call(again) else { continue };
        let entries =
            again.collection("tagged").index("by_tag").check(|problem| heard.text(&problem.to_string()));
        heard.number(life.call(entries).unwrap_or(0));
    }
    heard.tell(life);
    Ok(())
}
