//! What the statements return.

use std::cmp::Ordering;
use std::time::Duration;

use claimstore_core::{
    Budget, Claim, ClaimParts, ClaimRequest, Claimed, Expired, Fence, LocalInstant, Seen, State, Tally,
    Timestamp, WorkerId,
};
use diesel::deserialize::{self, QueryableByName};
use diesel::row::{Field, NamedRow, Row};

use crate::declaration::Declaration;
use crate::dialect::{Dialect, SortKey};
use crate::table::{ClaimOn, ClaimTable};

/// A row that a claim statement has won: the row model, and what the claim consists of. A row that the model
/// cannot read fails the whole load; [`Marked`] keeps it apart.
#[derive(Debug)]
pub struct Won<T: ClaimTable> {
    /// The row, as it is now that it is claimed.
    pub row: T,
    /// Its fence.
    pub fence: Fence,
    /// The end of its lease, where stored.
    pub until: Option<Timestamp>,
    /// What it has cost.
    pub tally: Tally,
    /// What it may cost.
    pub budget: Budget,
    /// Completing it deletes the row.
    pub discard: bool,
}

impl<T: ClaimTable> Won<T> {
    /// The row and the claim on it. `asked` is when the call began.
    pub fn into_claimed(self, ask: &ClaimRequest, asked: LocalInstant) -> Claimed<T::Key, T> {
        let Won { row, fence, until, tally, budget, discard } = self;
        let (key, worker) = (row.key(), ask.worker().clone());
        let parts = ClaimParts { key, fence, worker, until, tally, budget, discard };
        Claimed { row, claim: grant::<T>(parts, ask, asked) }
    }
}

fn grant<T: ClaimTable>(parts: ClaimParts<T::Key>, ask: &ClaimRequest, asked: LocalInstant) -> Claim<T::Key> {
    let lease: Option<Duration> = T::DECLARATION.columns.lease.map(|_| ask.lease_span());
    Claim::granted(parts, asked, lease)
}

/// A row that a claim statement has marked, whether or not the model can read it.
#[derive(Debug)]
pub struct Marked<T: ClaimTable> {
    /// The row, or why the model cannot read it.
    pub row: Result<T, String>,
    /// Its key.
    pub key: T::Key,
    /// Its fence.
    pub fence: Fence,
    /// The end of its lease, where stored.
    pub until: Option<Timestamp>,
    /// What it has cost.
    pub tally: Tally,
    /// What it may cost.
    pub budget: Budget,
    /// Completing it deletes the row.
    pub discard: bool,
    order: Vec<SortKey>,
}

/// A claim on a row that the model cannot read.
#[derive(Debug)]
#[must_use = "an unsettled claim keeps its row running until the lease ends and it is recovered"]
pub struct Unreadable<K> {
    /// The claim, which is in force.
    pub claim: Claim<K>,
    /// Why the row cannot be read.
    pub why: String,
}

impl<T: ClaimTable> Marked<T> {
    /// The row and the claim on it; or the claim, and why the model cannot read its row. `asked` is when the
    /// call began.
    pub fn into_claimed(
        self,
        ask: &ClaimRequest,
        asked: LocalInstant,
    ) -> Result<Claimed<T::Key, T>, Unreadable<T::Key>> {
        let parts = ClaimParts {
            key: self.key,
            fence: self.fence,
            worker: ask.worker().clone(),
            until: self.until,
            tally: self.tally,
            budget: self.budget,
            discard: self.discard,
        };
        let claim = grant::<T>(parts, ask, asked);
        match self.row {
            Ok(row) => Ok(Claimed { row, claim }),
            Err(why) => Err(Unreadable { claim, why }),
        }
    }

    /// Puts rows in the declared order. On PostgreSQL they already are; SQLite's `RETURNING` promises
    /// none, so the order columns come along and are compared here by SQLite's binary collation.
    #[must_use]
    pub fn in_order(mut marked: Vec<Marked<T>>) -> Vec<Marked<T>> {
        let by = T::DECLARATION.order;
        marked.sort_by(|a, b| {
            by.iter().zip(a.order.iter().zip(&b.order)).fold(Ordering::Equal, |so_far, (by, (a, b))| {
                let ordering = a.partial_cmp(b).unwrap_or(Ordering::Equal);
                so_far.then(if by.descending { ordering.reverse() } else { ordering })
            })
        });
        marked
    }
}

