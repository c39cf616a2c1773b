//! A statement's plan instead of its rows.

use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::Untyped;
use diesel::{QueryResult, RunQueryDsl};

use crate::dialect::Dialect;

/// This statement, explained in the words of its database and not run.
pub(super) struct Explain<N> {
    pub(super) how: &'static str,
    pub(super) statement: N,
}

impl<N> QueryId for Explain<N> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}
impl<N> Query for Explain<N> {
    type SqlType = Untyped;
}
impl<N, Conn> RunQueryDsl<Conn> for Explain<N> {}
impl<N: QueryFragment<D>, D: Dialect> QueryFragment<D> for Explain<N> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, D>) -> QueryResult<()> {
        // Explained once: nothing is gained by keeping it prepared on a pooled connection.
        out.unsafe_to_cache_prepared();
        out.push_sql(self.how);
        self.statement.walk_ast(out)
    }
}
