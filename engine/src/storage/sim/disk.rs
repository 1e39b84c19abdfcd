//! The handle of a simulated disk.

use std::fmt;
use std::io;
use std::ops::Range;

use super::decisions::{Decision, Decisions};
use super::faults::{Call, CallKind, Calls, FaultKind, FaultPlan, SyncLoss};
use super::level::Level;
use super::state::{Name, State};
use crate::storage::{Answer, Probe, Storage};
use crate::sync::{Arc, Mutex, MutexGuard, lock};

/// The longest file: a crash may leave any length on the way to it.
const FILE_LEN_MAX: u64 = 1 << 30;

/// A handle of a simulated disk with one file on it. A clone is the same disk; a [`fork`](SimDisk::fork) is another.
///
/// A new disk's file is empty, and its name is not durable: until the first
/// [`sync_directory`](Storage::sync_directory), a crash may take the file away.
#[derive(Clone)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("SimDisk")
            .field("sector", &state.sector)
            .field("level", &state.level)
            .field("states", &state.states())
            .field("fingerprint", &state.fingerprint())
            .finish_non_exhaustive()
    }
}

impl SimDisk {
    /// An empty disk.
    ///
    /// # Panics
    ///
    /// If `sector` is not a power of two from 16 to 4,096.
    pub fn new(sector: u32, level: Level) -> Self {
        Self::of(State::new(sector, level))
    }

    /// An empty disk with sectors of 512 bytes, at the level of sectors, whose crashes the seed settles.
    pub fn seeded(seed: u64) -> Self {
        let disk = Self::new(512, Level::Sectors);
        disk.set_decisions(Decisions::seeded(seed));
        disk
    }

    /// A disk with a file that holds these bytes durably, as does its name.
    ///
    /// # Panics
    ///
    /// If `sector` is not a power of two from 16 to 4,096.
    pub fn from_bytes(sector: u32, level: Level, bytes: &[u8]) -> Self {
        let mut state = State::new(sector, level);
        state.pages.write(0, bytes);
        state.length.settle(bytes.len() as u64);
        state.name = Name::Durable;
        Self::of(state)
    }

    pub(super) fn of(state: State) -> Self {
        SimDisk { state: Arc::new(Mutex::new(state)) }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// An independent disk in the same state. They share what neither has changed, so this is cheap.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self::of(self.state().clone())
    }

    /// Cuts the power and restores it: the disk becomes the image that the crash left. What is open about it is settled as
    /// it is read, by the disk's [`Decisions`]. The plan of faults is over; to make recovery meet some, set another.
    ///
    /// A crash before everything of an earlier one was read is the same call again.
    pub fn crash(&self) {
        self.state().crash();
    }

    /// [`crash`](SimDisk::crash), for tests that read as a story.
    pub fn cut_power(&self) {
        self.crash();
    }

    /// Says who settles from now on, with an empty record.
    pub fn set_decisions(&self, decisions: Decisions) {
        self.state().decisions = decisions;
    }

    /// The choices taken since the decisions were set.
    pub fn decisions(&self) -> Vec<Decision> {
        self.state().decisions.taken().to_vec()
    }

    /// How many states of the medium this disk stands for: the product of what each thing may still be that no call has
    /// asked about. A float, since it soon exceeds any integer.
    pub fn states(&self) -> f64 {
        self.state().states()
    }

    /// Settles everything that is open, and returns the whole file as reads see it.
    pub fn bytes(&self) -> Vec<u8> {
        self.state().bytes()
    }

    /// One number for what the disk holds and may hold: equal disks have equal ones, in every run. Calls, faults and
    /// decisions are not part of it.
    pub fn fingerprint(&self) -> u64 {
        self.state().fingerprint()
    }

    /// One number for what these bytes of the file are and may be, and for how long it is. Nothing is settled by that.
    pub fn fingerprint_within(&self, places: &[Range<u64>]) -> u64 {
        self.state().fingerprint_within(places)
    }

    /// Sets what goes wrong from now on; calls are counted from 0 again.
    pub fn set_faults(&self, plan: FaultPlan) {
        self.state().faults.set_plan(plan);
    }

    /// How many calls a fault has struck since the plan was set. A check whose faults never strike shows nothing.
    pub fn fault_hits(&self) -> u64 {
        self.state().faults.hits
    }

    /// How many calls there were since the disk was made; a fork goes on counting.
    pub fn calls(&self) -> Calls {
        self.state().faults.calls()
    }

