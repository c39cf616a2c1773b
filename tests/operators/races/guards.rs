//! The statements themselves keep to the fence: whoever sends them without having locked the row writes over nobody.

use claimstore::core::{Action, ClaimStore, State};
use claimstore::query::{self, Touched};
use claimstore::{ClaimOn, Dialect, Job, Store};

use crate::bench::{olga, one, shown};
use crate::support::{Database, TestResult, ask, on_both};

on_both! {
    a_statement_with_an_old_fence_writes_nothing
}

fn a_statement_with_an_old_fence_writes_nothing<B: Database>(db: &B) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let (id, other) = (one(db), one(db));
    let old = [shown(db, id), shown(db, other)];
    let step = Action::Cancel.decide(&old[0], &olga(), "claimstore_jobs", |_| true, 0.0)?;
    // The one was claimed since, the other not.
    let claim = db.store().claim(&id, &ask("anna"))?.claimed().expect("it is free").claim;
    let before = db.row(id);
    let mut conn = db.connect();
    let operate = query::operate::<Job>(old.iter().map(|row| (row, &step)));
    let touched: Vec<Touched<Job>> = <B::D as Dialect>::load(&mut conn, operate)?;
    assert_eq!(touched.iter().map(|row| row.key).collect::<Vec<_>>(), [other]);
    assert_eq!((db.row(id), db.state(other)), (before.clone(), State::Cancelled.to_string()));
    let remove = query::remove::<Job>(&old);
    let touched: Vec<Touched<Job>> = <B::D as Dialect>::load(&mut conn, remove)?;
    assert_eq!((touched.len(), db.row(id)), (0, before), "the other one has been cancelled since");
    let now = [shown(db, other)];
    let touched: Vec<Touched<Job>> = <B::D as Dialect>::load(&mut conn, query::remove::<Job>(&now))?;
    assert_eq!((touched.len(), db.state(other)), (1, "gone".to_owned()));
    still_hers(db.store(), claim);
    Ok(())
}

fn still_hers<D: Dialect>(store: &Store<Job, D>, claim: claimstore::core::Claim<i64>)
where
    Job: ClaimOn<D>,
{
    assert_eq!(store.complete(claim).map(|receipt| receipt.state).ok(), Some(State::Completed));
}
