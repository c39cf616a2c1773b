//! SQLite's half of the dialect.

use std::hash::Hash;
use std::time::Duration;

use claimstore_core::{Blocker, Claim, ClaimRequest, RowLocks, Settlement, Timestamp, Wait};
use claimstore_migrations::SchemaProblem;
use diesel::deserialize::{self, FromSql, QueryableByName};
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::Error;
use diesel::sql_types::{BigInt, Bool, Integer, Text, Untyped};
use diesel::sqlite::{Sqlite, SqliteConnection, SqliteType};
use diesel::{ExpressionMethods, QueryResult, RunQueryDsl};

use super::{text, transaction};
use crate::dialect::{Dialect, Fault, Isolation, Place, SortKey};
use crate::event::{NewEvent, StoredEvent, load_events};
use crate::job::NewJob;
use crate::protocol::Answer;
use crate::query::{
    Ahead, ClaimParts, Hole, Lapse, LockedRows, LookParts, Marked, PruneParts, Shape, TimeForm, Touched,
    Values, WonOrTouched,
};
use crate::schema::claimstore_events;
use crate::sql_types::{At, Instant};
use crate::table::ClaimOn;
use crate::unique::Enqueued;

type Value<'a> = <Sqlite as diesel::backend::Backend>::RawValue<'a>;

impl Dialect for Sqlite {
    type Conn = SqliteConnection;
    const NAME: &'static str = "SQLite";
    const SYSTEM: &'static str = "sqlite";
    const LOCKS: RowLocks = RowLocks::WholeFile;
    const CLOCK: &'static str = "this host's, shared by all processes on the file";
    const OWN_FORM: TimeForm = TimeForm::Micros;
    const ARRAYS: bool = false;
    const LIKELY: [&'static str; 2] = ["likely(", ")"];
    const ONE_TIME_FILTERS: bool = false;

    fn shape(shape: Shape) -> Shape {
        match shape {
            // Its plans know no values.
            Shape::ClaimNext { most, queues, except } if most != 1 => {
                Shape::ClaimNext { most: 0, queues, except }
            }
            other => other,
        }
    }

    fn quote(name: &str) -> String {
        format!("`{}`", name.replace('`', "``"))
    }

    fn now(form: TimeForm) -> String {
        Hole::Now(form).mark()
    }

    fn later(form: TimeForm, span: Option<Ahead>) -> String {
        match span {
            None => Hole::Now(form).mark(),
            Some(span) => Hole::Later(form, span).mark(),
        }
    }

    fn later_given(form: TimeForm, span: &str) -> String {
        text::stored(form, span)
    }

    fn clock() -> String {
        "NULL".to_owned()
    }

    fn grace_ago(form: TimeForm) -> String {
        Hole::Later(form, Ahead::Grace).mark()
    }

    fn after_lease(form: TimeForm) -> String {
        Hole::AfterLease(form).mark()
    }

    fn instant(column: &str, _: TimeForm) -> String {
        column.to_owned()
    }

    fn raised(fence: &str) -> String {
        format!("{fence} + 1 + (random() & 1048575)")
    }

    fn claim_statement(parts: &ClaimParts<'_>) -> String {
        text::claim_statement(parts)
    }

    fn given_keys() -> String {
        format!("SELECT json_extract(value, '$[0]') FROM json_each({})", Hole::GivenKeys.mark())
    }

    fn locked_rows(parts: &LockedRows<'_>) -> String {
        format!("WITH mine AS (SELECT * FROM {})", text::given(parts.columns))
    }

    fn look_statement(parts: &LookParts<'_>) -> String {
        text::look_statement(parts)
    }

    fn prune_statement(parts: &PruneParts<'_>) -> String {
        text::prune_statement(parts)
    }

    fn given_instant(form: TimeForm, given: &str) -> String {
        text::stored(form, given)
    }

    fn guard_statement(table: &str, _: &str, fence: &str, _: bool, guards: &str) -> String {
        let fence = Self::quote(fence);
        format!("UPDATE {table} SET {fence} = {table}.{fence} WHERE {guards}")
    }

    fn bind_text<'b>(out: &mut AstPass<'_, 'b, Sqlite>, text: &'b str) -> QueryResult<()> {
        out.push_bind_param::<Text, str>(text)
    }

