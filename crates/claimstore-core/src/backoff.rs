//! Delay before the next try.

use std::time::Duration;

use crate::input::MAX_SPAN;

/// Exponential delay with a cap and jitter.
///
/// The n-th delay is `base * 2^(n-1)`, at most `cap`, and then shortened by up to `jitter` of itself
/// but never below `base`. It never overflows, whatever `n` (field report H50).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Backoff {
    base: Duration,
    cap: Duration,
    jitter: f64,
}

impl Backoff {
    /// From `base` up to `cap`, without jitter. A cap below the base is raised to it; both are cut at
    /// [`MAX_SPAN`].
    #[must_use]
    pub fn new(base: Duration, cap: Duration) -> Backoff {
        let base = base.min(MAX_SPAN);
        Backoff { base, cap: cap.min(MAX_SPAN).max(base), jitter: 0.0 }
    }

    /// The same delay each time.
    #[must_use]
    pub fn fixed(delay: Duration) -> Backoff {
        Backoff::new(delay, delay)
    }

    /// With a share of 0 to 1 taken off at random, so that rows that failed together do not return
    /// together. Other values are clamped; a NaN is zero.
    #[must_use]
    pub fn jitter(mut self, share: f64) -> Backoff {
        self.jitter = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self
    }

    /// The delay before try `n` (1 is the first repeat), for a `random` in 0..1.
    #[must_use]
    pub fn delay(&self, n: u32, random: f64) -> Duration {
        let doubled = 1u128.checked_shl(n.saturating_sub(1).min(126)).unwrap_or(u128::MAX);
        let full = self.base.as_nanos().saturating_mul(doubled).min(self.cap.as_nanos());
        let off = (full as f64 * self.jitter * random.clamp(0.0, 1.0)) as u128;
        let nanos = full.saturating_sub(off).max(self.base.as_nanos());
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl Default for Backoff {
    /// One second doubling to one hour, with a quarter of jitter.
    fn default() -> Self {
        Backoff::new(Duration::from_secs(1), Duration::from_secs(3600)).jitter(0.25)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn doubles_until_the_cap() {
        let b = Backoff::new(Duration::from_secs(1), Duration::from_secs(10));
        let seconds: Vec<u64> = (0..6).map(|n| b.delay(n, 0.0).as_secs()).collect();
        assert_eq!(seconds, [1, 1, 2, 4, 8, 10]);
    }

    proptest! {
        #[test]
        fn stays_between_base_and_cap(n: u32, base in 0u64.., cap in 0u64.., jitter in -1.0f64..2.0, r in 0.0f64..1.0) {
            let (base, cap) = (Duration::from_secs(base), Duration::from_secs(cap));
            let b = Backoff::new(base, cap).jitter(jitter);
            let d = b.delay(n, r);
            prop_assert!(d >= base.min(MAX_SPAN));
            prop_assert!(d <= cap.max(base).min(MAX_SPAN));
        }

        #[test]
        fn never_shrinks_with_n_when_not_jittered(n in 0u32..u32::MAX, base: u32) {
            let b = Backoff::new(Duration::from_micros(base.into()), MAX_SPAN);
            prop_assert!(b.delay(n + 1, 0.5) >= b.delay(n, 0.5));
        }
    }
}
