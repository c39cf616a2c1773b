//! Instants: those of the database, and the local clock by which a holder doubts itself.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

use crate::InputError;

/// An instant of the deciding clock, in microseconds since 1970-01-01 UTC.
///
/// On PostgreSQL it is the server's clock, on SQLite the host's (all processes on one file share it).
/// Arithmetic saturates: a stored `infinity` becomes [`Timestamp::MAX`] and stays comparable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The latest instant; a stored `infinity` reads as this.
    pub const MAX: Timestamp = Timestamp(i64::MAX);
    /// The earliest instant; a stored `-infinity` reads as this.
    pub const MIN: Timestamp = Timestamp(i64::MIN);

    /// From microseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Timestamp {
        Timestamp(micros)
    }

    /// Microseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The host's wall clock. Only SQLite stores and tests decide by it.
    #[must_use]
    pub fn of_this_host() -> Timestamp {
        Timestamp(Utc::now().timestamp_micros())
    }

    /// This instant and `span` later, or [`Timestamp::MAX`].
    #[must_use]
    pub fn after(self, span: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(micros(span)))
    }

    /// This instant and `span` earlier, or [`Timestamp::MIN`].
    #[must_use]
    pub fn before(self, span: Duration) -> Timestamp {
        Timestamp(self.0.saturating_sub(micros(span)))
    }

    /// Accepts an instant that every backend can store and print: the years 1 to 9999.
    ///
    /// # Errors
    /// [`InputError::OutOfRange`], naming `field`.
    pub fn check(self, field: &'static str) -> Result<(), InputError> {
        const LOW: i64 = -62_135_596_800_000_000;
        const HIGH: i64 = 253_402_300_799_999_999;
        if (LOW..=HIGH).contains(&self.0) {
            return Ok(());
        }
        Err(InputError::OutOfRange { field, given: self.0, low: LOW, high: HIGH })
    }

    /// How long it is from this instant until `later`; zero where that has passed.
    #[must_use]
    pub fn until(self, later: Timestamp) -> Duration {
        Duration::from_micros(later.0.saturating_sub(self.0).max(0).unsigned_abs())
    }
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

impl From<DateTime<Utc>> for Timestamp {
    fn from(at: DateTime<Utc>) -> Self {
        Timestamp(at.timestamp_micros())
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC, or the number of microseconds where the calendar ends.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match DateTime::<Utc>::from_timestamp_micros(self.0) {
            Some(at) => f.write_str(&at.to_rfc3339_opts(SecondsFormat::Micros, true)),
            None => write!(f, "{} us since 1970", self.0),
        }
    }
}

/// An instant of this machine's own clock, counted through sleep where the system can.
///
/// Used only to doubt a claim early, never to decide who owns a row. On Linux it is the boot-time
/// clock, which runs while the machine is suspended; elsewhere it is the monotonic clock, and a
/// suspended holder finds out at its next call to the store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LocalInstant(boot_time::Instant);

impl LocalInstant {
    /// Now.
    #[must_use]
    pub fn now() -> LocalInstant {
        LocalInstant(boot_time::Instant::now())
    }

    /// Time gone by since this instant.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        boot_time::Instant::now().saturating_duration_since(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        assert_eq!(Timestamp::MAX.after(Duration::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::MIN.before(Duration::MAX), Timestamp::MIN);
        assert_eq!(Timestamp::from_micros(5).until(Timestamp::from_micros(3)), Duration::ZERO);
        assert_eq!(Timestamp::MIN.until(Timestamp::MAX), Duration::from_micros(i64::MAX as u64));
    }

    #[test]
    fn prints_in_utc_and_survives_the_end_of_the_calendar() {
        assert_eq!(Timestamp::from_micros(1_000_001).to_string(), "1970-01-01T00:00:01.000001Z");
        assert_eq!(Timestamp::MAX.to_string(), format!("{} us since 1970", i64::MAX));
    }
}
