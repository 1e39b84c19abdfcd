//! Why a map of the catalog cannot be understood (F-7).

/// Why a map is no catalog change that this version can carry out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatalogFault {
    /// The map is not as F-7 asks.
    Malformed(&'static str),
    /// The map has an `op` that this version does not know, or requires a key that it does not.
    Unsupported,
}
