//! A store over a real table, and plain SQL beside it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use claimstore::Store;
use claimstore_core::{Event, Fence, Happened, RecoverStore, State, Tally, Timestamp, WorkerId};
use claimstore_testkit::{Columns, Due, Harness, Key, Seed, Snapshot};

use super::database::{RawEvent, RawRow, TestDialect};
use super::key::{TestKey, text};
use super::spec::{Spec, Time};
use super::tables::TestTable;

/// Connections of each store: the races have sixteen threads on two stores.
const CONNECTIONS: u32 = 8;

/// A harness over a table of its own, in a file or schema of its own.
pub struct Db<S, D: TestDialect> {
    // Fields are dropped in this order: connections first, what they are connected to last.
    store: S,
    other: S,
    raw: Mutex<D::Conn>,
    spec: Spec,
    next: AtomicU32,
    rounds: usize,
    telling_all: Option<fn(&D::Place) -> S>,
    place: D::Place,
}

impl<T: TestTable<D>, D: TestDialect> Db<Store<T, D>, D> {
    /// An empty table, and two stores on pools of their own.
    #[must_use]
    pub fn fresh() -> Self {
        let telling_all: fn(&D::Place) -> _ = |place| T::telling_all(D::store::<T>(place, 1));
        Db { telling_all: Some(telling_all), ..Self::wrapped(|store| store) }
    }
}

impl<S, D: TestDialect> Db<S, D> {
    /// The same, with something around each store.
    pub fn wrapped<T: TestTable<D>>(wrap: impl Fn(Store<T, D>) -> S) -> Self {
        let place = D::place();
        let [store, other] = [0, 1].map(|_| D::store::<T>(&place, CONNECTIONS));
        T::create(&store, &mut D::connect(&place));
        let raw = Mutex::new(D::connect(&place));
        let next = AtomicU32::new(1);
        let (store, other, spec) = (wrap(store), wrap(other), T::spec());
        Db { store, other, raw, spec, next, rounds: 10, telling_all: None, place }
    }

    /// Runs each race so often.
    #[must_use]
    pub fn with_rounds(self, rounds: usize) -> Self {
        Db { rounds, ..self }
    }

    /// A further connection to this place.
    pub fn connect(&self) -> D::Conn {
        D::connect(&self.place)
    }

    /// Where the table is.
    pub fn place(&self) -> &D::Place {
        &self.place
    }

    /// The connection beside the stores.
    ///
    /// # Panics
    /// Where a test panicked on it.
    pub fn raw(&self) -> MutexGuard<'_, D::Conn> {
        self.raw.lock().expect("no test panicked on this connection")
    }

    fn run(&self, sql: &str) -> usize {
        D::run(&mut self.raw(), sql).unwrap_or_else(|why| panic!("{sql}: {why}"))
    }
}

