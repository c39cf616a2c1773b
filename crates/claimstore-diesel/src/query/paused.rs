//! What is set for queues and kinds, as conditions.
//!
//! All of them read `claimstore_queues` in a subselect that names nothing outside of it, so that it is read
//! once per statement. None is a correlated `EXISTS`, which a planner may turn into a join.

use crate::dialect::Dialect;
use crate::query::table_text::{TableText, literal};

/// In which column the name stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Queue,
    Kind,
}

impl Scope {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Scope::Queue => "queue",
            Scope::Kind => "kind",
        }
    }
}

/// The names of this scope for which `set` holds.
fn names(table: &str, scope: Scope, set: &str) -> String {
    let (table, scope) = (literal(table), literal(scope.word()));
    format!("SELECT name FROM claimstore_queues WHERE table_name = {table} AND scope = {scope} AND {set}")
}

/// `what`, a name, is paused. Never NULL, also where the name is.
fn paused(what: &str, table: &str, scope: Scope) -> String {
    format!("({what} IN ({})) IS TRUE", names(table, scope, "paused_at IS NOT NULL"))
}

/// `what`, a name, is not paused. A row without a name is nobody's to pause.
pub(crate) fn runs(what: &str, table: &str, scope: Scope) -> String {
    format!("({what} IN ({})) IS NOT TRUE", names(table, scope, "paused_at IS NOT NULL"))
}

/// This queue unless it is paused, and then none. To be compared with a column: SQLite would look at a
/// condition on the queue alone once more for each row of it, while with no queue its index finds no row.
pub(crate) fn unless_paused(queue: &str, table: &str) -> String {
    format!("(SELECT {queue} WHERE {})", runs(queue, table, Scope::Queue))
}

impl<D: Dialect> TableText<D> {
    /// The row's queue or kind is paused.
    pub(crate) fn is_paused(&self) -> String {
        let columns = &self.declaration.columns;
        let scopes = [(columns.queue, Scope::Queue), (columns.kind, Scope::Kind)];
        let stored = scopes.into_iter().filter_map(|(column, scope)| Some((column?, scope)));
        let paused: Vec<String> = stored
            .filter(|_| self.declaration.queues)
            .map(|(column, scope)| paused(&self.column(column), self.declaration.table, scope))
            .collect();
        if paused.is_empty() { "FALSE".to_owned() } else { format!("({})", paused.join(" OR ")) }
    }

    /// The row's kind is not paused, as a further condition; empty where no kind can be.
    pub(crate) fn and_kind_runs(&self) -> String {
        match self.declaration.columns.kind.filter(|_| self.declaration.queues) {
            Some(kind) => {
                format!(" AND {}", runs(&self.column(kind), self.declaration.table, Scope::Kind))
            }
            None => String::new(),
        }
    }

    /// The row comes from `queue`, which is not paused, as a further condition; empty for a table without
    /// queues.
    pub(crate) fn and_from(&self, queue: &str) -> String {
        let table = self.declaration.table;
        let Some(column) = self.declaration.columns.queue.map(|column| self.column(column)) else {
            return String::new();
        };
        match self.declaration.queues {
            false => format!(" AND {column} = {queue}"),
            true if D::ONE_TIME_FILTERS => {
                format!(" AND {column} = {queue} AND {}", runs(queue, table, Scope::Queue))
            }
            true => format!(" AND {column} = {}", unless_paused(queue, table)),
        }
    }

    /// Whether completing the row deletes it, where that can be set.
    pub(crate) fn discards(&self) -> Option<String> {
        let queue = self.declaration.columns.queue.filter(|_| self.declaration.queues)?;
        let names = names(self.declaration.table, Scope::Queue, "NOT keep_completed");
        Some(format!("({} IN ({names})) IS TRUE", self.column(queue)))
    }
}
