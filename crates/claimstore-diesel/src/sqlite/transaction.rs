//! Transactions that begin as a writer.

use std::time::{Duration, Instant as Clock};

use claimstore_core::StoreErrorKind;
use diesel::connection::{AnsiTransactionManager, SimpleConnection, TransactionManager};
use diesel::result::Error;
use diesel::{QueryResult, SqliteConnection};

use crate::telemetry;

/// Runs `work` in a transaction that holds the file's write lock from its start, waiting for that lock at most
/// `most`. The connection's own busy timeout is put to `restored` before `work` begins.
///
/// The first error is kept: after a full disk SQLite has rolled back by itself, and the ROLLBACK that fails
/// then would otherwise be reported in place of the disk.
pub(super) fn immediate<R, E>(
    conn: &mut SqliteConnection,
    most: Duration,
    restored: Duration,
    work: impl FnOnce(&mut SqliteConnection) -> Result<R, E>,
) -> Result<R, E>
where
    E: From<Error>,
{
    // One call each: a pragma and a statement.
    const BEGIN: &str = "PRAGMA busy_timeout = 0; BEGIN IMMEDIATE";
    let begun = retried_until(most, || AnsiTransactionManager::begin_transaction_sql(&mut *conn, BEGIN));
    let millis = restored.as_millis().min(i32::MAX as u128);
    conn.batch_execute(&format!("PRAGMA busy_timeout = {millis}"))?;
    begun?;
    let done = match work(conn) {
        Ok(done) => AnsiTransactionManager::commit_transaction(conn).map(|()| done).map_err(E::from),
        Err(error) => Err(error),
    };
    done.inspect_err(|_| {
        // Whatever this says, the connection is not reused in a transaction: the manager knows.
        let _ = AnsiTransactionManager::rollback_transaction(conn);
    })
}

/// Runs `work` until the file is free or `most` has passed, with short jittered pauses: the lock is held
/// for well under a millisecond as a rule.
pub(super) fn retried_until<R>(most: Duration, mut work: impl FnMut() -> QueryResult<R>) -> QueryResult<R> {
    let started = Clock::now();
    let mut pause = Duration::from_micros(200);
    let mut attempt = 0;
    loop {
        match work() {
            Err(error) if super::classify(&error, false).again => {
                let left = most.saturating_sub(started.elapsed());
                if left.is_zero() {
                    return Err(error);
                }
                attempt += 1;
                telemetry::retry(attempt, StoreErrorKind::Contended);
                std::thread::sleep(pause.mul_f64(0.5 + fastrand::f64()).min(left));
                pause = (pause * 2).min(Duration::from_millis(10));
            }
            other => return other,
        }
    }
}
