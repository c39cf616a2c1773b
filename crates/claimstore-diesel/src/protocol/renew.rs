//! Extending leases, and taking up a claim from its token.

use std::collections::HashMap;
use std::time::Duration;

use claimstore_core::{
    AlreadySettled, Claim, ClaimParts, ClaimToken, Fence, Fenced, LocalInstant, Now, RenewError, Renewal,
    Seen, SettleCause, State, check_lease, check_limit,
};

use super::Answer;
use super::claim::{observed, once, seen};
use super::settle::late;
use crate::dialect::{Dialect, Place};
use crate::query::{self, Touched};
use crate::table::{ClaimOn, ClaimTable};

pub(crate) fn renew_all<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    claims: &[ClaimToken<T::Key>],
    lease: Duration,
    place: Place,
) -> Answer<Vec<Renewal>> {
    if let Err(input) = check_lease("lease", lease) {
        return Ok(Err(input.into()));
    }
    if claims.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    if let Err(input) = check_limit(claims.len()) {
        return Ok(Err(input.into()));
    }
    if let Err(input) = super::batch::check_once(claims.iter().map(|claim| (&claim.key, claim.fence))) {
        return Ok(Err(input.into()));
    }
    once::<D, _>(conn, place, &mut |conn| {
        let renewed: Vec<Touched<T>> = D::load(conn, query::renew::<T>(claims, lease))?;
        let renewed: HashMap<T::Key, _> =
            renewed.into_iter().map(|row| (row.key, (row.fence, row.until))).collect();
        let mut answers = Vec::with_capacity(claims.len());
        for claim in claims {
            answers.push(match renewed.get(&claim.key) {
                Some((fence, until)) if *fence == claim.fence => Renewal::Renewed(*until),
                _ => unrenewed::<T, D>(conn, claim, place)?,
            });
        }
        Ok(Ok(answers))
    })
}

/// Takes the one answer of a renewal of this claim alone, which was asked for at `asked`.
pub(crate) fn extend<T: ClaimTable>(
    claim: &mut Claim<T::Key>,
    answer: Option<Renewal>,
    asked: LocalInstant,
    lease: Duration,
) -> Result<(), RenewError> {
    match answer {
        Some(Renewal::Renewed(until)) => {
            claim.extended(until, asked, lease);
            Ok(())
        }
        Some(Renewal::AlreadySettled(state)) => Err(RenewError::AlreadySettled(AlreadySettled {
            table: T::DECLARATION.table,
            key: T::key_text(claim.key()),
            fence: claim.fence(),
            state,
        })),
        Some(Renewal::Fenced(fenced)) => Err(RenewError::Fenced(fenced)),
        _ => Err(RenewError::Busy),
    }
}

fn unrenewed<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    claim: &ClaimToken<T::Key>,
    place: Place,
) -> diesel::QueryResult<Renewal> {
    let seen = seen::<T, D>(conn, &claim.key)?;
    if is_ours::<T>(claim, seen.as_ref()) {
        return Ok(Renewal::Busy);
    }
    Ok(match lost::<T>(&claim.key, claim.fence, seen.as_ref()) {
        SettleCause::AlreadySettled(settled) => Renewal::AlreadySettled(settled.state),
        SettleCause::Fenced(mut fenced) => {
            late::<D>(conn, &mut fenced, (&claim.worker, "renew", None), T::DECLARATION.events, place)?;
            Renewal::Fenced(fenced)
        }
        _ => Renewal::Busy,
    })
}

/// Running under this fence and, where stored, this worker.
fn is_ours<T: ClaimTable>(claim: &ClaimToken<T::Key>, seen: Option<&Seen>) -> bool {
    seen.is_some_and(|seen| {
        seen.state == State::Running
            && seen.fence == claim.fence
            && (T::DECLARATION.columns.worker.is_none() || seen.worker.as_ref() == Some(&claim.worker))
    })
}

/// What a claim that is not in force is: settled before under this very fence, or lost.
pub(super) fn lost<T: ClaimTable>(key: &T::Key, held: Fence, seen: Option<&Seen>) -> SettleCause {
    let table = T::DECLARATION.table;
    let key = T::key_text(key);
    match seen {
        Some(seen) if seen.fence == held && seen.state != State::Running => {
            SettleCause::AlreadySettled(AlreadySettled { table, key, fence: held, state: seen.state })
        }
        seen => SettleCause::Fenced(Box::new(Fenced { table, key, held, now: Now::of(seen), late: None })),
    }
}

pub(crate) fn resume<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    token: &ClaimToken<T::Key>,
) -> Answer<Claim<T::Key>, RenewError> {
    let asked = LocalInstant::now();
    let (seen, discard) =
        observed::<T, D>(conn, &token.key)?.map_or((None, false), |row| (Some(row.seen), row.discard));
    if !is_ours::<T>(token, seen.as_ref()) {
        return Ok(Err(match lost::<T>(&token.key, token.fence, seen.as_ref()) {
            SettleCause::AlreadySettled(settled) => RenewError::AlreadySettled(settled),
            SettleCause::Fenced(fenced) => RenewError::Fenced(fenced),
            SettleCause::Store(error) => RenewError::Store(error),
            _ => RenewError::Busy,
        }));
    }
    let Some(seen) = seen else { return Ok(Err(RenewError::Busy)) };
    let left = seen.until.map(|until| seen.clock.until(until));
    let parts = ClaimParts {
        key: token.key.clone(),
        fence: token.fence,
        worker: token.worker.clone(),
        until: seen.until,
        tally: seen.tally,
        budget: seen.budget,
        discard,
    };
    Ok(Ok(Claim::granted(parts, asked, left)))
}