/// Reads fields one after the other.
pub(crate) struct Reader<'r, R> {
    pub(crate) row: &'r R,
    pub(crate) at: usize,
}

impl<'r, 'a, R> Reader<'r, R> {
    pub(crate) fn next<D: Dialect, V>(
        &mut self,
        read: impl FnOnce(Option<D::RawValue<'_>>) -> deserialize::Result<V>,
    ) -> deserialize::Result<V>
    where
        R: Row<'a, D>,
    {
        let field = Row::get(self.row, self.at).ok_or("the row has fewer fields than the statement reads")?;
        self.at += 1;
        read(field.value())
    }

    fn i32<D: Dialect>(&mut self, stored: bool) -> deserialize::Result<Option<i32>>
    where
        R: Row<'a, D>,
    {
        if stored { self.next(D::read_i32) } else { Ok(None) }
    }

    pub(crate) fn counts<D: Dialect>(&mut self, stored: [bool; 5]) -> deserialize::Result<(Tally, Budget)>
    where
        R: Row<'a, D>,
    {
        let tally = Tally {
            failures: self.i32(stored[0])?.unwrap_or(0),
            crashes: self.i32(stored[1])?.unwrap_or(0),
            interruptions: self.i32(stored[2])?.unwrap_or(0),
        };
        let budget = Budget { max_failures: self.i32(stored[3])?, max_crashes: self.i32(stored[4])? };
        Ok((tally, budget))
    }

    pub(crate) fn state<T: ClaimTable, D: Dialect>(&mut self) -> deserialize::Result<State>
    where
        R: Row<'a, D>,
    {
        let word = self.next(D::read_text)?.ok_or("the state is NULL")?;
        let unknown = || {
            format!("{word:?} is no state word of table {}; declare it or mend the row", T::DECLARATION.table)
        };
        Ok(T::DECLARATION.words.state(&word).ok_or_else(unknown)?)
    }

    pub(crate) fn fence<D: Dialect>(&mut self) -> deserialize::Result<Fence>
    where
        R: Row<'a, D>,
    {
        Ok(Fence::new(self.next(D::read_i64)?.ok_or("the fence is NULL; it must be 0 when never claimed")?))
    }

    pub(crate) fn worker<D: Dialect>(&mut self) -> deserialize::Result<Option<WorkerId>>
    where
        R: Row<'a, D>,
    {
        // A name that cannot be read is no reason to leave the row where it is.
        self.next(|value| Ok(D::read_text(value).ok().flatten().and_then(|name| WorkerId::new(name).ok())))
    }
}

fn stored_counts(declaration: &Declaration) -> [bool; 5] {
    let c = &declaration.columns;
    [c.failures, c.crashes, c.interruptions, c.max_failures, c.max_crashes].map(|column| column.is_some())
}

fn read_marked<'a, T, D, R>(row: &R) -> deserialize::Result<Marked<T>>
where
    T: ClaimOn<D>,
    D: Dialect,
    R: Row<'a, D>,
{
    let model = T::read_row(row).map_err(|why| why.to_string());
    let key = T::read_key(row, T::row_fields())?;
    let mut reader = Reader { row, at: T::row_fields() + 1 };
    let fence = reader.fence()?;
    let until = match T::DECLARATION.columns.lease {
        Some(_) => reader.next(D::read_instant)?,
        None => None,
    };
    let (tally, budget) = reader.counts(stored_counts(&T::DECLARATION))?;
    let discard = match (T::DECLARATION.queues, T::DECLARATION.columns.queue) {
        (true, Some(_)) => reader.next(D::read_bool)?.unwrap_or(false),
        _ => false,
    };
    let mut order = Vec::new();
    while let Some(field) = Row::get(row, reader.at) {
        let Some(key) = D::read_sort_key(field.value()) else { break };
        order.push(key);
        reader.at += 1;
    }
    Ok(Marked { row: model, key, fence, until, tally, budget, discard, order })
}

impl<T: ClaimOn<D>, D: Dialect> QueryableByName<D> for Marked<T> {
    fn build<'a>(row: &impl NamedRow<'a, D>) -> deserialize::Result<Self> {
        read_marked(row)
    }
}

impl<T: ClaimOn<D>, D: Dialect> QueryableByName<D> for Won<T> {
    fn build<'a>(row: &impl NamedRow<'a, D>) -> deserialize::Result<Self> {
        let Marked { row, key, fence, until, tally, budget, discard, .. } = read_marked::<T, D, _>(row)?;
        match row {
            Ok(row) => Ok(Won { row, fence, until, tally, budget, discard }),
            Err(why) => Err(format!("row {} cannot be read: {why}", T::key_text(&key)).into()),
        }
    }
}

