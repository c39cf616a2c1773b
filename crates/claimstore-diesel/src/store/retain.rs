//! The store as one that deletes what has been kept for long enough.

use claimstore_core::{Pruned, RetainStore, Retention, StoreError};

use super::Store;
use crate::dialect::Dialect;
use crate::protocol;
use crate::table::ClaimOn;

impl<T: ClaimOn<D>, D: Dialect> RetainStore for Store<T, D> {
    fn prune(&self, retention: &Retention, limit: usize) -> Result<Pruned, StoreError> {
        self.run("pruning", |conn, place| protocol::prune::<T, D>(conn, retention, limit, place))
    }
}
