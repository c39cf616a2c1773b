//! What runs inside each claim.

use diesel::RunQueryDsl;
use diesel::pg::PgConnection;
use diesel::sql_types::{Array, Oid, Text};

use super::Found;
use super::table::Table;
use crate::verify::finding::{Check, Finding};
use crate::verify::role::written;

#[derive(diesel::QueryableByName)]
struct Trigger {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    function: String,
    #[diesel(sql_type = Text)]
    moment: String,
}

pub(super) fn look(conn: &mut PgConnection, table: &Table<'_>) -> Found {
    // Bit 1 of the type is BEFORE, bit 4 is UPDATE. Without columns it fires for each of them.
    let triggers: Vec<Trigger> = diesel::sql_query(
        "SELECT quote_ident(t.tgname) AS name, t.tgfoid::regproc::text AS function, \
         CASE WHEN t.tgtype & 2 <> 0 THEN 'before' ELSE 'after' END AS moment FROM pg_trigger AS t \
         WHERE t.tgrelid = $1 AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype & 16 <> 0 \
         AND (t.tgattr::text = '' OR EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = $1 \
         AND a.attnum = ANY(t.tgattr) AND a.attname = ANY($2))) ORDER BY t.tgname",
    )
    .bind::<Oid, _>(table.oid)
    .bind::<Array<Text>, _>(written(table.text))
    .load(conn)?;
    let judge = |Trigger { name, function, moment }: Trigger| {
        let changes = if moment == "before" { ", and may change what a claim writes" } else { "" };
        let says =
            format!("the trigger {name} runs {function}() {moment} each claim and each end of one{changes}");
        let mend = format!(
            "create {name} anew for its own columns only: … UPDATE OF column, column ON {} …",
            table.text.table
        );
        Finding::warning(Check::Triggers, says).mend(mend)
    };
    Ok(triggers.into_iter().map(judge).collect())
}
