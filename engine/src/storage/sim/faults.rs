//! What goes wrong at the n-th call.

/// A method of [`Storage`](crate::storage::Storage).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// `len`.
    Len,
    /// `set_len`.
    SetLen,
    /// `read_at`.
    Read,
    /// `probe`.
    Probe,
    /// `write_at`.
    Write,
    /// `sync`.
    Sync,
    /// `sync_directory`.
    SyncDirectory,
}

/// One call, as it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Call {
    /// Which method.
    pub kind: CallKind,
    /// From where on, in bytes; of `set_len`, the new length.
    pub offset: u64,
    /// How many bytes.
    pub len: u64,
}

impl Call {
    pub(super) fn new(kind: CallKind, offset: u64, len: usize) -> Self {
        Call { kind, offset, len: len as u64 }
    }

    pub(super) fn bare(kind: CallKind) -> Self {
        Call { kind, offset: 0, len: 0 }
    }
}

/// How often each method was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Calls([u64; 7]);

impl Calls {
    /// Calls of one method.
    pub fn of(&self, kind: CallKind) -> u64 {
        self.0[kind as usize]
    }

    /// Calls of any.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// What a call does in place of its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// Any call fails with an I/O error. A write has put the first half of its bytes there, a sync has made nothing
    /// durable.
    Io,
    /// A write, a length change or a sync fails for want of room, and does nothing.
    StorageFull,
    /// A read or write of two bytes or more moves the first half of them.
    Short,
    /// A write says that it wrote nothing, and did not.
    ZeroWrite,
    /// Any call is interrupted before it has done anything.
    Interrupted,
    /// A sync does not make durable what it should, in this way.
    Sync(SyncLoss),
    /// The power goes during this call. A write or length change is under way; every later call fails and does nothing,
    /// until [`SimDisk::crash`](super::SimDisk::crash).
    PowerCut,
}

/// What happens to the data of a failed sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SyncLoss {
    /// The cache drops what it could not write: reads see the bytes as they were at the last good sync.
    Dropped,
    /// The cache keeps it and believes it clean: reads go on seeing it, but it never reaches the medium, whatever later
    /// syncs say, until the sector is written again.
    Kept,
    /// As [`Kept`](SyncLoss::Kept), and the sync says `Ok`: only the next one fails. What is promised in between, no store
    /// can keep.
    Late,
}

impl FaultKind {
    /// Whether this can happen to `call` at all.
    pub fn applies_to(self, call: Call) -> bool {
        use CallKind::{Read, SetLen, Sync, Write};
        match self {
            FaultKind::Io | FaultKind::Interrupted | FaultKind::PowerCut => true,
            FaultKind::StorageFull => matches!(call.kind, Write | SetLen | Sync),
            FaultKind::Short => matches!(call.kind, Read | Write) && call.len >= 2,
            FaultKind::ZeroWrite => call.kind == Write,
            FaultKind::Sync(_) => call.kind == Sync,
        }
    }
}

/// Which call is hit, counted from 0 since the plan was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Nth {
    /// The call of this number, of whatever method.
    Call(u64),
    /// The call of this number among those of one method.
    Of(CallKind, u64),
}

/// Faults, and when they strike. Where several would strike one call, the first in the plan does. A crash ends the plan.
///
/// ```
/// use holotype::storage::sim::{CallKind, FaultKind, FaultPlan, Nth};
///
/// let plan = FaultPlan::none()
///     .once(Nth::Call(17), FaultKind::Short)
///     .from(Nth::Of(CallKind::Write, 3), FaultKind::StorageFull);
/// ```
#[derive(Debug, Clone, Default)]
pub struct FaultPlan {
    faults: Vec<Fault>,
}

#[derive(Debug, Clone, Copy)]
struct Fault {
    nth: Nth,
    lasts: bool,
    kind: FaultKind,
}

impl FaultPlan {
    /// Nothing goes wrong.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a fault of one call.
    #[must_use]
    pub fn once(mut self, nth: Nth, kind: FaultKind) -> Self {
        self.faults.push(Fault { nth, lasts: false, kind });
        self
    }

    /// Adds a fault of one call and every later one that it can happen to.
    #[must_use]
    pub fn from(mut self, nth: Nth, kind: FaultKind) -> Self {
        self.faults.push(Fault { nth, lasts: true, kind });
        self
    }
}

/// The plan of a disk, and how far it has come.
#[derive(Debug, Clone, Default)]
pub(super) struct Faults {
    plan: FaultPlan,
    calls: Calls,
    /// The counts when the plan was set.
    base: Calls,
    pub(super) hits: u64,
    power_is_off: bool,
    pub(super) trace: Option<Vec<Call>>,
}

impl Faults {
    pub(super) fn set_plan(&mut self, plan: FaultPlan) {
        self.plan = plan;
        self.base = self.calls;
        self.hits = 0;
    }

    pub(super) fn calls(&self) -> Calls {
        self.calls
    }

    /// What was going wrong ends with a crash: what follows is another run.
    pub(super) fn power_returns(&mut self) {
        self.power_is_off = false;
        self.plan = FaultPlan::none();
    }

    pub(super) fn power_is_off(&self) -> bool {
        self.power_is_off
    }

    /// Counts a call; what happens to it.
    pub(super) fn meet(&mut self, call: Call) -> Option<FaultKind> {
        if let Some(trace) = &mut self.trace {
            trace.push(call);
        }
        let number = self.calls.total() - self.base.total();
        let number_of_kind = self.calls.of(call.kind) - self.base.of(call.kind);
        self.calls.0[call.kind as usize] += 1;
        let strikes = |fault: &&Fault| {
            let (at, now) = match fault.nth {
                Nth::Call(at) => (at, number),
                Nth::Of(kind, _) if kind != call.kind => return false,
                Nth::Of(_, at) => (at, number_of_kind),
            };
            (now == at || fault.lasts && now > at) && fault.kind.applies_to(call)
        };
        let kind = self.plan.faults.iter().find(strikes)?.kind;
        self.hits += 1;
        self.power_is_off |= kind == FaultKind::PowerCut;
        Some(kind)
    }
}
