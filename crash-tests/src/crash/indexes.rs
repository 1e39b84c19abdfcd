//! The steps that sequences with indexes are made of.

use holotype_model::index::{DefinitionText, PathText};
use holotype_model::{Document, Durability, Key, Op, Value};

use super::alphabet::{delete, number, put};
use crate::live::Step;

/// Bytes of a text whose tuple is long in the smallest index records, and which two documents begin alike with.
const LONG: usize = 100;

fn definition(paths: &[(&str, bool)], unique: bool) -> DefinitionText {
    let path =
        |(path, descending): &(&str, bool)| PathText { path: (*path).to_owned(), descending: *descending };
    DefinitionText { paths: paths.iter().map(path).collect(), unique, ..DefinitionText::default() }
}

fn long(end: &str) -> Document {
    let text = format!("{}{end}", "l".repeat(LONG));
    Document::from([("n".to_owned(), Value::from(text.as_str()))])
}

/// Creations, replacements with a write in their midst, and ends of indexes; writes beside them, of which some are refused; and what carries the entries over
/// to the next life: a checkpoint, and the log after it.
pub fn indexes() -> Vec<Step> {
    let durability = Durability::Synced;
    let (collection, index) = (|| "a".to_owned(), || "i".to_owned());
    let create =
        |definition| Op::CreateIndex { collection: collection(), index: index(), definition, durability };
    let inside = |op| Op::Inside(Box::new(op));
    let put_op =
        |key: &str, document| Op::Put { collection: collection(), key: Key::from(key), document, durability };
    vec![
        Step::Do(create(definition(&[("$.n", false)], true))),
        put("x", number(1), durability),
        put("y", number(1), Durability::Buffered),
        put("y", long("a"), durability),
        Step::Do(Op::Checkpoint),
        Step::DuringBuild {
            op: Op::ReplaceIndex {
                collection: collection(),
                index: index(),
                definition: DefinitionText {
                    filter: Some("@.n".to_owned()),
                    ..definition(&[("length($.n)", true), ("$.m[*]", false)], false)
                },
                durability,
            },
            steps: vec![put("w", number(3), Durability::Written)],
            is_cancelled: false,
        },
        delete("x"),
        Step::Do(Op::ClearCollection { collection: collection(), durability }),
        Step::Do(Op::DropIndex { collection: collection(), index: index(), durability }),
        Step::All(vec![
            Op::Begin,
            inside(put_op("x", number(2))),
            inside(put_op("z", long("b"))),
            Op::Commit { durability },
        ]),
    ]
}
