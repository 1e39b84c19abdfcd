//! How a query finds the documents that can be answers: by a walk over keys, by ranges of indexes, or in the order of an index.
//!
//! A plan changes what a query costs, never what it answers (spec: Q-10). One is chosen by counts of entries: there are no statistics.
//!
//! | module | what it is |
//! |---|---|
//! | `asks` | what is asked of a plan |
//! | `says` | what a filter says of single paths |
//! | `bounded` | the ranges of an index that follow from it |
//! | `order` | whether an index has the order of the sorts |
//! | `choose` | the cheapest of the ways there are |
//! | `route` | a way to the documents |
//! | `groups` | whether the entries of an index tell groups and distinct values |
//! | `cover` | documents made of entries |
//! | `entries` | documents by the entries of an index |
//! | `explain` | a plan as data and as text |

mod asks;
mod bounded;
mod choose;
mod cover;
mod entries;
mod explain;
mod groups;
mod order;
mod route;
mod says;

pub(super) use asks::{Answers, Asks};
pub(super) use bounded::fan_out_of;
pub(crate) use choose::ranges_of_filter;
pub(super) use choose::{Chosen, choose};
pub(super) use cover::Cover;
pub(super) use entries::{EndValue, Entries, Gathered, count, end_of, gather, no_document};
pub use explain::{PlanAccess, PlanActual, PlanIndex, PlanOrder, PlanReads, QueryPlan};
pub(super) use groups::{AsksGroups, GroupRoute, choose_groups};
pub use route::Hint;
pub(super) use route::{ByEntries, IndexEnd, Part, Route};
