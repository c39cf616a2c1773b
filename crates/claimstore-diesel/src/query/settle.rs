//! Ending claims: one, several with mixed verdicts, and keeping one in force.

use claimstore_core::{Claim, Settlement, State};

use crate::dialect::Dialect;
use crate::query::given::state_number;
use crate::query::node::query_node;
use crate::query::table_text::{Assignments, TableText};
use crate::query::{Ahead, GivenColumn, Hole, LockedRows, Shape, Values};
use crate::table::ClaimTable;

/// Ends one claim; counts the rows changed. See [`settle`].
pub struct Settle<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// Ends several claims; loads [`Touched<T>`](crate::query::Touched). See [`settle_many`].
pub struct SettleMany<T: ClaimTable> {
    pub(crate) values: Values<T::Key>,
    shape: Shape,
}

/// Keeps a claim in force; counts the rows found. See [`guard`].
pub struct Guard<T: ClaimTable> {
    values: Values<T::Key>,
    shape: Shape,
}

/// Ends this claim as `to` says, if the row is still running under its fence (and worker). Completing a claim
/// that [discards](Claim::discards) deletes its row under the same guards. Zero rows changed means that it is not: read the row with [`observe`](crate::query::observe()) and ask
/// [`explain_unsettled`](claimstore_core::explain_unsettled) what that means.
#[must_use = "a query does nothing until it is run"]
pub fn settle<T: ClaimTable>(claim: &Claim<T::Key>, to: &Settlement) -> Settle<T> {
    let mut values = held(claim);
    values.delay.set(to.delay.unwrap_or_default());
    values.failures = to.tally.failures;
    values.interruptions = to.tally.interruptions;
    values.error = to.error.clone().unwrap_or_default();
    let (delay, error, discard) = (to.delay.is_some(), to.error.is_some(), is_discarded(claim, to));
    Settle { values, shape: Shape::Settle { to: to.to, delay, error, discard } }
}

/// Whether ending the claim so deletes its row.
pub(crate) fn is_discarded<K>(claim: &Claim<K>, to: &Settlement) -> bool {
    claim.discards() && to.to == State::Completed
}

/// Ends these claims in one statement, each as its settlement says. Rows are locked in key order, so that
/// two batches never deadlock (field report H29). What does not come back was settled before or is lost.
///
/// Where all are completions of claims that [discard](Claim::discards), it deletes their rows. Beside others such
/// a row is kept as completed: give it to a second statement in the same transaction, as the store does.
#[must_use = "a query does nothing until it is run"]
pub fn settle_many<'a, T: ClaimTable>(
    settled: impl IntoIterator<Item = (&'a Claim<T::Key>, &'a Settlement)>,
) -> SettleMany<T>
where
    T::Key: 'a,
{
    let mut values = Values::empty();
    let (mut mixed, mut discarded) = (false, 0);
    for (claim, to) in settled {
        values.given.push(claim.key().clone(), claim.fence(), claim.worker().as_str());
        values.given.push_settlement(to);
        mixed |= to.to != State::Completed;
        discarded += usize::from(is_discarded(claim, to));
    }
    let discard = discarded > 0 && discarded == values.given.keys().len();
    SettleMany { values, shape: Shape::SettleMany { mixed, discard, skip: false } }
}

impl<T: ClaimTable> SettleMany<T> {
    /// Whether it is mixed, and whether it deletes.
    pub(crate) fn how(&self) -> (bool, bool) {
        match self.shape {
            Shape::SettleMany { mixed, discard, .. } => (mixed, discard),
            _ => (true, false),
        }
    }

    /// Passes over rows that somebody has locked; they do not come back.
    #[must_use = "a query does nothing until it is run"]
    pub fn passing_over(mut self) -> Self {
        if let Shape::SettleMany { skip, .. } = &mut self.shape {
            *skip = true;
        }
        self
    }
}

/// Holds the row under this claim until the transaction ends: nobody can recover or settle it meanwhile.
/// One row found means that the claim is in force. On SQLite it is a write, since a read there still says
/// "running" after another connection has recovered the row.
#[must_use = "a query does nothing until it is run"]
pub fn guard<T: ClaimTable>(claim: &Claim<T::Key>) -> Guard<T> {
    Guard { values: held(claim), shape: Shape::Guard }
}

query_node!(Settle, write_one);
query_node!(SettleMany, write_many);
query_node!(Guard, write_guard);

fn held<K: Clone>(claim: &Claim<K>) -> Values<K> {
    let mut values = Values::empty();
    values.key = Some(claim.key().clone());
    values.fence = claim.fence().get();
    values.worker = claim.worker().as_str().to_owned();
    values
}

