//! What names mean in a transaction, and its changes of the catalog.

use crate::error::{Error, Result};
use crate::format::catalog::CatalogChange;
use crate::format::checkpoint::IndexEntry;
use crate::format::definition::StoredDefinition;
use crate::index::{Documents, check_name};
use crate::secondary;
use crate::sync::{Arc, read};

use super::txn::WriteTxn;

impl WriteTxn {
    /// The documents of `name` as the transaction leaves it.
    pub(crate) fn documents(&self, name: &str) -> Result<Arc<Documents>> {
        self.known(name)?.ok_or_else(|| Error::UnknownCollection { name: name.to_owned() })
    }

    /// As [`documents`](Self::documents), or nothing if there is no such collection.
    fn known(&self, name: &str) -> Result<Option<Arc<Documents>>> {
        self.check_ground()?;
        Ok(match self.names.changed.get(name) {
            Some(changed) => changed.clone(),
            None => self.shared.newest_naming(name).map(|naming| Arc::clone(&naming.documents)),
        })
    }

    /// The number in the batch of the collection of `name`, which is looked up once; it is created where there is none, if `create`.
    #[inline]
    pub(super) fn collection(&mut self, name: &str, create: bool) -> Result<u32> {
        match self.names.last_number {
            Some(number) if self.names.last == name => {
                self.check_ground()?;
                Ok(number)
            }
            _ => self.find_collection(name, create),
        }
    }

    fn find_collection(&mut self, name: &str, create: bool) -> Result<u32> {
        if let Some(number) = self.names.again(name) {
            self.check_ground()?;
            return Ok(number);
        }
        let known = self.names.last_naming.as_ref().filter(|naming| naming.is_current());
        if let Some(naming) = known
            && self.names.changed.is_empty()
            && self.names.last == name
        {
            self.check_ground()?;
            let number = self.batch.touch(&naming.documents);
            self.names.last_number = Some(number);
            Ok(number)
        } else {
            let documents = match self.documents(name) {
                Err(Error::UnknownCollection { .. }) if create => self.create(name)?,
                found => found?,
            };
            self.names.last_naming = self.shared.newest_naming(name);
            let number = self.batch.touch(&documents);
            self.names.remember(name, number);
            Ok(number)
        }
    }

