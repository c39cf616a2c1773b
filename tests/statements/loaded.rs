//! A loaded job table on PostgreSQL, and what a statement reads of it.

use claimstore::{Job, PgStore};
use claimstore_tests::postgres;
use diesel::connection::SimpleConnection;
use diesel::pg::Pg;
use diesel::query_builder::{Query, QueryFragment, QueryId};
use diesel::sql_types::Untyped;
use diesel::{PgConnection, QueryableByName, RunQueryDsl};

use crate::mix::Mix;
use crate::plan::{Plan, Planned, measured, text};

/// A table of its own without autovacuum, so that nobody else analyzes it, and a transaction in it.
pub(crate) struct Loaded {
    pub(crate) conn: PgConnection,
    _schema: postgres::TestSchema,
}

impl Loaded {
    pub(crate) fn with(mix: Mix) -> Loaded {
        let schema = postgres::fresh();
        PgStore::<Job>::new(schema.pool(1)).migrate().expect("the tables");
        let mut conn = schema.connect();
        conn.batch_execute("ALTER TABLE claimstore_jobs SET (autovacuum_enabled = false)").expect("a table");
        conn.batch_execute(&mix.postgres()).expect("rows");
        conn.batch_execute("VACUUM ANALYZE claimstore_jobs").expect("statistics");
        conn.batch_execute("BEGIN").expect("a transaction");
        Loaded { conn, _schema: schema }
    }

    pub(crate) fn run(&mut self, sql: &str) {
        self.conn.batch_execute(sql).unwrap_or_else(|error| panic!("{error} in\n{sql}"));
    }

    /// How a statement that returns rows reads the table with these values, planned for them and planned for
    /// all. See [`measured`].
    pub(crate) fn plans<U, Q>(&mut self, node: Q, values: &[&str]) -> [Plan; 2]
    where
        Q: Query<SqlType = Untyped> + QueryFragment<Pg> + QueryId + RunQueryDsl<PgConnection>,
        U: QueryableByName<Pg> + 'static,
    {
        let sql = text(&node);
        self.run("SAVEPOINT prepared");
        RunQueryDsl::load::<U>(node, &mut self.conn).expect("it runs");
        self.both(&sql, values)
    }

    /// The same for a statement that counts.
    pub(crate) fn counting<Q>(&mut self, node: Q, values: &[&str]) -> [Plan; 2]
    where
        Q: QueryFragment<Pg> + QueryId + RunQueryDsl<PgConnection>,
    {
        let sql = text(&node);
        self.run("SAVEPOINT prepared");
        RunQueryDsl::execute(node, &mut self.conn).expect("it runs");
        self.both(&sql, values)
    }

    fn both(&mut self, sql: &str, values: &[&str]) -> [Plan; 2] {
        self.run("ROLLBACK TO prepared; RELEASE prepared");
        [Planned::Custom, Planned::Generic].map(|planned| measured(&mut self.conn, planned, sql, values))
    }
}
