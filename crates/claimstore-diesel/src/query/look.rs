//! Looking at rows: one, or a page of them, to read or to act on.

use std::time::Duration;

use claimstore_core::{Cursor, Filter, PageOrder, Sighting, State, Timestamp};
use diesel::deserialize::{self, QueryableByName};
use diesel::row::NamedRow;

use crate::dialect::Dialect;
use crate::query::node::query_node;
use crate::query::table_text::TableText;
use crate::query::won::Reader;
use crate::query::{Hole, Shape, TimeForm, Values};
use crate::sql_types::At;
use crate::table::{ClaimOn, ClaimTable};

/// Looks at rows; loads [`Sighted<T>`]. See [`look_at`] and [`look_for`].
pub struct Look<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// Whether a look takes the rows it sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hold {
    /// It reads.
    No,
    /// It locks its row, waiting for it; on SQLite it is a write, so that the transaction is a writer's.
    Waiting,
    /// It locks its rows and passes over locked ones; on SQLite the transaction has to be a writer's already.
    Skipping,
}

/// Which rows a look is for, as far as its text depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LookFor {
    order: PageOrder,
    /// Those without a value in the column of the order.
    timeless: bool,
    after: bool,
    /// One bit for each of [`State::ALL`].
    states: u8,
    queue: bool,
    kind: bool,
    worker: bool,
    age: bool,
    hold: Hold,
}

/// The parts from which a dialect makes a look.
#[derive(Debug)]
pub struct LookParts<'a> {
    /// The table, quoted.
    pub table: &'a str,
    /// The table without its schema, quoted.
    pub bare: &'a str,
    /// The fence column, quoted.
    pub fence: &'a str,
    /// What is read.
    pub columns: &'a str,
    /// Of which rows.
    pub which: &'a str,
    /// Order and limit.
    pub tail: &'a str,
    /// Whether they are taken.
    pub hold: Hold,
    /// `FOR NO KEY UPDATE`.
    pub no_key_update: bool,
}

/// One row, as it stands.
#[must_use = "a query does nothing until it is run"]
pub fn look_at<T: ClaimTable>(key: &T::Key, hold: Hold) -> Look<T> {
    let mut values = Values::empty();
    values.key = Some(key.clone());
    Look { values, shape: Shape::LookAt { hold } }
}

/// Rows of a filter in this order, at most `limit`, after `after`. With `timeless` those that have no value in
/// the column of the order, by key; without it those that have one.
#[must_use = "a query does nothing until it is run"]
pub fn look_for<T: ClaimTable>(
    filter: &Filter,
    order: PageOrder,
    timeless: bool,
    limit: usize,
    after: Option<&Cursor<T::Key>>,
    hold: Hold,
) -> Look<T> {
    let mut values = Values::empty();
    values.limit = i64::try_from(limit).unwrap_or(i64::MAX);
    values.queues.extend(filter.queue_name().map(str::to_owned));
    values.kind = filter.kind_name().unwrap_or_default().to_owned();
    values.worker = filter.worker_id().map_or_else(String::new, |worker| worker.as_str().to_owned());
    values.grace.set_back(filter.least_age().unwrap_or(Duration::ZERO));
    values.after = after.map(|cursor| (At(cursor.at.unwrap_or(Timestamp::MIN)), cursor.key.clone()));
    let states = match filter.states() {
        [] => &State::ALL[..],
        some => some,
    };
    let shape = Shape::LookFor(LookFor {
        order,
        timeless,
        after: after.is_some(),
        states: states.iter().fold(0, |bits, state| bits | bit(*state)),
        queue: filter.queue_name().is_some(),
        kind: filter.kind_name().is_some(),
        worker: filter.worker_id().is_some(),
        age: filter.least_age().is_some(),
        hold,
    });
    Look { values, shape }
}

query_node!(Look, write);

fn bit(state: State) -> u8 {
    State::ALL.iter().position(|of| *of == state).map_or(0, |at| 1 << at)
}

fn write<D: Dialect>(text: &TableText<D>, shape: Shape) -> String {
    let limit = Hole::Limit.mark();
    let (which, tail, hold) = match shape {
        Shape::LookAt { hold } => (format!("{} = {}", text.key(), Hole::Key.mark()), String::new(), hold),
        Shape::LookFor(wanted) => {
            let (which, order) = which(text, wanted);
            (which, format!(" ORDER BY {order} LIMIT {limit}"), wanted.hold)
        }
        other => unreachable!("{other:?} looks at nothing"),
    };
    D::look_statement(&LookParts {
        table: &text.table,
        bare: text.bare(),
        fence: &D::quote(text.declaration.columns.fence),
        columns: &columns(text),
        which: &which,
        tail: &tail,
        hold,
        no_key_update: text.declaration.no_key_update,
    })
}

/// The columns of a [`Sighting`], with NULL for those the table lacks.
fn columns<D: Dialect>(text: &TableText<D>) -> String {
    let columns = &text.declaration.columns;
    let forms = &text.forms;
    let plain = |column| text.or_null(column);
    let instant = |column, form| text.instant_or_null(column, form);
    [
        text.key(),
        text.column(columns.state),
        text.column(columns.fence),
        D::clock(),
        plain(columns.worker),
        instant(columns.claimed_at, forms.claimed_at),
        instant(columns.lease, forms.lease),
        instant(columns.due, forms.due),
        plain(columns.queue),
        plain(columns.kind),
        plain(columns.priority),
        plain(columns.failures),
        plain(columns.crashes),
        plain(columns.interruptions),
        plain(columns.max_failures),
        plain(columns.max_crashes),
        plain(columns.idempotent),
        plain(columns.last_error),
        instant(columns.finished_at, forms.finished_at),
        text.is_paused(),
    ]
    .join(", ")
}

