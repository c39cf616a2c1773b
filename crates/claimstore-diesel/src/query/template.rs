//! Statement text with holes.
//!
//! A statement is written once per table and dialect, as text in which each value is a hole. A node
//! walks the finished text and binds what belongs in each hole. So the text costs nothing at run time,
//! is the same each time (and therefore prepared once), and can be pinned in a file.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::query::Shape;

/// Which span a computed instant lies ahead of (or behind) now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ahead {
    /// The lease being granted.
    Lease,
    /// The delay before a row is due again.
    Delay,
    /// The grace past a lease's end, counted back.
    Grace,
}

/// How a table stores an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeForm {
    /// `timestamptz`, or [`Instant`](crate::sql_types::Instant) on PostgreSQL.
    #[default]
    Zoned,
    /// `timestamp`, in UTC.
    Plain,
    /// `bigint` microseconds since 1970, or [`Instant`](crate::sql_types::Instant) on SQLite.
    Micros,
    /// SQLite text of one fixed width.
    Text,
}

/// A value that is bound when the statement is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hole {
    /// The row's key.
    Key,
    /// The fence that is shown.
    Fence,
    /// The worker.
    Worker,
    /// One queue, by its place in the request.
    Queue(u8),
    /// All queues, as an array.
    Queues,
    /// The limit.
    Limit,
    /// The host's clock (SQLite).
    Now(TimeForm),
    /// The host's clock and a span (SQLite).
    Later(TimeForm, Ahead),
    /// A span (PostgreSQL).
    Span(Ahead),
    /// Failures after a settlement.
    Failures,
    /// Interruptions after a settlement.
    Interruptions,
    /// The error text.
    Error,
    /// The kind that is looked for.
    Kind,
    /// The keys of several rows (PostgreSQL), or all that is given of them (SQLite).
    GivenKeys,
    /// The fences of several rows.
    GivenFences,
    /// The workers of several rows.
    GivenWorkers,
    /// Where each of several rows goes.
    GivenStates,
    /// The delay of each.
    GivenDelays,
    /// The failures of each.
    GivenFailures,
    /// The crashes of each.
    GivenCrashes,
    /// The interruptions of each.
    GivenInterruptions,
    /// The error text of each.
    GivenErrors,
    /// The priority of each.
    GivenPriorities,
    /// The due time of each.
    GivenInstants,
    /// The key after which a page begins.
    AfterKey,
    /// The lease end after which a page begins.
    AfterLease(TimeForm),
}

const OPEN: char = '\u{1}';
const CLOSE: char = '\u{2}';

impl Hole {
    /// The mark that stands for the hole while the text is being written. No identifier or literal may
    /// contain its first character.
    #[must_use]
    pub fn mark(self) -> String {
        format!("{OPEN}{self:?}{CLOSE}")
    }

    fn from_mark(name: &str) -> Option<Hole> {
        let forms = [TimeForm::Zoned, TimeForm::Plain, TimeForm::Micros, TimeForm::Text];
        let ahead = [Ahead::Lease, Ahead::Delay, Ahead::Grace];
        let mut all = vec![
            Hole::Key,
            Hole::Fence,
            Hole::Worker,
            Hole::Queues,
            Hole::Limit,
            Hole::Failures,
            Hole::Interruptions,
            Hole::Error,
            Hole::Kind,
            Hole::GivenKeys,
            Hole::GivenFences,
            Hole::GivenWorkers,
            Hole::GivenStates,
            Hole::GivenDelays,
            Hole::GivenFailures,
            Hole::GivenCrashes,
            Hole::GivenInterruptions,
            Hole::GivenErrors,
            Hole::GivenPriorities,
            Hole::GivenInstants,
            Hole::AfterKey,
        ];
        all.extend((0..=u8::MAX).map(Hole::Queue));
        all.extend(forms.map(Hole::Now));
        all.extend(forms.map(Hole::AfterLease));
        all.extend(ahead.map(Hole::Span));
        all.extend(forms.iter().flat_map(|f| ahead.map(|a| Hole::Later(*f, a))));
        all.into_iter().find(|hole| format!("{hole:?}") == name)
    }
}

/// Text and holes, in order.
#[derive(Debug, PartialEq, Eq)]
pub struct Template {
    pub(crate) pieces: Vec<Piece>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Sql(String),
    Hole(Hole),
}

impl Template {
    /// Takes marked text apart.
    pub(crate) fn parse(marked: &str) -> Template {
        let mut pieces = Vec::new();
        let mut sql = String::new();
        let mut rest = marked;
        while let Some((before, after)) = rest.split_once(OPEN) {
            sql.push_str(before);
            let (name, after) = after.split_once(CLOSE).expect("a mark is always closed");
            if !sql.is_empty() {
                pieces.push(Piece::Sql(std::mem::take(&mut sql)));
            }
            pieces.push(Piece::Hole(Hole::from_mark(name).expect("a mark names a hole")));
            rest = after;
        }
        sql.push_str(rest);
        if !sql.is_empty() {
            pieces.push(Piece::Sql(sql));
        }
        Template { pieces }
    }
}

/// The finished statements of one table on one dialect.
#[derive(Debug, Default)]
pub(crate) struct Cache(RwLock<HashMap<Shape, Arc<Template>>>);

impl Cache {
    /// The statement of this shape, written by `write` the first time it is asked for.
    pub(crate) fn get(&self, shape: Shape, write: impl FnOnce() -> String) -> Arc<Template> {
        if let Some(known) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&shape) {
            return known.clone();
        }
        let template = Arc::new(Template::parse(&write()));
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(shape).or_insert(template).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_come_apart_in_order() {
        let later = Hole::Later(TimeForm::Text, Ahead::Grace);
        let marked = format!("a {} b {}{}", Hole::Queue(7).mark(), Hole::Key.mark(), later.mark());
        let Template { pieces } = Template::parse(&marked);
        assert_eq!(
            pieces,
            [
                Piece::Sql("a ".into()),
                Piece::Hole(Hole::Queue(7)),
                Piece::Sql(" b ".into()),
                Piece::Hole(Hole::Key),
                Piece::Hole(later),
            ]
        );
    }
}
