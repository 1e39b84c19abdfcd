//! Steps from a seed.

use std::ops::Bound;

use crate::key::{Key, KeyRange};
use crate::model::Ending;
use crate::op::{Durability, Op};
use crate::subject::{Feature, Features};

use super::indexes;
use super::rig::Step;
use super::rng::Rng;
use super::updates;
use super::values;
use super::weave::Weave;

/// How many of the keys named so far are remembered, to be named again.
const KEYS_REMEMBERED: usize = 48;
/// How often a store is asked for something that it cannot do before the step becomes a flush.
const ATTEMPTS: usize = 64;

/// What the steps are to be like.
#[derive(Debug, Clone)]
pub struct Profile {
    /// What the store can do, and its limits.
    pub features: Features,
    /// How a life of the store may end; may be empty.
    pub endings: Vec<Ending>,
    /// How many steps lie between two endings, on average.
    pub life: usize,
    /// Names of collections; at least one.
    pub collections: Vec<String>,
    /// Lengths of encoded documents near which many documents should be: those of sectors, segments and blocks.
    pub lens: Vec<usize>,
}

impl Profile {
    /// A profile for a store that can do this much.
    pub fn new(features: Features) -> Self {
        let collections = if features.has(Feature::Collections) { &["a", "b", "c"][..] } else { &["a"] };
        Profile {
            features,
            endings: vec![Ending::Close, Ending::Kill, Ending::PowerCut],
            life: 24,
            collections: collections.iter().map(|&name| name.to_owned()).collect(),
            lens: vec![64, 128, 512],
        }
    }
}

/// Steps without end, the same for the same seed and profile.
#[derive(Debug, Clone)]
pub struct Steps {
    rng: Rng,
    profile: Profile,
    keys: Vec<Key>,
    ids: i64,
    weave: Weave,
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if !self.profile.endings.is_empty() && self.rng.one_in(self.profile.life.max(1)) {
            self.weave.end();
            return Some(Step::End(*self.rng.pick(&self.profile.endings), self.rng.next_u64()));
        }
        for _ in 0..ATTEMPTS {
            let op = self.op();
            if self.profile.features.support(&op) {
                self.remember(&op);
                return Some(Step::Do(op));
            }
        }
        Some(Step::Do(Op::Flush))
    }
}

impl Steps {
    /// The steps that belong to `seed`.
    pub fn seeded(seed: u64, profile: &Profile) -> Self {
        assert!(!profile.collections.is_empty(), "a profile names at least one collection");
        Steps {
            rng: Rng::seeded(seed),
            profile: profile.clone(),
            keys: Vec::new(),
            ids: 0,
            weave: Weave::default(),
        }
    }

    /// A step of a transaction, of a snapshot, of a client that minds versions or of an index, or else a call that stands for itself.
    fn op(&mut self) -> Op {
        let woven = self.transaction_step();
        let woven = woven.or_else(|| self.snapshot_step()).or_else(|| self.version_step());
        woven.or_else(|| self.index_step()).unwrap_or_else(|| self.single())
    }

    /// Whether the store has the feature. Nothing is drawn for one that it has not, so that the steps that belong to a seed stay
    /// the same for it.
    fn has(&self, feature: Feature) -> bool {
        self.profile.features.has(feature)
    }

    /// Most of a transaction's own steps follow each other; the others come between them.
    fn transaction_step(&mut self) -> Option<Op> {
        if !self.has(Feature::Transactions) {
            return None;
        }
        if !self.weave.is_in_transaction() {
            return self.rng.one_in(10).then_some(Op::Begin);
        }
        let savepoints = self.weave.savepoints();
        match self.rng.below(40) {
            0..20 => Some(Op::Inside(Box::new(self.plain()))),
            20..23 => Some(Op::Savepoint),
            23..26 if savepoints > 0 => Some(Op::RollbackTo { savepoint: self.rng.below(savepoints) }),
            26..29 => Some(Op::Commit { durability: self.durability() }),
            29 => Some(Op::Rollback),
            30 => Some(Op::Begin),
            // A write beside the transaction says only that it is refused, so few are enough.
            31..36 => Some(self.read()),
            _ => None,
        }
    }

    fn snapshot_step(&mut self) -> Option<Op> {
        if !self.has(Feature::Snapshots) {
            return None;
        }
        if self.weave.may_take_snapshot() && self.rng.one_in(16) {
            return Some(Op::TakeSnapshot);
        }
        if self.weave.snapshots().is_empty() {
            return None;
        }
        let snapshot = *self.rng.pick(self.weave.snapshots());
        // A catalog write takes the most from under a snapshot at once: it is worth a look, and some more of them.
        let is_catalog_changed = matches!(self.weave.changes().last(), Some((_, None)));
        match self.rng.below(40) {
            0..4 => Some(Op::Through { snapshot, op: Box::new(self.plain_read()) }),
            4..9 => Some(Op::Through { snapshot, op: Box::new(self.read_of_changed()) }),
            9 => Some(Op::Release { snapshot }),
            10..13 if !self.weave.is_in_transaction() => Some(self.upheaval()),
            13..26 if is_catalog_changed => {
                Some(Op::Through { snapshot, op: Box::new(self.read_of_changed()) })
            }
            _ => None,
        }
    }