impl<S: RecoverStore, D: TestDialect> Db<S, D>
where
    S::Key: TestKey,
{
    fn insert(&self, rows: Vec<(S::Key, Seed)>) {
        let now = D::now_of(&mut self.raw());
        for part in rows.chunks(500) {
            let rows: Vec<_> = part.iter().enumerate().map(|(n, row)| self.values(n, row, now)).collect();
            let names: Vec<_> = rows[0].iter().map(|(name, _)| *name).collect();
            let values: Vec<_> = rows
                .iter()
                .map(|row| {
                    format!(
                        "({})",
                        row.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ")
                    )
                })
                .collect();
            let (names, values) = (names.join(", "), values.join(", "));
            self.run(&format!("INSERT INTO {} ({names}) VALUES {values}", self.spec.table));
        }
    }

    /// Column by column, what a seed means for this table.
    fn values(&self, n: usize, (key, seed): &(S::Key, Seed), now: Timestamp) -> Vec<(&'static str, String)> {
        assert_ne!(seed.state, State::Running, "a running row is made by claiming it");
        let spec = &self.spec;
        let words = spec.words_of(seed.state);
        assert!(!words.is_empty(), "{} has no word for {}", spec.table, seed.state);
        let due = match seed.due {
            Due::Ago(span) => now.before(span),
            Due::In(span) => now.after(span),
        };
        let turn = n + usize::try_from(self.next.load(Ordering::SeqCst)).expect("a small number");
        let mut row = vec![
            (spec.key, key.literal()),
            (spec.state, text(words[turn % words.len()])),
            (spec.fence, seed.fence.get().to_string()),
        ];
        row.extend(spec.queue.map(|column| (column, text(&seed.queue))));
        row.extend(spec.kind.map(|column| (column, text(&seed.kind))));
        row.extend(spec.priority.map(|column| (column, seed.priority.to_string())));
        row.extend(spec.due.map(|(column, time)| (column, D::literal(due, time))));
        row.extend(spec.idempotent.map(|column| (column, seed.idempotent.to_string())));
        row.extend(self.counted(seed.tally));
        if let Some([failures, crashes]) = spec.budgets {
            let most = |given: Option<i32>| given.map_or_else(|| "20".to_owned(), |most| most.to_string());
            row.push((failures, most(seed.budget.max_failures)));
            row.push((crashes, most(seed.budget.max_crashes)));
        }
        row.extend(spec.constants.iter().map(|(column, value)| (*column, (*value).to_owned())));
        row
    }

    fn counted(&self, tally: Tally) -> Vec<(&'static str, String)> {
        let counts = [tally.failures, tally.crashes, tally.interruptions];
        let pairs = self.spec.counts.into_iter().zip(counts);
        pairs.filter_map(|(column, count)| Some((column?, count.to_string()))).collect()
    }

    /// Changes one row, which exists.
    fn edit(&self, key: &S::Key, set: &[(&str, String)]) {
        if set.is_empty() {
            return;
        }
        let set: Vec<_> = set.iter().map(|(column, value)| format!("{column} = {value}")).collect();
        let Spec { table, key: column, .. } = self.spec;
        let sql = format!("UPDATE {table} SET {} WHERE {column} = {}", set.join(", "), key.literal());
        assert_eq!(self.run(&sql), 1, "there is no row {key:?}");
    }

    fn next_key(&self) -> S::Key {
        S::Key::nth(self.next.fetch_add(1, Ordering::SeqCst))
    }

    /// The columns of a [`RawRow`].
    fn selection(&self) -> String {
        let spec = &self.spec;
        let or_null = |column: Option<String>, sql_type: &str| {
            column.unwrap_or_else(|| format!("CAST(NULL AS {sql_type})"))
        };
        let plain = |column: Option<&str>, sql_type| or_null(column.map(str::to_owned), sql_type);
        let instant = |column: Option<(&str, Time)>| {
            or_null(column.map(|(column, time)| D::micros(column, time)), "BIGINT")
        };
        let [failures, crashes, interruptions] = spec.counts;
        let columns = [
            (spec.state.to_owned(), "state"),
            (spec.fence.to_owned(), "fence"),
            (plain(spec.worker, "TEXT"), "worker"),
            (instant(spec.claimed_at), "claimed_at"),
            (instant(spec.lease), "lease"),
            (instant(spec.due), "due"),
            (plain(spec.priority, "INTEGER"), "priority"),
            (plain(failures, "INTEGER"), "failures"),
            (plain(crashes, "INTEGER"), "crashes"),
            (plain(interruptions, "INTEGER"), "interruptions"),
            (plain(spec.last_error, "TEXT"), "last_error"),
            (instant(spec.finished), "finished"),
        ];
        columns.map(|(column, name)| format!("{column} AS {name}")).join(", ")
    }

    fn snapshot(&self, row: RawRow) -> Snapshot {
        Snapshot {
            state: self.spec.state_of(&row.state),
            fence: Fence::new(row.fence),
            worker: row.worker,
            claimed_at: row.claimed_at.map(Timestamp::from_micros),
            lease: row.lease.map(Timestamp::from_micros),
            due: row.due.map(Timestamp::from_micros),
            priority: row.priority,
            failures: row.failures,
            crashes: row.crashes,
            interruptions: row.interruptions,
            last_error: row.last_error,
            finished: row.finished.map(Timestamp::from_micros),
        }
    }
}

