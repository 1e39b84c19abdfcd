//! From key to log address: where the newest version of each document stands.
//!
//! An index holds the newest version, published or not; who may see it is the business of the room `txn`. One writer
//! changes it while any number of readers look; each call is atomic by itself, and no more is promised.

mod catalog;
mod entry;
mod held;
mod load;
#[cfg(all(test, loom))]
mod loom;
mod mixed;
mod page;
mod paged;
mod primary;
mod range;
mod rest;
#[cfg(test)]
mod thresholds;
mod tree;

pub(crate) use catalog::{Catalog, Documents, Naming, check_name};
pub(crate) use entry::{Birth, Entry, State};
pub(crate) use load::Loader;
pub(crate) use mixed::MixedIndex;
pub(crate) use page::{Entries, Item, Page};
pub(crate) use primary::PrimaryIndex;
pub(crate) use range::KeyRange;
