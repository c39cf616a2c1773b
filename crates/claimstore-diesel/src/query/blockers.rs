//! Who has a row locked.

use crate::dialect::WritesTwice;
use crate::query::node::query_node;
use crate::query::table_text::TableText;
use crate::query::{Hole, Shape, Values};
use crate::table::ClaimTable;

/// Finds the transaction that has a row locked. See [`blockers`].
pub struct Blockers<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// The backends whose transactions have this row locked (PostgreSQL), the one that began last first: pid,
/// application name, role, when the transaction began, what it does, and its statement as far as this role may see
/// it. It reads the number that the locking transaction has left in the row, and locks nothing itself.
///
/// A row that was locked in a savepoint which has been released says no more than that. Its transaction is then
/// named only where no other one can be meant.
#[must_use = "a query does nothing until it is run"]
pub fn blockers<T: ClaimTable>(key: &T::Key) -> Blockers<T> {
    let mut values = Values::empty();
    values.key = Some(key.clone());
    Blockers { values, shape: Shape::Blockers }
}

query_node!(Blockers, write, WritesTwice);

fn write<D: WritesTwice>(text: &TableText<D>, _: Shape) -> String {
    let (table, key) = (&text.table, text.key());
    let holds = "l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted";
    // The number in the row is its transaction's own.
    let direct = format!("SELECT l.pid FROM pg_locks l WHERE {holds} AND l.transactionid = {table}.xmax");
    // Or that of a group, where several have the row. Only a number that can be one may be asked for.
    let group = format!(
        "CASE WHEN mxid_age({table}.xmax) BETWEEN 1 AND (SELECT mxid_age(c.relminmxid) FROM pg_class c \
         WHERE c.oid = {table}.tableoid) THEN {table}.xmax END"
    );
    let group = format!(
        "SELECT l.pid FROM pg_get_multixact_members({group}) AS member JOIN pg_locks l \
         ON {holds} AND l.transactionid = member.xid"
    );
    // Or that of a savepoint. It is not over while its transaction is not; that one is older, and has locked rows
    // of this table.
    let savepoint = format!(
        "SELECT min(l.pid) FROM pg_locks l JOIN pg_locks of ON of.pid = l.pid AND of.locktype = 'relation' \
         AND of.relation = {table}.tableoid AND of.mode IN ('RowShareLock', 'RowExclusiveLock') AND of.granted \
         WHERE {holds} AND age(l.transactionid) > age({table}.xmax) AND txid_status({}) = 'in progress' \
         AND NOT EXISTS ({direct}) HAVING count(DISTINCT l.pid) = 1",
        full_number(&format!("{table}.xmax::text::bigint"))
    );
    format!(
        "SELECT a.pid, a.application_name, a.usename::text, a.xact_start, a.state, a.query FROM {table} \
         CROSS JOIN LATERAL ({direct} UNION {group} UNION {savepoint}) AS holder \
         JOIN pg_stat_activity a ON a.pid = holder.pid WHERE {key} = {} ORDER BY a.xact_start DESC",
        Hole::Key.mark()
    )
}

/// The number of a transaction with those bits that a row does not store: the one nearest to the present.
fn full_number(stored: &str) -> String {
    let now = "txid_snapshot_xmax(txid_current_snapshot())";
    format!("{now} + (({stored} - {now}) % 4294967296 + 6442450944) % 4294967296 - 2147483648")
}
