//! Reading many rows, a page at a time.

use serde::{Deserialize, Serialize};

use crate::input::{InputError, check_limit};
use crate::{Filter, Sighting, State, Timestamp};

/// Which page of which rows.
///
/// The order depends on what is asked for, so that it is the one people look for and one that an index can
/// serve: pending rows by due time, running ones by the end of their lease, uncertain ones by key, those of one
/// final state latest first, rows of several states by key, greatest first. Rows of the same time go by key,
/// and so do rows that have none, after the others. Where the table has no column for that time, the key alone
/// decides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageRequest<K> {
    filter: Filter,
    limit: usize,
    after: Option<Cursor<K>>,
}

/// Where a page begins: after this row.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cursor<K> {
    /// The time by which its page is ordered, if it has one.
    pub at: Option<Timestamp>,
    /// The row.
    pub key: K,
}

/// One page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page<K> {
    /// The rows, in order.
    pub rows: Vec<Sighting<K>>,
    /// Where the next page begins; `None` where this was the last.
    pub next: Option<Cursor<K>>,
}

/// The time by which a page is ordered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PageOrder {
    /// Due time, earliest first.
    Due,
    /// End of the lease, earliest first.
    Lease,
    /// Time of finishing, latest first.
    Finished,
    /// By key alone, least first.
    Key,
    /// By key alone, greatest first.
    Newest,
}

impl PageOrder {
    /// The order of a page of these states, where the table has all columns.
    #[must_use]
    pub fn of(states: &[State]) -> PageOrder {
        match states {
            [State::Pending] => PageOrder::Due,
            [State::Running] => PageOrder::Lease,
            [State::Uncertain] => PageOrder::Key,
            [_] => PageOrder::Finished,
            _ => PageOrder::Newest,
        }
    }

    /// The value of a row by which it is ordered before its key.
    #[must_use]
    pub fn time<K>(self, row: &Sighting<K>) -> Option<Timestamp> {
        match self {
            PageOrder::Due => row.due,
            PageOrder::Lease => row.until,
            PageOrder::Finished => row.finished_at,
            PageOrder::Key | PageOrder::Newest => None,
        }
    }

    /// Whether greater keys come first.
    #[must_use]
    pub fn descends(self) -> bool {
        matches!(self, PageOrder::Finished | PageOrder::Newest)
    }
}

impl<K> PageRequest<K> {
    /// The first fifty rows of this filter.
    #[must_use]
    pub fn new(filter: Filter) -> PageRequest<K> {
        PageRequest { filter, limit: 50, after: None }
    }

    /// This many rows.
    #[must_use]
    pub fn limit(self, limit: usize) -> PageRequest<K> {
        PageRequest { limit, ..self }
    }

    /// The page that begins there.
    #[must_use]
    pub fn after(self, cursor: Cursor<K>) -> PageRequest<K> {
        PageRequest { after: Some(cursor), ..self }
    }

    /// The filter.
    #[must_use]
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// How many rows.
    #[must_use]
    pub fn limit_rows(&self) -> usize {
        self.limit
    }

    /// Where it begins.
    #[must_use]
    pub fn cursor(&self) -> Option<&Cursor<K>> {
        self.after.as_ref()
    }

    /// Refuses what no store can serve.
    ///
    /// # Errors
    /// [`InputError`].
    pub fn check(&self) -> Result<(), InputError> {
        check_limit(self.limit)?;
        self.filter.check()
    }
}
