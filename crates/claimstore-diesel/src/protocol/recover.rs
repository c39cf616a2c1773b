//! Ending abandoned claims: look, decide, write under guards.

use std::collections::HashMap;

use claimstore_core::{
    Expired, Recovered, RecoveredRow, RecoveryAction, RecoveryPolicy, RecoveryPreview, StoreError,
    StoreErrorKind,
};
use diesel::QueryResult;
use diesel::result::Error;

use super::check::check_recovery;
use super::claim::apart;
use super::{Answer, events};
use crate::dialect::{Dialect, Place};
use crate::query::{self, ExpiredRow, Touched};
use crate::table::ClaimOn;

/// What was found: rows with what becomes of each, and those the policy leaves.
struct Look<K> {
    decided: Vec<(Expired<K>, RecoveryAction)>,
    left: Vec<Expired<K>>,
}

pub(crate) fn preview<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    policy: &RecoveryPolicy,
    limit: usize,
) -> Answer<RecoveryPreview<T::Key>> {
    if let Err(input) = check_recovery(&T::DECLARATION, policy, limit) {
        return Ok(Err(input.into()));
    }
    let Look { decided: mut rows, left } = look::<T, D>(conn, policy, limit)?;
    rows.extend(left.into_iter().map(|row| (row, RecoveryAction::Leave)));
    rows.sort_by(|(a, _), (b, _)| (a.until, &a.key).cmp(&(b.until, &b.key)));
    Ok(Ok(RecoveryPreview { rows }))
}

pub(crate) fn recover<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    policy: &RecoveryPolicy,
    limit: usize,
    place: Place,
) -> Answer<Recovered<T::Key>> {
    if let Err(input) = check_recovery(&T::DECLARATION, policy, limit) {
        return Ok(Err(input.into()));
    }
    let Look { decided, left } = look::<T, D>(conn, policy, limit)?;
    let mut recovered = Recovered { rows: Vec::new(), left: left.len(), failed: Vec::new() };
    if decided.is_empty() {
        return Ok(Ok(recovered));
    }
    match write::<T, D>(conn, policy, &decided, place) {
        Ok(rows) => recovered.rows = rows,
        // One bad row must not wedge the others: each on its own.
        Err(error) if is_of_a_row::<D>(&error, place) => {
            for one in decided.chunks(1) {
                match write::<T, D>(conn, policy, one, place) {
                    Ok(rows) => recovered.rows.extend(rows),
                    Err(error) if is_of_a_row::<D>(&error, place) => {
                        let error = StoreError::new(StoreErrorKind::Constraint, "recovering", error);
                        recovered.failed.push((one[0].0.key.clone(), error));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Err(error) => return Err(error),
    }
    Ok(Ok(recovered))
}

/// The database refused a value or raised from a trigger, as opposed to being unable to work.
pub(super) fn is_of_a_row<D: Dialect>(error: &Error, place: Place) -> bool {
    let kind = D::classify(error, place == Place::Callers).kind;
    matches!(kind, StoreErrorKind::Constraint | StoreErrorKind::Other)
}

/// Expired rows with what becomes of each, and those the policy leaves; reads on past the latter, so that
/// a page full of them hides nothing (field report H11).
fn look<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    policy: &RecoveryPolicy,
    limit: usize,
) -> QueryResult<Look<T::Key>> {
    let (mut decided, mut left) = (Vec::new(), Vec::new());
    let mut after = None;
    while decided.len() < limit {
        let page: Vec<ExpiredRow<T>> =
            D::load(conn, query::expiring::<T>(policy.grace_span(), limit, after))?;
        let last = page.len() < limit;
        after = page.last().map(|ExpiredRow(row)| (row.until, row.key.clone()));
        for ExpiredRow(row) in page {
            let has_word = |state| T::DECLARATION.words.word(state).is_some();
            match policy.decide(&row, has_word, fastrand::f64()) {
                RecoveryAction::Leave => left.push(row),
                action if decided.len() < limit => decided.push((row, action)),
                _ => break,
            }
        }
        if last {
            break;
        }
    }
    Ok(Look { decided, left })
}

fn write<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    policy: &RecoveryPolicy,
    decided: &[(Expired<T::Key>, RecoveryAction)],
    place: Place,
) -> QueryResult<Vec<RecoveredRow<T::Key>>> {
    let noted = if T::DECLARATION.events { place.whole() } else { place };
    apart::<D, _>(conn, noted, &mut |conn| {
        let pairs = decided.iter().map(|(row, action)| (row, *action));
        let changed: Vec<Touched<T>> = D::load(conn, query::recover::<T>(pairs, policy.grace_span()))?;
        let mut changed: HashMap<T::Key, _> = changed.into_iter().map(|row| (row.key, row.fence)).collect();
        let (mut rows, mut notes) = (Vec::new(), Vec::new());
        for (row, action) in decided {
            let Some(fence) = changed.remove(&row.key) else { continue };
            notes.extend(events::recovered::<T>(row, *action, fence));
            rows.push(RecoveredRow {
                key: row.key.clone(),
                fence,
                worker: row.worker.clone(),
                action: *action,
            });
        }
        events::write::<D>(conn, &notes)?;
        Ok(rows)
    })
}
