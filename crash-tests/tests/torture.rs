//! The checks for other stores: Holotype holds under them, and a store with a mistake does not.

use std::collections::BTreeMap;

use holotype::{Db, Options, Value, doc};
use holotype_crash_tests::torture::{
    Change, Contents, Disk, Durability, Finding, Plan, Subject, Tally, life,
};

/// Holotype, through the door for others.
struct Holotype {
    db: Db,
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` hands over")]
fn say(error: holotype::Error) -> String {
    error.to_string()
}

impl Subject for Holotype {
    fn open(disk: Disk) -> Result<Self, String> {
        let db =
            Db::open_on(disk.storage(), &Options::tiny().sector(512).segment_bytes(16 << 10)).map_err(say)?;
        db.create_collection("all").map_err(say)?;
        Ok(Holotype { db })
    }

    fn commit(&mut self, changes: &[Change], durability: Durability) -> Result<(), String> {
        let mut transaction = self.db.begin_write().map_err(say)?;
        let all = transaction.collection("all");
        for change in changes {
            match change {
                Change::Put(key, value) => {
                    all.put(key.as_slice(), doc! { "value": value.clone() }).map_err(say)?;
                }
                Change::Delete(key) => _ = all.delete(key.as_slice()).map_err(say)?,
            }
        }
        drop(all);
        transaction.set_durability(match durability {
            Durability::Durable => holotype::Durability::Synced,
            Durability::Buffered => holotype::Durability::Buffered,
        });
        transaction.commit().map_err(say)?;
        self.db.maintain().map(|_| ()).map_err(say)
    }

    fn contents(&mut self) -> Result<Contents, String> {
        let mut contents = BTreeMap::new();
        for document in self.db.collection("all").scan(..).map_err(say)? {
            let document = document.map_err(say)?;
            let holotype::Key::Bytes(key) = document.key().to_key() else {
                return Err("a key of no kind of ours".into());
            };
            let decoded = document.to_document().map_err(say)?;
            let Some(Value::Bytes(value)) = decoded.get("value") else {
                return Err("a document of another form".into());
            };
            contents.insert(key.to_vec(), value.to_vec());
        }
        Ok(contents)
    }

    fn verify(&mut self) -> Result<(), String> {
        let report = self.db.verify(true).map_err(say)?;
        if report.is_clean() { Ok(()) } else { Err(format!("{:?}", report.problems)) }
    }

    fn close(self) -> Result<(), String> {
        self.db.close().map_err(say)
    }
}

#[test]
fn holotype_holds_under_the_checks_for_other_stores() {
    let mut all = Tally::default();
    for seed in 0..4 {
        all.add(&life::<Holotype>(&Plan::new(seed)).unwrap_or_else(|finding| panic!("{finding}")));
    }
    assert!(all.complete > 100 && all.twice > 100 && all.lost > 0 && all.kept > 0, "{all}");
}

/// A mistake that a store may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    None,
    /// A commit returns without its sync.
    NoSync,
    /// The block is not checksummed.
    NoChecksum,
    /// One block is written over and over.
    InPlace,
    /// What opening found is answered with before it is durable.
    FoundNotSynced,
}

const NONE: u8 = Mistake::None as u8;
const NO_SYNC: u8 = Mistake::NoSync as u8;
const NO_CHECKSUM: u8 = Mistake::NoChecksum as u8;
const IN_PLACE: u8 = Mistake::InPlace as u8;
const FOUND_NOT_SYNCED: u8 = Mistake::FoundNotSynced as u8;

/// Two blocks in turn, each all that the store holds: number, sum, length, fields. With the mistake of that number.
struct Blocks<const MISTAKE: u8> {
    disk: Disk,
    contents: Contents,
    turn: u64,
    /// Whether the last block that was written may not be durable: the other one must not be touched then.
    is_pending: bool,
}

const ROOM: usize = 512 << 10;

impl<const MISTAKE: u8> Blocks<MISTAKE> {
    fn write(&mut self, durability: Durability) -> std::io::Result<()> {
        if self.is_pending {
            self.sync()?;
        }
        self.turn += 1;
        self.is_pending = true;
        let mut body = Vec::new();
        for field in self.contents.iter().flat_map(|(key, value)| [key, value]) {
            body.extend((field.len() as u64).to_le_bytes());
            body.extend(field);
        }
        let head = [self.turn, sum(self.turn, &body), body.len() as u64].map(u64::to_le_bytes).concat();
        let at = if MISTAKE == IN_PLACE { 0 } else { self.turn % 2 * ROOM as u64 };
        self.disk.write_all_at(at, &[head, body].concat())?;
        if durability == Durability::Durable { self.sync() } else { Ok(()) }
    }

    fn sync(&mut self) -> std::io::Result<()> {
        self.is_pending = false;
        if MISTAKE == NO_SYNC { Ok(()) } else { self.disk.sync() }
    }

    fn read(disk: &Disk, at: u64) -> std::io::Result<Option<(u64, Contents)>> {
        let mut head = [0; 24];
        disk.read_exact_at(at, &mut head)?;
        let [turn, found, len] =
            [0, 8, 16].map(|at| u64::from_le_bytes(head[at..at + 8].try_into().unwrap()));
        if turn == 0 || len as usize > ROOM - head.len() {
            return Ok(None);
        }
        let mut body = vec![0; len as usize];
        disk.read_exact_at(at + head.len() as u64, &mut body)?;
        if MISTAKE != NO_CHECKSUM && sum(turn, &body) != found {
            return Ok(None);
        }
        Ok(Some((turn, parse(&body))))
    }
}

fn sum(turn: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(turn ^ 0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

fn parse(mut rest: &[u8]) -> Contents {
    let mut fields = Vec::new();
    while let Some((len, behind)) = rest.split_first_chunk::<8>() {
        let (field, behind) = behind.split_at((u64::from_le_bytes(*len) as usize).min(behind.len()));
        fields.push(field.to_vec());
        rest = behind;
    }
    fields.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

impl<const MISTAKE: u8> Subject for Blocks<MISTAKE> {
    fn open(disk: Disk) -> Result<Self, String> {
        let open = || {
            if disk.len()? < 2 * ROOM as u64 {
                disk.set_len(2 * ROOM as u64)?;
            }
            let newest = [Self::read(&disk, 0)?, Self::read(&disk, ROOM as u64)?]
                .into_iter()
                .flatten()
                .max_by_key(|(turn, _)| *turn);
            let (turn, contents) = newest.unwrap_or_default();
            if MISTAKE != FOUND_NOT_SYNCED {
                disk.sync()?;
            }
            Ok((turn, contents))
        };
        let (turn, contents) = open().map_err(|error: std::io::Error| error.to_string())?;
        Ok(Blocks { disk, contents, turn, is_pending: false })
    }

    fn commit(&mut self, changes: &[Change], durability: Durability) -> Result<(), String> {
        changes.iter().for_each(|change| change.apply(&mut self.contents));
        self.write(durability).map_err(|error| error.to_string())
    }

    fn contents(&mut self) -> Result<Contents, String> {
        Ok(self.contents.clone())
    }

    fn close(self) -> Result<(), String> {
        self.disk.sync().map_err(|error| error.to_string())
    }
}

fn first_finding<S: Subject>() -> Option<Box<Finding>> {
    (0..6).find_map(|seed| life::<S>(&Plan { steps: 12, ..Plan::new(seed) }).err())
}

#[test]
fn a_store_of_two_blocks_holds_and_each_mistake_in_it_is_found_and_reduced() {
    assert_eq!(first_finding::<Blocks<NONE>>(), None);
    let found = [
        first_finding::<Blocks<NO_SYNC>>(),
        first_finding::<Blocks<NO_CHECKSUM>>(),
        first_finding::<Blocks<IN_PLACE>>(),
        first_finding::<Blocks<FOUND_NOT_SYNCED>>(),
    ];
    for (mistake, finding) in found.into_iter().enumerate() {
        let finding = finding.unwrap_or_else(|| panic!("mistake {} is not found", mistake + 1));
        assert!(finding.steps.len() <= 4, "{finding}");
    }
}

#[test]
fn a_finding_comes_again_from_its_seed() {
    let finding = first_finding::<Blocks<NO_SYNC>>().unwrap();
    let plan = Plan { steps: 12, ..Plan::new(finding.seed) };
    assert_eq!(life::<Blocks<NO_SYNC>>(&plan).unwrap_err(), finding);
}
