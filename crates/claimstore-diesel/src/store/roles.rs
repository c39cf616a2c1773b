//! The store in the roles of the core.

use std::time::Duration;

use claimstore_core::{
    Batch, Claim, ClaimOutcome, ClaimRequest, ClaimStore, ClaimToken, Guarantees, LocalInstant, Receipt,
    RecoverStore, Recovered, RecoveryPolicy, RecoveryPreview, RenewError, Renewal, SettleCause, SettleError,
    SettledAndClaimed, StoreError, StoreErrorKind, Verdict, Wait,
};

use super::Store;
use crate::dialect::{Dialect, Place};
use crate::protocol;
use crate::table::{ClaimOn, ClaimTable};
use crate::telemetry::Call;

/// How long a settlement that was passed over in `settle_and_claim` waits for its row.
const PASSED_OVER_AFTER: Duration = Duration::from_millis(500);

impl<T: ClaimOn<D>, D: Dialect> ClaimStore for Store<T, D> {
    type Key = T::Key;
    type Row = T;

    fn guarantees(&self) -> Guarantees {
        D::guarantees(&T::DECLARATION)
    }

    fn claim(&self, key: &T::Key, ask: &ClaimRequest) -> Result<ClaimOutcome<T::Key, T>, StoreError> {
        let call = self.call("claiming").key::<T>(key).asking(ask);
        let answer = checked::<T>(ask).and_then(|()| {
            self.run_in(&call, |conn, place| protocol::by_key::<T, D>(conn, key, ask, &self.rules, place))
        });
        call.told(answer)
    }

    fn claim_next(&self, ask: &ClaimRequest) -> Result<Batch<T::Key, T>, StoreError> {
        let call = self.call("claiming the next").asking(ask);
        let answer = self.next_in(&call, ask);
        call.told(answer)
    }

    fn renew(&self, claim: &mut Claim<T::Key>, lease: Duration) -> Result<(), RenewError> {
        let call = self.call("renewing").holding::<T>(claim);
        let (asked, token) = (LocalInstant::now(), [claim.token()]);
        let answer = self
            .run_in(&call, |conn, place| protocol::renew_all::<T, D>(conn, &token, lease, place))
            .map_err(RenewError::Store)
            .and_then(|mut answers| protocol::extend::<T>(claim, answers.pop(), asked, lease));
        call.told(answer)
    }

    fn renew_all(&self, claims: &[ClaimToken<T::Key>], lease: Duration) -> Result<Vec<Renewal>, StoreError> {
        let call = self.call("renewing several").several(claims.len());
        let answer =
            self.run_in(&call, |conn, place| protocol::renew_all::<T, D>(conn, claims, lease, place));
        call.told(answer)
    }

    fn settle(&self, claim: Claim<T::Key>, verdict: Verdict) -> Result<Receipt, SettleError<T::Key>> {
        let call = self.call("settling").holding::<T>(&claim).settling(&verdict);
        let answer = self.run_in(&call, |conn, place| {
            protocol::settle::<T, D>(conn, &claim, &verdict, &self.rules, place).map(Ok)
        });
        call.told(match answer {
            Ok(Ok(receipt)) => Ok(receipt),
            Ok(Err(cause)) => Err(SettleError::new(cause, claim)),
            Err(error) => Err(SettleError::new(SettleCause::Store(error), claim)),
        })
    }

    fn settle_all(
        &self,
        settled: Vec<(Claim<T::Key>, Verdict)>,
    ) -> Vec<Result<Receipt, SettleError<T::Key>>> {
        let call = self.call("settling several").settling_all(&settled);
        let answers = self.all_in(&call, settled);
        call.told(answers)
    }

    fn settle_and_claim(
        &self,
        settled: Vec<(Claim<T::Key>, Verdict)>,
        ask: &ClaimRequest,
    ) -> SettledAndClaimed<T::Key, T> {
        let call = self.call("settling and claiming").asking(ask).settling_all(&settled);
        let together = self.run_in(&call, |conn, place| {
            protocol::settle_and_claim::<T, D>(conn, &settled, ask, &self.rules, place)
        });
        let both = match together {
            Ok((answers, batch)) => {
                SettledAndClaimed { settled: self.passed_over(&call, settled, answers), claimed: Ok(batch) }
            }
            // Sent apart they would only wait as long once more.
            Err(error) if matches!(error.kind(), StoreErrorKind::Contended | StoreErrorKind::Unavailable) => {
                let same = StoreError::new(error.kind(), call.doing(), error.to_string());
                SettledAndClaimed { settled: each(settled, Err(same)), claimed: Err(error) }
            }
            // Whatever went wrong in one half must not hold up the other.
            Err(_) => {
                SettledAndClaimed { settled: self.all_in(&call, settled), claimed: self.next_in(&call, ask) }
            }
        };
        call.told(both)
    }

