//! Operators' actions in memory.

use std::time::Duration;

use claimstore_core::{
    Action, Bulk, Event, Fence, Happened, InputError, Moment, OperateError, OperatePreview, OperateStore,
    Operated, OperatedAll, Operator, Sighting, State, Step, StoreError, StoreErrorKind, check_limit,
};

use super::filter::matches;
use super::{MemoryKey, MemoryStore, TABLE, Table};

impl<K: MemoryKey, R: Clone> MemoryStore<K, R> {
    fn check_action(&self, action: &Action, by: &Operator) -> Result<(), InputError> {
        self.keeps_events()?;
        action.check()?;
        by.check()?;
        let (columns, at_once) = (&self.columns, Moment::In(Duration::ZERO));
        let missing = |column| Err(InputError::NoColumn { table: TABLE, column, what: "the action" });
        match action {
            // At once is what a table without due times always says.
            Action::Requeue(requeue) if !columns.due && requeue.due().is_some_and(|due| due != at_once) => {
                missing("due")
            }
            Action::Requeue(requeue) if !columns.priority && requeue.new_priority().is_some() => {
                missing("priority")
            }
            Action::Recover(_) if !columns.lease => missing("lease"),
            _ => Ok(()),
        }
    }

    fn decide(&self, row: &Sighting<K>, action: &Action, by: &Operator) -> Result<Step, OperateError<K>> {
        if *action != Action::Delete && !row.fence.can_rise() {
            let why = "the fence of this row cannot rise any more";
            return Err(StoreError::new(StoreErrorKind::Constraint, "operating", why).into());
        }
        action.decide(row, by, TABLE, |state| self.columns.has_word(state), fastrand::f64())
    }

    /// Decides over one row and writes it. The table is locked, so nothing changes in between.
    fn act(
        &self,
        table: &mut Table<K, R>,
        row: &Sighting<K>,
        action: &Action,
        by: &Operator,
    ) -> Result<Operated<K>, OperateError<K>> {
        let step = self.decide(row, action, by)?;
        let mut fence = row.fence;
        match step.to {
            None => drop(table.rows.remove(&row.key)),
            Some(to) => {
                let stored = table.rows.get_mut(&row.key).expect("it was just looked at");
                stored.fence = stored.fence.raised().expect("it was just asked whether it can rise");
                stored.take_step(&self.columns, to, &step, row.clock);
                fence = stored.fence;
            }
        }
        let what = Happened::operated(action.verb(), by, Some(row.state), step.to, row.is_live());
        let holder = row.worker.as_ref().filter(|_| row.state == State::Running);
        self.note(table, format!("{:?}", row.key), holder, fence, what);
        let ended = holder.filter(|_| row.is_live()).cloned();
        Ok(Operated { key: row.key.clone(), from: row.state, to: step.to, fence, ended })
    }

    /// One batch of the rows that are meant and can be begun from, in key order, and where the next one begins.
    fn among(&self, table: &Table<K, R>, rows: &Bulk<K>, action: &Action) -> (Vec<Sighting<K>>, Option<K>) {
        let filter = rows.filter().within(action.from());
        if filter.states().is_empty() {
            return (Vec::new(), None);
        }
        let mut found = self.sight_all(table);
        found.retain(|row| matches(&filter, row) && rows.start().is_none_or(|start| row.key > *start));
        found.truncate(rows.limit_rows());
        let next = found.last().filter(|_| found.len() == rows.limit_rows()).map(|row| row.key.clone());
        (found, next)
    }

    fn check_bulk(&self, rows: &Bulk<K>, action: &Action, by: &Operator) -> Result<(), InputError> {
        rows.check()?;
        self.check_action(action, by)?;
        self.check_filter(&rows.filter().within(action.from()))
    }
}

impl<K: MemoryKey, R: Clone + Send + Sync + 'static> OperateStore for MemoryStore<K, R> {
    fn operate(
        &self,
        key: &K,
        seen: Fence,
        action: &Action,
        by: &Operator,
    ) -> Result<Operated<K>, OperateError<K>> {
        self.check_action(action, by)?;
        let mut table = self.table();
        let row = self.sight(&table, key).ok_or(OperateError::Missing)?;
        if row.fence != seen {
            return Err(OperateError::Changed { seen, now: Box::new(row) });
        }
        self.act(&mut table, &row, action, by)
    }

    fn operate_all(
        &self,
        rows: &Bulk<K>,
        action: &Action,
        by: &Operator,
    ) -> Result<OperatedAll<K>, StoreError> {
        self.check_bulk(rows, action, by)?;
        let mut table = self.table();
        let (found, next) = self.among(&table, rows, action);
        let mut all = OperatedAll { done: Vec::new(), refused: Vec::new(), next };
        for row in found {
            match self.act(&mut table, &row, action, by) {
                Ok(done) => all.done.push(done),
                Err(why) => all.refused.push((row.key, why)),
            }
        }
        Ok(all)
    }

    fn preview_all(
        &self,
        rows: &Bulk<K>,
        action: &Action,
        by: &Operator,
    ) -> Result<OperatePreview<K>, StoreError> {
        self.check_bulk(rows, action, by)?;
        let (found, next) = self.among(&self.table(), rows, action);
        let would = |row: Sighting<K>| -> (Sighting<K>, Result<Option<State>, OperateError<K>>) {
            let step = self.decide(&row, action, by);
            (row, step.map(|step| step.to))
        };
        Ok(OperatePreview { rows: found.into_iter().map(would).collect(), next })
    }

    fn history(&self, key: &K, limit: usize) -> Result<Vec<Event>, StoreError> {
        check_limit(limit)?;
        self.keeps_events()?;
        Ok(self.table().events_of(&format!("{key:?}")).take(limit).cloned().collect())
    }
}
