//! From key to log address: where the newest version of each document stands.
//!
//! An index holds the newest version, published or not; who may see it is the business of the room `txn`. One writer
//! changes it while any number of readers look; each call is atomic by itself, and no more is promised.

mod catalog;
mod documents;
mod entry;
mod key_hash;
mod layout;
#[cfg(all(test, loom))]
mod loom;
mod mixed;
mod naming;
mod page;
mod paged;
mod primary;
mod range;
mod rest;
#[cfg(test)]
mod thresholds;
mod tree;
mod unread;

pub(crate) use catalog::{Catalog, check_name};
pub(crate) use documents::{Building, Documents, Target};
pub(crate) use entry::{Birth, Entry, State, since_ever};
pub(crate) use key_hash::KeyHash;
pub(crate) use layout::Layout;
pub(crate) use mixed::MixedIndex;
pub(crate) use naming::{Indexing, Naming};
pub(crate) use page::{Entries, Item, Page};
pub(crate) use primary::PrimaryIndex;
pub(crate) use range::KeyRange;
pub(crate) use unread::{Contents, Origin, Wanted};
