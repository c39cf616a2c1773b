//! The store and the example's own table, on either database behind one trait.
//!
//! [`RecoverStore`] is object safe and knows no connection type, so the rest of the program does not know
//! which database it works on.

use claimstore::core::{Claim, SettleCause, SettleError, State, StoreError};
use claimstore::schema::{claimstore_events as events, claimstore_jobs as jobs};
use claimstore::{Enqueued, NewJob, PgStore, SettleWithError, SqliteStore, prelude::*};
use diesel::connection::SimpleConnection;
use diesel::dsl::{count_star, sum};
use diesel::prelude::*;

use crate::Failure;

diesel::table! {
    digests (id) {
        id -> BigInt,
        job_id -> BigInt,
        worker -> Text,
        sha256 -> Text,
    }
}

/// No key on `job_id`, on purpose: a second row for a file is what the report looks for, and nothing but
/// the fence shall keep it out.
const DIGESTS: &str = "(job_id BIGINT NOT NULL, worker TEXT NOT NULL, sha256 TEXT NOT NULL)";

/// How often a delivery is sent again when the store fails.
const TRIES: usize = 20;

/// What became of a result.
#[derive(Debug)]
pub(crate) enum Delivered {
    Written,
    Refused(String),
}

/// A job as it stands.
pub(crate) struct Standing {
    pub(crate) state: String,
    pub(crate) error: Option<String>,
}

/// Everything that the program asks of a database.
pub(crate) trait Database: RecoverStore<Key = i64, Row = Job> {
    /// Makes the tables.
    fn prepare(&self) -> Result<(), Failure>;
    fn enqueue(&self, jobs: &[NewJob]) -> Result<Vec<i64>, StoreError>;
    /// Completes the job and writes its digest, in one transaction.
    fn deliver(&self, claim: Claim<i64>, sha256: &str) -> Result<Delivered, Failure>;
    /// The claim that this worker holds, as the table shows it: job and fence.
    fn held_by(&self, worker: &WorkerId) -> Result<Option<(i64, i64)>, Failure>;
    /// Whether this job is still running under this fence.
    fn is_held(&self, held: (i64, i64)) -> Result<bool, Failure>;
    /// How many jobs wait or run.
    fn open_jobs(&self) -> Result<u64, Failure>;
    /// Claims of which a late result was refused and recorded.
    fn refused(&self) -> Result<usize, Failure>;
    /// Claims made, by what they ended in. True once nothing runs.
    fn claims(&self) -> Result<i64, Failure>;
    fn job(&self, id: i64) -> Result<Standing, Failure>;
    /// Each digest that was written, by job.
    fn digests(&self) -> Result<Vec<(i64, String)>, Failure>;
}

/// The statements are the same in Diesel's terms; what differs is the type of the connection.
macro_rules! on_this_database {
    ($store:ty, $id:literal) => {
        impl Database for $store {
            fn prepare(&self) -> Result<(), Failure> {
                self.migrate()?;
                let create = format!("CREATE TABLE digests (id {}, {}", $id, &DIGESTS[1..]);
                Ok(self.pool().get()?.batch_execute(&create)?)
            }

            fn enqueue(&self, jobs: &[NewJob]) -> Result<Vec<i64>, StoreError> {
                Ok(self.enqueue(jobs)?.iter().map(Enqueued::id).collect())
            }

            fn deliver(&self, mut claim: Claim<i64>, sha256: &str) -> Result<Delivered, Failure> {
                for _ in 0..TRIES {
                    let row = (
                        digests::job_id.eq(*claim.key()),
                        digests::worker.eq(claim.worker().as_str().to_owned()),
                        digests::sha256.eq(sha256),
                    );
                    let done = self.settle_with(claim, Verdict::complete(), |conn| {
                        diesel::insert_into(digests::table).values(row).execute(conn)
                    });
                    claim = match done {
                        Ok(_) => return Ok(Delivered::Written),
                        Err(SettleWithError::Settle(refused)) => match again(refused) {
                            Ok(claim) => claim,
                            Err(answer) => return answer,
                        },
                        Err(other) => return Err(other.to_string().into()),
                    };
                }
                Err("the database takes no results".into())
            }

            fn held_by(&self, worker: &WorkerId) -> Result<Option<(i64, i64)>, Failure> {
                let held = jobs::table
                    .filter(jobs::state.eq(State::Running.word()).and(jobs::worker.eq(worker.as_str())))
                    .select((jobs::id, jobs::fence))
                    .first(&mut self.pool().get()?)
                    .optional()?;
                Ok(held)
            }

            fn is_held(&self, (id, fence): (i64, i64)) -> Result<bool, Failure> {
                let now = jobs::table.find(id).select((jobs::state, jobs::fence));
                let now: (String, i64) = now.first(&mut self.pool().get()?)?;
                Ok(now == (State::Running.word().to_owned(), fence))
            }

            fn open_jobs(&self) -> Result<u64, Failure> {
                let open = [State::Pending.word(), State::Running.word()];
                let open = jobs::table.filter(jobs::state.eq_any(open)).count();
                Ok(open.get_result::<i64>(&mut self.pool().get()?)?.unsigned_abs())
            }

            fn refused(&self) -> Result<usize, Failure> {
                let late = events::table
                    .filter(events::kind.eq("late_writer"))
                    .select((events::row_key, events::fence))
                    .distinct()
                    .load::<(String, i64)>(&mut self.pool().get()?)?;
                Ok(late.len())
            }

            fn claims(&self) -> Result<i64, Failure> {
                let mut conn = self.pool().get()?;
                let completed = jobs::table
                    .filter(jobs::state.eq(State::Completed.word()))
                    .select(count_star())
                    .first::<i64>(&mut conn)?;
                let others: (Option<i64>, Option<i64>, Option<i64>) = jobs::table
                    .select((sum(jobs::failures), sum(jobs::crashes), sum(jobs::interruptions)))
                    .first(&mut conn)?;
                let [failed, recovered, released] =
                    [others.0, others.1, others.2].map(Option::unwrap_or_default);
                Ok(completed + failed + recovered + released)
            }

            fn job(&self, id: i64) -> Result<Standing, Failure> {
                let job = jobs::table.find(id).select((jobs::state, jobs::last_error));
                let (state, error) = job.first(&mut self.pool().get()?)?;
                Ok(Standing { state, error })
            }

            fn digests(&self) -> Result<Vec<(i64, String)>, Failure> {
                let all = digests::table.select((digests::job_id, digests::sha256));
                Ok(all.load(&mut self.pool().get()?)?)
            }
        }
    };
}

on_this_database!(PgStore<Job>, "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY");
on_this_database!(SqliteStore<Job>, "INTEGER PRIMARY KEY");

/// The claim to try again with, or the answer. After a broken connection the first try may have been
/// written; then the second finds it settled, and nothing is written twice.
fn again(refused: SettleError<i64>) -> Result<Claim<i64>, Result<Delivered, Failure>> {
    match refused.into_parts() {
        (SettleCause::Fenced(fenced), _) => Err(Ok(Delivered::Refused(fenced.to_string()))),
        (SettleCause::AlreadySettled(settled), _) if settled.state == State::Completed => {
            Err(Ok(Delivered::Written))
        }
        (SettleCause::Store(error), Some(claim)) if error.kind().is_transient() => Ok(claim),
        (cause, _) => Err(Err(cause.to_string().into())),
    }
}
