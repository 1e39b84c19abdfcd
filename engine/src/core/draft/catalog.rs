//! Changes of the catalog in a transaction.

use crate::error::{Error, Result};
use crate::format::catalog::CatalogChange;
use crate::index::{Documents, check_name};
use crate::sync::{Arc, read};

use super::super::shared::next_id;
use super::Draft;

impl Draft {
    fn change(&mut self, change: CatalogChange) -> Option<Arc<Documents>> {
        let begins = change.begins().map(|id| self.shared.new_documents(id));
        self.batch.push_catalog(change, begins.clone());
        self.earlier.push(None);
        begins
    }

    //= spec/format.md#f-7-2-ids-and-names
    //# A writer MUST NOT give a collection id twice in the life of a store.
    fn next_id(&mut self) -> Result<u32> {
        let last = self.overlay.last_id.unwrap_or_else(|| read(&self.shared.catalog).last_id());
        let id = next_id(last)?;
        self.overlay.last_id = Some(id);
        Ok(id)
    }

    pub(super) fn create(&mut self, name: &str) -> Result<Arc<Documents>> {
        check_name(name)?;
        self.check_size(name.len())?;
        let id = self.next_id()?;
        let begins = self.change(CatalogChange::Create { id, name: name.to_owned() });
        let documents = begins.expect("a creation begins a collection");
        self.overlay.names.insert(name.to_owned(), Some(Arc::clone(&documents)));
        Ok(documents)
    }

    /// Creates a collection. Whether it was not there before.
    pub(crate) fn create_collection(&mut self, name: &str) -> Result<bool> {
        match self.documents(name) {
            Ok(_) => Ok(false),
            Err(Error::UnknownCollection { .. }) => self.create(name).map(|_| true),
            Err(error) => Err(error),
        }
    }

    /// Ends a collection. Whether there was one.
    pub(crate) fn drop_collection(&mut self, name: &str) -> Result<bool> {
        let Some(documents) = self.known(name)? else { return Ok(false) };
        self.check_size(0)?;
        self.change(CatalogChange::Drop { id: documents.id });
        self.overlay.names.insert(name.to_owned(), None);
        Ok(true)
    }

    /// Gives a collection another name. Whether there was one.
    pub(crate) fn rename_collection(&mut self, name: &str, to: &str) -> Result<bool> {
        check_name(to)?;
        let Some(documents) = self.known(name)? else { return Ok(false) };
        if self.known(to)?.is_some() {
            return Err(Error::InvalidName { name: to.to_owned(), what: "a collection has it already" });
        }
        self.check_size(to.len())?;
        self.change(CatalogChange::Rename { id: documents.id, name: to.to_owned() });
        self.overlay.names.insert(name.to_owned(), None);
        self.overlay.names.insert(to.to_owned(), Some(documents));
        Ok(true)
    }

    /// Takes all documents out of a collection; its name and its id counter stay. Whether there was one.
    pub(crate) fn clear_collection(&mut self, name: &str) -> Result<bool> {
        let Some(old) = self.known(name)? else { return Ok(false) };
        self.check_size(0)?;
        let id = self.next_id()?;
        let begins = self.change(CatalogChange::Clear { id: old.id, new: id });
        let new = begins.expect("a cleared collection begins anew");
        self.overlay.ids.insert(id, self.largest_id(&old));
        self.overlay.names.insert(name.to_owned(), Some(new));
        Ok(true)
    }

    fn known(&self, name: &str) -> Result<Option<Arc<Documents>>> {
        match self.documents(name) {
            Ok(documents) => Ok(Some(documents)),
            Err(Error::UnknownCollection { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
