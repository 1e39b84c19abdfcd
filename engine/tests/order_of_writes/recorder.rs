//! A storage that notes what is asked of it, in order, and can show the file as a power cut between any two calls may leave it.

use std::io;
use std::sync::{Arc, Mutex};

use holotype::Ticket;
use holotype::storage::{MemoryStorage, Storage};

pub(crate) const SLOTS: [u64; 2] = [0, 4096];
pub(crate) const SEGMENTS_START: u64 = 16_384;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    SetLen {
        from: u64,
        to: u64,
    },
    Write {
        at: u64,
        bytes: Vec<u8>,
    },
    Sync,
    SyncDirectory,
    /// A call has returned that promises durability for all before it, or a ticket that was waited for does so by now.
    Acknowledged,
}

impl Event {
    /// The slot that is written, if it is one.
    pub(crate) fn slot(&self) -> Option<Slot<'_>> {
        match self {
            Event::Write { at, bytes } if SLOTS.contains(at) && bytes.starts_with(b"HOLOTYPE") => {
                Some(Slot { index: SLOTS.iter().position(|slot| slot == at)?, bytes })
            }
            _ => None,
        }
    }

    /// What is written behind the slots, and where.
    pub(crate) fn in_segments(&self) -> Option<(u64, &[u8])> {
        match self {
            Event::Write { at, bytes } if *at >= SEGMENTS_START => Some((*at, bytes)),
            _ => None,
        }
    }
}

/// A superblock slot, read by the table of F-3.1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot<'a> {
    pub(crate) index: usize,
    bytes: &'a [u8],
}

impl Slot<'_> {
    fn u64_at(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().expect("eight bytes"))
    }

    pub(crate) fn generation(&self) -> u64 {
        self.u64_at(352)
    }

    pub(crate) fn incarnation(&self) -> u32 {
        (self.u64_at(360) & u64::from(u32::MAX)) as u32
    }

    pub(crate) fn durable_lsn(&self) -> u64 {
        self.u64_at(368)
    }

    pub(crate) fn file_len(&self) -> u64 {
        self.u64_at(376)
    }

    /// The LSNs of the checkpoints that it names.
    pub(crate) fn checkpoints(&self) -> [u64; 2] {
        [self.u64_at(384), self.u64_at(432)]
    }
}

#[derive(Debug, Default)]
pub(crate) struct Recorder {
    inner: MemoryStorage,
    events: Mutex<Vec<Event>>,
    waited_for: Mutex<Option<Ticket>>,
}

impl Recorder {
    pub(crate) fn new() -> Arc<Recorder> {
        Arc::default()
    }

    fn note(&self, event: Event) {
        let mut waited_for = self.waited_for.lock().expect("nobody panics with it");
        let told = waited_for.take_if(|ticket| ticket.is_durable().expect("nothing hinders it"));
        let acknowledged = told.map(|_| Event::Acknowledged);
        self.events.lock().expect("nobody panics with it").extend(acknowledged.into_iter().chain([event]));
    }

    /// Looks from now on, before it notes what is asked of it, whether the ticket promises durability.
    #[cfg(feature = "testing")]
    pub(crate) fn wait_for(&self, ticket: Ticket) {
        *self.waited_for.lock().expect("nobody panics with it") = Some(ticket);
    }

    /// The disk changes a byte by itself.
    pub(crate) fn damage(&self, at: u64) {
        let mut byte = [0];
        assert_eq!(self.inner.read_at(at, &mut byte).expect("memory can be read"), 1);
        self.inner.write_at(at, &[!byte[0]]).expect("memory takes all");
    }

    pub(crate) fn acknowledge(&self) {
        self.note(Event::Acknowledged);
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.events.lock().expect("nobody panics with it").clone()
    }

    /// What was noted until now, which is then forgotten.
    pub(crate) fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.events.lock().expect("nobody panics with it"))
    }
}

impl Storage for Recorder {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.note(Event::SetLen { from: self.inner.len()?, to: len });
        self.inner.set_len(len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.inner.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let len = self.inner.write_at(offset, bytes)?;
        self.note(Event::Write { at: offset, bytes: bytes[..len].to_vec() });
        Ok(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.note(Event::Sync);
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.note(Event::SyncDirectory);
        Ok(())
    }
}

/// The file after these events.
pub(crate) fn file_after(events: &[Event]) -> Arc<MemoryStorage> {
    let file = Arc::new(MemoryStorage::new());
    for event in events {
        match event {
            Event::SetLen { to, .. } => file.set_len(*to).expect("memory takes all"),
            Event::Write { at, bytes } => {
                let mut done = 0;
                while done < bytes.len() {
                    done += file.write_at(at + done as u64, &bytes[done..]).expect("memory takes all");
                }
            }
            _ => {}
        }
    }
    file
}
