//! Which table it is, and of what kind.

use diesel::pg::{Pg, PgConnection};
use diesel::sql_types::{BigInt, Bool, Nullable, Oid, Text};
use diesel::{OptionalExtension, RunQueryDsl};

use super::Found;
use crate::query::TableText;
use crate::verify::advice::{table_name, unquoted};
use crate::verify::finding::{Check, Finding};

/// Above so many rows it matters whether an index could find them.
const FEW: i64 = 500;

/// Above so many rows it matters whether the planner takes it. A table that has just been filled is not known to it,
/// and autovacuum tells it soon.
const MANY: i64 = 10_000;

/// The table that the store's statements meet, found as they find it: through `search_path`.
pub(super) struct Table<'a> {
    pub(super) text: &'a TableText<Pg>,
    pub(super) oid: u32,
    /// Its name in plans.
    pub(super) name: String,
    /// It has no rows of its own: its partitions do.
    pub(super) partitioned: bool,
    /// The role that this connection works as, quoted.
    pub(super) role: String,
    /// It has more rows than may be read one by one.
    pub(super) large: bool,
    /// It has more rows than any planner should read one by one.
    pub(super) very_large: bool,
}

impl Table<'_> {
    /// How an index is made here without holding up those who work.
    pub(super) fn create_index(&self, unique: bool) -> &'static str {
        match (unique, self.partitioned) {
            (false, false) => "CREATE INDEX CONCURRENTLY",
            (false, true) => "CREATE INDEX",
            (true, false) => "CREATE UNIQUE INDEX CONCURRENTLY",
            (true, true) => "CREATE UNIQUE INDEX",
        }
    }

    /// `ALTER TABLE … `.
    pub(super) fn alter(&self, action: impl std::fmt::Display) -> String {
        format!("ALTER TABLE {} {action};", self.text.table)
    }
}

#[derive(diesel::QueryableByName)]
struct Relation {
    #[diesel(sql_type = Oid)]
    oid: u32,
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Text)]
    persistence: String,
    #[diesel(sql_type = Text)]
    role: String,
    #[diesel(sql_type = Nullable<Bool>)]
    readable: Option<bool>,
}

#[derive(diesel::QueryableByName)]
struct Rows {
    #[diesel(sql_type = BigInt)]
    rows: i64,
}

#[derive(diesel::QueryableByName)]
struct Elsewhere {
    #[diesel(sql_type = Nullable<Text>)]
    schema: Option<String>,
    #[diesel(sql_type = Text)]
    role: String,
    #[diesel(sql_type = Text)]
    database: String,
}

/// Finds it, and says of what kind it is where that matters. `None` stays where no row of it can be claimed.
pub(super) fn find<'a>(
    conn: &mut PgConnection,
    text: &'a TableText<Pg>,
    table: &mut Option<Table<'a>>,
) -> Found {
    let relation: Option<Relation> = diesel::sql_query(
        "SELECT c.oid, c.relname::text AS name, c.relkind::text AS kind, c.relpersistence::text AS persistence, \
         quote_ident(current_user) AS role, has_table_privilege(c.oid, 'SELECT') AS readable \
         FROM pg_class AS c WHERE c.oid = to_regclass($1)",
    )
    .bind::<Text, _>(&text.table)
    .get_result(conn)
    .optional()?;
    let Some(relation) = relation else { return missing(conn, text) };
    if let Some(found) = not_a_table(text, &relation) {
        return Ok(vec![found]);
    }
    let rows = match relation.readable {
        Some(true) => {
            let count = format!(
                "SELECT count(*) AS rows FROM (SELECT FROM {} LIMIT {}) AS first_rows",
                text.table,
                MANY + 1
            );
            diesel::sql_query(count).get_result::<Rows>(conn)?.rows
        }
        _ => 0,
    };
    *table = Some(Table {
        text,
        oid: relation.oid,
        name: relation.name,
        partitioned: relation.kind == "p",
        role: relation.role,
        large: rows > FEW,
        very_large: rows > MANY,
    });
    if relation.persistence == "u" {
        let says = format!("{} is unlogged: a crash of the server empties it", text.table);
        let mend = format!("ALTER TABLE {} SET LOGGED;", text.table);
        return Ok(vec![Finding::warning(Check::Table, says).mend(mend)]);
    }
    Ok(Vec::new())
}

fn missing(conn: &mut PgConnection, text: &TableText<Pg>) -> Found {
    let elsewhere: Elsewhere = diesel::sql_query(
        "SELECT min(quote_ident(n.nspname)) AS schema, quote_ident(current_user) AS role, \
         quote_ident(current_database()) AS database \
         FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
         WHERE c.relname = $1 AND c.relkind IN ('r', 'p') AND n.nspname !~ '^pg_'",
    )
    .bind::<Text, _>(table_name(text))
    .get_result(conn)?;
    let absent = format!("there is no table {} where search_path leads", text.table);
    let finding = match elsewhere.schema {
        Some(schema) => {
            let mend = format!(
                "ALTER ROLE {} IN DATABASE {} SET search_path = {schema}, public;",
                elsewhere.role, elsewhere.database
            );
            Finding::error(Check::Table, format!("{absent}; there is one in schema {schema}")).mend(mend)
        }
        None => Finding::error(Check::Table, absent).mend("apply the migration that creates it"),
    };
    Ok(vec![finding])
}

fn not_a_table(text: &TableText<Pg>, relation: &Relation) -> Option<Finding> {
    let name = &text.table;
    let says = match (relation.kind.as_str(), relation.persistence.as_str()) {
        ("r", "t") => format!("{name} is a temporary table: no other connection sees its rows"),
        ("r" | "p", _) => return None,
        ("v" | "m", _) => format!("{name} is a view: its rows cannot be locked and written as a table's"),
        ("f", _) => format!("{name} is a foreign table: its rows cannot be locked as this server's"),
        _ => format!("{name} is no table"),
    };
    Some(
        Finding::error(Check::Table, says)
            .mend(format!("name the table behind {} in table!", unquoted(text.bare()))),
    )
}