    fn resume(&self, token: &ClaimToken<T::Key>) -> Result<Claim<T::Key>, RenewError> {
        let call = self.call("resuming").showing::<T>(token);
        let answer = self.run_in(&call, |conn, _| protocol::resume::<T, D>(conn, token).map(Ok));
        call.told(answer.map_err(RenewError::Store).and_then(|resumed| resumed))
    }
}

impl<T: ClaimOn<D>, D: Dialect> RecoverStore for Store<T, D> {
    fn recover(&self, policy: &RecoveryPolicy, limit: usize) -> Result<Recovered<T::Key>, StoreError> {
        let call = self.call("recovering");
        let answer = self.run_in(&call, |conn, place| protocol::recover::<T, D>(conn, policy, limit, place));
        call.told(answer)
    }

    fn preview(&self, policy: &RecoveryPolicy, limit: usize) -> Result<RecoveryPreview<T::Key>, StoreError> {
        self.run("looking for abandoned claims", |conn, _| protocol::preview::<T, D>(conn, policy, limit))
    }
}

impl<T: ClaimOn<D>, D: Dialect> Store<T, D> {
    fn next_in(&self, call: &Call, ask: &ClaimRequest) -> Result<Batch<T::Key, T>, StoreError> {
        checked::<T>(ask)?;
        self.run_in(call, |conn, place| protocol::next::<T, D>(conn, ask, &self.rules, place))
    }

    fn all_in(
        &self,
        call: &Call,
        settled: Vec<(Claim<T::Key>, Verdict)>,
    ) -> Vec<Result<Receipt, SettleError<T::Key>>> {
        let answers =
            self.run_in(call, |conn, place| protocol::settle_all::<T, D>(conn, &settled, &self.rules, place));
        each(settled, answers)
    }

    /// Settles alone what the common statement passed over because somebody had the row locked. That is
    /// nothing unusual: a claim that began before ours committed locks our row for a moment, and only then
    /// sees that it is not pending any more. The rows that were claimed meanwhile do not wait for long.
    fn passed_over(
        &self,
        call: &Call,
        settled: Vec<(Claim<T::Key>, Verdict)>,
        answers: Vec<Result<Receipt, SettleCause>>,
    ) -> Vec<Result<Receipt, SettleError<T::Key>>> {
        let settle = |((claim, verdict), answer)| match answer {
            Ok(receipt) => Ok(receipt),
            Err(SettleCause::Store(error)) if error.kind() == StoreErrorKind::Contended => {
                let within = Place::Begun;
                let again = self.run_in(call, |conn, place| {
                    let mut settle = |conn: &mut D::Conn, _| {
                        protocol::settle::<T, D>(conn, &claim, &verdict, &self.rules, within)
                    };
                    D::waiting(conn, Wait::AtMost(PASSED_OVER_AFTER), place, &mut settle).map(Ok)
                });
                let cause = match again {
                    Ok(Some(Ok(receipt))) => return Ok(receipt),
                    Ok(Some(Err(cause))) => cause,
                    Ok(None) => SettleCause::Store(error),
                    Err(error) => SettleCause::Store(error),
                };
                Err(SettleError::new(cause, claim))
            }
            Err(cause) => Err(SettleError::new(cause, claim)),
        };
        settled.into_iter().zip(answers).map(settle).collect()
    }
}

/// Refuses a request that this table cannot serve, before a connection is taken.
fn checked<T: ClaimTable>(ask: &ClaimRequest) -> Result<(), StoreError> {
    Ok(protocol::check_request(&T::DECLARATION, ask)?)
}

/// One answer for each claim; a failure of the whole is handed to each of them.
fn each<K>(
    settled: Vec<(Claim<K>, Verdict)>,
    answers: Result<Vec<Result<Receipt, SettleCause>>, StoreError>,
) -> Vec<Result<Receipt, SettleError<K>>> {
    let claims = settled.into_iter().map(|(claim, _)| claim);
    match answers {
        Ok(answers) => claims
            .zip(answers)
            .map(|(claim, answer)| answer.map_err(|cause| SettleError::new(cause, claim)))
            .collect(),
        Err(error) => {
            let again = || match error.input() {
                Some(input) => input.clone().into(),
                None => StoreError::new(error.kind(), "settling", error.to_string()),
            };
            claims.map(|claim| Err(SettleError::new(SettleCause::Store(again()), claim))).collect()
        }
    }
}
