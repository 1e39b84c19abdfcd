//! What a collection's handle remembers of its name.

use crate::db::Db;
use crate::error::Result;
use crate::index::{Naming, State};
use crate::sync::{Arc, OnceLock, RwLock, read, write};

/// What the name of a collection means, looked up anew only after a drop, a rename or a clear.
#[derive(Debug, Default)]
pub(crate) struct CachedNaming {
    /// What it meant first. Most names mean one thing for ever, and this is read without a lock or a count.
    first: OnceLock<Arc<Naming>>,
    /// What it meant when it was last looked up, once `first` is of the past.
    last: RwLock<Option<Arc<Naming>>>,
}

impl CachedNaming {
    pub(crate) fn with<R>(&self, db: &Db, name: &str, then: impl Fn(&Naming) -> Result<R>) -> Result<R> {
        if let Some(naming) = self.first.get()
            && naming.is_current()
        {
            let seen = then(naming);
            // If the name means something else by now, it may have done so before the look.
            if naming.is_current() {
                return seen;
            }
        }
        loop {
            let last = read(&self.last).clone().filter(|naming| naming.is_current());
            let naming = match last {
                Some(naming) => naming,
                None => {
                    let naming = db.core().shared.naming(name)?;
                    // Where there is a first one already, it stays: only `last` can follow.
                    let _ = self.first.set(Arc::clone(&naming));
                    *write(&self.last) = Some(Arc::clone(&naming));
                    naming
                }
            };
            let seen = then(&naming);
            // A commit that ends it may be placed and not visible yet.
            if naming.is_current() || db.core().shared.is_visible(&naming) {
                return seen;
            }
        }
    }

    /// What the name means in a state.
    pub(crate) fn in_state(&self, db: &Db, name: &str, state: State) -> Result<Arc<Naming>> {
        if let Some(naming) = self.first.get()
            && naming.is_in(state)
        {
            return Ok(Arc::clone(naming));
        }
        let naming = db.core().shared.naming_in(state, name)?;
        let _ = self.first.set(Arc::clone(&naming));
        Ok(naming)
    }
}

impl Clone for CachedNaming {
    fn clone(&self) -> Self {
        // A clone may as well begin with what is known best.
        let copy = CachedNaming::default();
        let known = read(&self.last).clone().or_else(|| self.first.get().cloned());
        if let Some(naming) = known {
            let _ = copy.first.set(naming);
        }
        copy
    }
}
