//! The span of a call: its name and its fields.

use tracing::field::Empty;
use tracing::level_filters::LevelFilter;
use tracing::{Span, debug_span};

/// Whose transaction a call runs in, as it is told.
#[derive(Clone, Copy)]
pub(super) enum Of {
    Store,
    Caller,
}

/// One span per name, all with the same fields: those of OpenTelemetry for databases and messaging where they
/// fit, and our own. What is not known at the start is recorded later or stays empty.
macro_rules! spans {
    ($($doing:literal => $name:ident,)*) => {
        /// The name of the call that an error describes as `doing`.
        pub(super) fn name(doing: &str) -> &'static str {
            match doing {
                $($doing => stringify!($name),)*
                _ => "call",
            }
        }

        /// Opens the span `claimstore.` and the call's name; one that is not in the table is
        /// `claimstore.call`, told apart by its `db.operation.name`.
        pub(super) fn open(
            doing: &'static str,
            table: &'static str,
            system: &'static str,
            of: Of,
        ) -> Span {
            if LevelFilter::current() < LevelFilter::DEBUG {
                return Span::none();
            }
            let transaction = match of {
                Of::Store => "own",
                Of::Caller => "caller",
            };
            match doing {
                $($doing => span!(
                    concat!("claimstore.", stringify!($name)), stringify!($name), table, system, transaction
                ),)*
                other => span!("claimstore.call", other, table, system, transaction),
            }
        }
    };
}

macro_rules! span {
    ($span:expr, $operation:expr, $table:ident, $system:ident, $transaction:ident) => {
        debug_span!(
            target: "claimstore",
            $span,
            otel.kind = "client",
            otel.status_code = Empty,
            db.system.name = $system,
            db.collection.name = $table,
            db.operation.name = $operation,
            db.response.returned_rows = Empty,
            error.type = Empty,
            messaging.destination.name = Empty,
            messaging.batch.message_count = Empty,
            claimstore.transaction = $transaction,
            claimstore.key = Empty,
            claimstore.worker = Empty,
            claimstore.limit = Empty,
            claimstore.outcome = Empty,
            claimstore.reason = Empty,
        )
    };
}

spans! {
    "claiming" => claim,
    "claiming the next" => claim_next,
    "renewing" => renew,
    "renewing several" => renew_all,
    "settling" => settle,
    "settling several" => settle_all,
    "settling with work" => settle_with,
    "settling and claiming" => settle_and_claim,
    "guarding" => guard,
    "resuming" => resume,
    "recovering" => recover,
    "looking for abandoned claims" => preview,
    "enqueueing" => enqueue,
    "recording a late writer" => record_late,
    "pausing" => pause,
    "unpausing" => unpause,
    "setting what is kept" => keep_completed,
    "reading what is set" => queues,
    "showing a row" => show,
    "reading a row" => read,
    "reading a page" => page,
    "counting rows" => counts,
    "explaining a row" => explain,
    "operating" => operate,
    "operating on several" => operate_all,
    "previewing an action" => preview_all,
    "reading history" => history,
    "pruning" => prune,
    "verifying" => verify,
}
