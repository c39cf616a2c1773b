//! The server's settings, as this connection has them.

use diesel::RunQueryDsl;
use diesel::pg::PgConnection;
use diesel::sql_types::{Array, Bool, Text};

use super::Found;
use crate::verify::finding::{Check, Finding, Severity};

/// Rows of a CTE are found once: `MATERIALIZED`, without which a claim could take more than its limit.
const OLDEST: i32 = 12;

/// A statement that is slower than this under load is nothing unusual.
const SHORT_STATEMENT: i64 = 1_000;

#[derive(diesel::QueryableByName)]
struct Setting {
    #[diesel(sql_type = Text)]
    name: String,
    /// Times are in milliseconds.
    #[diesel(sql_type = Text)]
    value: String,
    /// Given by the client when it connected.
    #[diesel(sql_type = Bool)]
    by_client: bool,
}

#[derive(diesel::QueryableByName)]
struct Place {
    #[diesel(sql_type = Text)]
    role: String,
    #[diesel(sql_type = Text)]
    database: String,
    #[diesel(sql_type = Bool)]
    standby: bool,
    #[diesel(sql_type = diesel::sql_types::Integer)]
    version: i32,
}

/// A setting that is looked at, with what is better.
struct Rule {
    name: &'static str,
    is_bad: fn(&str) -> bool,
    severity: Severity,
    check: Check,
    says: &'static str,
    better: &'static str,
    /// Only for the server as a whole.
    system: bool,
}

const fn rule(
    name: &'static str,
    is_bad: fn(&str) -> bool,
    severity: Severity,
    check: Check,
    says: &'static str,
    better: &'static str,
) -> Rule {
    Rule { name, is_bad, severity, check, says, better, system: false }
}

const RULES: [Rule; 8] = [
    rule(
        "default_transaction_read_only",
        |on| on == "on",
        Severity::Error,
        Check::ReadOnly,
        "nothing can be claimed",
        "off",
    ),
    rule(
        "default_transaction_isolation",
        |level| level != "read committed",
        Severity::Notice,
        Check::Isolation,
        "each of the store's statements gets a transaction of its own around it that says READ COMMITTED, which \
         costs two round trips (ADR 0007)",
        "read committed",
    ),
    rule(
        "statement_timeout",
        |time| millis(time).is_some_and(|time| (1..SHORT_STATEMENT).contains(&time)),
        Severity::Warning,
        Check::Timeouts,
        "under load claims and settlements are cancelled",
        "30s",
    ),
    rule(
        "idle_in_transaction_session_timeout",
        |time| millis(time) == Some(0),
        Severity::Notice,
        Check::Timeouts,
        "a program that forgets its transaction keeps its rows locked, and dead rows alive, until it ends",
        "5min",
    ),
    rule(
        "lock_timeout",
        |time| millis(time) == Some(0),
        Severity::Notice,
        Check::Timeouts,
        "a settlement waits as long as another transaction holds its row",
        "10s",
    ),
    rule(
        "synchronous_commit",
        |on| on == "off",
        Severity::Notice,
        Check::Durability,
        "a crash of the server takes back the last commits, also claims and settlements that were acknowledged",
        "on",
    ),
    Rule {
        system: true,
        ..rule(
            "fsync",
            |on| on == "off",
            Severity::Notice,
            Check::Durability,
            "a crash of the machine can destroy the whole database",
            "on",
        )
    },
    Rule {
        system: true,
        ..rule(
            "autovacuum",
            |on| on == "off",
            Severity::Warning,
            Check::Vacuum,
            "nobody clears away the dead row that each claim and each settlement leaves behind",
            "on",
        )
    },
];

fn millis(time: &str) -> Option<i64> {
    time.parse().ok()
}

pub(super) fn look(conn: &mut PgConnection) -> Found {
    let place: Place = diesel::sql_query(
        "SELECT quote_ident(current_user) AS role, quote_ident(current_database()) AS database, \
         pg_is_in_recovery() AS standby, current_setting('server_version_num')::integer AS version",
    )
    .get_result(conn)?;
    let names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
    let settings: Vec<Setting> = diesel::sql_query(
        "SELECT name, setting AS value, source IN ('client', 'session') AS by_client \
         FROM pg_settings WHERE name = ANY($1)",
    )
    .bind::<Array<Text>, _>(names)
    .load(conn)?;
    let mut found = Vec::new();
    if place.standby {
        let says = "the server is a hot standby: nothing can be written to it";
        found.push(
            Finding::error(Check::ReadOnly, says)
                .mend("connect to the primary: target_session_attrs=read-write"),
        );
    }
    found.extend(too_old(place.version));
    for rule in &RULES {
        let setting = settings.iter().find(|setting| setting.name == rule.name);
        found.extend(
            setting.filter(|setting| (rule.is_bad)(&setting.value)).map(|bad| judge(rule, bad, &place)),
        );
    }
    Ok(found)
}

fn judge(rule: &Rule, setting: &Setting, place: &Place) -> Finding {
    let Rule { name, better, .. } = rule;
    let says = format!("{name} is {}: {}", setting.value, rule.says);
    let mend = if rule.system {
        format!("ALTER SYSTEM SET {name} = '{better}';")
    } else if setting.by_client {
        format!("the connection says {name}; there say {better}")
    } else {
        let alter =
            format!("ALTER ROLE {} IN DATABASE {} SET {name} = '{better}';", place.role, place.database);
        // The statement itself writes.
        if rule.check == Check::ReadOnly { format!("BEGIN READ WRITE; {alter} COMMIT;") } else { alter }
    };
    Finding::new(rule.severity, rule.check, says).mend(mend)
}

fn too_old(version: i32) -> Option<Finding> {
    if version / 10_000 >= OLDEST {
        return None;
    }
    let says = format!(
        "the server is older than version {OLDEST}, the first that knows MATERIALIZED: no claim runs"
    );
    Some(Finding::error(Check::Version, says).mend("upgrade the server"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_server_is_refused_in_words() {
        assert_eq!(too_old(120_000), None);
        assert!(too_old(110_022).expect("a finding").says.contains("older than version 12"));
    }
}