    /// The names of all collections, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let catalog = read(&self.shared.catalog);
        let kept = catalog.current().map(|naming| &naming.name);
        let kept = kept.filter(|name| !self.names.changed.contains_key(*name));
        let changed = self.names.changed.iter().filter(|(_, documents)| documents.is_some());
        let mut names: Vec<_> = kept.chain(changed.map(|(name, _)| name)).cloned().collect();
        names.sort();
        names
    }

    //= spec/format.md#f-7-4-order-in-a-commit
    //# A record MUST follow the catalog record that creates its collection in the log.
    /// Appends a change of the catalog: its number, and the documents of the collection that it begins.
    fn change_catalog(&mut self, change: CatalogChange) -> (usize, Option<Arc<Documents>>) {
        let number = self.batch.changes.len();
        let layout = self.shared.options.layout();
        let begins = change.begins().map(|id| Arc::new(Documents::new(id, layout)));
        self.batch.push_catalog(change, begins.clone());
        (number, begins)
    }

    //= spec/format.md#f-7-2-ids-and-names
    //# A writer MUST NOT give a collection id twice in the life of a store.
    //= spec/semantics.md#s-3-5-collection-ids
    //# A store MUST NOT give out the id of a collection that any commit in its order gave out.
    //= spec/semantics.md#s-3-5-collection-ids
    //# When no id is left, the call MUST be refused as `LimitReached`.
    fn next_id(&self) -> Result<u32> {
        let last = self.names.last_id.unwrap_or_else(|| read(&self.shared.catalog).last_id);
        last.checked_add(1).ok_or(Error::LimitReached { what: "collection ids" })
    }

    fn create(&mut self, name: &str) -> Result<Arc<Documents>> {
        check_name(name)?;
        let id = self.next_id()?;
        let (number, begins) = self.change_catalog(CatalogChange::Create { id, name: name.to_owned() });
        let documents = begins.expect("a creation begins a collection");
        self.names.set(number, name, Some(Arc::clone(&documents)));
        self.names.last_id = Some(id);
        Ok(documents)
    }

    //= spec/semantics.md#s-3-4-creation
    //# Creating a collection MUST be possible when it is there already: the call answers false, and true when
    //# it created one.
    /// Creates a collection. Whether it was not there before.
    pub(crate) fn create_collection(&mut self, name: &str) -> Result<bool> {
        match self.known(name)? {
            Some(_) => Ok(false),
            None => self.create(name).map(|_| true),
        }
    }

    //= spec/semantics.md#s-3-6-drop
    //# Dropping a collection MUST remove its name, its documents and its largest id in one commit, and answer
    //# whether there was one.
    /// Ends a collection. Whether there was one.
    pub(crate) fn drop_collection(&mut self, name: &str) -> Result<bool> {
        let Some(documents) = self.known(name)? else { return Ok(false) };
        let (number, _) = self.change_catalog(CatalogChange::Drop { id: documents.id });
        self.names.set(number, name, None);
        Ok(true)
    }

    //= spec/semantics.md#s-3-8-rename
    //# Renaming a collection MUST move its documents and its largest id to the new name in one commit, and
    //# answer whether there was such a collection.
    //= spec/semantics.md#s-3-8-rename
    //# A rename to a name that a collection has already MUST be refused as `InvalidName`.
    /// Gives a collection another name. Whether there was one.
    pub(crate) fn rename_collection(&mut self, name: &str, to: &str) -> Result<bool> {
        check_name(to)?;
        let Some(documents) = self.known(name)? else { return Ok(false) };
        if self.known(to)?.is_some() {
            return Err(Error::InvalidName { name: to.to_owned(), what: "a collection has it already" });
        }
        let (number, _) =
            self.change_catalog(CatalogChange::Rename { id: documents.id, name: to.to_owned() });
        self.names.set(number, name, None);
        self.names.set(number, to, Some(documents));
        Ok(true)
    }

    //= spec/semantics.md#s-3-7-clear
    //# Clearing a collection MUST remove all its documents in one commit, keep its name and its largest id,
    //# and answer whether there was such a collection.
    /// Takes all documents out of a collection; its name and its id counter stay. Whether there was one.
    pub(crate) fn clear_collection(&mut self, name: &str) -> Result<bool> {
        let Some(old) = self.known(name)? else { return Ok(false) };
        let id = self.next_id()?;
        let of_batch = self.batch.number_of(&old).map(|number| &self.batch.collections[number as usize]);
        let largest_id = of_batch.map_or_else(|| old.largest_id(), |touched| touched.largest_id);
        let new = Arc::new(old.cleared(id, self.shared.options.layout()));
        let last_id = new.last_id();
        if last_id.is_none() {
            return Err(Error::LimitReached { what: "collection ids" });
        }
        let number = self.batch.changes.len();
        let change = CatalogChange::Clear { id: old.id, new: id };
        self.batch.push_catalog(change, Some(Arc::clone(&new)));
        let of_new = self.batch.touch(&new);
        self.batch.collections[of_new as usize].largest_id = largest_id;
        self.names.set(number, name, Some(new));
        self.names.last_id = last_id;
        Ok(true)
    }

    //= spec/index.md#i-4-1-create
    //# It creates the collection when there is none, as a write does (S-3.2).
    //= spec/index.md#i-4-3-replace
    //# Replacing an index is creating one under a name that may be taken: in one commit, the former index of
    //# that name ends and the new one begins.
    /// Makes an index part of the state, in the place of one of its name, with the entries of `built`.
    pub(crate) fn create_index(
        &mut self,
        name: &str,
        definition: &Arc<StoredDefinition>,
        built: Option<&Documents>,
    ) -> Result<()> {
        let documents = self.known(name)?.map_or_else(|| self.create(name), Ok)?;
        if let Some(former) = self.known_index(&documents, definition.definition.name())? {
            self.change_catalog(CatalogChange::Unindex { id: former.entries.id });
        }
        self.check_definition(definition)?;
        let id = self.next_id()?;
        let change = CatalogChange::Index { id: documents.id, new: id, definition: Arc::clone(definition) };
        let (_, begins) = self.change_catalog(change);
        let entries = begins.expect("an index begins");
        if let Some(built) = built {
            entries.take_entries(built);
        }
        self.names.last_id = Some(id);
        Ok(())
    }

    //= spec/index.md#i-4-4-drop-and-rename
    //# Dropping an index MUST remove it in one commit, and answer whether there was one.
    /// Ends an index. Whether there was one.
    pub(crate) fn drop_index(&mut self, name: &str, index: &str) -> Result<bool> {
        let documents = self.documents(name)?;
        let Some(target) = self.known_index(&documents, index)? else { return Ok(false) };
        self.change_catalog(CatalogChange::Unindex { id: target.entries.id });
        Ok(true)
    }

    //= spec/index.md#i-4-4-drop-and-rename
    //# Renaming one MUST change its name alone, and answer whether there was one; a name that another index of
    //# the collection has is refused as `IndexExists`.
    /// Gives an index another name. Whether there was one.
    pub(crate) fn rename_index(&mut self, name: &str, index: &str, to: &str) -> Result<bool> {
        secondary::check_name(to)?;
        let documents = self.documents(name)?;
        let Some(target) = self.known_index(&documents, index)? else { return Ok(false) };
        let renamed = target.definition.with_name(to)?;
        if index == to {
            return Ok(true);
        }
        if self.known_index(&documents, to)?.is_some() {
            return Err(Error::IndexExists { collection: name.to_owned(), index: to.to_owned() });
        }
        self.check_definition(&renamed)?;
        self.change_catalog(CatalogChange::Reindex { id: target.entries.id, name: to.to_owned() });
        Ok(true)
    }

    //= spec/index.md#i-1-4-limits-of-definitions
    //# A definition MUST fit into an index record of the store with its name (F-8.11).
    /// Refuses a definition that no index record has room for.
    pub(crate) fn check_definition(&self, definition: &StoredDefinition) -> Result<()> {
        let (len, max) = (IndexEntry::len_max(definition), self.shared.log.geometry.index_record_len_max());
        if len <= max {
            return Ok(());
        }
        Err(Error::InvalidIndex {
            index: definition.definition.name().to_owned(),
            what: format!("its definition takes {len} bytes, and an index record of this store has {max}"),
        })
    }
}
