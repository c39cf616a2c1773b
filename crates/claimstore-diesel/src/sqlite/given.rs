//! Several rows as one JSON text.

use std::fmt::Debug;

use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::Text;
use diesel::sqlite::Sqlite;
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use crate::query::{Given, GivenColumn};

const PLACES: [GivenColumn; 11] = [
    GivenColumn::Key,
    GivenColumn::Fence,
    GivenColumn::Worker,
    GivenColumn::State,
    GivenColumn::Delay,
    GivenColumn::Failures,
    GivenColumn::Crashes,
    GivenColumn::Interruptions,
    GivenColumn::Error,
    GivenColumn::Priority,
    GivenColumn::At,
];

/// Where a column stands in each row's array.
pub(super) fn place(column: GivenColumn) -> usize {
    PLACES.iter().position(|c| *c == column).unwrap_or_default()
}

struct Rows<'a, K>(&'a Given<K>);
struct Row<'a, K>(&'a Given<K>, usize);

impl<K: Serialize> Serialize for Rows<'_, K> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq((0..self.0.keys.len()).map(|n| Row(self.0, n)))
    }
}

impl<K: Serialize> Serialize for Row<'_, K> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Row(given, n) = *self;
        let mut row = to.serialize_seq(None)?;
        row.serialize_element(&given.keys[n])?;
        row.serialize_element(&given.fences[n])?;
        row.serialize_element(&given.workers[n])?;
        if let Some(state) = given.states.get(n) {
            row.serialize_element(state)?;
            // SQLite is told the instant, not the span.
            let due = given.delays[n].map(|delay| given.from.as_micros().saturating_add(delay));
            row.serialize_element(&due)?;
            row.serialize_element(&given.failures.get(n))?;
            row.serialize_element(&given.crashes.get(n))?;
            row.serialize_element(&given.interruptions.get(n))?;
            row.serialize_element(&given.errors.get(n))?;
            row.serialize_element(&given.priorities.get(n))?;
            row.serialize_element(&given.ats.get(n).and_then(|at| at.map(|at| at.0.as_micros())))?;
        }
        row.end()
    }
}

impl<K: Serialize + Debug> ToSql<Text, Sqlite> for Given<K> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(serde_json::to_string(&Rows(self))?);
        Ok(IsNull::No)
    }
}