    fn bind_i64<'b>(out: &mut AstPass<'_, 'b, Sqlite>, number: &'b i64) -> QueryResult<()> {
        out.push_bind_param::<BigInt, i64>(number)
    }

    fn bind_i32<'b>(out: &mut AstPass<'_, 'b, Sqlite>, number: &'b i32) -> QueryResult<()> {
        out.push_bind_param::<Integer, i32>(number)
    }

    fn bind_special<'b, K: Clone + Eq + Hash>(
        out: &mut AstPass<'_, 'b, Sqlite>,
        hole: Hole,
        values: &'b Values<K>,
    ) -> QueryResult<()> {
        match hole {
            Hole::Now(form) => match is_text(form) {
                true => out.push_bind_param::<Text, At>(&values.now),
                false => out.push_bind_param::<Instant, At>(&values.now),
            },
            Hole::Later(form, Ahead::Lease) => bind_lapse(out, form, &values.lease),
            Hole::Later(form, Ahead::Delay) => bind_lapse(out, form, &values.delay),
            Hole::Later(form, Ahead::Grace) => bind_lapse(out, form, &values.grace),
            Hole::AfterLease(form) => match &values.after {
                Some((lease, _)) if is_text(form) => out.push_bind_param::<Text, At>(lease),
                Some((lease, _)) => out.push_bind_param::<Instant, At>(lease),
                None => Err(Error::QueryBuilderError("no value for the page's start".into())),
            },
            other => Err(Error::QueryBuilderError(format!("{other:?} is not bound on SQLite").into())),
        }
    }

    fn read_i64(value: Option<Value<'_>>) -> deserialize::Result<Option<i64>> {
        value.map(<i64 as FromSql<BigInt, Sqlite>>::from_sql).transpose()
    }

    fn read_i32(value: Option<Value<'_>>) -> deserialize::Result<Option<i32>> {
        value.map(<i32 as FromSql<Integer, Sqlite>>::from_sql).transpose()
    }

    fn read_bool(value: Option<Value<'_>>) -> deserialize::Result<Option<bool>> {
        value.map(<bool as FromSql<Bool, Sqlite>>::from_sql).transpose()
    }

    fn read_text(value: Option<Value<'_>>) -> deserialize::Result<Option<String>> {
        value.map(<String as FromSql<Text, Sqlite>>::from_sql).transpose()
    }

    fn read_instant(value: Option<Value<'_>>) -> deserialize::Result<Option<Timestamp>> {
        Ok(value.map(<At as FromSql<Instant, Sqlite>>::from_sql).transpose()?.map(Timestamp::from))
    }

    fn read_sort_key(value: Option<Value<'_>>) -> Option<SortKey> {
        let Some(mut value) = value else { return Some(SortKey::Null) };
        Some(match value.value_type() {
            None => SortKey::Null,
            Some(SqliteType::Text) => SortKey::Text(value.read_text().to_owned()),
            Some(SqliteType::Binary) => SortKey::Blob(value.read_blob().to_owned()),
            Some(SqliteType::Double | SqliteType::Float) => SortKey::Real(value.read_double()),
            Some(_) => SortKey::Integer(value.read_long()),
        })
    }

    fn load<Q, U>(conn: &mut SqliteConnection, query: Q) -> QueryResult<Vec<U>>
    where
        Q: Query<SqlType = Untyped> + QueryFragment<Sqlite> + QueryId + RunQueryDsl<SqliteConnection>,
        U: QueryableByName<Sqlite> + 'static,
    {
        RunQueryDsl::load(query, conn)
    }

    fn execute<Q>(conn: &mut SqliteConnection, query: Q) -> QueryResult<usize>
    where
        Q: QueryFragment<Sqlite> + QueryId + RunQueryDsl<SqliteConnection>,
    {
        RunQueryDsl::execute(query, conn)
    }

    fn once<R>(
        conn: &mut SqliteConnection,
        isolation: Isolation,
        work: &mut dyn FnMut(&mut SqliteConnection) -> QueryResult<R>,
    ) -> QueryResult<R> {
        Self::transaction(conn, isolation, work)
    }

    fn transaction<R, E>(
        conn: &mut SqliteConnection,
        isolation: Isolation,
        work: impl FnOnce(&mut SqliteConnection) -> Result<R, E>,
    ) -> Result<R, E>
    where
        E: From<Error>,
    {
        let most = match isolation {
            Isolation::Immediate { busy } => Duration::from_millis(busy.into()),
            _ => BUSY,
        };
        transaction::immediate(conn, most, most, work)
    }

    fn isolation(conn: &mut SqliteConnection) -> QueryResult<Isolation> {
        let busy: BusyTimeout = diesel::sql_query("PRAGMA busy_timeout").get_result(conn)?;
        Ok(Isolation::Immediate { busy: busy.timeout.unsigned_abs() })
    }

    fn waiting<R>(
        conn: &mut SqliteConnection,
        wait: Wait,
        place: Place,
        work: &mut dyn FnMut(&mut SqliteConnection, bool) -> QueryResult<R>,
    ) -> QueryResult<Option<R>> {
        let restored = match place {
            // The file's lock is the caller's transaction's business.
            Place::Begun | Place::Callers => return work(conn, false).map(Some),
            Place::Own(Isolation::Immediate { busy }) => Duration::from_millis(busy.into()),
            Place::Own(_) => BUSY,
        };
        let most = match wait {
            Wait::Forever => restored,
            Wait::Never => Duration::ZERO,
            Wait::AtMost(most) => most,
        };
        match transaction::immediate(conn, most, restored, |conn| work(conn, false)) {
            Ok(done) => Ok(Some(done)),
            Err(error) if wait != Wait::Forever && Self::classify(&error, false).again => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn settle_and_claim<T: ClaimOn<Sqlite>>(
        conn: &mut SqliteConnection,
        settled: &[(&Claim<T::Key>, &Settlement)],
        ask: &ClaimRequest,
    ) -> QueryResult<Vec<WonOrTouched<T>>> {
        let keys = settled.iter().map(|(claim, _)| claim.key());
        let next = crate::query::claim_next::<T>(ask).except(keys);
        // Claiming comes first: a row that this call releases is still running then, and takes no place
        // among the rows that the limit finds.
        let won: Vec<Marked<T>> = Self::load(conn, next)?;
        let settled = settled.iter().copied();
        let done: Vec<Touched<T>> = Self::load(conn, crate::query::settle_many::<T>(settled))?;
        let won = Marked::in_order(won).into_iter().map(|won| WonOrTouched::Won(Box::new(won)));
        Ok(won.chain(done.into_iter().map(|t| WonOrTouched::Touched(t.key, t.fence))).collect())
    }

    fn classify(error: &Error, inside: bool) -> Fault {
        super::classify(error, inside)
    }

    fn record(conn: &mut SqliteConnection, events: &[NewEvent]) -> QueryResult<()> {
        let at = Timestamp::of_this_host();
        events.iter().try_for_each(|event| {
            let event = (event.clone(), claimstore_events::at.eq(At(at)));
            diesel::insert_into(claimstore_events::table).values(event).execute(conn).map(|_| ())
        })
    }

    fn events(
        conn: &mut SqliteConnection,
        table: &str,
        key: &str,
        kind: Option<&str>,
        limit: i64,
    ) -> QueryResult<Vec<StoredEvent>> {
        load_events!(conn, table, key, kind, limit)
    }

    /// SQLite keeps no statistics that would answer this.
    fn estimate(_: &mut SqliteConnection, _: &str, _: &str, _: &str) -> QueryResult<Option<u64>> {
        Ok(None)
    }

    /// SQLite has no locks on rows.
    fn blocker<T: ClaimOn<Sqlite>>(_: &mut SqliteConnection, _: &T::Key) -> QueryResult<Option<Blocker>> {
        Ok(None)
    }

    fn enqueue(conn: &mut SqliteConnection, jobs: &[NewJob]) -> Answer<Vec<Enqueued>> {
        super::enqueue(conn, jobs)
    }

    fn schema(conn: &mut SqliteConnection) -> Result<(), SchemaProblem> {
        claimstore_migrations::check_sqlite(conn)
    }

    fn verify<T: ClaimOn<Sqlite>>(conn: &mut SqliteConnection) -> QueryResult<crate::verify::Look> {
        crate::verify::sqlite::look::<T>(conn)
    }
}

fn is_text(form: TimeForm) -> bool {
    matches!(form, TimeForm::Text | TimeForm::Plain)
}

fn bind_lapse<'b>(out: &mut AstPass<'_, 'b, Sqlite>, form: TimeForm, lapse: &'b Lapse) -> QueryResult<()> {
    match is_text(form) {
        true => out.push_bind_param::<Text, Lapse>(lapse),
        false => out.push_bind_param::<Instant, Lapse>(lapse),
    }
}

/// How long a busy file is waited for where nobody said.
const BUSY: Duration = Duration::from_secs(5);

#[derive(diesel::QueryableByName)]
struct BusyTimeout {
    #[diesel(sql_type = Integer)]
    timeout: i32,
}
