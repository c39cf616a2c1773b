//! The names nearly every user imports.

pub use claimstore_core::{
    Batch, Claim, ClaimOutcome, ClaimRequest, ClaimStore, Claimed, Filter, InspectStore, OperateStore,
    Operator, QueueStore, RecoverStore, RecoveryPolicy, Refusal, RetainStore, SettleCause, Verdict, Wait,
    WorkerId,
};

#[cfg(feature = "postgres")]
pub use claimstore_diesel::PgStore;
#[cfg(feature = "sqlite")]
pub use claimstore_diesel::SqliteStore;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub use claimstore_diesel::{ClaimTable, Enqueued, Job, JobKind, NewJob, OnDuplicate, TxError};
