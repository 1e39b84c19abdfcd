//! How indexes are laid out in memory.

#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Pages of ints hold two to the power of this.
    pub(crate) page_shift: u32,
    /// Leaves may be given up again, so the index keeps deletes until both checkpoints have them.
    pub(crate) gives_up: bool,
}

impl Layout {
    /// Nothing is given up.
    pub(crate) const fn new(page_shift: u32) -> Self {
        Layout { page_shift, gives_up: false }
    }
}
