//! What is recorded of rows in memory.

use claimstore_core::{Event, Fence, Happened, History, InputError, WorkerId};

use super::{MemoryKey, MemoryStore, TABLE, Table};

impl<K: MemoryKey, R: Clone> MemoryStore<K, R> {
    /// Records it, where the table keeps events.
    pub(super) fn note(
        &self,
        table: &mut Table<K, R>,
        key: String,
        worker: Option<&WorkerId>,
        fence: Fence,
        what: Happened,
    ) {
        if !self.columns.late_writers {
            return;
        }
        let (id, at) = (table.next_event, self.now());
        table.next_event += 1;
        table.events.push(Event {
            id,
            at,
            table: TABLE.to_owned(),
            key,
            worker: worker.cloned(),
            fence,
            what,
        });
    }

    /// The same for what is ordinary: only where every transition is recorded.
    pub(super) fn note_all(
        &self,
        table: &mut Table<K, R>,
        key: &K,
        worker: Option<&WorkerId>,
        fence: Fence,
        what: Happened,
    ) {
        if self.recorded == History::All {
            self.note(table, format!("{key:?}"), worker, fence, what);
        }
    }

    /// A verb that is recorded needs a record.
    pub(super) fn keeps_events(&self) -> Result<(), InputError> {
        match self.columns.late_writers {
            true => Ok(()),
            false => Err(InputError::NoEvents { table: TABLE }),
        }
    }
}

impl<K, R> Table<K, R> {
    /// The events of this row, latest first.
    pub(super) fn events_of(&self, key: &str) -> impl Iterator<Item = &Event> {
        self.events.iter().rev().filter(move |event| event.key == key)
    }
}
