//! Filters over encoded documents, held against the model's naive evaluation of the same text.

use std::collections::BTreeMap;

use holotype::document::RawDocument;
use holotype::query::{Filter, JsonPath};
use holotype::{KeyRef, Value};
use holotype_model as model;

mod random;

use random::{Random, document, document_to_engine, expr, scalar, segments, to_engine};

const TRIALS: usize = 20_000;

//= spec/query.md#q-2-2-parameters
//# A bound value MUST NOT be read as part of the text of the filter.
//= spec/query.md#q-3-2-less
//# Values of other types, or of two types, MUST NOT be less than one another; nor is nothing less than a
//# value, or a value than nothing.
#[test]
fn filters_say_what_the_model_says() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut admitted, mut refused) = (0, 0);
    for trial in 0..TRIALS {
        let text = expr(&mut random, 3);
        let document = document(&mut random, 3);
        let x = scalar(&mut random);
        let list = model::Value::Array((0..3).map(|_| scalar(&mut random)).collect());
        let parameters = BTreeMap::from([("x".to_owned(), x), ("list".to_owned(), list)]);
        let right = model::query::Filter::parse(&text);
        let filter = Filter::parse(&text);
        assert_eq!(right.is_ok(), filter.is_ok(), "trial {trial}: {text}: {right:?}, {filter:?}");
        let (Ok(right), Ok(filter)) = (right, filter) else {
            refused += 1;
            continue;
        };
        let again = Filter::parse(&filter.to_string());
        assert_eq!(again.as_ref().ok(), Some(&filter), "trial {trial}: {text} prints as {filter}: {again:?}");
        let bound = parameters.iter().fold(filter, |filter, (name, value)| {
            filter.clone().bind(name, to_engine(value)).unwrap_or(filter)
        });
        let bytes = document_to_engine(&document).encode();
        let raw = RawDocument::from_bytes(&bytes).expect("it was just encoded");
        let found = bound.matches_with_key(KeyRef::Text("ab"), raw).expect("every parameter is bound");
        let key = model::Key::from("ab");
        let expected = right.admits(Some(&key), &document, &parameters);
        assert_eq!(found, expected, "trial {trial}: {text} of {}", document_to_engine(&document));
        admitted += usize::from(expected);
    }
    // A run in which nearly all is admitted, or nearly nothing, or nothing is valid, has shown little.
    let tried = TRIALS - refused;
    assert!(
        tried > TRIALS / 2 && admitted > tried / 10 && admitted < tried * 9 / 10,
        "{admitted} of {tried}"
    );
}

#[test]
fn paths_select_what_the_model_selects() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut selected = 0;
    for trial in 0..TRIALS / 4 {
        let text = format!("${}{}", segments(&mut random, 2, false), segments(&mut random, 2, false));
        let value = model::Value::Object(document(&mut random, 4));
        let (right, path) = (model::query::Path::parse(&text), JsonPath::parse(&text));
        assert_eq!(right.is_ok(), path.is_ok(), "trial {trial}: {text}: {right:?}, {path:?}");
        let (Ok(right), Ok(path)) = (right, path) else { continue };
        let engine = to_engine(&value);
        let found: Vec<Value> =
            path.select(&engine).expect("no pattern is large").into_iter().cloned().collect();
        let expected: Vec<Value> = right.select(&value).iter().map(to_engine).collect();
        assert_eq!(found, expected, "trial {trial}: {text} of {engine}");
        selected += usize::from(!found.is_empty());
    }
    assert!(selected > TRIALS / 40, "{selected}");
}

/// Texts near to queries: both parsers take the same ones.
#[test]
fn both_parsers_take_the_same_texts() {
    let mut random = Random(0xd1b5_4a32_d192_ed03);
    let pieces = [
        "@", "$", ".", "..", "[", "]", "a", "'a'", "*", "?", "==", "<", "!", "(", ")", " ", ",", ":", "-",
        "0", "1", "&&", "||", "length(", "in(", "e", "\"", "\\",
    ];
    let mut valid = 0;
    for _ in 0..TRIALS {
        let mut text: String = match random.below(2) {
            0 => expr(&mut random, 2),
            _ => (0..random.below(8)).map(|_| random.one_of(&pieces)).collect(),
        };
        // A piece in the place of another.
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        if let Some(&at) = starts.get(random.below(starts.len().max(1))) {
            text.insert_str(at, random.one_of(&pieces));
        }
        let (right, filter) = (model::query::Filter::parse(&text), Filter::parse(&text));
        assert_eq!(right.is_ok(), filter.is_ok(), "{text}: {right:?}, {filter:?}");
        valid += usize::from(right.is_ok());
    }
    assert!(valid > TRIALS / 50, "{valid}");
}
