//! Ending several claims, alone or together with claiming the next.

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::hash::Hash;

use claimstore_core::{
    Batch, Claim, ClaimRequest, Fence, InputError, LocalInstant, Receipt, SettleCause, Settlement, State,
    StoreError, StoreErrorKind, Verdict, check_limit,
};
use diesel::QueryResult;

use super::check::check_request;
use super::claim::{batch, once, seen};
use super::settle::{settlement, unsettled};
use super::{Answer, Rules, events};
use crate::dialect::{Dialect, Place};
use crate::event::NewEvent;
use crate::query::{self, Marked, Touched, WonOrTouched};
use crate::table::{ClaimOn, ClaimTable};

type Answers = Vec<Result<Receipt, SettleCause>>;
type Held<K> = (Claim<K>, Verdict);
type Pair<'a, K> = (&'a Claim<K>, &'a Settlement);

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
    rules: &Rules,
) -> Result<Vec<Settlement>, InputError> {
    check_once(held.iter().map(|(claim, _)| (claim.key(), claim.fence())))?;
    check_limit(held.len())?;
    held.iter().map(|(claim, verdict)| settlement::<T>(claim, verdict, rules)).collect()
}

pub(crate) fn settle_all<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    held: &[Held<T::Key>],
    rules: &Rules,
    place: Place,
) -> Answer<Answers> {
    if held.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    let to = match settlements::<T, D>(held, rules) {
        Ok(to) => to,
        Err(input) => return Ok(Err(input.into())),
    };
    let pairs: Vec<Pair<'_, _>> = held.iter().map(|(claim, _)| claim).zip(&to).collect();
    let halves = halves(&pairs);
    let notes = notes::<T>(rules, held, &to);
    let mut settle = |conn: &mut D::Conn| {
        let mut done = HashMap::with_capacity(held.len());
        for half in &halves {
            let rows: Vec<Touched<T>> = D::load(conn, query::settle_many::<T>(half.iter().copied()))?;
            done.extend(rows.into_iter().map(|row| (row.key, row.fence)));
        }
        events::write_done::<T, D>(conn, &notes, &done)?;
        answers::<T, D>(conn, held, &to, &done, place).map(Ok)
    };
    let place = if halves.len() > 1 || !notes.is_empty() { place.whole() } else { place };
    once::<D, _>(conn, place, &mut settle)
}

/// What is recorded of each settlement that takes place.
fn notes<T: ClaimTable>(
    rules: &Rules,
    held: &[Held<T::Key>],
    to: &[Settlement],
) -> Vec<(T::Key, Fence, NewEvent)> {
    let note = |((claim, verdict), to): (&Held<T::Key>, &Settlement)| {
        let note = events::settled::<T>(rules, claim, verdict, to)?;
        Some((claim.key().clone(), claim.fence(), note))
    };
    held.iter().zip(to).filter_map(note).collect()
}

/// What one statement may end: the rows that are deleted with it, and the others.
fn halves<'a, K>(pairs: &[Pair<'a, K>]) -> Vec<Vec<Pair<'a, K>>> {
    let (gone, kept): (Vec<_>, Vec<_>) = pairs.iter().partition(|(claim, to)| query::is_discarded(claim, to));
    [kept, gone].into_iter().filter(|half| !half.is_empty()).collect()
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
    rules: &Rules,
    place: Place,
) -> Answer<(Answers, Batch<T::Key, T>)> {
    let to = match settlements::<T, D>(held, rules)
        .and_then(|to| check_request(&T::DECLARATION, ask).map(|()| to))
    {
        Ok(to) => to,
        Err(input) => return Ok(Err(input.into())),
    };
    let asked = LocalInstant::now();
    let pairs: Vec<Pair<'_, _>> = held.iter().map(|(claim, _)| claim).zip(&to).collect();
    let halves = halves(&pairs);
    let notes = notes::<T>(rules, held, &to);
    let begun = events::place::<T>(rules, place);
    let begun = if halves.len() > 1 || !notes.is_empty() { begun.whole() } else { begun };
    let (mut won, done) = once::<D, _>(conn, begun, &mut |conn| {
        let rows: Vec<WonOrTouched<T>> = match halves.len() {
            0 | 1 => D::settle_and_claim::<T>(conn, &pairs, ask)?,
            _ => claim_and_settle_halves::<T, D>(conn, &halves, ask)?,
        };
        let (mut won, mut done) = (Vec::new(), HashMap::new());
        for row in rows {
            match row {
                WonOrTouched::Won(row) => won.push(*row),
                WonOrTouched::Touched(key, fence) => {
                    done.insert(key, fence);
                }
            }
        }
        events::write_done::<T, D>(conn, &notes, &done)?;
        events::claimed::<T, D>(conn, rules, ask, &won)?;
        Ok((won, done))
    })?;
    // From here on both halves are written: an answer that cannot be had must not lose them.
    let answered = once::<D, _>(conn, place, &mut |conn| answers::<T, D>(conn, held, &to, &done, place));
    let answered = answered.unwrap_or_else(|error| unknown(held, &to, &done, &error));
    let left = ask.limit_rows().saturating_sub(won.len());
    if left > 0 && answered.iter().any(Result::is_err) {
        // The row of a lost claim may have taken a place among the rows that the limit found, only to be
        // left out as one of ours. It is not: it may be claimed like any other.
        let more = once::<D, _>(conn, events::place::<T>(rules, place), &mut |conn| {
            let ours = held.iter().zip(&answered).filter(|(_, answer)| answer.is_ok());
            let next =
                query::claim_next::<T>(&ask.limit(left)).except(ours.map(|((claim, _), _)| claim.key()));
            let more = D::load(conn, next)?;
            events::claimed::<T, D>(conn, rules, ask, &more)?;
            Ok(more)
        });
        won.extend(Marked::in_order(more.unwrap_or_default()));
    }
    Ok(Ok((answered, batch::<T, D>(conn, ask, won, asked, rules, place)?)))
}

/// The same where no one statement ends all of them. Claiming comes first: a row that is released here is still
/// running then, and takes no place among the rows that the limit finds.
fn claim_and_settle_halves<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    halves: &[Vec<Pair<'_, T::Key>>],
    ask: &ClaimRequest,
) -> QueryResult<Vec<WonOrTouched<T>>> {
    let keys = halves.iter().flatten().map(|(claim, _)| claim.key());
    let won: Vec<Marked<T>> = D::load(conn, query::claim_next::<T>(ask).except(keys))?;
    let mut rows: Vec<_> =
        Marked::in_order(won).into_iter().map(|won| WonOrTouched::Won(Box::new(won))).collect();
    for half in halves {
        let settle = query::settle_many::<T>(half.iter().copied()).passing_over();
        let done: Vec<Touched<T>> = D::load(conn, settle)?;
        rows.extend(done.into_iter().map(|row| WonOrTouched::Touched(row.key, row.fence)));
    }
    Ok(rows)
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
