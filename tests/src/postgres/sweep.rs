//! Removing what runs that were killed long ago have left on a server that outlives them.

use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::sql_types::Text;
use diesel::{Connection, PgConnection, QueryResult, RunQueryDsl};

use super::server::say;
use super::url::ServerUrl;
use crate::scratch;

/// No run takes this long, so nothing of a live one is removed.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

/// Drops schemas and databases whose names say that a test made them over a day ago.
pub(super) fn old_leftovers(server: &ServerUrl) {
    if let Err(error) = try_to(server) {
        say(&format!("old leftovers stay behind: {error}"));
    }
}

fn try_to(server: &ServerUrl) -> Result<(), String> {
    let mut connection = PgConnection::establish(&server.in_full()).map_err(|error| error.to_string())?;
    let connection = &mut connection;
    connection.batch_execute("SET lock_timeout = '5s'; SET client_min_messages = warning").map_err(text)?;
    for schema in names(connection, "nspname::text FROM pg_namespace").map_err(text)? {
        connection.batch_execute(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE")).map_err(text)?;
    }
    for database in names(connection, "datname::text FROM pg_database").map_err(text)? {
        connection
            .batch_execute(&format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)"))
            .map_err(text)?;
    }
    Ok(())
}

/// Old names are made of letters, digits and underscores only, so they need no quoting.
fn names(connection: &mut PgConnection, what: &str) -> QueryResult<Vec<String>> {
    let mut names: Vec<String> = sql::<Text>(&format!("SELECT {what}")).load(connection)?;
    names.retain(|name| scratch::is_older_than(name, OLD));
    Ok(names)
}

fn text(error: diesel::result::Error) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::super::schema::connect;
    use super::super::{fresh, server};
    use super::*;

    #[test]
    fn only_schemas_of_killed_runs_are_removed() {
        let mut connection = connect(server().url());
        let old = "claimstore_test_1600000000_sweep0sweep1";
        connection.batch_execute(&format!("CREATE SCHEMA IF NOT EXISTS {old}")).expect("a schema");
        let young = fresh();
        old_leftovers(server().url());
        let mut left: Vec<String> =
            sql::<Text>("SELECT nspname::text FROM pg_namespace").load(&mut connection).expect("a list");
        left.retain(|name| name == old || name == young.name());
        assert_eq!(left, [young.name()]);
    }
}
