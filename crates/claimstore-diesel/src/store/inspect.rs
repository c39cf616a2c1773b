//! The store as one that shows rows.

use claimstore_core::{Counts, Explanation, InspectStore, Page, PageRequest, Sighting, StoreError};

use super::Store;
use crate::dialect::Dialect;
use crate::protocol;
use crate::table::{ClaimOn, ClaimTable};
use crate::telemetry;

impl<T: ClaimOn<D>, D: Dialect> InspectStore for Store<T, D> {
    fn show(&self, key: &T::Key) -> Result<Option<Sighting<T::Key>>, StoreError> {
        self.run("showing a row", |conn, _| protocol::show::<T, D>(conn, key))
    }

    fn read(&self, key: &T::Key) -> Result<Option<T>, StoreError> {
        self.run("reading a row", |conn, _| protocol::read::<T, D>(conn, key))
    }

    fn page(&self, ask: &PageRequest<T::Key>) -> Result<Page<T::Key>, StoreError> {
        self.run("reading a page", |conn, _| protocol::page::<T, D>(conn, ask))
    }

    fn counts(&self, cap: u32) -> Result<Counts, StoreError> {
        let counts = self.run("counting rows", |conn, _| protocol::counts::<T, D>(conn, cap))?;
        telemetry::oldest_due(<T as ClaimTable>::DECLARATION.table, counts.oldest_wait());
        Ok(counts)
    }

    fn explain(&self, key: &T::Key) -> Result<Explanation<T::Key>, StoreError> {
        self.run("explaining a row", |conn, _| protocol::explain::<T, D>(conn, key))
    }
}