impl<S: RecoverStore, D: TestDialect> Harness for Db<S, D>
where
    S::Key: TestKey,
{
    type Store = S;

    fn store(&self) -> &S {
        &self.store
    }

    fn other(&self) -> &S {
        &self.other
    }

    fn columns(&self) -> Columns {
        self.spec.columns()
    }

    fn now(&self) -> Timestamp {
        D::now_of(&mut self.raw())
    }

    fn seed(&self, seed: Seed) -> S::Key {
        self.seed_many(vec![seed]).remove(0)
    }

    fn seed_many(&self, seeds: Vec<Seed>) -> Vec<S::Key> {
        let keys: Vec<_> = seeds.iter().map(|_| self.next_key()).collect();
        self.insert(keys.iter().cloned().zip(seeds).collect());
        keys
    }

    fn seed_again(&self, key: &S::Key, seed: Seed) {
        self.insert(vec![(key.clone(), seed)]);
    }

    fn read(&self, key: &Key<Self>) -> Option<Snapshot> {
        let Spec { table, key: column, .. } = self.spec;
        let sql = format!("SELECT {} FROM {table} WHERE {column} = {}", self.selection(), key.literal());
        let row = D::rows(&mut self.raw(), &sql).pop();
        row.map(|row| self.snapshot(row))
    }

    fn count_in(&self, state: State) -> usize {
        let words: Vec<_> = self.spec.words_of(state).into_iter().map(text).collect();
        let Spec { table, state, .. } = self.spec;
        let sql = format!("SELECT count(*) AS value FROM {table} WHERE {state} IN ({})", words.join(", "));
        usize::try_from(D::number(&mut self.raw(), &sql)).expect("a count")
    }

    fn events(&self) -> Vec<Event> {
        if !self.spec.late_writers {
            return Vec::new();
        }
        let sql = format!(
            "SELECT id, {} AS at, row_key, kind, worker, fence, detail FROM claimstore_events \
             WHERE table_name = {} ORDER BY id",
            D::micros("at", D::OWN_TIME),
            text(self.spec.table)
        );
        let rows = D::raw_events(&mut self.raw(), &sql);
        rows.into_iter().map(|row| event(self.spec.table, row)).collect()
    }

    fn expire(&self, key: &S::Key, by: Duration) {
        let ended = self.now().before(by);
        let lease = self.spec.lease.map(|(column, time)| (column, D::literal(ended, time)));
        self.edit(key, lease.as_slice());
    }

    fn make_due(&self, key: &S::Key) {
        let now = self.now();
        let due = self.spec.due.map(|(column, time)| (column, D::literal(now, time)));
        self.edit(key, due.as_slice());
    }

    fn age(&self, key: &S::Key, by: Duration) {
        let column = match self.read(key).map(|row| row.state) {
            Some(State::Pending) => self.spec.due,
            Some(State::Running | State::Uncertain) => self.spec.claimed_at,
            _ => self.spec.finished,
        };
        let since = self.now().before(by);
        let since = column.map(|(column, time)| (column, D::literal(since, time)));
        self.edit(key, since.as_slice());
    }

    fn age_events(&self, by: Duration) {
        let table = text(self.spec.table);
        for Event { id, at, .. } in self.events() {
            let at = D::literal(at.before(by), D::OWN_TIME);
            let sql =
                format!("UPDATE claimstore_events SET at = {at} WHERE id = {id} AND table_name = {table}");
            assert_eq!(self.run(&sql), 1);
        }
    }

    fn delete(&self, key: &S::Key) {
        let Spec { table, key: column, .. } = self.spec;
        let sql = format!("DELETE FROM {table} WHERE {column} = {}", key.literal());
        assert_eq!(self.run(&sql), 1, "there is no row {key:?}");
    }

    fn set_fence(&self, key: &S::Key, fence: Fence) {
        self.edit(key, &[(self.spec.fence, fence.get().to_string())]);
    }

    fn set_tally(&self, key: &S::Key, tally: Tally) {
        self.edit(key, &self.counted(tally));
    }

    fn telling_all(&self) -> S {
        let telling_all = self.telling_all.expect("the store is not wrapped in anything");
        telling_all(&self.place)
    }

    fn rounds(&self) -> usize {
        self.rounds
    }
}

/// An event from its columns, by serde alone.
fn event(table: &str, row: RawEvent) -> Event {
    let detail: serde_json::Value = serde_json::from_str(&row.detail).expect("an event's detail is JSON");
    let what = serde_json::json!({ "kind": row.kind, "detail": detail });
    let what: Happened = serde_json::from_value(what).expect("an event of a known kind");
    Event {
        id: row.id,
        at: Timestamp::from_micros(row.at),
        table: table.to_owned(),
        key: row.row_key,
        worker: row.worker.map(|name| WorkerId::new(name).expect("a valid name")),
        fence: Fence::new(row.fence),
        what,
    }
}
