//! Enqueueing under a unique key on SQLite: up to three statements a job, in the transaction of the caller.
//!
//! The first one is a write and takes the file, so nothing moves between them. Each names the key's index
//! condition word for word: SQLite does not use a partial index otherwise.

use claimstore_core::Timestamp;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Bool, Integer, Text};
use diesel::sqlite::Sqlite;

use super::enqueue::due;
use crate::job::NewJob;
use crate::sql_types::{At, Instant};
use crate::unique::{Enqueued, OnDuplicate};

/// Not `ON CONFLICT DO NOTHING`, which counts the id up all the same.
const PUT: &str = "INSERT INTO `claimstore_jobs` (`payload`, `queue`, `priority`, `due`, `max_failures`, \
    `max_crashes`, `idempotent`, `created_at`, `kind`, `unique_key`) SELECT ";
const UNLESS: &str = " WHERE NOT EXISTS (SELECT 1 FROM `claimstore_jobs` WHERE ";
const IS_TAKEN: &str = " AND `unique_key` IS NOT NULL AND `state` IN ('pending', 'running', 'uncertain')";
const LOOK: &str = "SELECT `id` FROM `claimstore_jobs` WHERE ";

pub(super) fn enqueue(
    conn: &mut SqliteConnection,
    job: &NewJob,
    key: &str,
    now: Timestamp,
) -> QueryResult<Enqueued> {
    let due = At(due(job, now));
    let statement = |step| Statement { step, job, key, due, now: At(now) };
    if let Some(id) = statement(Step::Put).get_result(conn).optional()? {
        return Ok(Enqueued::New { id });
    }
    if job.on_duplicate != OnDuplicate::Keep
        && let Some(id) = statement(Step::Change).get_result(conn).optional()?
    {
        return Ok(Enqueued::Replaced { id });
    }
    let id = statement(Step::Look).get_result(conn)?;
    Ok(Enqueued::Duplicate { id })
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// Insert it where the key is free.
    Put,
    /// Make a pending row into it.
    Change,
    /// Find whose key it is.
    Look,
}

#[derive(Debug)]
struct Statement<'a> {
    step: Step,
    job: &'a NewJob,
    key: &'a str,
    due: At,
    now: At,
}

impl QueryId for Statement<'_> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Statement<'_> {
    type SqlType = BigInt;
}

impl RunQueryDsl<SqliteConnection> for Statement<'_> {}

impl QueryFragment<Sqlite> for Statement<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        match self.step {
            Step::Put => {
                out.push_sql(PUT);
                self.row(&mut out)?;
                out.push_sql(UNLESS);
                self.has_the_key(&mut out)?;
                out.push_sql(") RETURNING `id`");
            }
            Step::Change => {
                self.set(&mut out)?;
                out.push_sql(" WHERE ");
                self.has_the_key(&mut out)?;
                out.push_sql(" AND `state` = 'pending' RETURNING `id`");
            }
            Step::Look => {
                out.push_sql(LOOK);
                self.has_the_key(&mut out)?;
            }
        }
        Ok(())
    }
}

impl Statement<'_> {
    fn row<'b>(&'b self, out: &mut AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_bind_param::<Text, _>(&self.job.payload)?;
        out.push_sql(", ");
        out.push_bind_param::<Text, _>(&self.job.queue)?;
        out.push_sql(", ");
        out.push_bind_param::<Integer, _>(&self.job.priority)?;
        out.push_sql(", ");
        out.push_bind_param::<Instant, _>(&self.due)?;
        out.push_sql(", ");
        out.push_bind_param::<Integer, _>(&self.job.max_failures)?;
        out.push_sql(", ");
        out.push_bind_param::<Integer, _>(&self.job.max_crashes)?;
        out.push_sql(", ");
        out.push_bind_param::<Bool, _>(&self.job.idempotent)?;
        out.push_sql(", ");
        out.push_bind_param::<Instant, _>(&self.now)?;
        out.push_sql(", ");
        out.push_bind_param::<Text, _>(&self.job.kind)?;
        out.push_sql(", ");
        out.push_bind_param::<Text, _>(self.key)
    }

    /// A limit that is used up already would leave a row that nobody may claim and nobody ends, so one more
    /// try is left.
    fn set<'b>(&'b self, out: &mut AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("UPDATE `claimstore_jobs` SET `payload` = ");
        out.push_bind_param::<Text, _>(&self.job.payload)?;
        out.push_sql(", `queue` = ");
        out.push_bind_param::<Text, _>(&self.job.queue)?;
        out.push_sql(", `priority` = ");
        out.push_bind_param::<Integer, _>(&self.job.priority)?;
        let put_off = self.job.on_duplicate == OnDuplicate::Debounce;
        out.push_sql(if put_off { ", `due` = max(`due`, " } else { ", `due` = (" });
        out.push_bind_param::<Instant, _>(&self.due)?;
        out.push_sql("), `max_failures` = max(min(`failures`, 2147483646) + 1, ");
        out.push_bind_param::<Integer, _>(&self.job.max_failures)?;
        out.push_sql("), `max_crashes` = max(min(`crashes`, 2147483646) + 1, ");
        out.push_bind_param::<Integer, _>(&self.job.max_crashes)?;
        out.push_sql("), `idempotent` = ");
        out.push_bind_param::<Bool, _>(&self.job.idempotent)
    }

    fn has_the_key<'b>(&'b self, out: &mut AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("`kind` = ");
        out.push_bind_param::<Text, _>(&self.job.kind)?;
        out.push_sql(" AND `unique_key` = ");
        out.push_bind_param::<Text, _>(self.key)?;
        out.push_sql(IS_TAKEN);
        Ok(())
    }
}
