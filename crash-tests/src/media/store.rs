//! A small store with everything in it that damage can hit.

use holotype::format::superblock::{SLOT_LEN, SLOT_OFFSETS};
use holotype::storage::sim::SimDisk;
use holotype_model::index::{DefinitionText, PathText};
use holotype_model::{Document, Durability, Key, Op, Value};

use crate::adapter::{self, Contents};
use crate::live::{Live, Step, Violation};
use crate::setup::Setup;

use super::damage::Damage;

/// A store at rest, what it holds, and what it was.
#[derive(Debug)]
pub struct Specimen {
    /// Its sizes.
    pub setup: Setup,
    /// Its disk.
    pub disk: SimDisk,
    /// What it holds.
    pub contents: Contents,
    /// How things stood before each step, oldest first.
    pub(super) earlier: Vec<Earlier>,
    /// The file now.
    pub(super) bytes: Vec<u8>,
}

/// The store before a step.
#[derive(Debug)]
pub(super) struct Earlier {
    /// The file.
    pub(super) bytes: Vec<u8>,
    contents: Contents,
    /// What the store held in the midst of the step, where that is two commits with a sync each.
    amid: Option<Contents>,
}

impl Specimen {
    /// A store that was closed.
    pub fn closed(setup: Setup) -> Result<Specimen, Violation> {
        Self::make(setup, &[Step::Reopen])
    }

    /// A store whose process ended right after a `Synced` commit.
    pub fn left_open(setup: Setup) -> Result<Specimen, Violation> {
        Self::make(setup, &[])
    }

    /// The same, after a commit for which the file had to grow.
    pub fn grown(setup: Setup) -> Result<Specimen, Violation> {
        let document = document(setup.segment_bytes as usize / 2);
        let documents = vec![document; 16];
        let durability = Durability::Synced;
        Self::make(setup, &[Step::Do(Op::InsertMany { collection: "b".into(), documents, durability })])
    }

    fn make(setup: Setup, last: &[Step]) -> Result<Specimen, Violation> {
        let (mut live, _) = Live::create(setup)?;
        let mut earlier = Vec::new();
        let mut steps = steps(setup.segment_bytes);
        steps.extend_from_slice(last);
        for step in &steps {
            let contents = read(&live)?;
            let amid = amid(step, &contents);
            earlier.push(Earlier { bytes: live.disk().fork().bytes(), contents, amid });
            live.step(step)?;
        }
        live.look()?;
        let disk = live.disk().fork();
        Ok(Specimen { setup, bytes: disk.bytes(), disk, contents: read(&live)?, earlier })
    }

    /// Whether these contents are what the one loss that no copy can show leaves: an earlier state, where each step since then
    /// has itself been hit, with what it wrote and what it attested. For one damaged sector this is the last sync batch, and
    /// only while nothing later was written; damage to two at once may hit a batch and its only witness.
    pub(super) fn may_be_lost(&self, damage: &Damage, contents: &Contents) -> bool {
        let hit = damage.sectors();
        let steps = (0..self.earlier.len()).rev();
        steps.take_while(|step| hit.iter().any(|sector| self.is_changed_by(*step, *sector))).any(|step| {
            let Earlier { contents: before, amid, .. } = &self.earlier[step];
            before == contents || amid.as_ref() == Some(contents)
        })
    }

    /// Whether the step wrote to the sector, or to the superblock slot of which it is a part.
    fn is_changed_by(&self, step: usize, sector: u64) -> bool {
        let after = self.earlier.get(step + 1).map_or(&self.bytes, |next| &next.bytes);
        let before = &self.earlier[step].bytes;
        let at = sector * u64::from(self.setup.sector);
        let slot = SLOT_OFFSETS.iter().find(|start| (**start..**start + SLOT_LEN as u64).contains(&at));
        match slot {
            Some(start) => {
                let slot = *start as usize..*start as usize + SLOT_LEN;
                after[slot.clone()] != before[slot]
            }
            None => self.sector_of(after, sector) != self.sector_of(before, sector),
        }
    }

    pub(super) fn sector_of<'a>(&self, bytes: &'a [u8], sector: u64) -> &'a [u8] {
        let start = (sector * u64::from(self.setup.sector)) as usize;
        let end = (start + self.setup.sector as usize).min(bytes.len());
        bytes.get(start..end).unwrap_or_default()
    }

    /// How many sectors the file has.
    pub(super) fn sectors(&self) -> u64 {
        (self.bytes.len() as u64).div_ceil(u64::from(self.setup.sector))
    }

    pub(super) fn is_blank(&self, sector: u64) -> bool {
        self.sector_of(&self.bytes, sector).iter().all(|byte| *byte == 0)
    }
}

/// What a store that held `before` holds after the first of two commits.
fn amid(step: &Step, before: &Contents) -> Option<Contents> {
    let Step::Overlap(Op::Put { collection, key, document, .. }, _) = step else { return None };
    let mut amid = before.clone();
    amid.documents.entry(collection.clone()).or_default().insert(key.clone(), document.clone());
    Some(amid)
}

fn read(live: &Live) -> Result<Contents, Violation> {
    adapter::contents(live.db()).map_err(|error| error.to_string())
}

fn document(len: usize) -> Document {
    Document::from([("b".to_owned(), Value::Bytes(vec![0xAB; len]))])
}

/// Commits of every class and kind, in several segments and two incarnations; the last is one `Synced` commit.
fn steps(segment_bytes: u32) -> Vec<Step> {
    let put_as = |key: &str, len, durability| {
        let (key, document) = (Key::from(key), document(len));
        Op::Put { collection: "a".into(), key, document, durability }
    };
    let put = |key, len, durability| Step::Do(put_as(key, len, durability));
    let put_op = |key, len| put_as(key, len, Durability::Synced);
    let half = segment_bytes as usize / 2;
    vec![
        put("x", 5, Durability::Synced),
        put("y", half, Durability::Buffered),
        Step::Do(Op::InsertMany {
            collection: "b".into(),
            documents: vec![document(half), document(9), document(half)],
            durability: Durability::Synced,
        }),
        Step::Do(Op::Delete { collection: "a".into(), key: Key::from("x"), durability: Durability::Written }),
        Step::Do(Op::CreateCollection { collection: "c".into(), durability: Durability::Synced }),
        Step::Do(Op::CreateIndex {
            collection: "b".into(),
            index: "i".into(),
            definition: DefinitionText {
                paths: vec![PathText { path: "$.b".into(), descending: false }],
                ..DefinitionText::default()
            },
            durability: Durability::Synced,
        }),
        Step::Reopen,
        put("y", 7, Durability::Synced),
        Step::Do(Op::DropCollection { collection: "c".into(), durability: Durability::Synced }),
        Step::Overlap(put_op("x", 6), put_op("y", 9)),
        put("z", 20, Durability::Synced),
    ]
}
