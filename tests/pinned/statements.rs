//! Every statement of a table on one database, by name.

use std::time::Duration;

use claimstore::core::{
    Budget, Claim, ClaimParts, ClaimRequest, Expired, Fence, LocalInstant, Operator, Pausable,
    RecoveryAction, Settlement, State, Tally, Timestamp, WorkerId,
};
use claimstore::diesel::query_builder::QueryFragment;
use claimstore::{ClaimOn, Dialect, query};

/// A statement's name and its text.
pub(crate) type Named = (String, String);

/// The statements of `T` on `D` that the store sends for a table with these columns and words.
pub(crate) fn of<T, D>(key: &T::Key, text: fn(&dyn QueryFragment<D>) -> String) -> Vec<Named>
where
    T: ClaimOn<D>,
    D: Dialect,
{
    let mut all = Statements { named: Vec::new(), text };
    all.claims::<T>(key);
    all.renewals::<T>(key);
    all.settlements::<T>(key);
    all.recovery::<T>(key);
    all.queues::<T>();
    all.named
}

struct Statements<D> {
    named: Vec<Named>,
    text: fn(&dyn QueryFragment<D>) -> String,
}

impl<D: Dialect> Statements<D> {
    fn add(&mut self, name: impl Into<String>, node: &impl QueryFragment<D>) {
        self.named.push((name.into(), (self.text)(node)));
    }

    fn claims<T: ClaimOn<D>>(&mut self, key: &T::Key) {
        for (limit, rows) in [(1, "one row"), (100, "up to n rows")] {
            for (queues, name) in asked::<T>() {
                let ask = queues.limit(limit);
                self.add(format!("claim_next: {rows}{name}"), &query::claim_next::<T>(&ask));
            }
        }
        let except = query::claim_next::<T>(&ask().limit(100)).except([key]);
        self.add("claim_next: up to n rows, except these", &except);
        self.add("claim_key: passing over a locked row", &query::claim_key::<T>(key, &ask(), false));
        self.add("claim_key: waiting for a locked row", &query::claim_key::<T>(key, &ask(), true));
        self.add("observe", &query::observe::<T>(key));
        if T::DECLARATION.columns.due.is_some() {
            for (ask, name) in asked::<T>() {
                self.add(format!("next_due{}", name.replacen(',', ":", 1)), &query::next_due::<T>(&ask));
            }
        }
    }

    fn renewals<T: ClaimOn<D>>(&mut self, key: &T::Key) {
        let token = claim(key).token();
        self.add("renew", &query::renew::<T>(&[token], Duration::from_secs(30)));
        self.add("guard", &query::guard::<T>(&claim(key)));
    }

    fn settlements<T: ClaimOn<D>>(&mut self, key: &T::Key) {
        let second = Some(Duration::from_secs(1));
        let error = Some("no");
        for (name, to, delay, error) in [
            ("complete", State::Completed, None, None),
            ("release", State::Pending, None, None),
            ("snooze", State::Pending, second, None),
            ("fail, with a back-off", State::Pending, second, error),
            ("fail, at once again", State::Pending, None, error),
            ("fail, for good", State::Dead, None, error),
        ] {
            let sent = T::DECLARATION.words.word(to).is_some()
                && (delay.is_none() || T::DECLARATION.columns.due.is_some());
            if sent {
                let to = settlement(to, delay, error);
                self.add(format!("settle: {name}"), &query::settle::<T>(&claim(key), &to));
            }
        }
        let claim = claim(key);
        let (done, back) = (settlement(State::Completed, None, None), settlement(State::Pending, None, None));
        for (to, name) in [(&done, "all completed"), (&back, "mixed")] {
            self.add(format!("settle_many: {name}"), &query::settle_many::<T>([(&claim, to)]));
        }
        if keeps_queues::<T>() {
            let gone = discarding(key);
            self.add("settle: complete, and delete", &query::settle::<T>(&gone, &done));
            let name = "settle_many: all completed, and delete";
            self.add(name, &query::settle_many::<T>([(&gone, &done)]));
            let name = "settle_many: all completed, and delete, passing over locked rows";
            self.add(name, &query::settle_many::<T>([(&gone, &done)]).passing_over());
            let name = "settle_many: mixed, passing over locked rows";
            self.add(name, &query::settle_many::<T>([(&claim, &back)]).passing_over());
        }
    }

