//! Puts together what is known of each document, and decides in which list it goes.

use std::collections::BTreeMap;

use crate::document::{self, DOCUMENT_LEN_MAX, Key};
use crate::error::{Error, Result};
use crate::format::body::{ChunkList, parse_chunk};
use crate::format::catalog::CatalogChange;
use crate::format::definition::StoredDefinition;
use crate::format::record::{self, Kind, PEEK_LEN, Record, RecordSeed, peek_len};
use crate::format::{LogAddress, Lsn};
use crate::seeded::{self, Bug};
use crate::storage::Storage;
use crate::sync::Arc;

use super::base::Base;
use super::chain::Chain;
use super::found::{Change, Origin, Swept};
use super::report::LostDocument;
use super::sink::{Sink, made_up_name};
use super::source::Source;

/// What is known of a collection.
#[derive(Debug, Default)]
struct Collection {
    name: Option<String>,
    largest_id: i64,
    has_ended: bool,
    /// The definitions of its indexes, by their ids.
    indexes: BTreeMap<u32, Arc<StoredDefinition>>,
}

/// All that was found, and where it goes.
#[derive(Debug)]
pub(super) struct Gather<'a> {
    source: &'a Source,
    base: &'a Base,
    chain: &'a Chain,
    swept: Swept,
    collections: BTreeMap<u32, Collection>,
    /// The newest version of each document that the log behind the base has.
    versions: BTreeMap<(u32, Key), Change>,
    pub(super) lost: Vec<LostDocument>,
}

impl<'a> Gather<'a> {
    pub(super) fn new(source: &'a Source, base: &'a Base, chain: &'a Chain, mut swept: Swept) -> Self {
        let changes = std::mem::take(&mut swept.changes);
        let (collections, versions, lost) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut gather = Gather { source, base, chain, swept, collections, versions, lost };
        gather.learn_collections();
        changes.into_iter().for_each(|change| gather.learn_version(change));
        gather
    }

    /// The catalog of the base, and what changed it since.
    fn learn_collections(&mut self) {
        for naming in self.base.core.shared.namings() {
            let largest_id = naming.documents.largest_id();
            let name = Some(naming.name.clone());
            let indexes = self.base.core.shared.definitions_of(&naming).into_iter().collect();
            let collection = Collection { name, largest_id, has_ended: false, indexes };
            self.collections.insert(naming.documents.id, collection);
        }
        for (lsn, changes) in &self.swept.catalog {
            if !self.chain.counts(*lsn) {
                continue;
            }
            for change in changes {
                match change {
                    CatalogChange::Create { id, name } | CatalogChange::Rename { id, name } => {
                        self.collections.entry(*id).or_default().name = Some(name.clone());
                    }
                    CatalogChange::Drop { id } => {
                        self.collections.entry(*id).or_default().has_ended = true;
                    }
                    CatalogChange::Clear { id, new } => {
                        let old = self.collections.entry(*id).or_default();
                        old.has_ended = true;
                        let (name, largest_id) = (old.name.clone(), old.largest_id);
                        // spec: F-7.1
                        let indexes = (new + 1..).zip(old.indexes.values().cloned()).collect();
                        let collection = Collection { name, largest_id, has_ended: false, indexes };
                        self.collections.insert(*new, collection);
                    }
                    CatalogChange::Index { id, new, definition } => {
                        let collection = self.collections.entry(*id).or_default();
                        collection.indexes.insert(*new, Arc::clone(definition));
                    }
                    CatalogChange::Unindex { id } => {
                        self.collections.values_mut().for_each(|of| _ = of.indexes.remove(id));
                    }
                    CatalogChange::Reindex { id, name } => {
                        let known = self.collections.values_mut().find_map(|of| of.indexes.get_mut(id));
                        if let Some(known) = known {
                            *known = Arc::new(known.renamed(name));
                        }
                    }
                }
            }
        }
    }

