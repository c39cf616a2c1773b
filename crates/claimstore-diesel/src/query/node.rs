//! What makes a struct of values a Diesel query.

use diesel::QueryResult;
use diesel::query_builder::AstPass;

use crate::declaration::Declaration;
use crate::dialect::Dialect;
use crate::query::template::Piece;
use crate::query::{Hole, Shape, Template, Values};
use crate::table::ClaimOn;

/// Refuses a statement that this table cannot have.
pub(crate) fn check(shape: Shape, table: &Declaration) -> QueryResult<()> {
    match shape.lacks(table) {
        None => Ok(()),
        Some(what) => {
            let why = format!("{shape:?}: table {} has no {what}", table.table);
            Err(diesel::result::Error::QueryBuilderError(why.into()))
        }
    }
}

/// Walks a finished text and binds what belongs in each hole.
pub(crate) fn walk<'b, T, D>(
    template: &Template,
    values: &'b Values<T::Key>,
    mut out: AstPass<'_, 'b, D>,
) -> QueryResult<()>
where
    T: ClaimOn<D>,
    D: Dialect,
{
    for piece in &template.pieces {
        match piece {
            Piece::Sql(sql) => out.push_sql(sql),
            Piece::Hole(hole) => bind::<T, D>(*hole, values, &mut out)?,
        }
    }
    Ok(())
}

fn bind<'b, T, D>(hole: Hole, values: &'b Values<T::Key>, out: &mut AstPass<'_, 'b, D>) -> QueryResult<()>
where
    T: ClaimOn<D>,
    D: Dialect,
{
    let missing = || diesel::result::Error::QueryBuilderError(format!("no value for {hole:?}").into());
    match hole {
        Hole::Key => T::bind_key(values.key.as_ref().ok_or_else(missing)?, out),
        Hole::AfterKey => T::bind_key(&values.after.as_ref().ok_or_else(missing)?.1, out),
        Hole::GivenKeys => T::bind_given(&values.given, out),
        Hole::Fence => D::bind_i64(out, &values.fence),
        Hole::Worker => D::bind_text(out, &values.worker),
        Hole::Queue(n) => D::bind_text(out, values.queues.get(usize::from(n)).ok_or_else(missing)?),
        Hole::Limit => D::bind_i64(out, &values.limit),
        Hole::Failures => D::bind_i32(out, &values.failures),
        Hole::Interruptions => D::bind_i32(out, &values.interruptions),
        Hole::Error => D::bind_text(out, &values.error),
        Hole::Kind => D::bind_text(out, &values.kind),
        _ => D::bind_special(out, hole, values),
    }
}

/// Makes `$node<T>(Values<T::Key>, Shape)` a query whose text is `$write`.
///
/// `HAS_STATIC_QUERY_ID` is false: the text depends on values (the shape), and a node with a static id
/// would silently run the statement another shape has prepared. Statements are cached by their text.
macro_rules! query_node {
    ($node:ident, $write:path) => {
        $crate::query::node::query_node!($node, $write, $crate::dialect::Dialect);
    };
    ($node:ident, $write:path, $dialect:path) => {
        impl<T: $crate::table::ClaimTable> diesel::query_builder::QueryId for $node<T> {
            type QueryId = ();
            const HAS_STATIC_QUERY_ID: bool = false;
        }
        impl<T: $crate::table::ClaimTable> diesel::query_builder::Query for $node<T> {
            type SqlType = diesel::sql_types::Untyped;
        }
        impl<T: $crate::table::ClaimTable, Conn> diesel::RunQueryDsl<Conn> for $node<T> {}
        impl<T, D> diesel::query_builder::QueryFragment<D> for $node<T>
        where
            T: $crate::table::ClaimOn<D>,
            D: $dialect,
        {
            fn walk_ast<'b>(
                &'b self,
                out: diesel::query_builder::AstPass<'_, 'b, D>,
            ) -> diesel::QueryResult<()> {
                let text = <T as $crate::table::ClaimOn<D>>::text();
                $crate::query::node::check(self.shape, &T::DECLARATION)?;
                let shape = D::shape(self.shape);
                let template = text.statements.get(shape, || $write(text, shape));
                $crate::query::node::walk::<T, D>(&template, &self.values, out)
            }
        }
        impl<T: $crate::table::ClaimTable> std::fmt::Debug for $node<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($node))
                    .field("table", &T::DECLARATION.table)
                    .field("shape", &self.shape)
                    .finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use query_node;
