//! How PostgreSQL's text is written.

use crate::query::{Ahead, ClaimParts, GivenColumn, Hole, LockedRows, TimeForm};

/// An instant expression, in the form a column stores.
pub(super) fn stored(form: TimeForm, instant: &str) -> String {
    match form {
        TimeForm::Zoned | TimeForm::Text => instant.to_owned(),
        TimeForm::Plain => format!("(({instant}) AT TIME ZONE 'UTC')"),
        TimeForm::Micros => format!("(extract(epoch FROM {instant}) * 1000000)::bigint"),
    }
}

/// A column of that form, as an instant.
pub(super) fn instant(column: &str, form: TimeForm) -> String {
    match form {
        TimeForm::Zoned | TimeForm::Text => column.to_owned(),
        TimeForm::Plain => format!("({column} AT TIME ZONE 'UTC')"),
        // In two steps: a count of microseconds beyond 2^53 would lose its last digit as a float.
        TimeForm::Micros => format!(
            "('epoch'::timestamptz + {column} / 1000000 * interval '1 second' \
             + {column} % 1000000 * interval '1 microsecond')"
        ),
    }
}

pub(super) fn later(form: TimeForm, span: Option<Ahead>) -> String {
    match span {
        None => stored(form, "clock_timestamp()"),
        Some(span) => stored(form, &format!("clock_timestamp() + {}", Hole::Span(span).mark())),
    }
}

/// `picked` and `won`. MATERIALIZED because the planner could otherwise run the locking select again for
/// each outer row, lock other rows each time, and so claim more than the limit (H1).
fn claim_tables(parts: &ClaimParts<'_>) -> (String, String) {
    let ClaimParts { table, key, limit, set, still, returning, .. } = parts;
    let limit = if limit.is_empty() { String::new() } else { format!(" LIMIT {limit}") };
    let candidate = &parts.candidates[0];
    let picked = if parts.merge {
        format!(
            "SELECT ready.* FROM unnest({}) AS wanted(queue) CROSS JOIN LATERAL ({candidate}{limit}) AS ready{}{limit}",
            Hole::Queues.mark(),
            order_by(parts.order.iter().map(|(column, down)| (format!("ready.{column}"), *down))),
        )
    } else {
        format!("{candidate}{limit}")
    };
    let update = format!(
        "UPDATE {table} SET {set} FROM picked WHERE {table}.{key} = picked.{key} AND {still} RETURNING {returning}"
    );
    (format!("picked AS MATERIALIZED ({picked})"), update)
}

fn order_by(columns: impl Iterator<Item = (String, bool)>) -> String {
    let columns = columns.map(|(column, down)| if down { format!("{column} DESC") } else { column });
    let columns: Vec<String> = columns.collect();
    if columns.is_empty() { String::new() } else { format!(" ORDER BY {}", columns.join(", ")) }
}

fn claim_order(parts: &ClaimParts<'_>) -> String {
    if !parts.sort {
        return String::new();
    }
    let by = parts.order.iter().enumerate();
    order_by(by.map(|(n, (_, down))| (format!("won.claim_order_{n}"), *down)))
}

pub(super) fn claim_statement(parts: &ClaimParts<'_>) -> String {
    let (picked, update) = claim_tables(parts);
    if !parts.sort {
        return format!("WITH {picked} {update}");
    }
    // RETURNING promises no order, so the rows are put in order once more.
    format!("WITH {picked}, won AS ({update}) SELECT * FROM won{}", claim_order(parts))
}

pub(super) fn both(mine: &str, done: &str, settled: [&str; 2], parts: &ClaimParts<'_>) -> String {
    let (picked, update) = claim_tables(parts);
    let [fence, key] = settled;
    // A full join on nothing: the won rows, then the settled ones.
    format!(
        "{mine}, done AS ({done}), {picked}, won AS ({update}) \
         SELECT won.*, done.{fence}, done.{key} FROM won FULL JOIN done ON FALSE{}",
        claim_order(parts)
    )
}

pub(super) fn given(columns: &[GivenColumn]) -> String {
    let arrays: Vec<String> = columns.iter().map(|column| hole(*column).mark()).collect();
    let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    format!("unnest({}) AS given({})", arrays.join(", "), names.join(", "))
}

fn hole(column: GivenColumn) -> Hole {
    match column {
        GivenColumn::Key => Hole::GivenKeys,
        GivenColumn::Fence => Hole::GivenFences,
        GivenColumn::Worker => Hole::GivenWorkers,
        GivenColumn::State => Hole::GivenStates,
        GivenColumn::Delay => Hole::GivenDelays,
        GivenColumn::Failures => Hole::GivenFailures,
        GivenColumn::Crashes => Hole::GivenCrashes,
        GivenColumn::Interruptions => Hole::GivenInterruptions,
        GivenColumn::Error => Hole::GivenErrors,
    }
}

pub(super) fn lock_clause(no_key_update: bool) -> &'static str {
    if no_key_update { "FOR NO KEY UPDATE" } else { "FOR UPDATE" }
}

/// Locked in key order, so that two statements over the same rows never wait for each other in a ring.
pub(super) fn locked_rows(parts: &LockedRows<'_>) -> String {
    let LockedRows { table, bare, key, guards, .. } = parts;
    let lock = lock_clause(parts.no_key_update);
    let skip = if parts.skip_locked { " SKIP LOCKED" } else { "" };
    let given = given(parts.columns);
    format!(
        "WITH mine AS MATERIALIZED (SELECT given.* FROM {table}, {given} WHERE {guards} ORDER BY {key} {lock} OF {bare}{skip})"
    )
}
