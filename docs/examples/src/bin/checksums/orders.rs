//! What a worker process is told while it runs: lines on its standard input.
//!
//! `go` lets it on, the end of the input ends it. The input also ends when the supervisor is gone, however
//! it went, so that no worker outlives it.

use std::io::{BufRead, stdin};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::thread;
use std::time::Duration;

/// Let the worker on: to its first claim, and past the point where it holds.
pub(crate) const GO: &str = "go";

pub(crate) struct Orders(Receiver<()>);

/// No further work is wanted.
#[derive(Debug)]
pub(crate) struct Over;

impl Orders {
    /// Listens on standard input.
    pub(crate) fn listen() -> Self {
        let (to, orders) = channel();
        thread::spawn(move || {
            for line in stdin().lock().lines().map_while(Result::ok) {
                if line == GO && to.send(()).is_err() {
                    break;
                }
            }
        });
        Orders(orders)
    }

    /// Waits for `go`, without a limit.
    pub(crate) fn wait(&self) -> Result<(), Over> {
        self.0.recv().map_err(|_| Over)
    }

    /// Goes on at once, unless it is over.
    pub(crate) fn check(&self) -> Result<(), Over> {
        if matches!(self.0.try_recv(), Err(TryRecvError::Disconnected)) { Err(Over) } else { Ok(()) }
    }

    /// Goes on after this time, or hears sooner that it is over.
    pub(crate) fn rest(&self, time: Duration) -> Result<(), Over> {
        if matches!(self.0.recv_timeout(time), Err(RecvTimeoutError::Disconnected)) {
            Err(Over)
        } else {
            Ok(())
        }
    }
}
