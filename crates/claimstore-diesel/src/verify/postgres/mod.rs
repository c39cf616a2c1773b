//! The checks on PostgreSQL.

mod columns;
mod constraints;
mod key;
mod plan;
mod rights;
mod session;
mod settings;
mod table;
mod triggers;
mod types;
mod vacuum;

use diesel::connection::Connection;
use diesel::pg::{Pg, PgConnection};
use diesel::sql_types::Text;
use diesel::{QueryResult, RunQueryDsl};

use self::columns::Column;
use self::table::Table;
use super::Look;
use super::finding::{Check, Finding, Severity};
use super::rows::{self, Instants, Met};
use crate::dialect::Dialect;
use crate::query::TableText;
use crate::table::ClaimOn;

/// Several findings, or why there are none.
type Found = QueryResult<Vec<Finding>>;

/// Everything, in one transaction that is read-only.
pub(crate) fn look<T: ClaimOn<Pg>>(conn: &mut PgConnection) -> QueryResult<Look> {
    let text = <T as ClaimOn<Pg>>::text();
    let mut look = Look::default();
    conn.build_transaction().read_committed().read_only().run(|conn| -> QueryResult<()> {
        let found = &mut look.findings;
        of_the_server(conn, found)?;
        do_not_wait(conn)?;
        part(conn, "claimstore's own tables", found, |conn| own_tables(conn, text))?;
        let mut table = None;
        part(conn, "the table", found, |conn| table::find(conn, text, &mut table))?;
        if let Some(table) = table {
            of_the_table::<T>(conn, &table, found)?;
        }
        Ok(())
    })?;
    Ok(look)
}

/// One check. What it may not read costs only its own answer, and a failed statement only its savepoint.
fn part(
    conn: &mut PgConnection,
    what: &str,
    found: &mut Vec<Finding>,
    look: impl FnOnce(&mut PgConnection) -> Found,
) -> QueryResult<()> {
    super::take::<Pg>(what, found, conn.transaction(look))
}

fn of_the_server(conn: &mut PgConnection, found: &mut Vec<Finding>) -> QueryResult<()> {
    part(conn, "the server's settings", found, settings::look)?;
    part(conn, "the clocks", found, session::clock)
}

/// A table that somebody alters just now is told as such, not waited for. After the settings were looked at.
fn do_not_wait(conn: &mut PgConnection) -> QueryResult<()> {
    let set = "SELECT set_config('lock_timeout', '2s', true) WHERE current_setting('lock_timeout') = '0'";
    diesel::sql_query(set).execute(conn).map(|_| ())
}

fn of_the_table<T: ClaimOn<Pg>>(
    conn: &mut PgConnection,
    table: &Table<'_>,
    found: &mut Vec<Finding>,
) -> QueryResult<()> {
    let mut columns: Vec<Column> = Vec::new();
    part(conn, "the table's columns", found, |conn| {
        columns = columns::read(conn, table)?;
        Ok(columns::judge(table, &columns))
    })?;
    if found.iter().any(|found| found.check == Check::Columns) || columns.is_empty() {
        // Each further look would only stumble over what is missing.
        return part(conn, "the privileges", found, |conn| rights::look(conn, table, &columns));
    }
    found.extend(types::judge(table, &columns));
    part(conn, "the type of the state", found, |conn| types::state_enum(conn, table, &columns))?;
    part(conn, "the key", found, |conn| key::look(conn, table))?;
    // No statement that names such a word can even be planned.
    let lacks_a_word = has_error(found, Check::StateWords);
    if !lacks_a_word {
        part(conn, "the CHECKs", found, |conn| constraints::look(conn, table, &columns))?;
    }
    part(conn, "the triggers", found, |conn| triggers::look(conn, table))?;
    part(conn, "the privileges", found, |conn| rights::look(conn, table, &columns))?;
    part(conn, "the privileges on claimstore's own tables", found, |conn| rights::beside(conn, table))?;
    // Of such an error the statements' plans could only tell again.
    if !lacks_a_word && !has_error(found, Check::Types) && !has_error(found, Check::Privileges) {
        part(conn, "the plan of the claim", found, |conn| plan::claim::<T>(conn, table))?;
        part(conn, "the plan of recovery", found, |conn| plan::lease::<T>(conn, table))?;
        part(conn, "the rows", found, |conn| of_the_rows(conn, table.text))?;
    }
    part(conn, "row-level security", found, |conn| rights::row_security(conn, table))?;
    part(conn, "what vacuum does", found, |conn| vacuum::look(conn, table))?;
    part(conn, "old transactions", found, vacuum::old_transactions)
}

/// An error like this keeps the statements from being planned: a look at them would only tell it again.
fn has_error(found: &[Finding], check: Check) -> bool {
    found.iter().any(|found| found.severity == Severity::Error && found.check == check)
}

fn own_tables(conn: &mut PgConnection, text: &TableText<Pg>) -> Found {
    let role: Role = diesel::sql_query("SELECT quote_ident(current_user) AS role").get_result(conn)?;
    let grant = format!("GRANT SELECT ON claimstore_schema TO {};", role.role);
    Ok(super::own_tables(text.declaration, Pg::schema(conn), &grant).into_iter().collect())
}

#[derive(diesel::QueryableByName)]
struct Role {
    #[diesel(sql_type = Text)]
    role: String,
}

fn of_the_rows(conn: &mut PgConnection, text: &TableText<Pg>) -> Found {
    let instants = Instants {
        later: |form, seconds| Pg::later_given(form, &seconds.saturating_mul(1_000_000).to_string()),
        comparable: |column, form| Some(Pg::instant(column, form)),
    };
    let impossible = rows::impossible(text, instants);
    let met: Vec<Met> = diesel::sql_query(rows::count(text, &impossible)).load(conn)?;
    Ok(rows::judge(text, impossible, &met))
}
