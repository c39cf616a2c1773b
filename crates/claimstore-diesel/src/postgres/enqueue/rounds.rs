//! Looking again until each key is either free or found.

use std::collections::HashSet;

use claimstore_core::{StoreError, StoreErrorKind};
use diesel::QueryResult;
use diesel::connection::Connection;
use diesel::pg::PgConnection;
use diesel::result::Error;

use super::change::Change;
use super::group::{Found, Group, groups};
use super::put::Put;
use crate::job::NewJob;
use crate::protocol::Answer;
use crate::unique::Enqueued;

/// In each of these somebody else has taken one of the keys or set it free between two of our statements.
const ROUNDS: usize = 20;

/// A key that was in nobody's hands and could not be had either.
#[derive(Debug, thiserror::Error)]
#[error(
    "key {key:?} of kind {kind:?} was neither free nor to be seen, {ROUNDS} times in a row: it is taken and \
     set free faster than it can be looked at (enqueue again), or a trigger or a row-level security policy \
     hides rows from this role"
)]
struct Elusive {
    kind: String,
    key: String,
}

/// What was found for each group, or the one that has to be looked at again.
type Round<'g, 'a> = Result<Vec<Found>, &'g Group<'a>>;

pub(super) fn enqueue(conn: &mut PgConnection, jobs: &[NewJob]) -> Answer<Vec<Enqueued>> {
    let groups = groups(jobs);
    let mut elusive = None;
    for _ in 0..ROUNDS {
        let round = match groups.as_slice() {
            // It holds nothing when its round has failed.
            [_] => round(conn, &groups)?,
            _ => undone_unless_all(conn, &groups)?,
        };
        match round {
            Ok(found) => return Ok(Ok(in_order(&groups, found, jobs.len()))),
            Err(group) => elusive = Some(group.job()),
        }
    }
    let (kind, key) = elusive.map(|job| (job.kind.clone(), job.unique.clone())).unwrap_or_default();
    let elusive = Elusive { kind, key: key.unwrap_or_default() };
    Ok(Err(StoreError::new(StoreErrorKind::Contended, "enqueueing", elusive)))
}

/// A round in a savepoint. The next one begins without any lock, and so takes all of them in order again.
fn undone_unless_all<'g, 'a>(conn: &mut PgConnection, groups: &'g [Group<'a>]) -> QueryResult<Round<'g, 'a>> {
    // The first failure is kept, also where the rollback fails after it.
    let mut first = None;
    let outcome = conn.transaction(|conn| {
        let failed = match round(conn, groups) {
            Ok(Ok(found)) => return Ok(found),
            Ok(Err(group)) => Ok(group),
            Err(error) => Err(error),
        };
        first = Some(failed);
        Err(Error::RollbackTransaction)
    });
    match (outcome, first) {
        (Ok(found), _) => Ok(Ok(found)),
        (Err(_), Some(first)) => first.map(Err),
        (Err(error), None) => Err(error),
    }
}

fn round<'g, 'a>(conn: &mut PgConnection, groups: &'g [Group<'a>]) -> QueryResult<Round<'g, 'a>> {
    let mut found = Put::of(groups).send(conn)?;
    if let Some(lost) = found.iter().position(Option::is_none) {
        return Ok(Err(&groups[lost]));
    }
    let mut change = Change::default();
    let mut asked = HashSet::new();
    for (group, found) in groups.iter().zip(&found) {
        if let (Some(Found::Waiting(id)), Some(wish)) = (found, group.change()) {
            change.push(*id, &wish);
            asked.insert(*id);
        }
    }
    for id in change.send(conn)? {
        asked.remove(&id);
    }
    // What is left was claimed, finished or deleted between the two statements.
    let mut all = Vec::with_capacity(groups.len());
    for (group, found) in groups.iter().zip(found.drain(..)) {
        match found {
            Some(found) if !matches!(found, Found::Waiting(id) if asked.contains(&id)) => all.push(found),
            _ => return Ok(Err(group)),
        }
    }
    Ok(Ok(all))
}

fn in_order(groups: &[Group<'_>], found: Vec<Found>, len: usize) -> Vec<Enqueued> {
    let mut answers: Vec<(usize, Enqueued)> = Vec::with_capacity(len);
    for (group, found) in groups.iter().zip(found) {
        answers.extend(group.answers(found));
    }
    answers.sort_unstable_by_key(|(place, _)| *place);
    answers.into_iter().map(|(_, answer)| answer).collect()
}