    /// A catalog write that is likely to be done: a rename goes to a name that may have been given up.
    fn upheaval(&mut self) -> Op {
        let (collection, durability) = (self.collection(), self.durability());
        let given_up = self.weave.changes().iter().rev().find(|(_, key)| key.is_none());
        match (self.rng.below(4), given_up) {
            (0, _) => Op::DropCollection { collection, durability },
            (1, _) => Op::ClearCollection { collection, durability },
            (_, Some((to, _))) => Op::RenameCollection { collection, to: to.clone(), durability },
            (_, None) => Op::RenameCollection { collection, to: self.collection(), durability },
        }
    }

    fn version_step(&mut self) -> Option<Op> {
        if !self.has(Feature::Versions) || !self.rng.one_in(12) {
            return None;
        }
        // Without a look before it, a conditional write says only that it is refused.
        Some(if self.rng.one_in(3) { self.read_of_changed() } else { self.conditional() })
    }

    /// Rarely beside a transaction, where all but reads are refused.
    fn index_step(&mut self) -> Option<Op> {
        let one_in = if self.weave.is_in_transaction() { 32 } else { 3 };
        if !self.has(Feature::Indexes) || !self.rng.one_in(one_in) {
            return None;
        }
        let (place, durability) = ((self.collection(), self.key()), self.durability());
        Some(indexes::step(&mut self.rng, self.weave.indexes(), place, durability, &self.profile.features))
    }

    /// A read where something has changed not long ago.
    fn read_of_changed(&mut self) -> Op {
        let Some(last) = self.weave.changes().last() else { return self.read() };
        let place =
            if self.rng.one_in(2) { last.clone() } else { self.rng.pick(self.weave.changes()).clone() };
        match place {
            (collection, Some(key)) => Op::Get { collection, key },
            (collection, None) => {
                let reverse = self.rng.one_in(2);
                Op::Scan { collection, range: KeyRange::ALL, reverse, limit: None }
            }
        }
    }

    /// Mostly on a document that the client has looked at, and often on the last of these.
    fn conditional(&mut self) -> Op {
        let (collection, key) = match (self.rng.below(8), self.weave.looks().last()) {
            (0, _) | (_, None) => (self.collection(), self.key()),
            (1..5, Some(last)) => last.clone(),
            _ => self.rng.pick(self.weave.looks()).clone(),
        };
        let durability = self.durability();
        if self.rng.one_in(3) {
            Op::DeleteIf { collection, key, durability }
        } else {
            Op::ReplaceIf { collection, key, document: self.document(), durability }
        }
    }

    /// What can stand inside a transaction.
    fn plain(&mut self) -> Op {
        match self.rng.below(100) {
            0..52 => self.write(),
            52..60 => self.catalog_write(),
            60..68 if self.has(Feature::Versions) => self.conditional(),
            _ => self.plain_read(),
        }
    }

    fn plain_read(&mut self) -> Op {
        if self.rng.one_in(8) { Op::Collections } else { self.read() }
    }

    fn single(&mut self) -> Op {
        match self.rng.below(100) {
            0..54 => self.write(),
            54..60 => self.catalog_write(),
            60..88 => self.read(),
            88..92 => Op::Flush,
            92..94 => Op::Checkpoint,
            94..97 => Op::Clean,
            97 => Op::Verify,
            98 => Op::Compact,
            _ => Op::Collections,
        }
    }

    fn write(&mut self) -> Op {
        let (collection, durability) = (self.collection(), self.durability());
        match self.rng.below(54) {
            0..14 => Op::Insert { collection, document: self.document(), durability },
            14..18 => Op::InsertMany { collection, documents: self.documents(), durability },
            18..29 => Op::Put { collection, key: self.key(), document: self.document(), durability },
            29..32 => {
                let documents = self.documents();
                let entries = documents.into_iter().map(|document| (self.key(), document)).collect();
                Op::PutMany { collection, entries, durability }
            }
            32..36 => {
                Op::InsertWithKey { collection, key: self.key(), document: self.document(), durability }
            }
            36..41 => Op::Replace { collection, key: self.key(), document: self.document(), durability },
            41 if self.rng.one_in(8) => {
                Op::Put { collection, key: Key::Int(i64::MAX), document: self.document(), durability }
            }
            48..54 if self.has(Feature::Updates) => self.update(collection, durability),
            _ => Op::Delete { collection, key: self.key(), durability },
        }
    }

