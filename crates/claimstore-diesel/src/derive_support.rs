//! What the expansion of `#[derive(ClaimTable)]` uses. Not for calling by hand; it may change in any
//! release.

use std::borrow::Cow;
use std::marker::PhantomData;

pub use diesel;
pub use diesel::backend::Backend;
pub use diesel::deserialize::{self, FromSqlRow, StaticallySizedRow};
pub use diesel::dsl::SqlTypeOf;
pub use diesel::expression::Selectable;
#[cfg(feature = "postgres")]
pub use diesel::pg::Pg;
pub use diesel::query_builder::AstPass;
pub use diesel::row::Row;
#[cfg(feature = "postgres")]
pub use diesel::sql_types::Array;
pub use diesel::sql_types::Text;
#[cfg(feature = "sqlite")]
pub use diesel::sqlite::Sqlite;
pub use diesel::{BoolExpressionMethods, Column, ExpressionMethods, QueryDsl, QueryResult};

pub use crate::declaration::{Columns, Declaration, Order, Words};
pub use crate::query::{Forms, Given, TableText, TimeForm};
pub use crate::table::{ClaimOn, ClaimTable, KeepsEvents, KeepsQueues};

use diesel::expression::{
    AppearsOnTable, Expression, SelectableExpression, TypedExpressionType, ValidGrouping, is_aggregate,
};
use diesel::query_builder::{QueryBuilder, QueryFragment, QueryId};
use diesel::sql_types::{Bool, Nullable, SqlType};

use crate::dialect::Dialect;
use crate::query::{Hole, Scope};

/// Expands to its content where the feature `postgres` of claimstore is on.
#[cfg(feature = "postgres")]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_postgres {
    ($($item:item)*) => { $($item)* };
}
/// Expands to its content where the feature `postgres` of claimstore is on.
#[cfg(not(feature = "postgres"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_postgres {
    ($($item:item)*) => {};
}
/// Expands to its content where the feature `sqlite` of claimstore is on.
#[cfg(feature = "sqlite")]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_sqlite {
    ($($item:item)*) => { $($item)* };
}
/// Expands to its content where the feature `sqlite` of claimstore is on.
#[cfg(not(feature = "sqlite"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_sqlite {
    ($($item:item)*) => {};
}

/// A typed expression whose text is given: a literal, a clock, or the mark of a value that is bound later.
/// It is rendered, never run: the select it stands in becomes part of a statement's text.
#[derive(Debug, Clone)]
pub struct Fill<ST> {
    sql: Cow<'static, str>,
    sql_type: PhantomData<ST>,
}

impl<ST> Fill<ST> {
    fn new(sql: impl Into<Cow<'static, str>>) -> Self {
        Fill { sql: sql.into(), sql_type: PhantomData }
    }

    /// A word of the declaration. In the text and not bound: a bound state loses the partial index as soon
    /// as the plan is a generic one.
    #[must_use]
    pub fn literal(word: &str) -> Self {
        Self::new(crate::query::literal(word))
    }

    /// The last fence from which a row may be claimed.
    #[must_use]
    pub fn last_fence() -> Self {
        Self::new(crate::query::last_fence())
    }

    /// The deciding clock.
    #[must_use]
    pub fn now<D: Dialect>(form: TimeForm) -> Self {
        Self::new(D::now(form))
    }

    /// The key that is asked for.
    #[must_use]
    pub fn key() -> Self {
        Self::new(Hole::Key.mark())
    }

    /// The queue that is asked for.
    #[must_use]
    pub fn queue() -> Self {
        Self::new(Hole::Queue(0).mark())
    }

    /// The queue that is asked for, unless it is paused: then no row is equal to it. For SQLite, which would
    /// look at a condition of [`Runs`] once more for each row.
    #[must_use]
    pub fn queue_unless_paused(table: &str) -> Self {
        Self::new(crate::query::unless_paused(&Hole::Queue(0).mark(), table))
    }

    /// The queue of the enclosing row, where several are merged.
    #[must_use]
    pub fn queue_of_each() -> Self {
        Self::new("wanted.queue")
    }
}

impl<ST: SqlType + TypedExpressionType> Expression for Fill<ST> {
    type SqlType = ST;
}
impl<ST> QueryId for Fill<ST> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}
impl<ST> ValidGrouping<()> for Fill<ST> {
    type IsAggregate = is_aggregate::Never;
}
impl<ST, QS> AppearsOnTable<QS> for Fill<ST> where Self: Expression {}
impl<ST, QS> SelectableExpression<QS> for Fill<ST> where Self: AppearsOnTable<QS> {}
impl<ST, DB: Backend> QueryFragment<DB> for Fill<ST> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql(&self.sql);
        Ok(())
    }
}

/// Tells the planner that a condition holds for nearly all rows.
#[derive(Debug, Clone)]
pub struct Likely<E>(pub E);

