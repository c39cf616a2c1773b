//! A mock of both roles, for the logic of consumers: "what do I do when I am fenced?"

use std::hash::Hash;
use std::time::Duration;

use mockall::mock;

use crate::{
    Batch, Claim, ClaimOutcome, ClaimRequest, ClaimStore, ClaimToken, Guarantees, Receipt, RecoverStore,
    Recovered, RecoveryPolicy, RecoveryPreview, RenewError, Renewal, SettleError, SettledAndClaimed,
    StoreError, Verdict,
};

mock! {
    /// A mock that is every role at once, for a key and row of your choice. Built with mockall, which
    /// is outside this crate's promise of stability.
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
}
