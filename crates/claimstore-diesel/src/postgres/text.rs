//! How PostgreSQL's text is written.

use crate::query::{Ahead, ClaimParts, GivenColumn, Hold, Hole, LockedRows, LookParts, PruneParts, TimeForm};

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
    let ClaimParts { table, key, most, set, still, returning, .. } = parts;
    let candidate = cut(&parts.candidates[0], *most);
    let picked = if parts.merge {
        let each = format!(
            "SELECT ready.* FROM {} AS wanted(queue) CROSS JOIN LATERAL ({candidate}) AS ready{}",
            each_of(&[Hole::Queues.mark()]),
            order_by(parts.order.iter().map(|(column, down)| (format!("ready.{column}"), *down))),
        );
        cut(&each, *most)
    } else {
        candidate
    };
    let update = format!(
        "UPDATE {table} SET {set} FROM picked WHERE {table}.{key} = picked.{key} AND {still} RETURNING {returning}"
    );
    (format!("picked AS MATERIALIZED ({picked})"), update)
}

/// The first rows of a select. Around the limit that is bound stands one that is known and cuts nothing more. By
/// it the server can tell that one plan for any limit is as good as one for this limit: else it would expect a
/// tenth of the table, or plan each claim anew, which takes a fifth of the time of claiming a hundred rows.
fn cut(select: &str, most: Option<u32>) -> String {
    let limit = Hole::Limit.mark();
    match most {
        None => select.to_owned(),
        Some(1) => format!("{select} LIMIT 1"),
        Some(0) => format!("{select} LIMIT {limit}"),
        Some(most) => format!("SELECT * FROM ({select} LIMIT (SELECT {limit})) AS first LIMIT {most}"),
    }
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

/// An array, taken apart. Read from a subselect, so that no plan can know how long it is: planned for one row a
/// statement looks so much cheaper than planned for any number that the server would plan it anew each time,
/// which takes five times as long as running it.
pub(super) fn each_of(arrays: &[String]) -> String {
    let arrays: Vec<String> = arrays.iter().map(|array| format!("(SELECT {array})")).collect();
    format!("unnest({})", arrays.join(", "))
}

pub(super) fn given(columns: &[GivenColumn]) -> String {
    let arrays: Vec<String> = columns.iter().map(|column| hole(*column).mark()).collect();
    let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    format!("{} AS given({})", each_of(&arrays), names.join(", "))
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
        GivenColumn::Priority => Hole::GivenPriorities,
        GivenColumn::At => Hole::GivenInstants,
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

pub(super) fn look_statement(parts: &LookParts<'_>) -> String {
    let LookParts { table, bare, columns, which, tail, .. } = parts;
    let lock = lock_clause(parts.no_key_update);
    let hold = match parts.hold {
        Hold::No => String::new(),
        Hold::Waiting => format!(" {lock} OF {bare}"),
        Hold::Skipping => format!(" {lock} OF {bare} SKIP LOCKED"),
    };
    format!("SELECT {columns} FROM {table} WHERE {which}{tail}{hold}")
}

/// Locked rows are passed over: a claim, a settlement or an operator never waits for retention, nor it for them.
/// The rows are named as an array: a join with them would read all that is old, as no plan knows the limit.
pub(super) fn prune_statement(parts: &PruneParts<'_>) -> String {
    let PruneParts { table, key, which, order, limit } = parts;
    format!(
        "WITH old AS MATERIALIZED (SELECT {table}.{key} FROM {table} WHERE {which} ORDER BY {order} LIMIT {limit} \
         FOR UPDATE SKIP LOCKED) \
         DELETE FROM {table} WHERE {table}.{key} = ANY (ARRAY(SELECT old.{key} FROM old)) AND {which}"
    )
}
