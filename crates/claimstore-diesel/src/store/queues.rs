//! The store as one that holds queues and kinds back.

use claimstore_core::{Operator, Pausable, QueueSetting, QueueStore, StoreError};

use super::Store;
use crate::dialect::Dialect;
use crate::protocol;
use crate::table::{ClaimOn, KeepsQueues};

impl<T: ClaimOn<D> + KeepsQueues, D: Dialect> QueueStore for Store<T, D> {
    fn pause(&self, what: &Pausable, by: &Operator) -> Result<bool, StoreError> {
        self.run("pausing", |conn, place| protocol::pause::<T, D>(conn, what, by, place))
    }

    fn unpause(&self, what: &Pausable, by: &Operator) -> Result<bool, StoreError> {
        self.run("unpausing", |conn, place| protocol::unpause::<T, D>(conn, what, by, place))
    }

    fn keep_completed(&self, queue: &str, keep: bool, by: &Operator) -> Result<bool, StoreError> {
        let queue = Pausable::queue(queue);
        self.run("setting what is kept", |conn, place| {
            protocol::keep_completed::<T, D>(conn, &queue, keep, by, place)
        })
    }

    fn queues(&self) -> Result<Vec<QueueSetting>, StoreError> {
        self.run("reading what is set", |conn, _| protocol::settings::<T, D>(conn))
    }
}
