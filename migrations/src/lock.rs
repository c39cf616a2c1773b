//! Waiting for the lock, no longer than allowed.

use std::thread;
use std::time::{Duration, Instant};

use crate::{LockHolder, MigrateError, Report};

/// How often a waiting caller is told for whom it waits.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// How long one may wait, counted from the first look.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    start: Instant,
    wait: Duration,
}

impl Deadline {
    pub(crate) fn after(wait: Duration) -> Deadline {
        Deadline { start: Instant::now(), wait }
    }

    pub(crate) fn waited(&self) -> Duration {
        self.start.elapsed()
    }

    pub(crate) fn left(&self) -> Duration {
        self.wait.saturating_sub(self.waited())
    }

    /// The time left in whole milliseconds for a setting of the database, at least one second: with less,
    /// a call that waits for nobody could fail by its own haste.
    pub(crate) fn left_as_setting(&self) -> i32 {
        let millis = self.left().max(Duration::from_secs(1)).as_millis();
        i32::try_from(millis).unwrap_or(i32::MAX)
    }

    /// Sleeps a random moment, so that those who wait do not look in step; never past the end.
    fn pause(&self) {
        thread::sleep(Duration::from_millis(fastrand::u64(5..60)).min(self.left()));
    }
}

/// What a database brings to the wait.
pub(crate) trait Lockable {
    /// One try, from beginning to end of its transaction. `None`: others hold the lock.
    fn attempt(&mut self, work: Work, deadline: &Deadline) -> Result<Option<Vec<String>>, MigrateError>;

    /// Who holds it now.
    fn holder(&mut self) -> LockHolder;
}

/// What is to be done under the lock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Apply what is pending.
    Up,
    /// Take everything down.
    Down,
}

/// Tries until the work is done, the time is over, or something fails. The last try comes after the time
/// is over, so that `Duration::ZERO` means one try.
pub(crate) fn work<C: Lockable>(
    conn: &mut C,
    work: Work,
    wait: Duration,
    tell: &mut dyn FnMut(&LockHolder),
) -> Result<Report, MigrateError> {
    let deadline = Deadline::after(wait);
    let mut told: Option<Instant> = None;
    loop {
        let last = deadline.left().is_zero();
        if let Some(versions) = conn.attempt(work, &deadline)? {
            return Ok(Report { versions, took: deadline.waited() });
        }
        if last {
            return Err(MigrateError::Locked { waited: deadline.waited(), holder: conn.holder() });
        }
        if told.is_none_or(|at| at.elapsed() >= TELL_EVERY) {
            tell(&conn.holder());
            told = Some(Instant::now());
        }
        deadline.pause();
    }
}
