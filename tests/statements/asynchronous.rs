//! The nodes under diesel-async: a claim is a Diesel query, so nothing of it has to be written again.

use std::error::Error;

use claimstore::core::{ClaimRequest, LocalInstant, RetryPolicy, Verdict, WorkerId};
use claimstore::query::{self, Won};
use claimstore::{Job, JobKind, NewJob, PgStore};
use claimstore_tests::postgres;
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Text};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};

#[derive(serde::Serialize, serde::Deserialize)]
struct Greet {
    name: String,
}

impl JobKind for Greet {
    const KIND: &'static str = "greet";
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

async fn count(conn: &mut AsyncPgConnection, of: &str) -> Result<i64, diesel::result::Error> {
    let counted: Count =
        diesel::sql_query(format!("SELECT count(*) AS count FROM {of}")).get_result(conn).await?;
    Ok(counted.count)
}

/// The business write and the settlement, which commit together or not at all.
async fn greet(
    conn: &mut AsyncPgConnection,
    claim: &claimstore::core::Claim<i64>,
    name: &str,
) -> Result<(), diesel::result::Error> {
    let to = Verdict::complete().settlement(&claim.tally(), &claim.budget(), &RetryPolicy::default(), 0.0);
    conn.transaction(async |conn| {
        if query::guard::<Job>(claim).execute(conn).await? == 0 {
            return Err(diesel::result::Error::RollbackTransaction);
        }
        let greeting = diesel::sql_query("INSERT INTO greetings VALUES ($1)");
        greeting.bind::<Text, _>(format!("hello, {name}")).execute(conn).await?;
        match query::settle::<Job>(claim, &to).execute(conn).await? {
            1 => Ok(()),
            _ => Err(diesel::result::Error::RollbackTransaction),
        }
    })
    .await
}

#[test]
fn the_nodes_run_unchanged_on_an_asynchronous_connection() -> Result<(), Box<dyn Error>> {
    let schema = postgres::fresh();
    let store = PgStore::<Job>::new(schema.pool(1));
    store.migrate()?;
    store.enqueue(&[NewJob::of(&Greet { name: "you".to_owned() })?])?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut conn = AsyncPgConnection::establish(&schema.url()).await?;
        conn.batch_execute("CREATE TABLE greetings (words TEXT NOT NULL)").await?;

        let ask = ClaimRequest::new(&WorkerId::new("asynchronous")?);
        let asked = LocalInstant::now();
        let won: Vec<Won<Job>> = query::claim_next::<Job>(&ask).load(&mut conn).await?;
        let mut claimed: Vec<_> = won.into_iter().map(|won| won.into_claimed(&ask, asked)).collect();
        let claimed = claimed.pop().ok_or("one job waits")?;
        let payload: Greet = claimed.row.payload()?;

        greet(&mut conn, &claimed.claim, &payload.name).await?;
        assert_eq!(count(&mut conn, "claimstore_jobs WHERE state = 'completed'").await?, 1);
        assert_eq!(count(&mut conn, "greetings").await?, 1);

        // The same claim again: nothing of it is written.
        let again = greet(&mut conn, &claimed.claim, &payload.name).await;
        assert_eq!(again, Err(diesel::result::Error::RollbackTransaction));
        assert_eq!(count(&mut conn, "greetings").await?, 1);
        Ok(())
    })
}