    /// Begins a record of all calls, for reports.
    pub fn record_calls(&self) {
        self.state().faults.trace = Some(Vec::new());
    }

    /// The calls since [`record_calls`](SimDisk::record_calls).
    pub fn recorded_calls(&self) -> Vec<Call> {
        self.state().faults.trace.clone().unwrap_or_default()
    }

    /// From now on a length persists as a call has made it or not at all, and never in between: less than a store may rely on (`spec/media.md`, M-2.3), and what
    /// stores do that were not made for more.
    pub fn set_whole_lengths(&self) {
        self.state().whole_lengths = true;
    }

    /// Limits the file to `capacity` bytes: growing beyond that is a full disk. What it has, it keeps.
    pub fn set_capacity(&self, capacity: Option<u64>) {
        self.state().capacity = capacity;
    }

    /// Runs one call, unless the power is off or a fault takes its place.
    fn call<T>(
        &self,
        call: Call,
        run: impl FnOnce(&mut State, Option<FaultKind>) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = self.state();
        if state.faults.power_is_off() {
            return Err(io_error("the power is off"));
        }
        let fault = state.faults.meet(call);
        match fault {
            Some(FaultKind::Interrupted) => return Err(io::ErrorKind::Interrupted.into()),
            Some(FaultKind::StorageFull) => return Err(io::ErrorKind::StorageFull.into()),
            Some(FaultKind::Io) if call.kind != CallKind::Write => {
                return Err(io_error("simulated I/O error"));
            }
            _ => {}
        }
        state.settle_before_use();
        let result = run(&mut state, fault);
        if fault == Some(FaultKind::PowerCut) { Err(io_error("the power was cut")) } else { result }
    }
}

fn io_error(what: &'static str) -> io::Error {
    io::Error::other(what)
}

impl Storage for SimDisk {
    fn len(&self) -> io::Result<u64> {
        self.call(Call::bare(CallKind::Len), |state, _| Ok(state.len()))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.call(Call::new(CallKind::SetLen, len, 0), |state, _| {
            if len > FILE_LEN_MAX {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            if state.capacity.is_some_and(|capacity| len > capacity.max(state.len())) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            state.set_len(len);
            Ok(())
        })
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.call(Call::new(CallKind::Read, offset, out.len()), |state, fault| {
            let wanted = if fault == Some(FaultKind::Short) { out.len() / 2 } else { out.len() };
            Ok(state.read(offset, &mut out[..wanted]))
        })
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.call(Call::new(CallKind::Write, offset, bytes.len()), |state, fault| {
            let wanted = match fault {
                Some(FaultKind::ZeroWrite) => 0,
                Some(FaultKind::Short | FaultKind::Io) => bytes.len() / 2,
                _ => bytes.len(),
            };
            let room = state.room(offset)?;
            let len = usize::try_from(room).map_or(wanted, |room| wanted.min(room));
            if len == 0 && wanted > 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            state.write(offset, &bytes[..len]);
            if fault == Some(FaultKind::Io) { Err(io_error("simulated I/O error")) } else { Ok(len) }
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.call(Call::bare(CallKind::Sync), |state, fault| {
            if state.late_failure {
                state.late_failure = false;
                return Err(io_error("simulated failure of an earlier sync"));
            }
            match fault {
                Some(FaultKind::PowerCut) => {}
                Some(FaultKind::Sync(loss)) => {
                    state.lose(loss);
                    state.late_failure = loss == SyncLoss::Late;
                    if loss != SyncLoss::Late {
                        return Err(io_error("simulated failure of a sync"));
                    }
                }
                _ => state.sync(),
            }
            Ok(())
        })
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.call(Call::bare(CallKind::SyncDirectory), |state, fault| {
            if fault.is_none() {
                state.name = Name::Durable;
            }
            Ok(())
        })
    }

    fn probe(&self, probe: &Probe<'_>) -> io::Result<Option<Vec<Answer>>> {
        let call = Call::new(CallKind::Probe, probe.offset, probe.len);
        self.call(call, |state, _| Ok(Some(state.probe(probe).into_iter().collect())))
    }
}

impl State {
    /// How many bytes can be written at `offset`.
    fn room(&mut self, offset: u64) -> io::Result<u64> {
        if offset >= FILE_LEN_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let limit = match self.capacity {
            Some(capacity) => capacity.max(self.len()),
            None => FILE_LEN_MAX,
        };
        Ok(limit.saturating_sub(offset))
    }
}
