//! The SQL type of an instant, one for both databases (ADR 0009).

use claimstore_core::Timestamp;
use diesel::deserialize::{self, FromSql};
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::SqlType;

/// An instant: `timestamptz` on PostgreSQL, microseconds since 1970 in an `INTEGER` on SQLite.
///
/// With it one `table!` and one row model serve both databases. Its Rust type is
/// [`Timestamp`].
#[derive(Debug, Clone, Copy, Default, SqlType, diesel::query_builder::QueryId)]
#[cfg_attr(feature = "postgres", diesel(postgres_type(oid = 1184, array_oid = 1185)))]
#[cfg_attr(feature = "sqlite", diesel(sqlite_type(name = "Long")))]
pub struct Instant;

/// [`Timestamp`] as Diesel loads and binds it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, diesel::FromSqlRow, diesel::AsExpression,
)]
#[diesel(sql_type = Instant)]
pub struct At(pub Timestamp);

impl From<At> for Timestamp {
    fn from(at: At) -> Timestamp {
        at.0
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::*;
    use crate::query::Lapse;
    use diesel::pg::{Pg, PgValue};
    use diesel::sql_types::{BigInt, Interval};

    /// 2000-01-01, from where PostgreSQL counts, in microseconds since 1970.
    const EPOCH: i64 = 946_684_800_000_000;

    impl FromSql<Instant, Pg> for At {
        fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
            let since_2000 = <i64 as FromSql<BigInt, Pg>>::from_sql(value)?;
            // The two extremes are PostgreSQL's infinities and saturate to ours.
            Ok(At(Timestamp::from_micros(match since_2000 {
                i64::MIN => i64::MIN,
                finite => finite.saturating_add(EPOCH),
            })))
        }
    }

    impl ToSql<Instant, Pg> for At {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            let since_2000 = match self.0.as_micros() {
                i64::MAX => i64::MAX,
                finite => finite.saturating_sub(EPOCH),
            };
            <i64 as ToSql<BigInt, Pg>>::to_sql(&since_2000, &mut out.reborrow())
        }
    }

    impl ToSql<Interval, Pg> for Lapse {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            use std::io::Write;
            // Microseconds, days, months: eight, four and four bytes.
            out.write_all(&self.micros.to_be_bytes())?;
            out.write_all(&[0; 8])?;
            Ok(IsNull::No)
        }
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use super::*;
    use crate::query::Lapse;
    use chrono::{DateTime, NaiveDateTime};
    use diesel::sql_types::Text;
    use diesel::sqlite::{Sqlite, SqliteType};

    /// How an instant is written as text: one fixed width, so that it sorts as time does.
    const TEXT: &str = "%Y-%m-%d %H:%M:%S%.6f";

    impl FromSql<Instant, Sqlite> for At {
        fn from_sql(
            mut value: <Sqlite as diesel::backend::Backend>::RawValue<'_>,
        ) -> deserialize::Result<Self> {
            match value.value_type() {
                Some(SqliteType::Text) => {
                    let text = value.read_text();
                    let at = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f")
                        .map_err(|why| format!("{text:?} is not an instant of the form {TEXT}: {why}"))?;
                    Ok(At(Timestamp::from(at.and_utc())))
                }
                Some(SqliteType::Long | SqliteType::Integer | SqliteType::SmallInt) => {
                    Ok(At(Timestamp::from_micros(value.read_long())))
                }
                other => Err(format!("{other:?} is no instant; store microseconds since 1970").into()),
            }
        }
    }

    impl ToSql<Instant, Sqlite> for At {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            out.set_value(self.0.as_micros());
            Ok(IsNull::No)
        }
    }

    impl ToSql<Text, Sqlite> for At {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            out.set_value(text(*self)?);
            Ok(IsNull::No)
        }
    }

    impl Lapse {
        fn end(&self) -> At {
            At(Timestamp::from_micros(self.from.as_micros().saturating_add(self.micros)))
        }
    }

    impl ToSql<Instant, Sqlite> for Lapse {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            out.set_value(self.end().0.as_micros());
            Ok(IsNull::No)
        }
    }

    impl ToSql<Text, Sqlite> for Lapse {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            out.set_value(text(self.end())?);
            Ok(IsNull::No)
        }
    }

    fn text(At(at): At) -> Result<String, String> {
        match DateTime::from_timestamp_micros(at.as_micros()) {
            Some(at) => Ok(at.format(TEXT).to_string()),
            None => Err(format!("{at} is beyond the calendar")),
        }
    }
}
