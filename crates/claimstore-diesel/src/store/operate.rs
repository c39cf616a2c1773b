//! The store as one that operators act through.

use claimstore_core::{
    Action, Bulk, Event, Fence, OperateError, OperatePreview, OperateStore, Operated, OperatedAll, Operator,
    StoreError,
};

use super::Store;
use crate::dialect::Dialect;
use crate::protocol;
use crate::table::{ClaimOn, KeepsEvents};

impl<T: ClaimOn<D> + KeepsEvents, D: Dialect> OperateStore for Store<T, D> {
    fn operate(
        &self,
        key: &T::Key,
        seen: Fence,
        action: &Action,
        by: &Operator,
    ) -> Result<Operated<T::Key>, OperateError<T::Key>> {
        self.run("operating", |conn, place| {
            protocol::operate::<T, D>(conn, key, seen, action, by, place).map(Ok)
        })?
    }

    fn operate_all(
        &self,
        rows: &Bulk<T::Key>,
        action: &Action,
        by: &Operator,
    ) -> Result<OperatedAll<T::Key>, StoreError> {
        self.run("operating on several", |conn, place| {
            protocol::operate_all::<T, D>(conn, rows, action, by, place)
        })
    }

    fn preview_all(
        &self,
        rows: &Bulk<T::Key>,
        action: &Action,
        by: &Operator,
    ) -> Result<OperatePreview<T::Key>, StoreError> {
        self.run("previewing an action", |conn, _| protocol::preview_all::<T, D>(conn, rows, action, by))
    }

    fn history(&self, key: &T::Key, limit: usize) -> Result<Vec<Event>, StoreError> {
        self.run("reading history", |conn, _| protocol::history::<T, D>(conn, key, limit))
    }
}
