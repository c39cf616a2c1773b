//! What a PostgreSQL error means: the only place that reads its kinds and texts.

use claimstore_core::StoreErrorKind as Kind;
use diesel::result::{DatabaseErrorKind, Error};

use crate::dialect::Fault;

/// Diesel shows no SQLSTATE, so the codes it has no kind for are known by the server's English text. A
/// server that speaks another language (`lc_messages`) has those reported as [`Kind::Other`].
pub(crate) fn classify(error: &Error, inside: bool) -> Fault {
    match error {
        Error::DatabaseError(kind, info) => match kind {
            DatabaseErrorKind::SerializationFailure => restart(inside),
            DatabaseErrorKind::ReadOnlyTransaction => Fault::poisoned(Kind::ReadOnly),
            DatabaseErrorKind::ClosedConnection | DatabaseErrorKind::UnableToSendCommand => {
                Fault::poisoned(Kind::Unavailable)
            }
            DatabaseErrorKind::UniqueViolation
            | DatabaseErrorKind::ForeignKeyViolation
            | DatabaseErrorKind::NotNullViolation
            | DatabaseErrorKind::CheckViolation
            | DatabaseErrorKind::RestrictViolation
            | DatabaseErrorKind::ExclusionViolation => Fault::plain(Kind::Constraint),
            _ => by_text(info.message(), inside),
        },
        Error::BrokenTransactionManager => Fault::poisoned(Kind::Unavailable),
        Error::DeserializationError(_) => Fault::plain(Kind::CorruptRow),
        Error::RollbackErrorOnCommit { commit_error, .. } => classify(commit_error, inside),
        _ => Fault::plain(Kind::Other),
    }
}

/// 40001 and 40P01: our own transaction is simply run again, the caller's must be.
fn restart(inside: bool) -> Fault {
    if inside { Fault::plain(Kind::RestartTransaction) } else { Fault::again(Kind::Contended) }
}

fn by_text(message: &str, inside: bool) -> Fault {
    let says = |part: &str| message.contains(part);
    if says("deadlock detected") {
        return restart(inside);
    }
    if says("canceling statement due to lock timeout") || says("could not obtain lock") {
        return Fault::plain(Kind::Contended);
    }
    if says("canceling statement due to") {
        return Fault::plain(Kind::Cancelled);
    }
    // The plan was made before a migration, and so were those of the pool's other connections; each is
    // forgotten once its connection is thrown away (field report H80).
    if says("cached plan must not change result type") {
        return Fault { again: true, ..Fault::poisoned(Kind::Unavailable) };
    }
    if says("the database system is")
        || says("terminating connection")
        || says("server closed the connection")
        || says("connection to server")
        || says("no connection to the server")
        || says("could not connect")
        || says("could not receive data")
        || says("could not send data")
        || says("SSL connection has been closed")
        || says("too many clients")
        || says("too many connections")
        || says("remaining connection slots")
    {
        return Fault::poisoned(Kind::Unavailable);
    }
    if says("No space left on device") || says("could not extend file") {
        return Fault::plain(Kind::Full);
    }
    if says("permission denied") || says("authentication failed") || says("must be owner") {
        return Fault::plain(Kind::Denied);
    }
    if (says("relation ") || says("column ") || says("function ") || says("schema "))
        && says("does not exist")
    {
        return Fault::plain(Kind::Schema);
    }
    if says("read-only transaction") || says("during recovery") {
        return Fault::poisoned(Kind::ReadOnly);
    }
    Fault::plain(Kind::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(kind: DatabaseErrorKind, text: &str) -> Error {
        Error::DatabaseError(kind, Box::new(text.to_owned()))
    }

    #[test]
    fn each_code_has_a_meaning() {
        let unknown = |text| classify(&database(DatabaseErrorKind::Unknown, text), false);
        let cases = [
            ("terminating connection due to administrator command", Kind::Unavailable), // 57P01
            ("terminating connection because of crash of another server process", Kind::Unavailable), // 57P02
            ("the database system is starting up", Kind::Unavailable),                  // 57P03
            ("sorry, too many clients already", Kind::Unavailable),                     // 53300
            ("deadlock detected", Kind::Contended),                                     // 40P01
            ("canceling statement due to lock timeout", Kind::Contended),               // 55P03
            ("canceling statement due to statement timeout", Kind::Cancelled),          // 57014
            ("could not extend file \"base/1\": No space left on device", Kind::Full),  // 53100
            ("relation \"claimstore_jobs\" does not exist", Kind::Schema),              // 42P01
            ("column \"x\" does not exist", Kind::Schema),                              // 42703
            ("permission denied for table claimstore_jobs", Kind::Denied),              // 42501
            ("password authentication failed for user \"x\"", Kind::Denied),            // 28P01
            ("cached plan must not change result type", Kind::Unavailable),             // 0A000
            ("something new", Kind::Other),
        ];
        for (text, kind) in cases {
            assert_eq!(unknown(text).kind, kind, "{text}");
        }
        let known = |kind| classify(&database(kind, ""), false);
        assert_eq!(known(DatabaseErrorKind::SerializationFailure), Fault::again(Kind::Contended)); // 40001
        assert_eq!(known(DatabaseErrorKind::ReadOnlyTransaction), Fault::poisoned(Kind::ReadOnly)); // 25006
        assert_eq!(known(DatabaseErrorKind::ClosedConnection), Fault::poisoned(Kind::Unavailable)); // 08006
        assert_eq!(known(DatabaseErrorKind::UniqueViolation).kind, Kind::Constraint); // 23505
    }

    #[test]
    fn in_the_callers_transaction_only_the_caller_can_run_it_again() {
        let error = database(DatabaseErrorKind::SerializationFailure, "");
        assert_eq!(classify(&error, true), Fault::plain(Kind::RestartTransaction));
        let error = database(DatabaseErrorKind::Unknown, "deadlock detected");
        assert_eq!(classify(&error, true), Fault::plain(Kind::RestartTransaction));
    }
}