    fn update(&mut self, collection: String, durability: Durability) -> Op {
        match self.rng.below(6) {
            0 => Op::DeleteMany { collection, filter: updates::filter(&mut self.rng), durability },
            1 | 2 => {
                let (filter, by) = (updates::filter(&mut self.rng), updates::by(&mut self.rng));
                Op::UpdateMany { collection, filter, by, durability }
            }
            3 | 4 => Op::Update { collection, key: self.key(), by: updates::by(&mut self.rng), durability },
            _ => {
                let (key, document) = (self.key(), self.document());
                let on_conflict = updates::on_conflict(&mut self.rng);
                Op::InsertOnConflict { collection, key, document, on_conflict, durability }
            }
        }
    }

    fn catalog_write(&mut self) -> Op {
        let (collection, durability) = (self.collection(), self.durability());
        match self.rng.below(8) {
            0..3 => Op::CreateCollection { collection, durability },
            3 | 4 => Op::DropCollection { collection, durability },
            5 => Op::ClearCollection { collection, durability },
            _ => Op::RenameCollection { collection, to: self.collection(), durability },
        }
    }

    fn read(&mut self) -> Op {
        let collection = self.collection();
        let one_in = if self.weave.indexes().is_empty() { 12 } else { 3 };
        if self.has(Feature::Indexes) && self.rng.one_in(one_in) {
            let place = (collection, self.key());
            return indexes::read(&mut self.rng, self.weave.indexes(), place);
        }
        let reverse = self.rng.one_in(2);
        let limit = self.rng.one_in(3).then(|| self.rng.below(5));
        match self.rng.below(28) {
            0..12 => Op::Get { collection, key: self.key() },
            12..15 => Op::Contains { collection, key: self.key() },
            15..18 => Op::Len { collection },
            18..20 => Op::Keys { collection, range: self.range(), reverse, limit },
            20..25 => Op::Scan { collection, range: self.range(), reverse, limit },
            _ => Op::ScanPrefix { collection, prefix: values::prefix(&mut self.rng), reverse, limit },
        }
    }

    /// Mostly a collection of the profile, rarely a name at the edge of what a name may be.
    fn collection(&mut self) -> String {
        let many = self.has(Feature::Collections);
        match self.rng.below(96) {
            0 if many => String::new(),
            1 if many => "$reserved".to_owned(),
            2 if many => "n".repeat(self.profile.features.limits().name_len),
            3 if many => "n".repeat(self.profile.features.limits().name_len + 1),
            _ => self.rng.pick(&self.profile.collections).clone(),
        }
    }

    fn durability(&mut self) -> Durability {
        *self.rng.pick(&[Durability::Buffered, Durability::Written, Durability::Synced])
    }

    fn document(&mut self) -> crate::Document {
        if self.has(Feature::Indexes) && self.rng.one_in(2) {
            return indexes::document(&mut self.rng, &self.profile.features.limits());
        }
        values::document(&mut self.rng, &self.profile.lens, &self.profile.features.limits())
    }

    fn documents(&mut self) -> Vec<crate::Document> {
        (0..self.rng.below(5)).map(|_| self.document()).collect()
    }

    /// Mostly a key that was named before, or an id that may have been given out.
    fn key(&mut self) -> Key {
        match self.rng.below(10) {
            0..5 if !self.keys.is_empty() => self.rng.pick(&self.keys).clone(),
            5..8 if self.ids > 0 => Key::Int(self.ids - self.rng.below(self.ids.min(16) as usize) as i64),
            _ => values::key(&mut self.rng, &self.profile.features.limits()),
        }
    }

    fn range(&mut self) -> KeyRange {
        if self.rng.one_in(3) {
            return KeyRange::ALL;
        }
        KeyRange { from: self.bound(), to: self.bound() }
    }

    fn bound(&mut self) -> Bound<Key> {
        match self.rng.below(3) {
            0 => Bound::Unbounded,
            1 => Bound::Included(self.key()),
            _ => Bound::Excluded(self.key()),
        }
    }

    fn remember(&mut self, op: &Op) {
        self.weave.follow(op);
        match op.plain() {
            Op::Insert { .. } => self.ids += 1,
            Op::InsertMany { documents, .. } => self.ids += documents.len() as i64,
            _ => {}
        }
        for key in op.keys() {
            if self.keys.len() < KEYS_REMEMBERED {
                self.keys.push(key.clone());
            } else {
                let at = self.rng.below(KEYS_REMEMBERED);
                self.keys[at] = key.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_steps() {
        let profile = Profile::new(Features::all());
        let steps = |seed| Steps::seeded(seed, &profile).take(300).collect::<Vec<Step>>();
        assert_eq!(steps(7), steps(7));
        assert_ne!(steps(7), steps(8));
    }

    #[test]
    fn a_store_that_can_do_little_is_asked_for_little() {
        let little = Feature::ALL
            .into_iter()
            .filter(|feature| *feature != Feature::Ids)
            .fold(Features::all(), Features::without);
        for step in Steps::seeded(1, &Profile::new(little.clone())).take(500) {
            let Step::Do(op) = step else { continue };
            assert!(little.support(&op), "{op}");
        }
    }
}
