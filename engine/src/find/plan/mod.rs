//! How a query finds the documents that can be answers: by a walk over keys, by ranges of indexes, or in the order of an index.
//!
//! A plan changes what a query costs, never what it answers (spec: Q-10). One is chosen by counts of entries: there are no statistics.
//!
//! | module | what it is |
//! |---|---|
//! | `says` | what a filter says of single paths |
//! | `bounded` | the ranges of an index that follow from it |
//! | `order` | whether an index has the order of the sorts |
//! | `choose` | the cheapest of the ways there are |
//! | `route` | a way to the documents |
//! | `entries` | documents by the entries of an index |
//! | `explain` | a plan as data and as text |

mod bounded;
mod choose;
mod entries;
mod explain;
mod order;
mod route;
mod says;

pub(crate) use choose::ranges_of_filter;
pub(super) use choose::{Asks, Chosen, choose};
pub(super) use entries::{Entries, Gathered, count, gather, no_document};
pub use explain::{PlanAccess, PlanActual, PlanIndex, PlanOrder, QueryPlan};
pub use route::Hint;
pub(super) use route::{Part, Route};
