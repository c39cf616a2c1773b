//! A mock of every role, for the logic of consumers: "what do I do when I am fenced?"

use std::hash::Hash;
use std::time::Duration;

use mockall::mock;

use crate::{
    Action, Batch, Bulk, Claim, ClaimOutcome, ClaimRequest, ClaimStore, ClaimToken, Counts, Event,
    Explanation, Fence, Guarantees, InspectStore, OperateError, OperatePreview, OperateStore, Operated,
    OperatedAll, Operator, Page, PageRequest, Pausable, Pruned, QueueSetting, QueueStore, Receipt,
    RecoverStore, Recovered, RecoveryPolicy, RecoveryPreview, RenewError, Renewal, RetainStore, Retention,
    SettleError, SettledAndClaimed, Sighting, StoreError, Verdict,
};

mock! {
    /// A mock that is every role at once, for a key and row of your choice. Built with mockall, which
    /// is outside this crate's promise of stability.
    ///
    /// The verbs of an operator, `retry` to `requeue`, and `probe` are as in any store: they come to
    /// `expect_operate`, `expect_page` and `expect_read`.
    #[derive(Debug)]
    pub Store<K, R>
    where
        K: Clone + Eq + Hash + std::fmt::Debug + Send + Sync + 'static,
        R: Send + Sync + 'static,
    {}

    impl<K, R> ClaimStore for Store<K, R>
    where
        K: Clone + Eq + Hash + std::fmt::Debug + Send + Sync + 'static,
        R: Send + Sync + 'static,
    {
        type Key = K;
        type Row = R;
        fn guarantees(&self) -> Guarantees;
        fn claim(&self, key: &K, ask: &ClaimRequest) -> Result<ClaimOutcome<K, R>, StoreError>;
        fn claim_next(&self, ask: &ClaimRequest) -> Result<Batch<K, R>, StoreError>;
        fn renew(&self, claim: &mut Claim<K>, lease: Duration) -> Result<(), RenewError>;
        fn renew_all(&self, claims: &[ClaimToken<K>], lease: Duration) -> Result<Vec<Renewal>, StoreError>;
        fn settle(&self, claim: Claim<K>, verdict: Verdict) -> Result<Receipt, SettleError<K>>;
        fn settle_all(&self, settled: Vec<(Claim<K>, Verdict)>) -> Vec<Result<Receipt, SettleError<K>>>;
        fn settle_and_claim(
            &self,
            settled: Vec<(Claim<K>, Verdict)>,
            ask: &ClaimRequest,
        ) -> SettledAndClaimed<K, R>;
        fn resume(&self, token: &ClaimToken<K>) -> Result<Claim<K>, RenewError>;
    }

    impl<K, R> RecoverStore for Store<K, R>
    where
        K: Clone + Eq + Hash + std::fmt::Debug + Send + Sync + 'static,
        R: Send + Sync + 'static,
    {
        fn recover(&self, policy: &RecoveryPolicy, limit: usize) -> Result<Recovered<K>, StoreError>;
        fn preview(
            &self,
            policy: &RecoveryPolicy,
            limit: usize,
        ) -> Result<RecoveryPreview<K>, StoreError>;
    }

    impl<K, R> InspectStore for Store<K, R>
    where
        K: Clone + Eq + Hash + std::fmt::Debug + Send + Sync + 'static,
        R: Send + Sync + 'static,
    {
        fn show(&self, key: &K) -> Result<Option<Sighting<K>>, StoreError>;
        fn read(&self, key: &K) -> Result<Option<R>, StoreError>;
        fn page(&self, ask: &PageRequest<K>) -> Result<Page<K>, StoreError>;
        fn counts(&self, cap: u32) -> Result<Counts, StoreError>;
        fn explain(&self, key: &K) -> Result<Explanation<K>, StoreError>;
    }

    impl<K, R> OperateStore for Store<K, R>
    where
        K: Clone + Eq + Hash + std::fmt::Debug + Send + Sync + 'static,
        R: Send + Sync + 'static,
    {
        fn operate(
            &self,
            key: &K,
            seen: Fence,
            action: &Action,
            by: &Operator,
        ) -> Result<Operated<K>, OperateError<K>>;
        fn operate_all(
            &self,
            rows: &Bulk<K>,
            action: &Action,
            by: &Operator,
        ) -> Result<OperatedAll<K>, StoreError>;
        fn preview_all(
            &self,
            rows: &Bulk<K>,
            action: &Action,
            by: &Operator,
        ) -> Result<OperatePreview<K>, StoreError>;
        fn history(&self, key: &K, limit: usize) -> Result<Vec<Event>, StoreError>;
    }

    impl<K, R> RetainStore for Store<K, R>
    where
        K: Clone + Eq + Hash + std::fmt::Debug + Send + Sync + 'static,
        R: Send + Sync + 'static,
    {
        fn prune(&self, retention: &Retention, limit: usize) -> Result<Pruned, StoreError>;
    }

    impl<K, R> QueueStore for Store<K, R>
    where
        K: Clone + Eq + Hash + std::fmt::Debug + Send + Sync + 'static,
        R: Send + Sync + 'static,
    {
        fn pause(&self, what: &Pausable, by: &Operator) -> Result<bool, StoreError>;
        fn unpause(&self, what: &Pausable, by: &Operator) -> Result<bool, StoreError>;
        fn keep_completed(&self, queue: &str, keep: bool, by: &Operator) -> Result<bool, StoreError>;
        fn queues(&self) -> Result<Vec<QueueSetting>, StoreError>;
    }
}