impl<E: Expression> Expression for Likely<E> {
    type SqlType = E::SqlType;
}
impl<E> QueryId for Likely<E> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}
impl<E: ValidGrouping<G>, G> ValidGrouping<G> for Likely<E> {
    type IsAggregate = E::IsAggregate;
}
impl<E: AppearsOnTable<QS>, QS> AppearsOnTable<QS> for Likely<E> {}
impl<E: SelectableExpression<QS>, QS> SelectableExpression<QS> for Likely<E> {}
impl<E: QueryFragment<D>, D: Dialect> QueryFragment<D> for Likely<E> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, D>) -> QueryResult<()> {
        let [before, after] = D::LIKELY;
        out.push_sql(before);
        self.0.walk_ast(out.reborrow())?;
        out.push_sql(after);
        Ok(())
    }
}

/// A queue or kind is not paused: its name is not among those that `claimstore_queues` says are.
#[derive(Debug, Clone)]
pub struct Runs<E> {
    name: E,
    table: &'static str,
    scope: Scope,
}

impl<E> Runs<E> {
    /// This queue of this table.
    #[must_use]
    pub fn queue(name: E, table: &'static str) -> Self {
        Runs { name, table, scope: Scope::Queue }
    }

    /// This kind of this table.
    #[must_use]
    pub fn kind(name: E, table: &'static str) -> Self {
        Runs { name, table, scope: Scope::Kind }
    }
}

impl<E: Expression> Expression for Runs<E> {
    type SqlType = Bool;
}
impl<E> QueryId for Runs<E> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}
impl<E: ValidGrouping<G>, G> ValidGrouping<G> for Runs<E> {
    type IsAggregate = E::IsAggregate;
}
impl<E: AppearsOnTable<QS>, QS> AppearsOnTable<QS> for Runs<E> {}
impl<E: SelectableExpression<QS>, QS> SelectableExpression<QS> for Runs<E> {}
impl<E, DB> QueryFragment<DB> for Runs<E>
where
    E: QueryFragment<DB>,
    DB: Backend + Default,
    DB::QueryBuilder: Default,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql(&crate::query::runs(&render::<DB>(&self.name), self.table, self.scope));
        Ok(())
    }
}

/// The text of a piece of Diesel's DSL.
///
/// # Panics
/// Where Diesel cannot render it, which a declaration that compiles does not lead to.
#[must_use]
pub fn render<DB>(piece: &impl QueryFragment<DB>) -> String
where
    DB: Backend + Default,
    DB::QueryBuilder: Default,
{
    let mut text = DB::QueryBuilder::default();
    piece.to_sql(&mut text, &DB::default()).expect("columns and literals always have a text");
    text.finish()
}

/// An SQL type whose values are the same in JSON as SQLite stores them. Several keys travel as one JSON text;
/// a key of another type would be compared with its JSON form and never be found.
#[cfg(feature = "sqlite")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a claimable table on SQLite",
    note = "SQLite: SmallInt, Integer, BigInt or Text"
)]
pub trait JsonKey {}

#[cfg(feature = "sqlite")]
impl JsonKey for diesel::sql_types::SmallInt {}
#[cfg(feature = "sqlite")]
impl JsonKey for diesel::sql_types::Integer {}
#[cfg(feature = "sqlite")]
impl JsonKey for diesel::sql_types::BigInt {}
#[cfg(feature = "sqlite")]
impl JsonKey for diesel::sql_types::Text {}

/// Compiles where the key's type may be that.
#[cfg(feature = "sqlite")]
pub const fn travels_as_json<ST: JsonKey>() {}

/// An SQL type in which a table may store an instant.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot hold an instant of a claim here",
    note = "PostgreSQL: Timestamptz, Timestamp (UTC), BigInt (microseconds) or claimstore's Instant",
    note = "SQLite: BigInt (microseconds), Text or Timestamp (one fixed width) or claimstore's Instant"
)]
pub trait TimeColumn<DB> {
    /// How it is stored.
    const FORM: TimeForm;
}

impl<DB, ST: TimeColumn<DB> + SqlType> TimeColumn<DB> for Nullable<ST> {
    const FORM: TimeForm = ST::FORM;
}

macro_rules! time_columns {
    ($db:ty: $($sql_type:ty => $form:ident),* $(,)?) => {
        $(impl TimeColumn<$db> for $sql_type { const FORM: TimeForm = TimeForm::$form; })*
    };
}
#[cfg(feature = "postgres")]
time_columns!(Pg:
    diesel::sql_types::Timestamptz => Zoned,
    diesel::sql_types::Timestamp => Plain,
    diesel::sql_types::BigInt => Micros,
    crate::sql_types::Instant => Zoned,
);
#[cfg(feature = "sqlite")]
time_columns!(Sqlite:
    diesel::sql_types::BigInt => Micros,
    diesel::sql_types::Text => Text,
    diesel::sql_types::Timestamp => Text,
    crate::sql_types::Instant => Micros,
);