    /// Names that a checkpoint still tells, though it cannot be read whole.
    pub(super) fn learn_names(&mut self, names: impl IntoIterator<Item = (u32, String, i64)>) {
        for (id, name, largest_id) in names {
            let collection = self.collections.entry(id).or_default();
            collection.name.get_or_insert(name);
            collection.largest_id = collection.largest_id.max(largest_id);
        }
    }

    fn learn_version(&mut self, change: Change) {
        // Whether or not its commit counts: the id was given out.
        if let (Key::Int(id), Some(known)) = (&change.key, self.collections.get_mut(&change.collection)) {
            known.largest_id = known.largest_id.max(*id);
        }
        let is_missed = change.is_delete && seeded::is_on(Bug::SalvageForgetsDeletes);
        if !self.chain.counts(change.place.lsn) || is_missed {
            return;
        }
        let collection = self.collections.entry(change.collection).or_default();
        if let Key::Int(id) = change.key {
            collection.largest_id = collection.largest_id.max(id);
        }
        let key = (change.collection, change.key.clone());
        match self.versions.get_mut(&key) {
            None => _ = self.versions.insert(key, change),
            Some(known) => {
                // Moving a version proves that it was still the newest one then (spec: F-6.8).
                let order = |change: &Change| (change.version, change.place.lsn);
                if order(&change) > order(known) {
                    *known = change;
                }
            }
        }
    }

