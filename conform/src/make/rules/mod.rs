//! Cases that alone decide a rule: a reader that breaks it, and no other, gets them wrong. `spec/reader/musts` has these readers.

mod chunks;
mod ends;
mod frames;
mod json;
mod keys;
mod log;
mod records;
mod values;

use super::Maker;
use crate::case::Group;

/// All groups.
pub(super) fn make() -> Vec<Group> {
    let mut maker = Maker::new("rules_values", "Values, order keys and JSON: cases that alone decide a rule");
    values::orders(&mut maker);
    values::pointers(&mut maker);
    json::numbers(&mut maker);
    json::wrappers(&mut maker);
    json::objects(&mut maker);
    let values = maker.finish();
    let mut maker = Maker::new("rules_format", "Files: cases that alone decide a rule of the format");
    keys::order(&mut maker);
    frames::slots(&mut maker);
    frames::segments(&mut maker);
    frames::places(&mut maker);
    frames::lags(&mut maker);
    frames::flags(&mut maker);
    records::fields(&mut maker);
    records::flags(&mut maker);
    records::openings(&mut maker);
    records::catalog(&mut maker);
    chunks::puts(&mut maker);
    chunks::relocated(&mut maker);
    chunks::ended(&mut maker);
    let format = maker.finish();
    let mut maker = Maker::new("rules_recovery", "Files: cases that alone decide a rule of recovery");
    log::continuations(&mut maker);
    log::successors(&mut maker);
    log::replay(&mut maker);
    records::replaced(&mut maker);
    ends::claims(&mut maker);
    ends::chains(&mut maker);
    ends::lengths(&mut maker);
    ends::places(&mut maker);
    ends::freed(&mut maker);
    vec![values, format, maker.finish()]
}
