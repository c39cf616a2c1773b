//! The claim generation that makes a late writer recognisable.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The generation of a claim: a number that only rises, one column of its own.
///
/// `0` means never claimed. Every claim, recovery, transition and operator action raises it by one
/// plus a random step of [`Fence::STEP_BITS`] bits; settling and renewing keep it. The random step is
/// why a value lost to a rolled-back claim, to delete and re-insert of a key, or to a failover is not
/// met again: with a step of one the next owner would get the very same number (ADR 0002).
///
/// It is not the attempt counter, not a time and not a worker's name. Pass it to outside systems that
/// can refuse a lower number than they have seen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fence(i64);

impl Fence {
    /// The fence of a row that was never claimed.
    pub const NEVER: Fence = Fence(0);
    /// How many random bits each raise carries.
    pub const STEP_BITS: u32 = 20;
    /// The last value a row may carry and still be claimed: one more raise must fit a `BIGINT`. A row
    /// beyond it is refused as exhausted; the number never wraps.
    pub const LAST: Fence = Fence(i64::MAX - (1 << Self::STEP_BITS));

    /// Wraps a stored value.
    #[must_use]
    pub const fn new(raw: i64) -> Fence {
        Fence(raw)
    }

    /// The number, as stored.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Whether another raise fits. Stores written in SQL say the same in their `WHERE`.
    #[must_use]
    pub const fn can_rise(self) -> bool {
        self.0 <= Self::LAST.0
    }

    /// The next fence, with a fresh random step; `None` where it would not fit.
    #[must_use]
    pub fn raised(self) -> Option<Fence> {
        self.can_rise().then(|| Fence(self.0 + 1 + fastrand::i64(0..1 << Self::STEP_BITS)))
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raising_is_strict_and_never_wraps() {
        let mut fence = Fence::NEVER;
        for _ in 0..1000 {
            let next = fence.raised().expect("far from the end");
            assert!(next > fence);
            fence = next;
        }
        assert!(Fence::LAST.raised().is_some());
        assert_eq!(Fence::new(Fence::LAST.get() + 1).raised(), None);
        assert_eq!(Fence::new(i64::MAX).raised(), None);
    }
}