/// Key, fence, running state and, where stored, worker: every write that ends or extends one claim.
fn one_guards<D: Dialect>(text: &TableText<D>) -> String {
    let columns = &text.declaration.columns;
    let mut guards = format!(
        "{} = {} AND {} = {} AND {}",
        text.key(),
        Hole::Key.mark(),
        text.column(columns.fence),
        Hole::Fence.mark(),
        text.is_running()
    );
    if let Some(worker) = columns.worker {
        guards.push_str(&format!(" AND {} = {}", text.column(worker), Hole::Worker.mark()));
    }
    guards
}

/// The same for several rows, tied to what is given of each.
pub(crate) fn given_guards<D: Dialect>(text: &TableText<D>, columns: &[GivenColumn], given: &str) -> String {
    let (key, fence) = (text.key(), text.column(text.declaration.columns.fence));
    let mut guards = format!("{key} = {given}.row_key AND {fence} = {given}.fence AND {}", text.is_running());
    if let Some(worker) = text.declaration.columns.worker.filter(|_| columns.contains(&GivenColumn::Worker)) {
        guards.push_str(&format!(" AND {} = {given}.worker", text.column(worker)));
    }
    guards
}

/// `WITH mine … UPDATE … FROM mine WHERE … RETURNING`, common to all statements over given rows. `also`
/// is a further guard.
pub(crate) fn update_given<D: Dialect>(
    text: &TableText<D>,
    columns: &[GivenColumn],
    skip_locked: bool,
    set: &str,
    also: &str,
) -> String {
    format!("{} {}", locked(text, columns, skip_locked, also), update_mine(text, columns, set, also))
}

/// The head of such a statement: the given rows, locked in key order.
pub(crate) fn locked<D: Dialect>(
    text: &TableText<D>,
    columns: &[GivenColumn],
    skip_locked: bool,
    also: &str,
) -> String {
    D::locked_rows(&LockedRows {
        table: &text.table,
        bare: text.bare(),
        key: &text.key(),
        columns,
        guards: &format!("{}{also}", given_guards(text, columns, "given")),
        skip_locked,
        no_key_update: text.declaration.no_key_update,
    })
}

/// Key, fence and lease, as a statement over several rows returns them.
pub(crate) fn returning<D: Dialect>(text: &TableText<D>) -> String {
    let columns = &text.declaration.columns;
    let mut returning = format!("{}, {}", text.key(), text.column(columns.fence));
    if let Some(lease) = columns.lease {
        returning.push_str(&format!(", {}", D::instant(&text.column(lease), text.forms.lease)));
    }
    returning
}

/// The update of such a statement. It repeats every guard: the row may have changed before it was locked.
pub(crate) fn update_mine<D: Dialect>(
    text: &TableText<D>,
    given: &[GivenColumn],
    set: &str,
    also: &str,
) -> String {
    let (guards, returning) = (given_guards(text, given, "mine"), returning(text));
    format!("UPDATE {} SET {set} FROM mine WHERE {guards}{also} RETURNING {returning}", text.table)
}

/// What ends the given rows, all of them guarded as in [`update_mine`].
pub(crate) fn end_mine<D: Dialect>(text: &TableText<D>, mixed: bool, discard: bool) -> String {
    if !discard {
        return update_mine(text, settle_columns(mixed), &set_settled(text, mixed), "");
    }
    // SQLite deletes from no join: what an update compares with `mine` is looked for in it.
    let columns = &text.declaration.columns;
    let mut compared = vec![(text.key(), "row_key"), (text.column(columns.fence), "fence")];
    compared.extend(columns.worker.map(|worker| (text.column(worker), "worker")));
    let (those, given): (Vec<String>, Vec<&str>) = compared.into_iter().unzip();
    format!(
        "DELETE FROM {} WHERE ({}) IN (SELECT {} FROM mine) AND {} RETURNING {}",
        text.table,
        those.join(", "),
        given.join(", "),
        text.is_running(),
        returning(text)
    )
}

fn write_one<D: Dialect>(text: &TableText<D>, shape: Shape) -> String {
    let Shape::Settle { to, delay, error, discard } = shape else {
        unreachable!("{shape:?} settles nothing")
    };
    if discard {
        return format!("DELETE FROM {} WHERE {}", text.table, one_guards(text));
    }
    let columns = &text.declaration.columns;
    let mut set = Assignments::<D>::default();
    set.put(columns.state, text.word(to).unwrap_or_else(|| "NULL".to_owned()));
    set.maybe(columns.lease, || "NULL".to_owned());
    if to == State::Pending {
        set.maybe(columns.worker, || "NULL".to_owned());
        set.maybe(columns.claimed_at, || "NULL".to_owned());
        if delay {
            set.maybe(columns.due, || D::later(text.forms.due, Some(Ahead::Delay)));
        }
        set.maybe(columns.interruptions, || Hole::Interruptions.mark());
    } else {
        set.maybe(columns.finished_at, || D::later(text.forms.finished_at, None));
    }
    if to != State::Completed {
        set.maybe(columns.failures, || Hole::Failures.mark());
    }
    if error {
        set.maybe(columns.last_error, || Hole::Error.mark());
    }
    format!("UPDATE {} SET {} WHERE {}", text.table, set.finish(), one_guards(text))
}

