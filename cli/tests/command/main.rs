//! The `holotype` command as a user or a script meets it: what it prints, where, and with which exit code.

mod advice;
mod bad_input;
mod bench;
mod check;
mod conform;
mod damage;
mod documents;
mod find;
mod gate;
mod gate_shards;
mod indexes;
mod inspect;
mod jsonpath;
mod killed;
mod loose_advice;
mod refusals;
mod reports;
mod round_trip;
mod streams;
mod updates;
mod upkeep;
