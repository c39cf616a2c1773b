//! Waiting, which is never only that: the progress is shown and an interruption heard meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use claimstore::core::{Backoff, RecoveryPolicy, StoreErrorKind};

use crate::Failure;
use crate::database::Database;
use crate::progress::Progress;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// How long one look may find nothing alive.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a look has found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// What was waited for is there.
    There,
    /// Not yet, and somebody is at it; that may take as long as it takes.
    Underway,
    /// Not yet.
    Nothing,
}

/// Ctrl-C, or a request to end.
#[derive(Debug)]
pub(crate) struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted; the workers are ended and nothing is left behind")
    }
}
impl std::error::Error for Interrupted {}

/// Whether this run is to end.
#[derive(Clone)]
pub(crate) struct Interruption(Arc<AtomicBool>);

impl Interruption {
    /// Hears Ctrl-C, SIGTERM and SIGHUP from now on.
    pub(crate) fn hear() -> Result<Self, Failure> {
        let heard = Arc::new(AtomicBool::new(false));
        let to = heard.clone();
        ctrlc::set_handler(move || to.store(true, Ordering::Release))?;
        Ok(Self(heard))
    }

    pub(crate) fn check(&self) -> Result<(), Interrupted> {
        if self.0.load(Ordering::Acquire) { Err(Interrupted) } else { Ok(()) }
    }
}

pub(crate) struct Watch<'a> {
    database: &'a dyn Database,
    progress: Progress,
    interruption: Interruption,
    recovers: bool,
    /// Claims recovered so far.
    pub(crate) recovered: usize,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(database: &'a dyn Database, progress: Progress, interruption: Interruption) -> Self {
        Self { database, progress, interruption, recovers: false, recovered: 0 }
    }

    /// From now on abandoned claims are recovered while waiting. Nobody else recovers: until here, a claim
    /// that the table shows cannot be lost before the next line.
    pub(crate) fn start_recovering(&mut self) {
        self.recovers = true;
    }

    /// No claim is recovered until it is started again.
    pub(crate) fn stop_recovering(&mut self) {
        self.recovers = false;
    }

    /// Looks again and again until it is there.
    pub(crate) fn until(
        &mut self,
        what: &str,
        mut look: impl FnMut() -> Result<Look, Failure>,
    ) -> Result<(), Failure> {
        let mut quiet_since = Instant::now();
        loop {
            match look()? {
                Look::There => return Ok(()),
                Look::Underway => quiet_since = Instant::now(),
                Look::Nothing if quiet_since.elapsed() > PATIENCE => {
                    return Err(format!("waited {} s in vain until {what}", PATIENCE.as_secs()).into());
                }
                Look::Nothing => {}
            }
            self.pass()?;
        }
    }

    /// Goes on until no job waits or runs, as long as `check` finds no fault.
    pub(crate) fn until_done(
        &mut self,
        mut check: impl FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        while !self.progress.is_complete() {
            check()?;
            self.pass()?;
        }
        Ok(())
    }

    /// What is done between two looks.
    fn pass(&mut self) -> Result<(), Failure> {
        self.interruption.check()?;
        if self.recovers {
            self.recover()?;
        }
        self.progress.show(self.database)?;
        thread::sleep(PAUSE);
        Ok(())
    }

    fn recover(&mut self) -> Result<(), Failure> {
        // The grace is small because the leases are; an application leaves its holders more.
        let policy = RecoveryPolicy::default()
            .grace(Duration::from_millis(200))
            .backoff(Backoff::fixed(Duration::ZERO));
        match self.database.recover(&policy, 100) {
            Ok(recovered) => self.recovered += recovered.rows.len(),
            Err(busy) if busy.kind() == StoreErrorKind::Contended => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Shows a line without tearing the bar.
    pub(crate) fn say(&self, line: &str) {
        self.progress.say(line);
    }
}
