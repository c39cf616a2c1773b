//! PostgreSQL's half of the dialect.

use std::hash::Hash;
use std::time::Instant as Clock;

use claimstore_core::{Blocker, Claim, ClaimRequest, RowLocks, Settlement, Timestamp, Wait};
use claimstore_migrations::SchemaProblem;
use diesel::connection::Connection;
use diesel::deserialize::{self, FromSql, QueryableByName};
use diesel::pg::{Pg, PgConnection, PgValue};
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::{DatabaseErrorKind, Error};
use diesel::sql_types::{Array, BigInt, Bool, Integer, Interval, Nullable, Text, Untyped};
use diesel::{QueryResult, RunQueryDsl};

use super::text;
use crate::dialect::{Dialect, Fault, Isolation, Place, SortKey, WritesTwice};
use crate::event::{NewEvent, StoredEvent, load_events};
use crate::job::NewJob;
use crate::protocol::Answer;
use crate::query::{
    Ahead, ClaimParts, Hole, LockedRows, LookParts, PruneParts, Shape, TimeForm, Values, WonOrTouched,
};
use crate::schema::claimstore_events;
use crate::sql_types::{At, Instant};
use crate::table::ClaimOn;
use crate::unique::Enqueued;

impl Dialect for Pg {
    type Conn = PgConnection;
    const NAME: &'static str = "PostgreSQL";
    const SYSTEM: &'static str = "postgresql";
    const LOCKS: RowLocks = RowLocks::Row;
    const CLOCK: &'static str = "the server's: no worker's clock enters";
    const OWN_FORM: TimeForm = TimeForm::Zoned;
    const ARRAYS: bool = true;
    // An inequality of an expression that has no statistics: all rows but one in two hundred.
    const LIKELY: [&'static str; 2] = ["(", ")::int <> 0"];
    const ONE_TIME_FILTERS: bool = true;

    fn shape(shape: Shape) -> Shape {
        match shape {
            Shape::ClaimNext { most, queues, except } => {
                Shape::ClaimNext { most, queues: queues.min(2), except }
            }
            Shape::NextDue { queues } => Shape::NextDue { queues: queues.min(2) },
            Shape::SettleAndClaim { mixed, discard, most, queues } => {
                Shape::SettleAndClaim { mixed, discard, most, queues: queues.min(2) }
            }
            other => other,
        }
    }

    fn quote(name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    fn now(form: TimeForm) -> String {
        text::stored(form, "statement_timestamp()")
    }

    fn later(form: TimeForm, span: Option<Ahead>) -> String {
        text::later(form, span)
    }

    fn later_given(form: TimeForm, span: &str) -> String {
        text::stored(form, &format!("clock_timestamp() + {span} * interval '1 microsecond'"))
    }

    fn clock() -> String {
        "clock_timestamp()".to_owned()
    }

    fn grace_ago(form: TimeForm) -> String {
        // The grace is bound negative.
        text::stored(form, &format!("statement_timestamp() + {}", Hole::Span(Ahead::Grace).mark()))
    }

    fn after_lease(form: TimeForm) -> String {
        text::stored(form, &Hole::AfterLease(form).mark())
    }

    fn instant(column: &str, form: TimeForm) -> String {
        text::instant(column, form)
    }

    fn raised(fence: &str) -> String {
        format!("{fence} + 1 + floor(random() * 1048576)::bigint")
    }

    fn claim_statement(parts: &ClaimParts<'_>) -> String {
        text::claim_statement(parts)
    }

    fn given_keys() -> String {
        format!("SELECT {}", text::each_of(&[Hole::GivenKeys.mark()]))
    }

    fn locked_rows(parts: &LockedRows<'_>) -> String {
        text::locked_rows(parts)
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

    fn guard_statement(table: &str, bare: &str, _: &str, no_key_update: bool, guards: &str) -> String {
        format!("SELECT 1 FROM {table} WHERE {guards} {} OF {bare}", text::lock_clause(no_key_update))
    }

    fn bind_text<'b>(out: &mut AstPass<'_, 'b, Pg>, text: &'b str) -> QueryResult<()> {
        out.push_bind_param::<Text, str>(text)
    }

    fn bind_i64<'b>(out: &mut AstPass<'_, 'b, Pg>, number: &'b i64) -> QueryResult<()> {
        out.push_bind_param::<BigInt, i64>(number)
    }

    fn bind_i32<'b>(out: &mut AstPass<'_, 'b, Pg>, number: &'b i32) -> QueryResult<()> {
        out.push_bind_param::<Integer, i32>(number)
    }

