//! Ending one claim, and keeping one in force.

use claimstore_core::{
    Claim, Fenced, InputError, LateWrite, Receipt, Seen, SettleCause, Settlement, Verdict, WorkerId,
    explain_unsettled,
};
use diesel::QueryResult;

use super::check::check_verdict;
use super::claim::{once, seen};
use super::{Answer, Rules, events};
use crate::dialect::{Dialect, Place};
use crate::event::NewEvent;
use crate::query;
use crate::table::{ClaimOn, ClaimTable};

pub(crate) fn settle<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    claim: &Claim<T::Key>,
    verdict: &Verdict,
    rules: &Rules,
    place: Place,
) -> Answer<Receipt, SettleCause> {
    let to = match settlement::<T>(claim, verdict, rules) {
        Ok(to) => to,
        Err(input) => return Ok(Err(SettleCause::Store(input.into()))),
    };
    let note = events::settled::<T>(rules, claim, verdict, &to);
    let place = if note.is_some() { place.whole() } else { place };
    once::<D, _>(conn, place, &mut |conn| {
        if D::execute(conn, query::settle::<T>(claim, &to))? == 1 {
            events::write::<D>(conn, note.as_slice())?;
            return Ok(Ok(Receipt { state: to.to, already: false }));
        }
        let seen = seen::<T, D>(conn, claim.key())?;
        unsettled::<T, D>(conn, claim, verdict, &to, seen.as_ref(), place)
    })
}

/// What this verdict writes on this table.
pub(super) fn settlement<T: ClaimTable>(
    claim: &Claim<T::Key>,
    verdict: &Verdict,
    rules: &Rules,
) -> Result<Settlement, InputError> {
    let mut to = verdict.settlement(&claim.tally(), &claim.budget(), &rules.retry, fastrand::f64());
    check_verdict(&T::DECLARATION, verdict, &mut to)?;
    Ok(to)
}

/// Explains a settlement that changed nothing, and records a late writer where the transaction is ours.
pub(super) fn unsettled<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    claim: &Claim<T::Key>,
    verdict: &Verdict,
    to: &Settlement,
    seen: Option<&Seen>,
    place: Place,
) -> Answer<Receipt, SettleCause> {
    let table = &T::DECLARATION;
    let key = T::key_text(claim.key());
    // Only what the table stores can be compared.
    let mut want = to.clone();
    if let Some(seen) = seen {
        let columns = &table.columns;
        let stored = |column: Option<&str>, want: &mut i32, seen: i32| {
            if column.is_none() {
                *want = seen;
            }
        };
        stored(columns.failures, &mut want.tally.failures, seen.tally.failures);
        stored(columns.crashes, &mut want.tally.crashes, seen.tally.crashes);
        stored(columns.interruptions, &mut want.tally.interruptions, seen.tally.interruptions);
    }
    let explained = explain_unsettled(table.table, key, claim.fence(), &want, seen);
    match explained {
        Err(SettleCause::Fenced(mut fenced)) => {
            let wanted = (claim.worker(), verdict.verb(), verdict.error());
            late::<D>(conn, &mut fenced, wanted, table.events, place)?;
            Ok(Err(SettleCause::Fenced(fenced)))
        }
        other => Ok(other),
    }
}

/// Records a refused late writer, or hands it to the caller: the caller's transaction must roll back first,
/// and a table without events has nowhere to put it.
pub(super) fn late<D: Dialect>(
    conn: &mut D::Conn,
    fenced: &mut Fenced,
    (worker, verb, error): (&WorkerId, &str, Option<&str>),
    events: bool,
    place: Place,
) -> QueryResult<()> {
    let late = LateWrite {
        table: fenced.table.to_owned(),
        key: fenced.key.clone(),
        worker: worker.clone(),
        held: fenced.held,
        now: fenced.now.clone(),
        verb: verb.to_owned(),
        error: error.map(str::to_owned),
    };
    match place {
        Place::Own(_) | Place::Begun if events => D::record(conn, &[NewEvent::late(&late)])?,
        _ => fenced.late = Some(Box::new(late)),
    }
    Ok(())
}

pub(crate) fn guard<T: ClaimOn<D>, D: Dialect>(
    conn: &mut D::Conn,
    claim: &Claim<T::Key>,
) -> Answer<(), SettleCause> {
    if D::execute(conn, query::guard::<T>(claim))? == 1 {
        return Ok(Ok(()));
    }
    let seen = seen::<T, D>(conn, claim.key())?;
    Ok(Err(super::renew::lost::<T>(claim.key(), claim.fence(), seen.as_ref())))
}
