//! The server's clock beside this host's.

use std::time::Duration;

use claimstore_core::Timestamp;
use diesel::RunQueryDsl;
use diesel::pg::PgConnection;

use super::Found;
use crate::sql_types::{At, Instant};
use crate::verify::finding::{Check, Finding, Severity};

/// From where people begin to wonder about logs.
const NOTICED: Duration = Duration::from_secs(1);

/// As long as a lease may be.
const AS_LONG_AS_A_LEASE: Duration = Duration::from_secs(30);

#[derive(diesel::QueryableByName)]
struct Clock {
    #[diesel(sql_type = Instant)]
    at: At,
}

pub(super) fn clock(conn: &mut PgConnection) -> Found {
    let before = Timestamp::of_this_host();
    let clock: Clock = diesel::sql_query("SELECT clock_timestamp() AS at").get_result(conn)?;
    let after = Timestamp::of_this_host();
    Ok(judge(before, clock.at.0, after).into_iter().collect())
}

/// The server's clock was read between `before` and `after` by the host's.
fn judge(before: Timestamp, server: Timestamp, after: Timestamp) -> Option<Finding> {
    let (ahead, behind) = (after.until(server), server.until(before));
    let (apart, how) = if ahead > behind { (ahead, "ahead of") } else { (behind, "behind") };
    let severity = match apart {
        _ if apart > AS_LONG_AS_A_LEASE => Severity::Warning,
        _ if apart > NOTICED => Severity::Notice,
        _ => return None,
    };
    let says = format!(
        "the server's clock is {:.1} s {how} this host's. Claims do not suffer: the server's clock alone decides. \
         Instants that this host makes (run_at, logs) are off by that",
        apart.as_secs_f64()
    );
    Some(Finding::new(severity, Check::Clock, says).mend("run an NTP client on both"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(at: i64) -> Timestamp {
        Timestamp::from_micros(at * 1_000_000)
    }

    #[test]
    fn what_lies_within_the_round_trip_is_no_skew() {
        assert_eq!(judge(seconds(100), seconds(105), seconds(110)), None);
        assert_eq!(judge(seconds(100), seconds(111), seconds(110)), None);
    }

    #[test]
    fn skew_is_told_in_both_directions_and_never_as_an_error() {
        let found = |server| judge(seconds(100), seconds(server), seconds(101)).expect("a finding");
        assert_eq!(found(104).severity, Severity::Notice);
        assert!(found(104).says.contains("3.0 s ahead of"), "{}", found(104).says);
        assert_eq!(found(40).severity, Severity::Warning);
        assert!(found(40).says.contains("60.0 s behind"), "{}", found(40).says);
    }
}
