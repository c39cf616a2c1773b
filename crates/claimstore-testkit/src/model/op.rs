//! Operations, and how they are drawn.

use proptest::collection::vec;
use proptest::prelude::*;

/// One operation. Numbers pick a row or a claim among those there are, modulo their count; where there
/// is none the operation is passed over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// Inserts a row.
    Seed {
        /// Its priority.
        priority: i32,
        /// Whether it is due only in the far future.
        later: bool,
        /// Whether it stands in a queue of its own, `side`.
        aside: bool,
        /// The most failures and crashes it may cost.
        budget: i32,
        /// Whether its work may be repeated.
        idempotent: bool,
    },
    /// Claims a row by key.
    Claim {
        /// The row.
        row: usize,
        /// The worker.
        worker: u8,
    },
    /// Claims the next rows.
    ClaimNext {
        /// At most so many.
        limit: usize,
        /// The worker.
        worker: u8,
        /// Whether from both queues.
        both: bool,
    },
    /// Takes up a claim a second time, from its token.
    Resume {
        /// The claim.
        claim: usize,
    },
    /// Renews a claim.
    Renew {
        /// The claim.
        claim: usize,
    },
    /// Renews every claim.
    RenewAll,
    /// Settles a claim, which may long be lost.
    Settle {
        /// The claim.
        claim: usize,
        /// How.
        say: Say,
    },
    /// Settles many claims, each row once.
    SettleAll {
        /// A verdict for each in turn.
        says: Vec<Say>,
    },
    /// Settles many claims and claims the next rows.
    SettleAndClaim {
        /// A verdict for each in turn.
        says: Vec<Say>,
        /// At most so many.
        limit: usize,
        /// The worker.
        worker: u8,
    },
    /// Lets the lease of a running row have ended.
    Expire {
        /// The row.
        row: usize,
    },
    /// Lets a pending row be due.
    MakeDue {
        /// The row.
        row: usize,
    },
    /// Deletes a row.
    Delete {
        /// The row.
        row: usize,
    },
    /// Says what a recovery would do, then recovers.
    Recover {
        /// Whether work that must not be repeated is left alone.
        leave: bool,
    },
}

/// A verdict to give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Say {
    /// Complete.
    Complete,
    /// Fail, to be tried in the far future.
    Fail,
    /// Fail for good.
    FailForGood,
    /// Release.
    Release,
    /// Snooze into the far future.
    Snooze,
}

/// Sequences of up to `most` operations.
pub fn ops(most: usize) -> impl Strategy<Value = Vec<Op>> {
    vec(op(), 1..=most.max(1))
}

fn op() -> impl Strategy<Value = Op> {
    let seed =
        (-2..3i32, prop::bool::weighted(0.2), prop::bool::weighted(0.2), 1..4i32, prop::bool::weighted(0.8))
            .prop_map(|(priority, later, aside, budget, idempotent)| Op::Seed {
                priority,
                later,
                aside,
                budget,
                idempotent,
            });
    let claim_next = (1..5usize, 0..3u8, any::<bool>()).prop_map(|(limit, worker, both)| Op::ClaimNext {
        limit,
        worker,
        both,
    });
    let settle_and_claim = (vec(say(), 1..4), 1..4usize, 0..3u8)
        .prop_map(|(says, limit, worker)| Op::SettleAndClaim { says, limit, worker });
    prop_oneof![
        6 => seed,
        4 => (0..64usize, 0..3u8).prop_map(|(row, worker)| Op::Claim { row, worker }),
        4 => claim_next,
        2 => (0..64usize).prop_map(|claim| Op::Resume { claim }),
        2 => (0..64usize).prop_map(|claim| Op::Renew { claim }),
        1 => Just(Op::RenewAll),
        5 => (0..64usize, say()).prop_map(|(claim, say)| Op::Settle { claim, say }),
        2 => vec(say(), 1..5).prop_map(|says| Op::SettleAll { says }),
        2 => settle_and_claim,
        4 => (0..64usize).prop_map(|row| Op::Expire { row }),
        3 => (0..64usize).prop_map(|row| Op::MakeDue { row }),
        1 => (0..64usize).prop_map(|row| Op::Delete { row }),
        3 => any::<bool>().prop_map(|leave| Op::Recover { leave }),
    ]
}

fn say() -> impl Strategy<Value = Say> {
    prop_oneof![
        4 => Just(Say::Complete),
        3 => Just(Say::Fail),
        1 => Just(Say::FailForGood),
        3 => Just(Say::Release),
        2 => Just(Say::Snooze),
    ]
}
