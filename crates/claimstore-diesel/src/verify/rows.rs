//! Rows that should not be, looked for in a bounded sample.

use claimstore_core::MAX_SPAN;
use diesel::sql_types::{BigInt, Integer};

use super::advice::known_word;
use super::finding::{Check, Finding, Severity};
use super::role::{Holds, roles};
use crate::dialect::Dialect;
use crate::query::{TableText, TimeForm, literal};

/// Rows read from each end of the keys.
const SAMPLE: usize = 5_000;

/// Rows shown by the statement that shows them.
const SHOWN: usize = 100;

/// How far ahead of the clock the start of a claim may be before it is called wrong: reading takes time.
const TOLERATED: i64 = 60;

/// How instants are written here.
#[derive(Clone, Copy)]
pub(super) struct Instants {
    /// So many seconds from now, in the form a column stores.
    pub(super) later: fn(TimeForm, i64) -> String,
    /// A column of a form, comparable with one of another form; `None` where it cannot be.
    pub(super) comparable: fn(&str, TimeForm) -> Option<String>,
}

/// A condition that no row may meet.
pub(super) struct Impossible {
    pub(super) check: Check,
    pub(super) severity: Severity,
    /// What such rows are, after "at least n rows".
    pub(super) are: String,
    pub(super) condition: String,
    /// What mends them, where a statement can; else they are shown.
    pub(super) mend: Option<String>,
}

/// How many rows of the sample met the condition with this number.
#[derive(diesel::QueryableByName)]
pub(super) struct Met {
    #[diesel(sql_type = Integer)]
    place: i32,
    #[diesel(sql_type = BigInt)]
    rows: i64,
}

/// What is impossible in this table on any database.
pub(super) fn impossible<D: Dialect>(text: &TableText<D>, instants: Instants) -> Vec<Impossible> {
    let columns = &text.declaration.columns;
    let running = format!("{} = {}", D::quote(columns.state), literal(text.declaration.words.running));
    let fence = D::quote(columns.fence);
    let mut list = vec![
        found(
            Severity::Error,
            format!("have a fence below 0 in {fence}; they cannot be read, and so not be settled"),
            format!("{fence} < 0"),
        ),
        found(
            Severity::Warning,
            format!(
                "hold a word in {} that is not declared; they are never claimed, and cannot be looked at",
                D::quote(columns.state)
            ),
            format!("NOT ({})", known_word(text)),
        ),
    ];
    if let Some(lease) = columns.lease {
        let (form, lease) = (text.forms.lease, D::quote(lease));
        let ends = (instants.later)(form, i64::try_from(MAX_SPAN.as_secs()).unwrap_or(i64::MAX));
        list.push(found(
            Severity::Error,
            format!("are running and have no lease in {lease}; nobody will ever recover them"),
            format!("{running} AND {lease} IS NULL"),
        ));
        list.push(found(
            Severity::Warning,
            format!("are running under a lease that ends more than a hundred years from now in {lease}"),
            format!("{running} AND {lease} > {ends}"),
        ));
    }
    if let Some(since) = columns.claimed_at {
        let (form, since) = (text.forms.claimed_at, D::quote(since));
        let now = (instants.later)(form, TOLERATED);
        list.push(found(
            Severity::Warning,
            format!(
                "were claimed in the future by {since}: the deciding clock was set back, or another wrote"
            ),
            format!("{running} AND {since} > {now}"),
        ));
    }
    list.extend(lease_before_claim(text, &running, instants));
    for role in roles(text) {
        let (least, so) = match role.holds {
            Holds::Count => (0, "have a negative count"),
            Holds::Budget => (1, "have a budget below 1, and are never claimed,"),
            _ => continue,
        };
        let column = D::quote(role.column);
        list.push(found(Severity::Warning, format!("{so} in {column}"), format!("{column} < {least}")));
    }
    list
}

fn found(severity: Severity, are: String, condition: String) -> Impossible {
    Impossible { check: Check::Rows, severity, are, condition, mend: None }
}

fn lease_before_claim<D: Dialect>(
    text: &TableText<D>,
    running: &str,
    instants: Instants,
) -> Option<Impossible> {
    let columns = &text.declaration.columns;
    let (lease, since) = (D::quote(columns.lease?), D::quote(columns.claimed_at?));
    let (left, right) = if text.forms.lease == text.forms.claimed_at {
        (lease.clone(), since.clone())
    } else {
        let comparable = instants.comparable;
        (comparable(&lease, text.forms.lease)?, comparable(&since, text.forms.claimed_at)?)
    };
    Some(found(
        Severity::Warning,
        format!("are running under a lease that ended before the claim began: {lease} is before {since}"),
        format!("{running} AND {left} < {right}"),
    ))
}

/// Counts, in one statement, the rows of the sample that meet each condition. Only the ends of the keys are
/// read, so that it costs the same for any number of rows.
pub(super) fn count<D: Dialect>(text: &TableText<D>, list: &[Impossible]) -> String {
    let columns: Vec<String> = roles(text).iter().map(|role| D::quote(role.column)).collect();
    let (columns, table) = (columns.join(", "), &text.table);
    let key = D::quote(text.declaration.columns.key);
    let end = |name: &str, direction: &str| {
        format!(
            "SELECT {columns} FROM (SELECT {columns} FROM {table} ORDER BY {key}{direction} LIMIT {SAMPLE}) \
             AS {name}"
        )
    };
    let counts = list.iter().enumerate().map(|(place, one)| {
        format!("SELECT {place} AS place, count(*) AS rows FROM ends WHERE {}", one.condition)
    });
    let counts: Vec<String> = counts.collect();
    format!(
        "WITH ends AS ({} UNION {}) {}",
        end("lowest", ""),
        end("highest", " DESC"),
        counts.join(" UNION ALL ")
    )
}

/// What the counts mean.
pub(super) fn judge<D: Dialect>(text: &TableText<D>, list: Vec<Impossible>, met: &[Met]) -> Vec<Finding> {
    let rows = |place: usize| {
        met.iter().find(|met| usize::try_from(met.place) == Ok(place)).map_or(0, |met| met.rows)
    };
    let mut findings = Vec::new();
    for (place, one) in list.into_iter().enumerate() {
        let n = rows(place);
        if n > 0 {
            let says = format!("at least {n} rows {}", one.are);
            let show = format!("SELECT * FROM {} WHERE {} LIMIT {SHOWN};", text.table, one.condition);
            findings.push(Finding::new(one.severity, one.check, says).mend(one.mend.unwrap_or(show)));
        }
    }
    findings
}