pub(crate) fn settle_columns(mixed: bool) -> &'static [GivenColumn] {
    const DONE: &[GivenColumn] = &[GivenColumn::Key, GivenColumn::Fence, GivenColumn::Worker];
    const MIXED: &[GivenColumn] = &[
        GivenColumn::Key,
        GivenColumn::Fence,
        GivenColumn::Worker,
        GivenColumn::State,
        GivenColumn::Delay,
        GivenColumn::Failures,
        GivenColumn::Interruptions,
        GivenColumn::Error,
    ];
    if mixed { MIXED } else { DONE }
}

pub(crate) fn set_settled<D: Dialect>(text: &TableText<D>, mixed: bool) -> String {
    let columns = &text.declaration.columns;
    let mut set = Assignments::<D>::default();
    if !mixed {
        set.put(columns.state, text.word(State::Completed).unwrap_or_else(|| "NULL".to_owned()));
        set.maybe(columns.lease, || "NULL".to_owned());
        set.maybe(columns.finished_at, || D::later(text.forms.finished_at, None));
        return set.finish();
    }
    set_by_state(text, &mut set);
    set.maybe(columns.failures, || "mine.failures".to_owned());
    set.maybe(columns.interruptions, || "mine.interruptions".to_owned());
    set.maybe(columns.last_error, || {
        format!("COALESCE(mine.error, {})", text.column(columns.last_error.unwrap_or_default()))
    });
    set.finish()
}

/// The word for where each given row goes.
pub(crate) fn state_of_given<D: Dialect>(text: &TableText<D>) -> String {
    let cases: Vec<String> = State::ALL
        .into_iter()
        .filter(|state| *state != State::Running)
        .filter_map(|state| Some(format!("WHEN {} THEN {}", state_number(state), text.word(state)?)))
        .collect();
    format!("CASE mine.state {} END", cases.join(" "))
}

/// What depends on where each given row goes.
pub(crate) fn set_by_state<D: Dialect>(text: &TableText<D>, set: &mut Assignments<D>) {
    let columns = &text.declaration.columns;
    set.put(columns.state, state_of_given(text));
    let pending = state_number(State::Pending);
    let kept = |column: &str, then: &str| {
        format!("CASE mine.state WHEN {pending} THEN {then} ELSE {} END", text.column(column))
    };
    set.maybe(columns.lease, || "NULL".to_owned());
    if let Some(worker) = columns.worker {
        set.put(worker, kept(worker, "NULL"));
    }
    if let Some(since) = columns.claimed_at {
        set.put(since, kept(since, "NULL"));
    }
    if let Some(due) = columns.due {
        let later = D::later_given(text.forms.due, "mine.delay");
        let column = text.column(due);
        set.put(due, format!("CASE WHEN mine.delay IS NULL THEN {column} ELSE {later} END"));
    }
    if let Some(finished) = columns.finished_at {
        let now = D::later(text.forms.finished_at, None);
        let column = text.column(finished);
        // An uncertain row is not finished: somebody still decides.
        let ends = State::ALL.into_iter().filter(|state| state.is_final() && text.word(*state).is_some());
        let ends: Vec<String> = ends.map(|state| state_number(state).to_string()).collect();
        if !ends.is_empty() {
            let ends = ends.join(", ");
            set.put(finished, format!("CASE WHEN mine.state IN ({ends}) THEN {now} ELSE {column} END"));
        }
    }
}

fn write_many<D: Dialect>(text: &TableText<D>, shape: Shape) -> String {
    let Shape::SettleMany { mixed, discard, skip } = shape else { unreachable!("{shape:?} settles nothing") };
    let head = locked(text, settle_columns(mixed), skip, "");
    format!("{head} {}", end_mine(text, mixed, discard))
}

fn write_guard<D: Dialect>(text: &TableText<D>, _: Shape) -> String {
    let fence = text.declaration.columns.fence;
    let no_key_update = text.declaration.no_key_update;
    D::guard_statement(&text.table, text.bare(), fence, no_key_update, &one_guards(text))
}
