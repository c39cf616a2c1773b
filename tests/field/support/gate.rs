//! A connection that stands still where a test wants it to, and waiting for what others do.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use diesel::connection::{Connection, InstrumentationEvent};

/// Long enough for everything that is expected to come.
pub(crate) const PATIENT: Duration = Duration::from_secs(60);

/// One stop of one connection.
pub(crate) struct Gate {
    reached: Receiver<()>,
    go: Sender<()>,
}

impl Gate {
    /// Lets `conn` stand still, once, at the first event for which `stop` says so.
    pub(crate) fn on(
        conn: &mut impl Connection,
        mut stop: impl FnMut(&InstrumentationEvent<'_>) -> bool + Send + 'static,
    ) -> Gate {
        let (says, reached) = channel();
        let (go, may) = channel();
        let mut gate = Some((says, may));
        conn.set_instrumentation(move |event: InstrumentationEvent<'_>| {
            if gate.is_some() && stop(&event) {
                let (says, may) = gate.take().expect("it is some");
                // Where the test has ended already nobody is left to wait for.
                if says.send(()).is_ok() {
                    let _ = may.recv_timeout(PATIENT);
                }
            }
        });
        Gate { reached, go }
    }

    /// Between the first statement and the next one, transaction or not.
    pub(crate) fn after_the_first_statement(conn: &mut impl Connection) -> Gate {
        let mut first_is_over = false;
        Gate::on(conn, move |event| match event {
            InstrumentationEvent::FinishQuery { .. } => {
                first_is_over = true;
                false
            }
            InstrumentationEvent::StartQuery { .. } | InstrumentationEvent::BeginTransaction { .. } => {
                first_is_over
            }
            _ => false,
        })
    }

    /// Waits until the connection stands still.
    pub(crate) fn reached(&self) {
        self.reached.recv_timeout(PATIENT).expect("the connection comes to the gate");
    }

    /// Lets it go on.
    pub(crate) fn open(self) {
        self.go.send(()).expect("it stands at the gate");
    }
}

/// Waits until `is_so`.
#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENT, "it never came to this: {what}");
        // sleep: asks the server again and again for what another connection does; nothing rests on how long.
        thread::sleep(Duration::from_millis(2));
    }
}