    /// Hands everything to `sink`.
    pub(super) fn pour<S: Storage + 'static>(&mut self, sink: &mut Sink<S>) -> Result<()> {
        self.begin_collections(sink)?;
        let base = self.base;
        for naming in base.core.shared.namings() {
            let id = naming.documents.id;
            if self.collections[&id].has_ended {
                continue;
            }
            Base::for_each_entry(&naming.documents, |key, entry| {
                let version = self.versions.remove(&(id, key.clone()));
                match (base.core.shared.locate(id, key.as_ref(), entry), version) {
                    (Ok(located), Some(version)) if located.lsn() < version.version => {
                        self.pour_version(sink, &version)
                    }
                    (Ok(located), version) => {
                        let witness = version.map_or(base.lsn, |version| version.place.lsn);
                        self.pour_body(sink, (id, &key), located.body(), witness, entry.address())
                    }
                    (Err(Error::Corrupt(_)), Some(version)) => self.pour_version(sink, &version),
                    (Err(Error::Corrupt(_)), None) => {
                        self.lose(id, &key, self.place_of(entry.address()));
                        Ok(())
                    }
                    (Err(error), _) => Err(error),
                }
            })?;
        }
        for version in std::mem::take(&mut self.versions).into_values() {
            self.pour_version(sink, &version)?;
        }
        for (id, collection) in self.collections.iter().filter(|(_, collection)| !collection.has_ended) {
            for definition in collection.indexes.values() {
                sink.index(*id, &definition.definition)?;
            }
        }
        Ok(())
    }

    //= spec/space.md#p-11-3-ids
    //# The next id of a salvaged collection MUST be above every int key that was seen for it anywhere.
    /// Collections that have ended are not begun. The highest ids come first: of two that have one name, the other has lost it.
    fn begin_collections<S: Storage + 'static>(&self, sink: &mut Sink<S>) -> Result<()> {
        for (id, collection) in self.collections.iter().rev().filter(|(_, collection)| !collection.has_ended)
        {
            sink.begin(*id, collection.name.as_deref(), collection.largest_id)?;
        }
        Ok(())
    }

    //= spec/space.md#p-11-2-proof
    //# It MUST go into a list apart, and never into its collection: a collection whose name ends in `.stale`.
    fn pour_version<S: Storage + 'static>(&mut self, sink: &mut Sink<S>, change: &Change) -> Result<()> {
        let id = change.collection;
        if change.is_delete || self.collections[&id].has_ended {
            return Ok(());
        }
        let geometry = self.source.slot.geometry;
        let address = geometry.address(change.place.sequence, change.place.offset);
        if let Some(body) = self.body_of(change)? {
            return self.pour_body(sink, (id, &change.key), &body, change.place.lsn, address);
        }
        let at = geometry.segment_offset(change.place.physical) + u64::from(change.place.offset);
        self.lose(id, &change.key, at);
        Ok(())
    }

    fn pour_body<S: Storage + 'static>(
        &mut self,
        sink: &mut Sink<S>,
        (id, key): (u32, &Key),
        body: &[u8],
        witness: Lsn,
        address: LogAddress,
    ) -> Result<()> {
        if document::validate(body).is_err() {
            self.lose(id, key, self.place_of(address));
            return Ok(());
        }
        sink.put(id, key.as_ref(), body, self.chain.proves(witness))
    }

    //= spec/space.md#p-11-4-the-report
    //# Every document that was known to be there and is not in its collection MUST be in the report, with its
    //# place.
    fn lose(&mut self, id: u32, key: &Key, at: u64) {
        let name = self.collections.get(&id).and_then(|collection| collection.name.clone());
        let collection = name.unwrap_or_else(|| made_up_name(id));
        self.lost.push(LostDocument { collection, key: key.clone(), at });
    }

    fn place_of(&self, address: LogAddress) -> u64 {
        self.base.core.shared.log.segments.file_offset(address)
    }

    /// The document that a put holds, or the chunks that it lists. None where a part of it is missing.
    fn body_of(&self, change: &Change) -> Result<Option<Vec<u8>>> {
        let Some(bytes) = self.record_at(change.place)? else { return Ok(None) };
        let Some(put) = self.parse(&bytes, change.place) else { return Ok(None) };
        if !put.chunked {
            return Ok(Some(put.body.to_vec()));
        }
        let Some(list) = ChunkList::parse(put.body) else { return Ok(None) };
        if list.document_len() > DOCUMENT_LEN_MAX as u64 {
            return Ok(None);
        }
        let mut body = Vec::new();
        for (number, address) in list.addresses().enumerate() {
            let Some(part) = self.chunk(&put, change, number as u64, address)? else { return Ok(None) };
            body.extend_from_slice(&part);
        }
        Ok((body.len() as u64 == list.document_len()).then_some(body))
    }

    /// The chunk at an address: one that belongs to the put, where there is no other that could.
    fn chunk(
        &self,
        put: &Record<'_>,
        change: &Change,
        number: u64,
        address: LogAddress,
    ) -> Result<Option<Vec<u8>>> {
        let mut found = None;
        for place in self.swept.chunks.get(&address).into_iter().flatten() {
            let is_of_the_put =
                place.lsn == change.place.lsn || put.own_lsn.is_some() && place.lsn < change.place.lsn;
            let Some(bytes) = self.record_at(*place)?.filter(|_| is_of_the_put) else { continue };
            let Some(chunk) = self.parse(&bytes, *place) else { continue };
            let is_of_the_document =
                chunk.kind == Kind::Chunk && chunk.collection == change.collection && chunk.key == put.key;
            let part = parse_chunk(chunk.body).filter(|(n, _)| is_of_the_document && *n == number);
            if let Some((_, part)) = part
                && found.replace(part.to_vec()).is_some()
            {
                return Ok(None);
            }
        }
        Ok(found)
    }

    fn parse<'b>(&self, bytes: &'b [u8], place: Origin) -> Option<Record<'b>> {
        let seed = RecordSeed::new(&self.source.slot.lineage, place.lsn.incarnation(), place.sequence);
        record::parse(bytes, seed.at(place.offset)).ok()
    }

    /// The bytes of the record at a place, as far as the file has them.
    fn record_at(&self, place: Origin) -> Result<Option<Vec<u8>>> {
        let geometry = self.source.slot.geometry;
        let at = geometry.segment_offset(place.physical) + u64::from(place.offset);
        let room = (geometry.segment_bytes() - place.offset) as usize;
        let prefix = self.source.read(at, PEEK_LEN.min(room))?;
        peek_len(&prefix).filter(|len| *len <= room).map(|len| self.source.read(at, len)).transpose()
    }
}
