//! How the indexes of a store stand in memory.

#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Pages of ints hold two to the power of this.
    pub(crate) page_shift: u32,
    /// What was read may be given up again: so what was deleted is kept for a time.
    pub(crate) gives_up: bool,
}

impl Layout {
    /// Nothing is given up.
    pub(crate) const fn new(page_shift: u32) -> Self {
        Layout { page_shift, gives_up: false }
    }
}
