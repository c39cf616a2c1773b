//! Several jobs as one array for each column.

use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::AstPass;
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text};

use super::group::Due;
use crate::job::NewJob;
use crate::sql_types::{At, Instant};

#[derive(Debug, Default)]
pub(super) struct Columns {
    kinds: Vec<String>,
    payloads: Vec<String>,
    queues: Vec<String>,
    priorities: Vec<i32>,
    delays: Vec<Option<i64>>,
    at: Vec<Option<At>>,
    max_failures: Vec<i32>,
    max_crashes: Vec<i32>,
    idempotent: Vec<bool>,
}

impl Columns {
    pub(super) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// This job, due at that time.
    pub(super) fn push(&mut self, job: &NewJob, due: Due) {
        self.kinds.push(job.kind.clone());
        self.payloads.push(job.payload.clone());
        self.queues.push(job.queue.clone());
        self.priorities.push(job.priority);
        self.delays.push(due.delay.map(|delay| i64::try_from(delay.as_micros()).unwrap_or(i64::MAX)));
        self.at.push(due.at.map(At));
        self.max_failures.push(job.max_failures);
        self.max_crashes.push(job.max_crashes);
        self.idempotent.push(job.idempotent);
    }

    /// Binds the arrays in the order of their fields, with commas between them.
    pub(super) fn walk<'b>(&'b self, out: &mut AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_bind_param::<Array<Text>, _>(&self.kinds)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Text>, _>(&self.payloads)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Text>, _>(&self.queues)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Integer>, _>(&self.priorities)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Nullable<BigInt>>, _>(&self.delays)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Nullable<Instant>>, _>(&self.at)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Integer>, _>(&self.max_failures)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Integer>, _>(&self.max_crashes)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Bool>, _>(&self.idempotent)
    }
}
