//! What this role may do, and see.

use diesel::RunQueryDsl;
use diesel::pg::{Pg, PgConnection};
use diesel::sql_types::{Array, Bool, Nullable, Oid, Text};

use super::Found;
use super::columns::{Column, of};
use super::table::Table;
use crate::dialect::Dialect;
use crate::verify::finding::{Check, Finding, Severity};
use crate::verify::role::{roles, written};

#[derive(diesel::QueryableByName)]
struct Lacking {
    #[diesel(sql_type = Array<Text>)]
    unread: Vec<String>,
    #[diesel(sql_type = Array<Text>)]
    unwritten: Vec<String>,
    #[diesel(sql_type = Bool)]
    inserts: bool,
    #[diesel(sql_type = Bool)]
    deletes: bool,
}

pub(super) fn look(conn: &mut PgConnection, table: &Table<'_>, columns: &[Column]) -> Found {
    let there: Vec<&str> =
        roles(table.text).iter().filter(|role| of(columns, role).is_some()).map(|role| role.column).collect();
    let writes: Vec<&str> = written(table.text).into_iter().filter(|column| there.contains(column)).collect();
    let lacking: Lacking = diesel::sql_query(
        "SELECT ARRAY(SELECT name FROM unnest($2) AS name WHERE NOT has_column_privilege($1, name, 'SELECT')) AS unread, \
         ARRAY(SELECT name FROM unnest($3) AS name WHERE NOT has_column_privilege($1, name, 'UPDATE')) AS unwritten, \
         has_table_privilege($1, 'INSERT') AS inserts, has_table_privilege($1, 'DELETE') AS deletes",
    )
    .bind::<Oid, _>(table.oid)
    .bind::<Array<Text>, _>(&there)
    .bind::<Array<Text>, _>(&writes)
    .get_result(conn)?;
    let name = &table.text.table;
    let list = |columns: &[String]| columns.iter().map(|c| Pg::quote(c)).collect::<Vec<_>>().join(", ");
    let mut found = Vec::new();
    if !lacking.unread.is_empty() {
        let so = format!("may not read {}: every call fails", list(&lacking.unread));
        found.push(may_not(Severity::Error, table, "SELECT", name, so));
    }
    if !lacking.unwritten.is_empty() {
        let so = format!("may not update {}: nothing can be claimed", list(&lacking.unwritten));
        found.push(may_not(Severity::Error, table, "UPDATE", name, so));
    }
    if !lacking.inserts {
        let so = "may not insert: it cannot enqueue".to_owned();
        found.push(may_not(Severity::Notice, table, "INSERT", name, so));
    }
    if !lacking.deletes {
        let so = "may not delete: it cannot clear away finished rows".to_owned();
        found.push(may_not(Severity::Notice, table, "DELETE", name, so));
    }
    Ok(found)
}

fn may_not(severity: Severity, table: &Table<'_>, what: &str, on: &str, so: String) -> Finding {
    let says = format!("the role {} {so}", table.role);
    let mend = format!("GRANT {what} ON {on} TO {};", table.role);
    Finding::new(severity, Check::Privileges, says).mend(mend)
}

/// A table of claimstore's own beside this one.
struct Beside {
    name: &'static str,
    needed: &'static [&'static str],
    /// What fails without.
    so: &'static str,
}

/// An event is written in the transaction of what it tells, so that one which may not be written takes that along.
const EVENTS: Beside = Beside {
    name: "claimstore_events",
    needed: &["SELECT", "INSERT"],
    so: "what has to be recorded there fails",
};

/// Each claim reads whether its queue and kinds are paused.
const QUEUES: Beside =
    Beside { name: "claimstore_queues", needed: &["SELECT"], so: "nothing can be claimed" };

#[derive(diesel::QueryableByName)]
struct Missing {
    #[diesel(sql_type = Text)]
    privilege: String,
}

/// Privileges on claimstore's own tables, those that the declaration asks for.
pub(super) fn beside(conn: &mut PgConnection, table: &Table<'_>) -> Found {
    let declaration = table.text.declaration;
    let beside = [(declaration.events, EVENTS), (declaration.queues, QUEUES)];
    let mut found = Vec::new();
    for (_, Beside { name, needed, so }) in beside.into_iter().filter(|(declared, _)| *declared) {
        // Where the table is missing the answer is NULL, and the schema's version has told that.
        let missing: Vec<Missing> = diesel::sql_query(
            "SELECT privilege FROM unnest($2) AS privilege \
             WHERE has_table_privilege(to_regclass($1), privilege) IS FALSE",
        )
        .bind::<Text, _>(name)
        .bind::<Array<Text>, _>(needed)
        .load(conn)?;
        if !missing.is_empty() {
            let what: Vec<String> = missing.into_iter().map(|missing| missing.privilege).collect();
            let what = what.join(", ");
            found.push(may_not(
                Severity::Error,
                table,
                &what,
                name,
                format!("has no {what} on {name}: {so}"),
            ));
        }
    }
    Ok(found)
}

#[derive(diesel::QueryableByName)]
struct Policies {
    #[diesel(sql_type = Nullable<Bool>)]
    active: Option<bool>,
    /// A policy lets this role see and write everything.
    #[diesel(sql_type = Bool)]
    all: bool,
    /// A policy lets this role see something.
    #[diesel(sql_type = Bool)]
    some: bool,
    /// A policy takes something away again.
    #[diesel(sql_type = Bool)]
    restricted: bool,
}

/// A row that a policy hides is not claimed, not recovered and not missed.
pub(super) fn row_security(conn: &mut PgConnection, table: &Table<'_>) -> Found {
    let policies: Policies = diesel::sql_query(
        "SELECT row_security_active($1) AS active, \
         coalesce(bool_or(p.polpermissive AND p.polcmd = '*' AND pg_get_expr(p.polqual, p.polrelid) = 'true' \
         AND coalesce(pg_get_expr(p.polwithcheck, p.polrelid), 'true') = 'true'), false) AS all, \
         coalesce(bool_or(p.polpermissive AND p.polcmd IN ('*', 'r')), false) AS some, \
         coalesce(bool_or(NOT p.polpermissive), false) AS restricted \
         FROM (SELECT) AS one LEFT JOIN pg_policy AS p ON p.polrelid = $1 AND (0 = ANY(p.polroles) OR \
         EXISTS (SELECT FROM unnest(p.polroles) AS r WHERE r <> 0 AND pg_has_role(current_user, r, 'USAGE')))",
    )
    .bind::<Oid, _>(table.oid)
    .get_result(conn)?;
    if policies.active != Some(true) || (policies.all && !policies.restricted) {
        return Ok(Vec::new());
    }
    let (name, role) = (&table.text.table, &table.role);
    let mend =
        format!("CREATE POLICY claimstore_all_rows ON {name} TO {role} USING (true) WITH CHECK (true);");
    let finding = if policies.some {
        let says = format!(
            "row-level security is on for the role {role} on {name}, with policies: what they hide is not claimed \
             and not recovered"
        );
        Finding::warning(Check::RowSecurity, says)
    } else {
        let says = format!(
            "row-level security is on for the role {role} on {name}, and no policy shows it a row: it finds nothing"
        );
        Finding::error(Check::RowSecurity, says)
    };
    Ok(vec![if policies.restricted { finding } else { finding.mend(mend) }])
}
