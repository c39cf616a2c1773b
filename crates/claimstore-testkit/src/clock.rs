//! The clock that decides in a memory store.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use claimstore_core::Timestamp;

/// Tells the time that leases and due times are judged by.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// The host's wall clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostClock;

impl Clock for HostClock {
    fn now(&self) -> Timestamp {
        Timestamp::of_this_host()
    }
}

/// A clock that stands still until a test moves it. Clones are one clock.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// Standing at `at`.
    #[must_use]
    pub fn at(at: Timestamp) -> ManualClock {
        ManualClock(Arc::new(AtomicI64::new(at.as_micros())))
    }

    /// Moves on by `span`.
    pub fn advance(&self, span: Duration) {
        self.0.store(self.now().after(span).as_micros(), Ordering::SeqCst);
    }
}

impl Default for ManualClock {
    /// Standing at the start of 2026.
    fn default() -> Self {
        ManualClock::at(Timestamp::from_micros(1_767_225_600_000_000))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stands_still_until_it_is_moved() {
        let clock = ManualClock::default();
        let (before, twin) = (clock.now(), clock.clone());
        assert_eq!(clock.now(), before);
        twin.advance(Duration::from_secs(3));
        assert_eq!(before.until(clock.now()), Duration::from_secs(3));
    }
}