    fn bind_special<'b, K: Clone + Eq + Hash>(
        out: &mut AstPass<'_, 'b, Pg>,
        hole: Hole,
        values: &'b Values<K>,
    ) -> QueryResult<()> {
        let given = &values.given;
        match hole {
            Hole::Span(Ahead::Lease) => out.push_bind_param::<Interval, _>(&values.lease),
            Hole::Span(Ahead::Delay) => out.push_bind_param::<Interval, _>(&values.delay),
            Hole::Span(Ahead::Grace) => out.push_bind_param::<Interval, _>(&values.grace),
            Hole::Queues => out.push_bind_param::<Array<Text>, _>(&values.queues),
            Hole::AfterLease(_) => match &values.after {
                Some((lease, _)) => out.push_bind_param::<Instant, At>(lease),
                None => Err(Error::QueryBuilderError("no value for the page's start".into())),
            },
            Hole::GivenFences => out.push_bind_param::<Array<BigInt>, _>(&given.fences),
            Hole::GivenWorkers => out.push_bind_param::<Array<Text>, _>(&given.workers),
            Hole::GivenStates => out.push_bind_param::<Array<Integer>, _>(&given.states),
            Hole::GivenDelays => out.push_bind_param::<Array<Nullable<BigInt>>, _>(&given.delays),
            Hole::GivenFailures => out.push_bind_param::<Array<Integer>, _>(&given.failures),
            Hole::GivenCrashes => out.push_bind_param::<Array<Integer>, _>(&given.crashes),
            Hole::GivenInterruptions => out.push_bind_param::<Array<Integer>, _>(&given.interruptions),
            Hole::GivenErrors => out.push_bind_param::<Array<Nullable<Text>>, _>(&given.errors),
            Hole::GivenPriorities => out.push_bind_param::<Array<Nullable<Integer>>, _>(&given.priorities),
            Hole::GivenInstants => out.push_bind_param::<Array<Nullable<Instant>>, _>(&given.ats),
            other => Err(Error::QueryBuilderError(format!("{other:?} is not bound on PostgreSQL").into())),
        }
    }

    fn read_i64(value: Option<PgValue<'_>>) -> deserialize::Result<Option<i64>> {
        value.map(<i64 as FromSql<BigInt, Pg>>::from_sql).transpose()
    }

    fn read_i32(value: Option<PgValue<'_>>) -> deserialize::Result<Option<i32>> {
        value.map(<i32 as FromSql<Integer, Pg>>::from_sql).transpose()
    }

    fn read_bool(value: Option<PgValue<'_>>) -> deserialize::Result<Option<bool>> {
        value.map(<bool as FromSql<Bool, Pg>>::from_sql).transpose()
    }

    fn read_text(value: Option<PgValue<'_>>) -> deserialize::Result<Option<String>> {
        value.map(<String as FromSql<Text, Pg>>::from_sql).transpose()
    }

    fn read_instant(value: Option<PgValue<'_>>) -> deserialize::Result<Option<Timestamp>> {
        Ok(value.map(<At as FromSql<Instant, Pg>>::from_sql).transpose()?.map(Timestamp::from))
    }

    fn read_sort_key(_: Option<PgValue<'_>>) -> Option<SortKey> {
        None
    }

    fn load<Q, U>(conn: &mut PgConnection, query: Q) -> QueryResult<Vec<U>>
    where
        Q: Query<SqlType = Untyped> + QueryFragment<Pg> + QueryId + RunQueryDsl<PgConnection>,
        U: QueryableByName<Pg> + 'static,
    {
        RunQueryDsl::load(query, conn)
    }

    fn execute<Q>(conn: &mut PgConnection, query: Q) -> QueryResult<usize>
    where
        Q: QueryFragment<Pg> + QueryId + RunQueryDsl<PgConnection>,
    {
        RunQueryDsl::execute(query, conn)
    }

    fn once<R>(
        conn: &mut PgConnection,
        isolation: Isolation,
        work: &mut dyn FnMut(&mut PgConnection) -> QueryResult<R>,
    ) -> QueryResult<R> {
        match isolation {
            Isolation::Autocommit => work(conn),
            explicit => Self::transaction(conn, explicit, work),
        }
    }

    fn transaction<R, E>(
        conn: &mut PgConnection,
        _: Isolation,
        work: impl FnOnce(&mut PgConnection) -> Result<R, E>,
    ) -> Result<R, E>
    where
        E: From<Error>,
    {
        let mut first = None;
        let outcome = conn.build_transaction().read_committed().run(|conn| {
            work(conn).map_err(|error| {
                first = Some(error);
                Error::RollbackTransaction
            })
        });
        outcome.map_err(|error| first.take().unwrap_or_else(|| E::from(error)))
    }

    fn isolation(conn: &mut PgConnection) -> QueryResult<Isolation> {
        let level: Setting =
            diesel::sql_query("SELECT current_setting('default_transaction_isolation') AS setting")
                .get_result(conn)?;
        Ok(if level.setting == "read committed" { Isolation::Autocommit } else { Isolation::Explicit })
    }

    fn waiting<R>(
        conn: &mut PgConnection,
        wait: Wait,
        place: Place,
        work: &mut dyn FnMut(&mut PgConnection, bool) -> QueryResult<R>,
    ) -> QueryResult<Option<R>> {
        let most = match wait {
            Wait::AtMost(most) if most.as_millis() > 0 => most,
            unbounded => {
                let mut work = |conn: &mut PgConnection| work(conn, unbounded == Wait::Forever);
                return match place {
                    Place::Own(isolation) => Self::once(conn, isolation, &mut work).map(Some),
                    Place::Begun | Place::Callers => work(conn).map(Some),
                };
            }
        };
        let started = Clock::now();
        let millis = format!("{}ms", most.as_millis().min(i32::MAX as u128));
        let outcome = match place {
            // The savepoint's rollback restores the setting; its release does not, so it is put back.
            Place::Begun | Place::Callers => conn.transaction(|conn| {
                let before: Setting = diesel::sql_query("SELECT current_setting('lock_timeout') AS setting")
                    .get_result(conn)?;
                set_lock_timeout(conn, &millis)?;
                let done = work(conn, true)?;
                set_lock_timeout(conn, &before.setting)?;
                Ok(done)
            }),
            Place::Own(isolation) => Self::transaction(conn, isolation, |conn| {
                set_lock_timeout(conn, &millis)?;
                work(conn, true)
            }),
        };
        match outcome {
            Ok(done) => Ok(Some(done)),
            Err(error) if is_lock_timeout(&error, started.elapsed() >= most) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn settle_and_claim<T: ClaimOn<Pg>>(
        conn: &mut PgConnection,
        settled: &[(&Claim<T::Key>, &Settlement)],
        ask: &ClaimRequest,
    ) -> QueryResult<Vec<WonOrTouched<T>>> {
        Self::load(conn, crate::query::settle_and_claim::<T>(settled.iter().copied(), ask))
    }

    fn classify(error: &Error, inside: bool) -> Fault {
        super::classify(error, inside)
    }

    fn record(conn: &mut PgConnection, events: &[NewEvent]) -> QueryResult<()> {
        diesel::insert_into(claimstore_events::table).values(events).execute(conn).map(|_| ())
    }

    fn events(
        conn: &mut PgConnection,
        table: &str,
        key: &str,
        kind: Option<&str>,
        limit: i64,
    ) -> QueryResult<Vec<StoredEvent>> {
        load_events!(conn, table, key, kind, limit)
    }

    fn estimate(conn: &mut PgConnection, table: &str, state: &str, word: &str) -> QueryResult<Option<u64>> {
        super::estimate(conn, table, state, word)
    }

    fn blocker<T: ClaimOn<Pg>>(conn: &mut PgConnection, key: &T::Key) -> QueryResult<Option<Blocker>> {
        super::blocker::<T>(conn, key)
    }

    fn enqueue(conn: &mut PgConnection, jobs: &[NewJob]) -> Answer<Vec<Enqueued>> {
        super::enqueue(conn, jobs)
    }

    fn schema(conn: &mut PgConnection) -> Result<(), SchemaProblem> {
        claimstore_migrations::check_postgres(conn)
    }

    fn verify<T: ClaimOn<Pg>>(conn: &mut PgConnection) -> QueryResult<crate::verify::Look> {
        crate::verify::postgres::look::<T>(conn)
    }
}

impl WritesTwice for Pg {
    fn both(mine: &str, done: &str, settled: [&str; 2], parts: &ClaimParts<'_>) -> String {
        text::both(mine, done, settled, parts)
    }
}

#[derive(diesel::QueryableByName)]
struct Setting {
    #[diesel(sql_type = Text)]
    setting: String,
}

fn set_lock_timeout(conn: &mut PgConnection, value: &str) -> QueryResult<()> {
    diesel::sql_query("SELECT set_config('lock_timeout', $1, true)")
        .bind::<Text, _>(value)
        .execute(conn)
        .map(|_| ())
}

/// By its text, or, on a server that speaks another language, by the time that has passed.
fn is_lock_timeout(error: &Error, time_is_up: bool) -> bool {
    match error {
        Error::DatabaseError(DatabaseErrorKind::Unknown, info) => {
            time_is_up || info.message().contains("due to lock timeout")
        }
        _ => false,
    }
}
