//! What came about on the way to a state. A search in which none of it did has shown little.

/// Things that came about, as a set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Events(u8);

impl Events {
    /// A power cut left some of what was written and not the rest, and a commit of that was cut off.
    pub(super) const TORN_TAIL: Events = Events(1 << 0);
    /// A power cut left a superblock slot in doubt, so that recovery chose between the two.
    pub(super) const SLOT_IN_DOUBT: Events = Events(1 << 1);
    /// Of several commits in the air, some are there and some are not.
    pub(super) const PARTLY_KEPT: Events = Events(1 << 2);
    /// The newest checkpoint could not be read, and the one before was enough.
    pub(super) const FALLBACK: Events = Events(1 << 3);
    /// A sector of the log was lost, and what is durable behind it attests that it was there: the opening says so.
    pub(super) const ATTESTED: Events = Events(1 << 4);

    #[must_use]
    pub(super) fn with(self, other: Events) -> Events {
        Events(self.0 | other.0)
    }

    #[must_use]
    pub(super) fn with_if(self, other: Events, condition: bool) -> Events {
        if condition { self.with(other) } else { self }
    }

    pub(super) fn has(self, other: Events) -> bool {
        self.0 & other.0 != 0
    }
}
