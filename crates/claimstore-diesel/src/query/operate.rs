//! What an operator's decisions write.

use claimstore_core::{Sighting, State, Step};

use crate::dialect::Dialect;
use crate::query::given::state_number;
use crate::query::node::query_node;
use crate::query::settle::{returning, state_of_given};
use crate::query::table_text::{Assignments, TableText};
use crate::query::{GivenColumn, LockedRows, Shape, Values};
use crate::table::ClaimTable;

/// Writes decisions; loads [`Touched<T>`](crate::query::Touched). See [`operate`].
pub struct Operate<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// Writes what was decided of these rows, if each is still under the fence that was seen, and raises the
/// fence. Steps that delete are left out: see [`remove`].
#[must_use = "a query does nothing until it is run"]
pub fn operate<'a, T: ClaimTable>(
    decided: impl IntoIterator<Item = (&'a Sighting<T::Key>, &'a Step)>,
) -> Operate<T>
where
    T::Key: 'a,
{
    let mut values = Values::empty();
    for (row, step) in decided {
        if let Some(to) = step.to {
            values.given.push(row.key.clone(), row.fence, "");
            values.given.push_step(to, step);
        }
    }
    Operate { values, shape: Shape::Operate }
}

/// Deletes these rows, if each is still under the fence that was seen.
#[must_use = "a query does nothing until it is run"]
pub fn remove<'a, T: ClaimTable>(rows: impl IntoIterator<Item = &'a Sighting<T::Key>>) -> Operate<T>
where
    T::Key: 'a,
{
    let mut values = Values::empty();
    for row in rows {
        values.given.push(row.key.clone(), row.fence, "");
    }
    Operate { values, shape: Shape::Remove }
}

query_node!(Operate, write);

const STEP: &[GivenColumn] = &[
    GivenColumn::Key,
    GivenColumn::Fence,
    GivenColumn::State,
    GivenColumn::Delay,
    GivenColumn::At,
    GivenColumn::Failures,
    GivenColumn::Crashes,
    GivenColumn::Interruptions,
    GivenColumn::Priority,
    GivenColumn::Error,
];
const FENCE: &[GivenColumn] = &[GivenColumn::Key, GivenColumn::Fence];

fn write<D: Dialect>(text: &TableText<D>, shape: Shape) -> String {
    let columns = &text.declaration.columns;
    let (key, fence) = (text.key(), text.column(columns.fence));
    let head = D::locked_rows(&LockedRows {
        table: &text.table,
        bare: text.bare(),
        key: &key,
        columns: if shape == Shape::Remove { FENCE } else { STEP },
        guards: &format!("{key} = given.row_key AND {fence} = given.fence"),
        skip_locked: false,
        no_key_update: text.declaration.no_key_update,
    });
    let (table, returning) = (&text.table, returning(text));
    if shape == Shape::Remove {
        let those = format!("({key}, {fence}) IN (SELECT row_key, fence FROM mine)");
        return format!("{head} DELETE FROM {table} WHERE {those} RETURNING {returning}");
    }
    let guards = format!("{key} = mine.row_key AND {fence} = mine.fence");
    format!("{head} UPDATE {table} SET {} FROM mine WHERE {guards} RETURNING {returning}", set(text))
}

fn set<D: Dialect>(text: &TableText<D>) -> String {
    let columns = &text.declaration.columns;
    let mut set = Assignments::<D>::default();
    let pending = state_number(State::Pending);
    let or_kept = |column: &str, when: &str, then: &str| {
        format!("CASE WHEN {when} THEN {then} ELSE {} END", text.column(column))
    };
    let is_pending = format!("mine.state = {pending}");
    set.put(columns.state, state_of_given(text));
    set.put(columns.fence, D::raised(&text.column(columns.fence)));
    set.maybe(columns.lease, || "NULL".to_owned());
    for held in [columns.worker, columns.claimed_at].into_iter().flatten() {
        set.put(held, or_kept(held, &is_pending, "NULL"));
    }
    if let Some(due) = columns.due {
        let form = text.forms.due;
        let (at, later) = (D::given_instant(form, "mine.at"), D::later_given(form, "mine.delay"));
        let kept = or_kept(due, "mine.delay IS NOT NULL", &later);
        set.put(due, format!("CASE WHEN mine.at IS NOT NULL THEN {at} ELSE {kept} END"));
    }
    for (count, given) in [
        (columns.failures, "mine.failures"),
        (columns.crashes, "mine.crashes"),
        (columns.interruptions, "mine.interruptions"),
    ] {
        set.maybe(count, || given.to_owned());
    }
    for (kept, given) in [(columns.priority, "mine.priority"), (columns.last_error, "mine.error")] {
        set.maybe(kept, || format!("COALESCE({given}, {})", text.column(kept.unwrap_or_default())));
    }
    if let Some(finished) = columns.finished_at {
        let now = D::later(text.forms.finished_at, None);
        let unfinished = [State::Pending, State::Uncertain].map(|state| state_number(state).to_string());
        // A row that begins anew has not ended.
        let is_unfinished = format!("mine.state IN ({})", unfinished.join(", "));
        set.put(finished, format!("CASE WHEN {is_unfinished} THEN NULL ELSE {now} END"));
    }
    set.finish()
}
