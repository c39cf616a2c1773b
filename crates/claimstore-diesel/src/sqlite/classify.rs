//! What an SQLite error means: the only place that reads its kinds and texts.

use claimstore_core::StoreErrorKind as Kind;
use diesel::result::{DatabaseErrorKind, Error};

use crate::dialect::Fault;

/// SQLite's result codes reach us as text. These texts are compiled into SQLite and not translated.
pub(crate) fn classify(error: &Error, inside: bool) -> Fault {
    match error {
        Error::DatabaseError(kind, info) => match kind {
            DatabaseErrorKind::UniqueViolation
            | DatabaseErrorKind::ForeignKeyViolation
            | DatabaseErrorKind::NotNullViolation
            | DatabaseErrorKind::CheckViolation => Fault::plain(Kind::Constraint),
            _ => by_text(info.message(), inside),
        },
        Error::BrokenTransactionManager => Fault::poisoned(Kind::Unavailable),
        Error::DeserializationError(_) => Fault::plain(Kind::CorruptRow),
        Error::RollbackErrorOnCommit { commit_error, .. } => classify(commit_error, inside),
        _ => Fault::plain(Kind::Other),
    }
}

fn by_text(message: &str, inside: bool) -> Fault {
    let says = |part: &str| message.contains(part);
    // SQLITE_BUSY, BUSY_SNAPSHOT and LOCKED. In a deferred transaction that has read already, waiting
    // cures nothing: only a new transaction can.
    if says("is locked") || says("database is busy") {
        return if inside { Fault::plain(Kind::RestartTransaction) } else { Fault::again(Kind::Contended) };
    }
    if says("database or disk is full") {
        return Fault::plain(Kind::Full);
    }
    if says("disk I/O error") || says("unable to open database file") || says("locking protocol") {
        return Fault::poisoned(Kind::Unavailable);
    }
    if says("readonly database") {
        return Fault::poisoned(Kind::ReadOnly);
    }
    if says("no such table") || says("no such column") || says("has no column named") {
        return Fault::plain(Kind::Schema);
    }
    if says("interrupted") {
        return Fault::plain(Kind::Cancelled);
    }
    if says("not authorized") {
        return Fault::plain(Kind::Denied);
    }
    if says("malformed") || says("is not a database") {
        return Fault::plain(Kind::CorruptRow);
    }
    Fault::plain(Kind::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_a_meaning() {
        let cases = [
            ("database is locked", Kind::Contended),                  // SQLITE_BUSY
            ("database table is locked: jobs", Kind::Contended),      // SQLITE_LOCKED
            ("database or disk is full", Kind::Full),                 // SQLITE_FULL
            ("disk I/O error", Kind::Unavailable),                    // SQLITE_IOERR
            ("unable to open database file", Kind::Unavailable),      // SQLITE_CANTOPEN
            ("attempt to write a readonly database", Kind::ReadOnly), // SQLITE_READONLY
            ("no such table: claimstore_jobs", Kind::Schema),         // SQLITE_ERROR
            ("database disk image is malformed", Kind::CorruptRow),   // SQLITE_CORRUPT
            ("something new", Kind::Other),
        ];
        for (text, kind) in cases {
            let error = Error::DatabaseError(DatabaseErrorKind::Unknown, Box::new(text.to_owned()));
            assert_eq!(classify(&error, false).kind, kind, "{text}");
        }
        let busy =
            Error::DatabaseError(DatabaseErrorKind::Unknown, Box::new("database is locked".to_owned()));
        assert_eq!(classify(&busy, false), Fault::again(Kind::Contended));
        assert_eq!(classify(&busy, true), Fault::plain(Kind::RestartTransaction));
    }
}
