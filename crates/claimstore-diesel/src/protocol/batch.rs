//! Ending several claims, alone or together with claiming the next.

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::hash::Hash;

use claimstore_core::{
    Batch, Claim, ClaimRequest, Fence, InputError, LocalInstant, Receipt, RetryPolicy, SettleCause,
    Settlement, State, StoreError, StoreErrorKind, Verdict, check_limit,
};
use diesel::QueryResult;

use super::Answer;
use super::check::check_request;
use super::claim::{batch, once, seen};
use super::settle::{settlement, unsettled};
use crate::dialect::{Dialect, Place};
use crate::query::{self, Marked, Touched, WonOrTouched};
use crate::table::ClaimOn;

type Answers = Vec<Result<Receipt, SettleCause>>;
type Held<K> = (Claim<K>, Verdict);

/// Refuses a claim that stands twice: one statement would change one row for both.
pub(super) fn check_once<'a, K: Eq + Hash + Debug + 'a>(
    claims: impl Iterator<Item = (&'a K, Fence)>,
) -> Result<(), InputError> {
    let mut met = HashSet::new();
    for (key, fence) in claims {
        if !met.insert((key, fence)) {
            return Err(InputError::Twice { key: format!("{key:?}") });
        }
    }
    Ok(())
}

/// What each verdict writes. A batch with one impossible verdict or one row twice is refused whole,
/// before anything is written.
fn settlements<T: ClaimOn<D>, D: Dialect>(
    held: &[Held<T::Key>],
    policy: &RetryPolicy,
) -> Result<Vec<Settlement>, InputError> {
    check_once(held.iter().map(|(claim, _)| (claim.key(), claim.fence())))?;
    check_limit(held.len())?;
    held.iter().map(|(claim, verdict)| settlement::<T>(claim, verdict, policy)).collect()
}

pub(crate) fn settle_all<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    held: &[Held<T::Key>],
    policy: &RetryPolicy,
    place: Place,
) -> Answer<Answers> {
    if held.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    let to = match settlements::<T, D>(held, policy) {
        Ok(to) => to,
        Err(input) => return Ok(Err(input.into())),
    };
    once::<D, _>(conn, place, &mut |conn| {
        let pairs = held.iter().map(|(claim, _)| claim).zip(&to);
        let done: Vec<Touched<T>> = D::load(conn, query::settle_many::<T>(pairs))?;
        let done = done.into_iter().map(|row| (row.key, row.fence)).collect();
        answers::<T, D>(conn, held, &to, &done, place).map(Ok)
    })
}

/// One answer for each claim, in the order given.
fn answers<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    held: &[Held<T::Key>],
    to: &[Settlement],
    done: &HashMap<T::Key, Fence>,
    place: Place,
) -> QueryResult<Answers> {
    let mut answers = Vec::with_capacity(held.len());
    for ((claim, verdict), to) in held.iter().zip(to) {
        if done.get(claim.key()) == Some(&claim.fence()) {
            answers.push(Ok(Receipt { state: to.to, already: false }));
            continue;
        }
        let seen = seen::<T, D>(conn, claim.key())?;
        let in_force = seen.as_ref().is_some_and(|seen| {
            seen.state == State::Running
                && seen.fence == claim.fence()
                && seen.worker.as_ref().is_none_or(|worker| worker == claim.worker())
        });
        answers.push(if in_force {
            let why = "the row is locked by another transaction; settle it again";
            Err(SettleCause::Store(StoreError::new(StoreErrorKind::Contended, "settling", why)))
        } else {
            unsettled::<T, D>(conn, claim, verdict, to, seen.as_ref(), place)?
        });
    }
    Ok(answers)
}

pub(crate) fn settle_and_claim<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    held: &[Held<T::Key>],
    ask: &ClaimRequest,
    policy: &RetryPolicy,
    place: Place,
) -> Answer<(Answers, Batch<T::Key, T>)> {
    let to = match settlements::<T, D>(held, policy)
        .and_then(|to| check_request(&T::DECLARATION, ask).map(|()| to))
    {
        Ok(to) => to,
        Err(input) => return Ok(Err(input.into())),
    };
    let asked = LocalInstant::now();
    let rows: Vec<WonOrTouched<T>> = once::<D, _>(conn, place, &mut |conn| {
        let pairs: Vec<_> = held.iter().map(|(claim, _)| claim).zip(&to).collect();
        D::settle_and_claim::<T>(conn, &pairs, ask)
    })?;
    let (mut won, mut done) = (Vec::new(), HashMap::new());
    for row in rows {
        match row {
            WonOrTouched::Won(row) => won.push(*row),
            WonOrTouched::Touched(key, fence) => {
                done.insert(key, fence);
            }
        }
    }
    // From here on both halves are written: an answer that cannot be had must not lose them.
    let answered = once::<D, _>(conn, place, &mut |conn| answers::<T, D>(conn, held, &to, &done, place));
    let answered = answered.unwrap_or_else(|error| unknown(held, &to, &done, &error));
    let left = ask.limit_rows().saturating_sub(won.len());
    if left > 0 && answered.iter().any(Result::is_err) {
        // The row of a lost claim may have taken a place among the rows that the limit found, only to be
        // left out as one of ours. It is not: it may be claimed like any other.
        let more = once::<D, _>(conn, place, &mut |conn| {
            let ours = held.iter().zip(&answered).filter(|(_, answer)| answer.is_ok());
            let next =
                query::claim_next::<T>(&ask.limit(left)).except(ours.map(|((claim, _), _)| claim.key()));
            D::load(conn, next)
        });
        won.extend(Marked::in_order(more.unwrap_or_default()));
    }
    Ok(Ok((answered, batch::<T, D>(conn, ask, won, asked, policy, place)?)))
}

/// What is known without a further read.
fn unknown<K: Eq + Hash>(
    held: &[Held<K>],
    to: &[Settlement],
    done: &HashMap<K, Fence>,
    error: &diesel::result::Error,
) -> Answers {
    let answer = |((claim, _), to): (&Held<K>, &Settlement)| match done.get(claim.key()) {
        Some(fence) if *fence == claim.fence() => Ok(Receipt { state: to.to, already: false }),
        _ => {
            let why = format!("whether the row was settled is unknown: {error}");
            Err(SettleCause::Store(StoreError::new(StoreErrorKind::Unavailable, "settling", why)))
        }
    };
    held.iter().zip(to).map(answer).collect()
}
