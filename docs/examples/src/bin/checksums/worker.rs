//! A worker process: claim, work, settle, until there are no more orders.

use std::time::{Duration, Instant};

use claimstore::core::{Claim, Claimed, RenewError, StoreError};
use claimstore::{Job, prelude::*};

use crate::Failure;
use crate::args::Assignment;
use crate::database::{Database, Delivered};
use crate::files::Checksum;
use crate::orders::{Orders, Over};
use crate::sha256;

/// Short, so that an abandoned file need not wait long.
pub(crate) const LEASE: Duration = Duration::from_millis(1_000);

/// What a holding worker says when it holds.
pub(crate) const HOLDING: &str = "holding";

/// Between two looks into an empty queue.
const IDLE: Duration = Duration::from_millis(20);

pub(crate) fn run(assignment: &Assignment) -> Result<(), Failure> {
    // Also a stopped process is to end with its supervisor; it could not hear that its input has ended.
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;

    let database = assignment.address.open()?;
    let orders = Orders::listen();
    let mut holds = assignment.holds;
    let ask = ClaimRequest::new(&assignment.worker).lease(LEASE);
    if orders.wait().is_err() {
        return Ok(());
    }
    while orders.check().is_ok() {
        let Some(claimed) = next(&*database, &ask)? else {
            let _ = orders.rest(IDLE);
            continue;
        };
        let (claim, result) = work(&*database, claimed, assignment);
        if std::mem::take(&mut holds) && hold(&orders).is_err() {
            break;
        }
        settle(&*database, claim, result)?;
    }
    Ok(())
}

fn next(database: &dyn Database, ask: &ClaimRequest) -> Result<Option<Claimed<i64, Job>>, StoreError> {
    match database.claim_next(ask) {
        Ok(batch) => Ok(batch.into_iter().next()),
        Err(error) if error.kind().is_transient() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Computes the digest and renews the claim meanwhile. No transaction is open, no row locked.
fn work(
    database: &dyn Database,
    claimed: Claimed<i64, Job>,
    assignment: &Assignment,
) -> (Claim<i64>, Result<String, String>) {
    let Claimed { row, mut claim } = claimed;
    let file = match row.payload::<Checksum>() {
        Ok(checksum) => assignment.directory.join(checksum.path()),
        Err(why) => return (claim, Err(why.to_string())),
    };
    let mut renewed = Instant::now();
    let digest = sha256::with_beat(&file, || {
        if renewed.elapsed() >= LEASE / 3 {
            // A refusal is met again when the result is sent, and only that answer counts.
            if let Ok(()) | Err(RenewError::Fenced(_)) = database.renew(&mut claim, LEASE) {
                renewed = Instant::now();
            }
        }
    });
    (claim, digest.map_err(|why| format!("cannot be read: {why}")))
}

/// Holds the claim with the result in hand until told to go on. It sends no statement meanwhile: a process
/// that is stopped inside an SQLite transaction would keep the whole file locked.
fn hold(orders: &Orders) -> Result<(), Over> {
    println!("{HOLDING}");
    orders.wait()
}

/// Digest and settlement are written together, or not at all. A file that cannot be read fails for good.
fn settle(database: &dyn Database, claim: Claim<i64>, result: Result<String, String>) -> Result<(), Failure> {
    let worker = claim.worker().clone();
    let refused = match result {
        Ok(digest) => match database.deliver(claim, &digest)? {
            Delivered::Written => None,
            Delivered::Refused(why) => Some(why),
        },
        Err(why) => match database.settle(claim, Verdict::fail_for_good(why)) {
            Ok(_) => None,
            Err(error) => match error.fenced() {
                Some(fenced) => Some(fenced.to_string()),
                None => return Err(error.to_string().into()),
            },
        },
    };
    if let Some(why) = refused {
        eprintln!("{worker}: late, and refused: {why}");
    }
    Ok(())
}