/// A row that a statement over several rows has changed.
#[derive(Debug)]
pub struct Touched<T: ClaimTable> {
    /// The row.
    pub key: T::Key,
    /// Its fence after the change.
    pub fence: Fence,
    /// The end of its lease after the change.
    pub until: Option<Timestamp>,
}

impl<T: ClaimOn<D>, D: Dialect> QueryableByName<D> for Touched<T> {
    fn build<'a>(row: &impl NamedRow<'a, D>) -> deserialize::Result<Self> {
        let mut reader = Reader { row, at: 1 };
        let fence = reader.fence()?;
        let until = match T::DECLARATION.columns.lease {
            Some(_) => reader.next(D::read_instant)?,
            None => None,
        };
        Ok(Touched { key: T::read_key(row, 0)?, fence, until })
    }
}

/// One row of a settle-and-claim: a row won, or a row settled.
#[derive(Debug)]
pub enum WonOrTouched<T: ClaimTable> {
    /// A row that was claimed.
    Won(Box<Marked<T>>),
    /// A row that was settled.
    Touched(T::Key, Fence),
}

impl<T: ClaimOn<D>, D: Dialect> QueryableByName<D> for WonOrTouched<T> {
    /// The settled row's fence and key are the last two fields, and NULL in a won row.
    fn build<'a>(row: &impl NamedRow<'a, D>) -> deserialize::Result<Self> {
        let fields = row.field_count();
        let settled = Reader { row, at: fields - 2 }.next(D::read_i64)?;
        match settled {
            Some(fence) => Ok(WonOrTouched::Touched(T::read_key(row, fields - 1)?, Fence::new(fence))),
            None => Ok(WonOrTouched::Won(Box::new(read_marked(row)?))),
        }
    }
}

/// One row's claim columns.
#[derive(Debug)]
pub struct Observed<T: ClaimTable> {
    /// What was read.
    pub seen: Seen,
    /// Completing the row deletes it.
    pub discard: bool,
    table: std::marker::PhantomData<fn() -> T>,
}

impl<T: ClaimOn<D>, D: Dialect> QueryableByName<D> for Observed<T> {
    fn build<'a>(row: &impl NamedRow<'a, D>) -> deserialize::Result<Self> {
        let mut reader = Reader { row, at: 0 };
        let state = reader.state::<T, D>()?;
        let fence = reader.fence()?;
        let clock = reader.next(D::read_instant)?.unwrap_or_else(Timestamp::of_this_host);
        let worker = reader.worker()?;
        let until = reader.next(D::read_instant)?;
        let due = reader.next(D::read_instant)?;
        let (tally, budget) = reader.counts([true; 5])?;
        let paused = reader.next(D::read_bool)?.unwrap_or(false);
        let discard = reader.next(D::read_bool)?.unwrap_or(false);
        let seen = Seen { state, fence, worker, until, due, tally, budget, clock, paused };
        Ok(Observed { seen, discard, table: std::marker::PhantomData })
    }
}

/// A running row whose lease has run out.
#[derive(Debug)]
pub struct ExpiredRow<T: ClaimTable>(pub Expired<T::Key>);

impl<T: ClaimOn<D>, D: Dialect> QueryableByName<D> for ExpiredRow<T> {
    fn build<'a>(row: &impl NamedRow<'a, D>) -> deserialize::Result<Self> {
        let key = T::read_key(row, 0)?;
        let mut reader = Reader { row, at: 1 };
        let fence = reader.fence()?;
        let until = reader.next(D::read_instant)?.ok_or("an expired lease is not NULL")?;
        let worker = reader.worker()?;
        let idempotent = reader.next(D::read_bool)?.unwrap_or(true);
        let (tally, budget) = reader.counts([true; 5])?;
        Ok(ExpiredRow(Expired { key, fence, worker, until, tally, budget, idempotent }))
    }
}

/// A due time, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due(pub Option<Timestamp>);

impl<D: Dialect> QueryableByName<D> for Due {
    fn build<'a>(row: &impl NamedRow<'a, D>) -> deserialize::Result<Self> {
        Ok(Due(Reader { row, at: 0 }.next(D::read_instant)?))
    }
}
