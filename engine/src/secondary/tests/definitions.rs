//! Which definitions there are, and how they look as maps.

use proptest::prelude::*;

use super::*;
use crate::doc;
use crate::error::Error;
use crate::secondary::MapFault;

/// What is wrong with an index over these paths.
fn refused(paths: &[&str]) -> String {
    match IndexDefinition::new("i", paths) {
        Err(Error::InvalidIndex { index, what }) if index == "i" => what,
        other => panic!("{paths:?}: {other:?}"),
    }
}

//= spec/index.md#i-1-1-definition
//= type=test
//# A definition that breaks a clause of this section MUST be refused as `InvalidIndex`.
//= spec/index.md#i-1-2-paths-of-an-index
//= type=test
//# A definition MUST NOT have one path twice.
//= spec/index.md#i-1-3-fan-out
//= type=test
//# All paths of a definition that have a fan-out MUST have the same.
#[test]
fn what_no_index_can_be_over_is_refused() {
    let paths: Vec<String> = (0..17).map(|number| format!("$.f{number}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    IndexDefinition::new("i", &paths[..16]).expect("16 paths");
    assert_eq!(refused(&paths), "an index has from 1 to 16 paths");
    assert_eq!(refused(&[]), "an index has from 1 to 16 paths");
    assert_eq!(refused(&["$"]), "$: a path of an index leads into the document");
    for path in ["$..a", "$..*", "$.a[0, 1]", "$[?@.a]", "$.a[1:2]", "$.a[0:2:2].b", "$['a', 'b']"] {
        let what = refused(&[path]);
        assert!(
            what.ends_with("has only names, indexes and wildcards, one behind the other"),
            "{path}: {what}"
        );
    }
    let twice = "$.a.b: an index has no path twice";
    assert_eq!(refused(&["$.a.b", "$['a']['b']"]), twice);
    assert_eq!(refused(&["$.a.b", "-$.a.b"]), twice, "in two directions is twice too");
    for paths in [["$.a[*]", "$.b[*]"], ["$.a[*].x", "$.a[*].y[*]"], ["$.a[*]", "$[*].a"]] {
        let what = refused(&paths);
        assert!(
            what.ends_with("that have a wildcard are the same up to their last one"),
            "{paths:?}: {what}"
        );
    }
    for paths in [["$.a[*].x", "$.a[*].y"], ["$.a[*]", "$.a[*].x"], ["$.a[*].x", "$.a[0].x"], ["$[*]", "$.a"]]
    {
        IndexDefinition::new("i", paths).expect("one fan-out");
    }
}

#[test]
fn a_name_is_one_that_a_collection_could_have() {
    for name in ["", "$index", &"n".repeat(256)] {
        let refused = [IndexDefinition::new(name, ["$.a"]), index(&["$.a"]).with_name(name)];
        for refused in refused {
            assert!(matches!(refused, Err(Error::InvalidIndex { .. })), "{name:?}: {refused:?}");
        }
    }
    let longest = "n".repeat(255);
    assert_eq!(index(&["$.a"]).with_name(&longest).expect("a name").name(), longest);
}

#[test]
fn a_mistake_in_a_path_has_its_place() {
    let place = |path: &str| match IndexDefinition::new("i", [path]) {
        Err(Error::Query { offset, .. } | Error::QueryTooDeep { offset, .. }) => offset,
        other => panic!("{path}: {other:?}"),
    };
    for path in ["", "a", "$.", "$.a[", "$[?@.a ==]"] {
        assert_eq!(place(&format!("-{path}")), place(path) + 1, "{path}");
    }
    let deep = format!("$[?{}1{} == 1]", "(".repeat(100), ")".repeat(100));
    assert_eq!(place(&format!("-{deep}")), place(&deep) + 1);
}

#[test]
fn a_definition_says_what_it_was_made_of() {
    let definition = index(&["-$['a']", "$.b[0]"]).unique().sparse();
    assert!(definition.is_unique() && definition.is_sparse());
    let paths: Vec<_> = definition.paths().map(|(path, descending)| (path.to_string(), descending)).collect();
    assert_eq!(paths, [("$.a".to_owned(), true), ("$.b[0]".to_owned(), false)]);
    let map = doc! { "name": "i", "on": ["-$.a", "$.b[0]"], "unique": true, "sparse": true };
    assert_eq!(definition.to_document(), map);
    assert_eq!(index(&["$.a"]).to_document(), doc! { "name": "i", "on": ["$.a"] });
    assert_ne!(index(&["$.a"]), index(&["-$.a"]));
    assert_ne!(index(&["$.a"]), index(&["$.a"]).unique());
}

proptest! {
    #[test]
    fn a_definition_comes_back_from_its_map(definition in definitions(), unique in any::<bool>(), name in "[^$].{0,20}") {
        let definition = definition.with_name(name).expect("a name");
        let definition = if unique { definition.unique() } else { definition };
        let map = definition.to_document();
        prop_assert_eq!(&IndexDefinition::from_document(&map).expect("a definition"), &definition);
        let (decoded, kept) = IndexDefinition::decode(&definition.to_stored()).expect("a definition");
        prop_assert_eq!(decoded, definition);
        prop_assert!(kept.is_empty());
    }
}

#[test]
fn functions_stand_in_the_paths_of_a_user_and_apart_in_the_file() {
    let definition = index(&["$.n", "-fold($['n'])", "time($.a[*].at)"]);
    let map = definition.to_document();
    assert_eq!(map, doc! { "name": "i", "on": ["$.n", "-fold($.n)", "time($.a[*].at)"] });
    assert_eq!(IndexDefinition::from_document(&map).expect("a definition"), definition);
    let stored = doc! {
        "name": "i", "on": ["$.n", "-$.n", "$.a[*].at"], "by": [null, "fold", "time"], "required": ["by"],
    };
    assert_eq!(definition.to_stored(), stored);
    let (decoded, kept) = IndexDefinition::decode(&stored).expect("a definition");
    assert_eq!((decoded, kept), (definition, doc! { "required": ["by"] }));
    for wrong in ["upper($.n)", "fold($.n", "fold( $.n)", "fold(@.n)", "fold(fold($.n))", "fold()"] {
        let mistake = IndexDefinition::new("i", [wrong]);
        assert!(matches!(mistake, Err(Error::Query { .. })), "{wrong}: {mistake:?}");
    }
    for wrong in ["-upper($.n)", "-fold($.n"] {
        let mistake = IndexDefinition::new("i", [wrong]).expect_err("it is none").to_string();
        assert!(mistake.contains("byte 1: ") && mistake.contains("fold, lower, time or length"), "{mistake}");
    }
    let mistake = IndexDefinition::new("i", ["-fold($.n.)"]);
    assert!(matches!(mistake, Err(Error::Query { offset: 10, .. })), "{mistake:?}");
    let twice = IndexDefinition::new("i", ["fold($.n)", "-fold($.n)"]);
    assert!(matches!(twice, Err(Error::InvalidIndex { .. })), "{twice:?}");
}

//= spec/index.md#i-1-6-filters
//= type=test
//# The filter of an index MUST NOT call `arg`, `key`, `match` or `search`.
//= spec/index.md#i-1-6-filters
//= type=test
//# A text that is no such filter MUST be refused as say, with the place of the mistake.
#[test]
fn a_filter_is_of_the_document_alone_and_stands_in_the_file_in_its_normal_form() {
    let filtered = |filter: &str| index(&["fold($.n)"]).filtered(filter);
    let definition = filtered(" @['a']>1&&!@.b ").expect("a filter");
    let map = definition.to_document();
    assert_eq!(map, doc! { "name": "i", "on": ["fold($.n)"], "where": "@.a > 1 && !@.b" });
    assert_eq!(IndexDefinition::from_document(&map).expect("a definition"), definition);
    let stored = doc! {
        "name": "i", "on": ["$.n"], "by": ["fold"], "where": "@.a > 1 && !@.b", "required": ["by", "where"],
    };
    assert_eq!(definition.to_stored(), stored);
    assert_eq!(IndexDefinition::decode(&stored).expect("a definition").0, definition);
    assert_ne!(definition, index(&["fold($.n)"]));
    assert_ne!(definition, filtered("!@.b && @.a > 1").expect("a filter"));
    for (wrong, place) in [
        ("@.a ==", 6),
        ("@.a == arg('x')", 7),
        ("@.a && @.b[?@ == key()]", 17),
        ("!match(@.a, 'x')", 1),
        ("search (@.a, 'x')", 0),
        ("@.a || search(@.a, @.b)", 7),
    ] {
        let mistake = filtered(wrong);
        assert!(
            matches!(mistake, Err(Error::Query { offset, .. }) if offset == place),
            "{wrong}: {mistake:?}"
        );
        let mut stored = stored.clone();
        stored.insert("where", wrong);
        assert!(matches!(IndexDefinition::decode(&stored), Err(MapFault::Malformed(_))), "{wrong}");
    }
    let deep = format!("{}@.a{}", "(".repeat(65), ")".repeat(65));
    assert!(matches!(filtered(&deep), Err(Error::QueryTooDeep { offset: 64, .. })));
    for (key, value) in [("where", Value::from(1)), ("required", Value::from(vec![Value::from("by")]))] {
        let mut stored = stored.clone();
        stored.insert(key, value);
        assert!(matches!(IndexDefinition::decode(&stored), Err(MapFault::Malformed(_))), "{key}");
    }
    let map = doc! { "name": "i", "on": ["$.n"], "where": true };
    assert!(matches!(IndexDefinition::from_document(&map), Err(Error::InvalidIndex { .. })));
}

#[test]
fn a_map_of_a_user_is_taken_at_its_word_and_nothing_more() {
    let definition = doc! { "name": "i", "on": ["$['a']"], "unique": false, "sparse": true };
    assert_eq!(IndexDefinition::from_document(&definition).expect("a definition"), index(&["$.a"]).sparse());
    for (map, said) in [
        (doc! { "on": ["$.a"] }, "no text under \"name\""),
        (doc! { "name": 1, "on": ["$.a"] }, "no text under \"name\""),
        (doc! { "name": "i" }, "no array of texts under \"on\""),
        (doc! { "name": "i", "on": "$.a" }, "no array of texts under \"on\""),
        (doc! { "name": "i", "on": ["$.a", 1] }, "no array of texts under \"on\""),
        (doc! { "name": "i", "on": [] }, "an index has from 1 to 16 paths"),
        (doc! { "name": "i", "on": ["$.a"], "unique": 1 }, "\"unique\" is neither true nor false"),
        (doc! { "name": "i", "on": ["$.a"], "sparse": null }, "\"sparse\" is neither true nor false"),
        (doc! { "name": "i", "on": ["$.a"], "above": "true" }, "a definition has no key \"above\""),
        (doc! { "name": "i", "on": ["$.a"], "required": [] }, "a definition has no key \"required\""),
    ] {
        match IndexDefinition::from_document(&map) {
            Err(Error::InvalidIndex { what, .. }) => assert_eq!(what, said),
            other => panic!("{map:?}: {other:?}"),
        }
    }
    let mistake = IndexDefinition::from_document(&doc! { "name": "i", "on": ["a"] });
    assert!(matches!(mistake, Err(Error::Query { offset: 0, .. })), "{mistake:?}");
}

//= spec/format.md#f-8-10-indexes
//= type=test
//# A definition MUST be one that I-1 allows.
#[test]
fn a_map_of_a_file_that_is_no_definition_is_malformed() {
    for map in [
        doc! { "on": ["$.a"] },
        doc! { "name": "", "on": ["$.a"] },
        doc! { "name": 1, "on": ["$.a"] },
        doc! { "name": "n".repeat(256), "on": ["$.a"] },
        doc! { "name": "i" },
        doc! { "name": "i", "on": [] },
        doc! { "name": "i", "on": ["$['a']"] },
        doc! { "name": "i", "on": ["$. a"] },
        doc! { "name": "i", "on": ["--$.a"] },
        doc! { "name": "i", "on": ["$.a", 1] },
        doc! { "name": "i", "on": ["$.a", "-$.a"] },
        doc! { "name": "i", "on": ["$..a"] },
        doc! { "name": "i", "on": ["$.a"], "unique": false },
        doc! { "name": "i", "on": ["$.a"], "sparse": 1 },
        doc! { "name": "i", "on": ["$.a"], "required": "name" },
        doc! { "name": "i", "on": ["$.a"], "required": ["above", 1] },
    ] {
        let fault = IndexDefinition::decode(&map);
        assert!(matches!(fault, Err(MapFault::Malformed(_))), "{map:?}: {fault:?}");
    }
}

//= spec/format.md#f-7-3-unknown-keys
//= type=test
//# A reader MUST refuse the file when the map has an array `required` that names a key it does not know.
#[test]
fn keys_that_are_not_known_are_kept_unless_they_are_required() {
    let known = ["name", "on", "by", "unique", "sparse", "where", "required"];
    let required = Value::Array(known.map(Value::from).to_vec());
    let map = doc! { "name": "$i", "on": ["$.a"], "above": 1, "required": required.clone() };
    let (definition, kept) = IndexDefinition::decode(&map).expect("a definition");
    assert_eq!(
        (definition.name(), definition.paths().len()),
        ("$i", 1),
        "a reserved name is read like any other"
    );
    assert_eq!(kept, doc! { "above": 1, "required": required });
    for map in [
        doc! { "name": "i", "on": ["$.a"], "above": "true", "required": ["above"] },
        // What a newer version may mean by the others is not for this one to judge.
        doc! { "name": "i", "on": 1, "required": ["above"] },
    ] {
        assert_eq!(IndexDefinition::decode(&map), Err(MapFault::Unsupported));
    }
}
