//! The text of a table's own parts, rendered once per dialect from what the derive emits.

use std::marker::PhantomData;

use claimstore_core::{Fence, State};

use crate::declaration::Declaration;
use crate::dialect::Dialect;
use crate::query::template::Cache;
use crate::query::{Ahead, TimeForm};

/// How a table stores its instants.
#[derive(Debug, Clone, Copy, Default)]
pub struct Forms {
    /// The due column.
    pub due: TimeForm,
    /// The lease column.
    pub lease: TimeForm,
    /// The claimed-at column.
    pub claimed_at: TimeForm,
    /// The finished-at column.
    pub finished_at: TimeForm,
}

/// A table's parts on one dialect, and the finished statements.
///
/// Made by the derive; the four selects in it were written in Diesel's own DSL.
pub struct TableText<D> {
    /// What the derive knows.
    pub declaration: &'static Declaration,
    /// How instants are stored.
    pub forms: Forms,
    /// The table, quoted and perhaps with its schema.
    pub table: String,
    /// The columns of the row model, as Diesel selects them.
    pub selection: String,
    /// Ready rows in order, without a queue or from one queue, passing over locked ones.
    pub next: String,
    /// The same, from the queue of the enclosing row (PostgreSQL).
    pub next_of_each: String,
    /// This row if it is ready, passing over it when locked.
    pub key_skipping: String,
    /// This row if it is ready, waiting for its lock.
    pub key_waiting: String,
    pub(crate) statements: Cache,
    dialect: PhantomData<fn() -> D>,
}

impl<D: Dialect> TableText<D> {
    /// From the parts the derive has rendered.
    #[must_use]
    pub fn new(
        declaration: &'static Declaration,
        forms: Forms,
        table: String,
        selection: String,
        selects: [String; 4],
    ) -> Self {
        let [next, next_of_each, key_skipping, key_waiting] = selects;
        TableText {
            declaration,
            forms,
            table,
            selection,
            next,
            next_of_each,
            key_skipping,
            key_waiting,
            statements: Cache::default(),
            dialect: PhantomData,
        }
    }

    /// A column, qualified by the table.
    pub(crate) fn column(&self, name: &str) -> String {
        format!("{}.{}", self.table, D::quote(name))
    }

    /// A column, or NULL where the table has none.
    pub(crate) fn or_null(&self, name: Option<&str>) -> String {
        name.map_or("NULL".to_owned(), |name| self.column(name))
    }

    /// A column's instant, to be read, or NULL where the table has none.
    pub(crate) fn instant_or_null(&self, name: Option<&str>, form: TimeForm) -> String {
        name.map_or("NULL".to_owned(), |name| D::instant(&self.column(name), form))
    }

    /// The table without its schema, as `FOR UPDATE OF` wants it.
    pub(crate) fn bare(&self) -> &str {
        self.table.rsplit_once('.').map_or(&self.table, |(_, bare)| bare)
    }

    pub(crate) fn key(&self) -> String {
        self.column(self.declaration.columns.key)
    }

    pub(crate) fn word(&self, state: State) -> Option<String> {
        self.declaration.words.word(state).map(literal)
    }

    /// `state = 'running'`.
    pub(crate) fn is_running(&self) -> String {
        let running = literal(self.declaration.words.running);
        format!("{} = {running}", self.column(self.declaration.columns.state))
    }

    /// The state is one of the pending words.
    pub(crate) fn is_pending(&self) -> String {
        let words: Vec<String> = self.declaration.words.pending.iter().map(|word| literal(word)).collect();
        let state = self.column(self.declaration.columns.state);
        match words.as_slice() {
            [only] => format!("{state} = {only}"),
            _ => format!("{state} IN ({})", words.join(", ")),
        }
    }

    /// The same, in the words of the index of all waiting rows. Every fence is above zero or zero, but nobody else
    /// says so: a claim that could use this index would, by statistics of an empty queue, read all that is due
    /// and sort it.
    pub(crate) fn is_waiting(&self) -> String {
        format!("{} AND {} >= 0", self.is_pending(), self.column(self.declaration.columns.fence))
    }

    /// The same, in the words of the index by queue.
    pub(crate) fn is_waiting_in_queue(&self) -> String {
        format!("{} AND {} > -1", self.is_pending(), self.column(self.declaration.columns.fence))
    }

    /// The assignments that make a row ours.
    pub(crate) fn set_claimed(&self) -> String {
        let columns = &self.declaration.columns;
        let mut set = Assignments::<D>::default();
        set.put(columns.state, literal(self.declaration.words.running));
        set.put(columns.fence, D::raised(&self.column(columns.fence)));
        set.maybe(columns.worker, || super::Hole::Worker.mark());
        set.maybe(columns.lease, || D::later(self.forms.lease, Some(Ahead::Lease)));
        set.maybe(columns.claimed_at, || D::later(self.forms.claimed_at, None));
        set.finish()
    }

    /// The assignment that extends a lease.
    pub(crate) fn set_renewed(&self) -> String {
        let columns = &self.declaration.columns;
        let mut set = Assignments::<D>::default();
        match columns.lease {
            Some(lease) => set.put(lease, D::later(self.forms.lease, Some(Ahead::Lease))),
            None => set.put(columns.fence, self.column(columns.fence)),
        }
        set.finish()
    }

    /// The claim columns that are read with a row: key, fence, lease, counts, budgets and whether completing
    /// it deletes it, in this order, those the table has. The key comes once more, so that a row the model cannot read still has a name.
    pub(crate) fn claim_columns(&self) -> String {
        let columns = &self.declaration.columns;
        let mut read = vec![self.key(), self.column(columns.fence)];
        read.extend(columns.lease.map(|lease| D::instant(&self.column(lease), self.forms.lease)));
        let counts = [
            columns.failures,
            columns.crashes,
            columns.interruptions,
            columns.max_failures,
            columns.max_crashes,
        ];
        read.extend(counts.into_iter().flatten().map(|count| self.column(count)));
        read.extend(self.discards());
        read.join(", ")
    }

    /// The order columns, with whether they descend.
    pub(crate) fn order(&self) -> Vec<(String, bool)> {
        self.declaration.order.iter().map(|by| (D::quote(by.column), by.descending)).collect()
    }
}

/// A text as an SQL literal. Words come from the declaration, never from a caller.
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The last fence from which a row may be claimed.
pub(crate) fn last_fence() -> String {
    Fence::LAST.get().to_string()
}

/// `column = value` pairs of an `UPDATE`.
pub(crate) struct Assignments<D> {
    list: Vec<String>,
    dialect: PhantomData<fn() -> D>,
}

impl<D> Default for Assignments<D> {
    fn default() -> Self {
        Assignments { list: Vec::new(), dialect: PhantomData }
    }
}

impl<D: Dialect> Assignments<D> {
    pub(crate) fn put(&mut self, column: &str, value: impl AsRef<str>) {
        self.list.push(format!("{} = {}", D::quote(column), value.as_ref()));
    }

    pub(crate) fn maybe(&mut self, column: Option<&str>, value: impl FnOnce() -> String) {
        if let Some(column) = column {
            self.put(column, value());
        }
    }

    pub(crate) fn finish(self) -> String {
        self.list.join(", ")
    }
}
