//! The worker processes, and the signals sent to them.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use claimstore::core::WorkerId;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::Failure;
use crate::args::Assignment;
use crate::orders::GO;
use crate::worker::HOLDING;

/// One worker process. Dropping it kills the process and waits for its end.
pub(crate) struct Member {
    pub(crate) worker: WorkerId,
    child: Child,
    orders: Option<ChildStdin>,
    holding: Arc<AtomicBool>,
}

impl Member {
    /// Starts this program once more. It waits for its first `go`.
    pub(crate) fn start(assignment: &Assignment) -> Result<Self, Failure> {
        let mut command = Command::new(env::current_exe()?);
        assignment.address.hand_to(&mut command);
        // In a process group of its own: keys pressed at the terminal reach the supervisor alone, and a
        // worker stops and goes on only when the script says so.
        command.args(assignment.arguments()).process_group(0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let orders = child.stdin.take();
        let holding = Arc::new(AtomicBool::new(false));
        if let Some(said) = child.stdout.take() {
            let holding = holding.clone();
            thread::spawn(move || {
                for line in BufReader::new(said).lines().map_while(Result::ok) {
                    holding.fetch_or(line == HOLDING, Ordering::AcqRel);
                }
            });
        }
        Ok(Self { worker: assignment.worker.clone(), child, orders, holding })
    }

    /// Lets it on. It need not be running: the order waits in the pipe.
    pub(crate) fn go(&mut self) -> Result<(), Failure> {
        let orders = self.orders.as_mut().ok_or("it has been dismissed")?;
        writeln!(orders, "{GO}").and_then(|()| orders.flush()).map_err(|why| self.gone(&why.to_string()))
    }

    /// It has said that it holds a claim with the result ready.
    pub(crate) fn holds(&self) -> bool {
        self.holding.load(Ordering::Acquire)
    }

    /// Kills it with SIGKILL and waits until it is gone.
    pub(crate) fn kill(mut self) -> Result<(), Failure> {
        self.signal(Signal::SIGKILL)?;
        self.child.wait()?;
        Ok(())
    }

    /// Stops it with SIGSTOP and waits until the system says that it has stopped.
    pub(crate) fn stop(&self) -> Result<(), Failure> {
        self.signal(Signal::SIGSTOP)?;
        match waitpid(self.pid()?, Some(WaitPidFlag::WUNTRACED))? {
            WaitStatus::Stopped(..) => Ok(()),
            other => Err(self.gone(&format!("{other:?}"))),
        }
    }

    /// Lets it run again after [`stop`](Member::stop).
    pub(crate) fn resume(&self) -> Result<(), Failure> {
        self.signal(Signal::SIGCONT)
    }

    /// Fails where it has ended, which no worker does before it is dismissed.
    pub(crate) fn check(&mut self) -> Result<(), Failure> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => Err(self.gone(&status.to_string())),
        }
    }

    /// There are no more orders; it ends after the file in its hand.
    pub(crate) fn dismiss(&mut self) {
        self.orders = None;
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> Result<bool, Failure> {
        Ok(self.child.try_wait()?.is_some())
    }

    fn signal(&self, signal: Signal) -> Result<(), Failure> {
        Ok(kill(self.pid()?, signal)?)
    }

    fn pid(&self) -> Result<Pid, Failure> {
        Ok(Pid::from_raw(i32::try_from(self.child.id())?))
    }

    fn gone(&self, how: &str) -> Failure {
        format!("{} has ended too early: {how}", self.worker).into()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // SIGKILL also ends a process that is stopped. One that has ended already is no fault.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
