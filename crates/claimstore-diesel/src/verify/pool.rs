//! What the pool costs.

use diesel::r2d2::{ManageConnection, Pool};

use super::finding::{Check, Finding};

/// `alone` means that the database can have only one connection.
pub(super) fn look<M: ManageConnection>(pool: &Pool<M>, alone: bool) -> Vec<Finding> {
    let mut found = Vec::new();
    if pool.test_on_check_out() {
        let says = "the pool tests each connection on check-out: one round trip more for each call, and the \
                    store finds a dead connection by itself (ADR 0007)";
        found.push(Finding::warning(Check::Pool, says).mend("Pool::builder().test_on_check_out(false)"));
    }
    if pool.max_size() < 2 && !alone {
        let says = "the pool has one connection: a renewal waits for whatever call has it";
        found.push(Finding::notice(Check::Pool, says).mend("Pool::builder().max_size(2), or more"));
    }
    found
}
