//! What happens in a run, from the first file to the table at the end.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use claimstore::NewJob;
use claimstore::core::{MAX_BATCH, WorkerId};

use crate::Failure;
use crate::args::Assignment;
use crate::crew::Member;
use crate::database::Database;
use crate::files::{self, Checksum};
use crate::place::{Address, Place};
use crate::progress::Progress;
use crate::report::{self, File, Ran};
use crate::watch::{Interruption, Look, Watch};

/// How long workers may take to end once nothing is left to do.
const FAREWELL: Duration = Duration::from_secs(10);

pub(crate) fn run(directory: &Path, server: Option<String>) -> Result<ExitCode, Failure> {
    let interruption = Interruption::hear()?;
    let started = SystemTime::now();
    let paths = files::below(directory)?;
    let place = Place::new(server)?;
    let database = place.address.open()?;
    database.prepare()?;
    let files = enqueue(&*database, paths, &interruption)?;

    let mut recovered = 0;
    if !files.is_empty() {
        let progress = Progress::new(files.len() as u64);
        let mut watch = Watch::new(&*database, progress, interruption.clone());
        work(&*database, &mut watch, directory, &place.address, files.len())?;
        recovered = watch.recovered;
    }
    let ran = Ran { directory: directory.to_owned(), started, files, recovered };
    let shown = report::print(&*database, &ran, &interruption)?;
    Ok(if shown { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One job for each file.
fn enqueue(
    database: &dyn Database,
    paths: Vec<PathBuf>,
    interruption: &Interruption,
) -> Result<Vec<File>, Failure> {
    let mut files = Vec::with_capacity(paths.len());
    for some in paths.chunks(MAX_BATCH) {
        interruption.check()?;
        let jobs = some.iter().map(|path| NewJob::of(&Checksum::of(path))).collect::<Result<Vec<_>, _>>()?;
        let ids = database.enqueue(&jobs)?;
        files.extend(some.iter().zip(ids).map(|(path, job)| File { path: path.clone(), job }));
    }
    Ok(files)
}

/// Four workers: one is killed, one is stopped and lags, two just work.
fn work(
    database: &dyn Database,
    watch: &mut Watch<'_>,
    directory: &Path,
    address: &Address,
    files: usize,
) -> Result<(), Failure> {
    let start = |name: &str, holds: bool| -> Result<Member, Failure> {
        let (worker, directory, address) = (WorkerId::new(name)?, directory.to_owned(), address.clone());
        Member::start(&Assignment { worker, holds, directory, address })
    };
    let mut killed = start("worker-1", true)?;
    let mut stopped = start("worker-2", true)?;
    let mut others = [start("worker-3", false)?, start("worker-4", false)?];

    // Each of the two gets a claim before anybody else may take the last one.
    let abandoned = let_hold(database, watch, &mut killed)?;
    killed.kill()?;
    still_held(database, abandoned)?;
    watch.say(&format!("worker-1 was killed and holds job {}", abandoned.0));

    if files == 1 {
        // The one file there is has to come back first.
        watch.start_recovering();
        watch.until("the killed worker's claim is recovered", || lost(database, abandoned))?;
        watch.stop_recovering();
    }
    let late = let_hold(database, watch, &mut stopped)?;
    stopped.stop()?;
    still_held(database, late)?;
    watch.say(&format!("worker-2 is stopped and holds job {}", late.0));
    // The order waits in the pipe: from here on nothing holds it back but the signal.
    stopped.go()?;

    others.iter_mut().try_for_each(Member::go)?;
    watch.start_recovering();
    watch.until("the stopped worker's claim is recovered", || {
        others.iter_mut().try_for_each(Member::check)?;
        lost(database, late)
    })?;
    stopped.resume()?;
    watch.say(&format!("worker-2 runs again; its claim on job {} is not in force any more", late.0));
    watch.until("the late result is refused and recorded", || {
        Ok(if database.refused()? > 0 { Look::There } else { Look::Nothing })
    })?;

    let mut crew = [stopped].into_iter().chain(others).collect::<Vec<_>>();
    watch.until_done(|| crew.iter_mut().try_for_each(Member::check))?;
    crew.iter_mut().for_each(Member::dismiss);
    let since = Instant::now();
    watch.until("the workers have ended", || {
        let mut all = true;
        for member in &mut crew {
            all &= member.has_ended()?;
        }
        // Who lingers is killed on the way out, and has nothing in hand.
        Ok(if all || since.elapsed() > FAREWELL { Look::There } else { Look::Nothing })
    })
}

/// Lets this worker claim, and waits until it says that it holds a claim and the table shows which.
fn let_hold(
    database: &dyn Database,
    watch: &mut Watch<'_>,
    member: &mut Member,
) -> Result<(i64, i64), Failure> {
    member.go()?;
    let mut held = None;
    watch.until("a worker holds a claim", || {
        member.check()?;
        held = database.held_by(&member.worker)?;
        Ok(match held {
            Some(_) if member.holds() => Look::There,
            Some(_) => Look::Underway,
            None => Look::Nothing,
        })
    })?;
    held.ok_or_else(|| "no claim is held".into())
}

/// The signal has met a holder: nobody has recovered its claim meanwhile.
fn still_held(database: &dyn Database, held: (i64, i64)) -> Result<(), Failure> {
    if database.is_held(held)? { Ok(()) } else { Err("the signal came when no claim was held".into()) }
}

fn lost(database: &dyn Database, held: (i64, i64)) -> Result<Look, Failure> {
    Ok(if database.is_held(held)? { Look::Nothing } else { Look::There })
}
