//! The two ways to write numbers and bytes.

/// How values that plain JSON can say are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum JsonMode {
    /// As plain JSON.
    #[default]
    Relaxed,
    /// Each number with its type.
    Canonical,
}
