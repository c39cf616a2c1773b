//! Pausing queues and kinds in memory.

use std::collections::BTreeMap;

use claimstore_core::{
    Fence, Happened, InputError, Operator, Pausable, Pause, QueueSetting, QueueStore, StoreError,
};

use super::{MemoryKey, MemoryRow, MemoryStore, TABLE, Table};

/// What is set for a queue or kind.
pub(super) struct Setting {
    pause: Option<Pause>,
    keep_completed: bool,
}

impl Default for Setting {
    fn default() -> Self {
        Setting { pause: None, keep_completed: true }
    }
}

impl<K: MemoryKey, R: Clone> MemoryStore<K, R> {
    /// Whether the row's queue or kind is held back.
    pub(super) fn is_paused(&self, settings: &BTreeMap<Pausable, Setting>, row: &MemoryRow<R>) -> bool {
        let paused = |what: Pausable| settings.get(&what).is_some_and(|setting| setting.pause.is_some());
        let columns = &self.columns;
        (columns.queue && paused(Pausable::queue(&row.queue)))
            || (columns.kind && paused(Pausable::kind(&row.kind)))
    }

    /// Whether completing the row deletes it.
    pub(super) fn discards(&self, settings: &BTreeMap<Pausable, Setting>, row: &MemoryRow<R>) -> bool {
        let setting = settings.get(&Pausable::queue(&row.queue)).filter(|_| self.columns.queue);
        setting.is_some_and(|setting| !setting.keep_completed)
    }

    fn check_setting(&self, what: &Pausable, by: &Operator) -> Result<(), InputError> {
        what.check()?;
        by.check()?;
        if !self.columns.pauses {
            return Err(InputError::NoColumn { table: TABLE, column: "queues", what: "a pause" });
        }
        match what {
            Pausable::Queue(_) if self.columns.queue => Ok(()),
            Pausable::Kind(_) if self.columns.kind => Ok(()),
            _ => Err(InputError::NoColumn { table: TABLE, column: what.scope(), what: "a pause" }),
        }
    }

    fn note_setting(&self, table: &mut Table<K, R>, what: &Pausable, verb: &str, by: &Operator) {
        let operated = Happened::operated(verb, by, None, None, false);
        let key = format!("{}/{}", what.scope(), what.name());
        self.note(table, key, None, Fence::NEVER, operated);
    }
}

impl<K: MemoryKey, R: Clone + Send + Sync + 'static> QueueStore for MemoryStore<K, R> {
    fn pause(&self, what: &Pausable, by: &Operator) -> Result<bool, StoreError> {
        self.check_setting(what, by)?;
        let mut table = self.table();
        let setting = table.settings.entry(what.clone()).or_default();
        if setting.pause.is_some() {
            return Ok(false);
        }
        let (actor, reason) = (by.actor().to_owned(), by.reason().to_owned());
        setting.pause = Some(Pause { since: self.now(), actor, reason });
        self.note_setting(&mut table, what, "pause", by);
        Ok(true)
    }

    fn unpause(&self, what: &Pausable, by: &Operator) -> Result<bool, StoreError> {
        self.check_setting(what, by)?;
        let mut table = self.table();
        let was = table.settings.get_mut(what).and_then(|setting| setting.pause.take());
        if was.is_some() {
            self.note_setting(&mut table, what, "unpause", by);
        }
        Ok(was.is_some())
    }

    fn keep_completed(&self, queue: &str, keep: bool, by: &Operator) -> Result<bool, StoreError> {
        let what = Pausable::queue(queue);
        self.check_setting(&what, by)?;
        let mut table = self.table();
        let kept = table.settings.get(&what).is_none_or(|setting| setting.keep_completed);
        if kept == keep {
            return Ok(false);
        }
        table.settings.entry(what.clone()).or_default().keep_completed = keep;
        self.note_setting(&mut table, &what, if keep { "keep_completed" } else { "discard_completed" }, by);
        Ok(true)
    }

    fn queues(&self) -> Result<Vec<QueueSetting>, StoreError> {
        let table = self.table();
        let told = table.settings.iter().map(|(what, setting)| QueueSetting {
            what: what.clone(),
            pause: setting.pause.clone(),
            keep_completed: setting.keep_completed,
        });
        Ok(told.collect())
    }
}
