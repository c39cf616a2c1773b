//! A schema of its own for one test.

use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::r2d2::ConnectionManager;
use diesel::{Connection, PgConnection};

use super::server::{say, server};
use super::url::ServerUrl;
use crate::scratch;

/// A plain pool of PostgreSQL connections, without a library setting on it.
pub type Pool = diesel::r2d2::Pool<ConnectionManager<PgConnection>>;

/// An empty schema that the connections of its URL find first and alone; dropped with its content.
///
/// Its connections carry the schema's name as `application_name`, so a test finds them, and nobody
/// else's, in `pg_stat_activity`.
#[derive(Debug)]
pub struct TestSchema {
    name: String,
    admin: ServerUrl,
    url: ServerUrl,
}

/// A fresh schema on the [server](server()) of this process.
///
/// # Panics
///
/// Where there is no server, or it refuses the schema.
pub fn fresh() -> TestSchema {
    TestSchema::on(server().url())
}

impl TestSchema {
    fn on(server: &ServerUrl) -> Self {
        let name = scratch::name();
        let admin = server.clone();
        connect(&admin).batch_execute(&format!("CREATE SCHEMA {name}")).unwrap_or_else(|error| {
            panic!("no schema for a test on {admin}: {error}");
        });
        let url = server.clone().with_setting("search_path", &name).with_parameter("application_name", &name);
        Self { name, admin, url }
    }

    /// The schema's name, which is also the `application_name` of its connections.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A URL whose connections work in this schema.
    pub fn url(&self) -> String {
        self.url.in_full()
    }

    /// The same, for adding settings to it.
    pub fn server_url(&self) -> &ServerUrl {
        &self.url
    }

    /// A connection that works in this schema.
    ///
    /// # Panics
    ///
    /// Where the server takes no more connections.
    pub fn connect(&self) -> PgConnection {
        connect(&self.url)
    }

    /// A pool of at most `size` connections, opened as they are needed.
    ///
    /// # Panics
    ///
    /// Where the server takes no more connections.
    pub fn pool(&self, size: u32) -> Pool {
        pool(&self.url, size)
    }
}

impl Drop for TestSchema {
    fn drop(&mut self) {
        let Self { name, admin, .. } = self;
        // A connection that a failed test left inside a transaction would hold the drop up for ever.
        let removed =
            PgConnection::establish(&admin.in_full()).map_err(|error| error.to_string()).and_then(|mut c| {
                c.batch_execute(&format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}';
                 SET lock_timeout = '10s';
                 SET client_min_messages = warning;
                 DROP SCHEMA IF EXISTS {name} CASCADE"
            ))
                .map_err(|error| error.to_string())
            });
        if let Err(error) = removed {
            say(&format!("schema {name} stays behind: {error}"));
        }
    }
}

pub(super) fn connect(url: &ServerUrl) -> PgConnection {
    PgConnection::establish(&url.in_full()).unwrap_or_else(|error| panic!("no connection to {url}: {error}"))
}

pub(super) fn pool(url: &ServerUrl, size: u32) -> Pool {
    Pool::builder()
        .max_size(size)
        .min_idle(Some(0))
        .test_on_check_out(false)
        .connection_timeout(Duration::from_secs(30))
        .build(ConnectionManager::new(url.in_full()))
        .unwrap_or_else(|error| panic!("no pool of {size} connections to {url}: {error}"))
}

#[cfg(test)]
mod tests {
    use diesel::RunQueryDsl;
    use diesel::dsl::sql;
    use diesel::sql_types::{BigInt, Bool};

    use super::*;

    fn count(connection: &mut PgConnection, query: &str) -> i64 {
        diesel::select(sql::<BigInt>(query)).get_result(connection).expect("a count")
    }

    #[test]
    fn two_schemas_share_nothing() {
        let (one, other) = (fresh(), fresh());
        one.connect().batch_execute("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)").expect("a new table");
        other.connect().batch_execute("CREATE TABLE t (a INT)").expect("a new table of the same name");
        assert_eq!(count(&mut one.connect(), "(SELECT count(*) FROM t)"), 1);
        assert_eq!(count(&mut other.connect(), "(SELECT count(*) FROM t)"), 0);
    }

    #[test]
    fn writes_are_committed_for_other_connections() {
        let schema = fresh();
        let pool = schema.pool(2);
        let (mut one, mut other) = (pool.get().expect("the first"), pool.get().expect("the second"));
        one.batch_execute("CREATE TABLE t AS SELECT 1 AS a").expect("a new table");
        assert_eq!(count(&mut other, "(SELECT count(*) FROM t)"), 1);
    }

    #[test]
    fn a_schema_goes_with_its_test_even_while_a_connection_holds_its_rows() {
        let schema = fresh();
        let name = schema.name().to_owned();
        let mut holder = schema.connect();
        holder
            .batch_execute("CREATE TABLE t AS SELECT 1 AS a; BEGIN; SELECT a FROM t FOR UPDATE")
            .expect("a lock");
        drop(schema);
        let there: bool = diesel::select(sql::<Bool>(&format!("to_regnamespace('{name}') IS NOT NULL")))
            .get_result(&mut connect(server().url()))
            .expect("an answer");
        assert!(!there);
    }
}
