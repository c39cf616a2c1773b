//! Looking at rows without touching them.

use crate::{
    Budget, ClaimStore, Counts, Explanation, Fence, Page, PageRequest, State, StoreError, Tally, Timestamp,
    WorkerId,
};

/// A row as one look saw it: what is known of its claim, under the fence that an action must show. Columns
/// that the table does not have are `None` (of counts: zero).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sighting<K> {
    /// The row.
    pub key: K,
    /// Its state.
    pub state: State,
    /// Its fence. An action shows it, and is refused where the row carries another one by then.
    pub fence: Fence,
    /// Its holder, or its last one.
    pub worker: Option<WorkerId>,
    /// Since when it is, or was last, held.
    pub claimed_at: Option<Timestamp>,
    /// The end of its lease, while it is running.
    pub until: Option<Timestamp>,
    /// From when it may be claimed.
    pub due: Option<Timestamp>,
    /// Its queue.
    pub queue: Option<String>,
    /// Its kind.
    pub kind: Option<String>,
    /// Its priority.
    pub priority: Option<i32>,
    /// What it has cost.
    pub tally: Tally,
    /// What it may cost.
    pub budget: Budget,
    /// Whether its work may simply be repeated.
    pub idempotent: bool,
    /// The last error.
    pub last_error: Option<String>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// Whether its queue or kind is paused.
    pub paused: bool,
    /// The deciding clock at this look.
    pub clock: Timestamp,
}

impl<K> Sighting<K> {
    /// It is held, and its lease has not run out (or the table stores none): its holder may be at work.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.state == State::Running && self.until.is_none_or(|until| until >= self.clock)
    }
}

/// Looks at rows. Nothing here locks a row or writes one.
pub trait InspectStore: ClaimStore {
    /// The row, if there is one.
    ///
    /// # Errors
    /// [`StoreError`].
    fn show(&self, key: &Self::Key) -> Result<Option<Sighting<Self::Key>>, StoreError>;

    /// What a claim would read of the row, if there is one.
    ///
    /// # Errors
    /// [`StoreError`]; [`CorruptRow`](crate::StoreErrorKind::CorruptRow) where the model cannot read it.
    fn read(&self, key: &Self::Key) -> Result<Option<Self::Row>, StoreError>;

    /// One page of rows; the next one begins at [`Page::next`]. Its cost depends on the page, not on how many
    /// rows the table has, as long as an index serves the filter: on the built-in table each state by itself.
    ///
    /// # Errors
    /// [`StoreError`].
    fn page(&self, ask: &PageRequest<Self::Key>) -> Result<Page<Self::Key>, StoreError>;

    /// How many rows stand in each state: live ones exactly up to `cap` and "more than" that above it,
    /// finished ones beyond it by the database's own estimate where it has one. Each count says which it is.
    ///
    /// # Errors
    /// [`StoreError`]; a `cap` of zero or above a million is refused.
    fn counts(&self, cap: u32) -> Result<Counts, StoreError>;

    /// Why this row is not running: what stands in its way, since when, until when, what happens next, and
    /// which call frees it.
    ///
    /// # Errors
    /// [`StoreError`].
    fn explain(&self, key: &Self::Key) -> Result<Explanation<Self::Key>, StoreError>;
}