/// The column by which a state's rows age, and its form.
pub(crate) fn time_of<D: Dialect>(text: &TableText<D>, state: State) -> Option<(&'static str, TimeForm)> {
    let (_, column) = text.declaration.columns.ages_by(state);
    let form = match state {
        State::Pending => text.forms.due,
        State::Running | State::Uncertain => text.forms.claimed_at,
        _ => text.forms.finished_at,
    };
    column.map(|column| (column, form))
}

/// `state = …`, in the words by which a partial index is recognised.
pub(crate) fn is_in<D: Dialect>(text: &TableText<D>, state: State) -> Option<String> {
    match state {
        State::Pending => Some(text.is_waiting()),
        other => Some(format!("{} = {}", text.column(text.declaration.columns.state), text.word(other)?)),
    }
}

fn which<D: Dialect>(text: &TableText<D>, wanted: LookFor) -> (String, String) {
    let columns = &text.declaration.columns;
    let mut all = Vec::new();
    let of_states = State::ALL.into_iter().filter(|state| wanted.states & bit(*state) != 0);
    let of_states: Vec<String> = of_states
        .filter_map(|state| {
            let is = match state {
                State::Pending if wanted.queue => text.is_waiting_in_queue(),
                _ => is_in(text, state)?,
            };
            match time_of(text, state).filter(|_| wanted.age) {
                Some((time, form)) => {
                    Some(format!("({is} AND {} < {})", text.column(time), D::grace_ago(form)))
                }
                None => Some(is),
            }
        })
        .collect();
    all.push(match of_states.as_slice() {
        [] => "FALSE".to_owned(),
        [one] => one.clone(),
        several => format!("({})", several.join(" OR ")),
    });
    let mut is = |column: Option<&str>, asked: bool, hole: Hole| {
        if let (Some(column), true) = (column, asked) {
            all.push(format!("{} = {}", text.column(column), hole.mark()));
        }
    };
    is(columns.queue, wanted.queue, Hole::Queue(0));
    is(columns.kind, wanted.kind, Hole::Kind);
    is(columns.worker, wanted.worker, Hole::Worker);

    let key = text.key();
    let (compare, direction) = if wanted.order.descends() { ("<", " DESC") } else { (">", "") };
    let by_key = format!("{key}{direction}");
    let order = match columns.ordered_by(wanted.order).map(|time| text.column(time)) {
        Some(column) if !wanted.timeless => {
            all.push(format!("{column} IS NOT NULL"));
            if wanted.after {
                let form = match wanted.order {
                    PageOrder::Due => text.forms.due,
                    PageOrder::Finished => text.forms.finished_at,
                    _ => text.forms.lease,
                };
                let (time, after) = (D::after_lease(form), Hole::AfterKey.mark());
                all.push(format!("({column}, {key}) {compare} ({time}, {after})"));
            }
            format!("{column}{direction}, {by_key}")
        }
        timed => {
            if wanted.after {
                all.push(format!("{key} {compare} {}", Hole::AfterKey.mark()));
            }
            match timed {
                // By nothing and then by key, so that the same index has them in order: in the order of keys
                // PostgreSQL would look for them from the table's end on.
                Some(column) => {
                    all.push(format!("{column} IS NULL"));
                    format!("{column}{direction}, {by_key}")
                }
                None => by_key,
            }
        }
    };
    (all.join(" AND "), order)
}

/// A row that was looked at.
#[derive(Debug)]
pub struct Sighted<T: ClaimTable>(pub Sighting<T::Key>);

impl<T: ClaimOn<D>, D: Dialect> QueryableByName<D> for Sighted<T> {
    fn build<'a>(row: &impl NamedRow<'a, D>) -> deserialize::Result<Self> {
        let key = T::read_key(row, 0)?;
        let mut reader = Reader { row, at: 1 };
        let state = reader.state::<T, D>()?;
        let fence = reader.fence()?;
        let clock = reader.next(D::read_instant)?.unwrap_or_else(Timestamp::of_this_host);
        let worker = reader.worker()?;
        let claimed_at = reader.next(D::read_instant)?;
        let until = reader.next(D::read_instant)?;
        let due = reader.next(D::read_instant)?;
        let queue = reader.next(D::read_text)?;
        let kind = reader.next(D::read_text)?;
        let priority = reader.next(D::read_i32)?;
        let (tally, budget) = reader.counts([true; 5])?;
        let idempotent = reader.next(D::read_bool)?.unwrap_or(true);
        let last_error = reader.next(D::read_text)?;
        let finished_at = reader.next(D::read_instant)?;
        let paused = reader.next(D::read_bool)?.unwrap_or(false);
        Ok(Sighted(Sighting {
            key,
            state,
            fence,
            worker,
            claimed_at,
            until,
            due,
            queue,
            kind,
            priority,
            tally,
            budget,
            idempotent,
            last_error,
            finished_at,
            paused,
            clock,
        }))
    }
}
