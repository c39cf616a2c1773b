//! The memory store against itself: the runner finds no difference where there is none.

use claimstore_core::State;
use claimstore_testkit::model::{Op, Say, ops, run_against_model};
use claimstore_testkit::{Columns, MemoryHarness};
use proptest::prelude::*;

proptest! {
    #[test]
    fn the_job_table_follows_the_model(ops in ops(60)) {
        run_against_model(&MemoryHarness::jobs(), &ops)?;
    }

    #[test]
    fn the_invoices_follow_the_model(ops in ops(60)) {
        run_against_model(&MemoryHarness::invoices(), &ops)?;
    }

    #[test]
    fn the_minimal_table_follows_the_model(ops in ops(60)) {
        run_against_model(&MemoryHarness::minimal(), &ops)?;
    }
}

/// A harness whose store does something else than its columns say: the runner must find it.
#[test]
fn a_store_that_differs_is_found() {
    let seed = Op::Seed { priority: 0, later: false, aside: false, budget: 3, idempotent: true };
    let ops = [
        seed.clone(),
        seed,
        Op::Claim { row: 0, worker: 0 },
        Op::Settle { claim: 0, say: Say::FailForGood },
        Op::Claim { row: 0, worker: 1 },
    ];
    run_against_model(&MemoryHarness::jobs(), &ops).expect("the same store");
    let words = vec![State::Pending, State::Running, State::Completed];
    let lame = wrong::Wrong::new(Columns { words, ..Columns::all() });
    run_against_model(&lame, &ops).expect_err("it has no word for dead");
}

mod wrong {
    use std::time::Duration;

    use claimstore_core::{Event, Fence, State, Tally, Timestamp};
    use claimstore_testkit::{Columns, Harness, MemoryHarness, Seed, Snapshot};

    /// Says that it has all columns, and has not.
    pub(super) struct Wrong(MemoryHarness<i64>);

    impl Wrong {
        pub(super) fn new(columns: Columns) -> Wrong {
            Wrong(MemoryHarness::shaped(columns, i64::from))
        }
    }

    impl Harness for Wrong {
        type Store = <MemoryHarness<i64> as Harness>::Store;
        fn store(&self) -> &Self::Store {
            self.0.store()
        }
        fn columns(&self) -> Columns {
            Columns::all()
        }
        fn now(&self) -> Timestamp {
            self.0.now()
        }
        fn seed(&self, seed: Seed) -> i64 {
            self.0.seed(seed)
        }
        fn seed_again(&self, key: &i64, seed: Seed) {
            self.0.seed_again(key, seed);
        }
        fn read(&self, key: &i64) -> Option<Snapshot> {
            self.0.read(key)
        }
        fn count_in(&self, state: State) -> usize {
            self.0.count_in(state)
        }
        fn events(&self) -> Vec<Event> {
            self.0.events()
        }
        fn expire(&self, key: &i64, by: Duration) {
            self.0.expire(key, by);
        }
        fn make_due(&self, key: &i64) {
            self.0.make_due(key);
        }
        fn age(&self, key: &i64, by: Duration) {
            self.0.age(key, by);
        }
        fn age_events(&self, by: Duration) {
            self.0.age_events(by);
        }
        fn delete(&self, key: &i64) {
            self.0.delete(key);
        }
        fn set_fence(&self, key: &i64, fence: Fence) {
            self.0.set_fence(key, fence);
        }
        fn set_tally(&self, key: &i64, tally: Tally) {
            self.0.set_tally(key, tally);
        }
    }
}
