//! Cases that alone decide a rule: a reader that breaks it, and no other, gets them wrong. `spec/reader/musts` has these readers.

mod json;
mod keys;
mod values;

use super::Maker;
use crate::case::Group;

/// All groups.
pub(super) fn make() -> Vec<Group> {
    let mut maker = Maker::new("rules_values", "Values, order keys and JSON: cases that alone decide a rule");
    values::orders(&mut maker);
    values::paths(&mut maker);
    json::numbers(&mut maker);
    json::wrappers(&mut maker);
    json::objects(&mut maker);
    let values = maker.finish();
    let mut maker = Maker::new("rules_format", "Files: cases that alone decide a rule of the format");
    keys::order(&mut maker);
    vec![values, maker.finish()]
}