    fn queues<T: ClaimOn<D>>(&mut self) {
        if !keeps_queues::<T>() {
            return;
        }
        let by = Operator::new("anna", "why").expect("both are given");
        let queue = Pausable::queue("a");
        self.add("pause: a queue", &query::pause::<T>(&queue, &by));
        self.add("pause: a kind", &query::pause::<T>(&Pausable::kind("a"), &by));
        self.add("unpause: a queue", &query::unpause::<T>(&queue));
        self.add("keep_completed: no", &query::keep_completed::<T>(&queue, false));
        self.add("keep_completed: yes", &query::keep_completed::<T>(&queue, true));
        self.add("queues", &query::settings::<T>());
    }

    fn recovery<T: ClaimOn<D>>(&mut self, key: &T::Key) {
        if T::DECLARATION.columns.lease.is_none() {
            return;
        }
        let grace = Duration::from_secs(5);
        let after = Some((Timestamp::from_micros(0), key.clone()));
        self.add("expiring: first page", &query::expiring::<T>(grace, 100, None));
        self.add("expiring: next page", &query::expiring::<T>(grace, 100, after));
        let row = expired(key);
        self.add("recover", &query::recover::<T>([(&row, RecoveryAction::Dead)], grace));
    }
}

/// The statements that settle and claim at once, which one database has.
pub(crate) fn settle_and_claim<T, D>(key: &T::Key, text: fn(&dyn QueryFragment<D>) -> String) -> Vec<Named>
where
    T: ClaimOn<D>,
    D: Dialect,
    query::SettleAndClaim<T>: QueryFragment<D>,
{
    let mut named = Vec::new();
    let mut all =
        vec![(claim(key), State::Completed, "all completed"), (claim(key), State::Pending, "mixed")];
    if keeps_queues::<T>() {
        all.push((discarding(key), State::Completed, "all completed, and delete"));
    }
    for (claim, to, verdicts) in all {
        for (limit, rows) in [(1, "one row"), (100, "up to n rows")] {
            for (ask, queues) in asked::<T>() {
                let to = settlement(to, None, None);
                let node = query::settle_and_claim::<T>([(&claim, &to)], &ask.limit(limit));
                named.push((format!("settle_and_claim: {verdicts}; {rows}{queues}"), text(&node)));
            }
        }
    }
    named
}

/// Whether completing a row of this table can delete it.
fn keeps_queues<T: claimstore::ClaimTable>() -> bool {
    T::DECLARATION.queues && T::DECLARATION.columns.queue.is_some()
}

fn ask() -> ClaimRequest {
    ClaimRequest::new(&worker())
}

fn worker() -> WorkerId {
    WorkerId::new("w").expect("a name")
}

/// Requests that lead to different texts, with what to call them.
fn asked<T: claimstore::ClaimTable>() -> Vec<(ClaimRequest, &'static str)> {
    match T::DECLARATION.columns.queue {
        None => vec![(ask(), "")],
        Some(_) => vec![(ask().queue("a"), ", one queue"), (ask().queues(["a", "b", "c"]), ", three queues")],
    }
}

/// A claim as a store would hand it out.
pub(crate) fn claim<K: Clone>(key: &K) -> Claim<K> {
    held(key, false)
}

/// One whose row goes when it is completed.
fn discarding<K: Clone>(key: &K) -> Claim<K> {
    held(key, true)
}

fn held<K: Clone>(key: &K, discard: bool) -> Claim<K> {
    let parts = ClaimParts {
        key: key.clone(),
        fence: Fence::new(1),
        worker: worker(),
        until: None,
        tally: Tally::default(),
        budget: Budget::default(),
        discard,
    };
    Claim::granted(parts, LocalInstant::now(), None)
}

fn settlement(to: State, delay: Option<Duration>, error: Option<&str>) -> Settlement {
    Settlement { to, delay, tally: Tally::default(), error: error.map(str::to_owned) }
}

fn expired<K: Clone>(key: &K) -> Expired<K> {
    Expired {
        key: key.clone(),
        fence: Fence::new(1),
        worker: None,
        until: Timestamp::from_micros(0),
        tally: Tally::default(),
        budget: Budget::default(),
        idempotent: true,
    }
}
