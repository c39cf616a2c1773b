//! One sequence of operations, applied to a store and to the model.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use claimstore_core::{
    Backoff, Batch, Claim, ClaimRequest, ClaimStore, DEFAULT_QUEUE, Receipt, RecoveryPolicy, SettleError,
    State, StoreError, Unsafe, Verdict, WorkerId,
};

use super::told::{self, Told};
use super::{Op, Say};
use crate::{Harness, Key, MemoryHarness, Seed};

/// Never reached while a test runs: leases, delays and back-offs are this long and moved by hand.
const FAR: Duration = Duration::from_secs(24 * 60 * 60);

/// A batch of settlements.
type Verdicts<K> = Vec<(Claim<K>, Verdict)>;

/// One claim on both sides.
pub(super) struct Pair<K> {
    pub(super) real: Claim<K>,
    pub(super) model: Claim<u32>,
}

pub(super) struct Both<'h, H: Harness> {
    pub(super) h: &'h H,
    pub(super) model: MemoryHarness<u32>,
    /// The real key of the n-th row; the model's is n.
    pub(super) keys: Vec<Key<H>>,
    rows: HashMap<Key<H>, u32>,
    pub(super) held: Vec<Pair<Key<H>>>,
}

impl<'h, H: Harness> Both<'h, H> {
    pub(super) fn new(h: &'h H) -> Both<'h, H> {
        let model = MemoryHarness::shaped(h.columns(), |n| n - 1);
        Both { h, model, keys: Vec::new(), rows: HashMap::new(), held: Vec::new() }
    }

    pub(super) fn apply(&mut self, op: &Op) -> (Told, Told) {
        match op {
            Op::Seed { priority, later, aside, budget, idempotent } => {
                let n = u64::try_from(self.keys.len()).expect("a small number");
                // Rows are due in the order of their keys, whenever each was inserted.
                let due = if *later { FAR } else { FAR - Duration::from_secs(n) };
                let seed = Seed::pending().priority(*priority).max_failures(*budget).max_crashes(*budget);
                let seed = if *later { seed.due_in(due) } else { seed.due_ago(due) };
                let seed = seed.queue(if *aside { "side" } else { DEFAULT_QUEUE });
                self.seed(Seed { idempotent: *idempotent, ..seed })
            }
            Op::Claim { row, worker } => self.with_row(*row, |both, row| both.claim(row, &ask(*worker))),
            Op::ClaimNext { limit, worker, both } => {
                let ask = self.queues(ask(*worker).limit(*limit), *both);
                let (real, model) = (self.h.store().claim_next(&ask), self.model.store().claim_next(&ask));
                self.claimed(real, model, *limit)
            }
            Op::Resume { claim } => self.with_claim(*claim, Self::resume),
            Op::Renew { claim } => self.with_claim(*claim, Self::renew),
            Op::RenewAll => self.renew_all(),
            Op::Settle { claim, say } => self.with_claim(*claim, |both, n| {
                let (pair, verdict) = (both.held.swap_remove(n), both.verdict(*say));
                let real = both.h.store().settle(pair.real, verdict.clone());
                let model = both.model.store().settle(pair.model, verdict);
                both.settled(vec![real], vec![model])
            }),
            Op::SettleAll { says } => {
                let (real, model) = self.take_batch(says, |_| true);
                let (real, model) = (self.h.store().settle_all(real), self.model.store().settle_all(model));
                self.settled(real, model)
            }
            Op::SettleAndClaim { says, limit, worker } => self.settle_and_claim(says, *limit, *worker),
            Op::Expire { row } => self.with_row(*row, |both, row| {
                both.move_if(
                    State::Running,
                    row,
                    |h, key| {
                        h.expire(key, FAR);
                    },
                    |m, key| m.expire(key, FAR),
                )
            }),
            Op::MakeDue { row } => self.with_row(*row, |both, row| {
                both.move_if(State::Pending, row, |h, key| h.make_due(key), |m, key| m.make_due(key))
            }),
            Op::Delete { row } => self.with_row(*row, |both, row| match both.model.read(&row) {
                None => nothing(),
                Some(_) => {
                    both.h.delete(&both.keys[index(row)]);
                    both.model.delete(&row);
                    nothing()
                }
            }),
            Op::Recover { leave } => self.recover(*leave),
        }
    }

    fn seed(&mut self, seed: Seed) -> (Told, Told) {
        let (real, model) = (self.h.seed(seed.clone()), self.model.seed(seed));
        self.rows.insert(real.clone(), model);
        self.keys.push(real);
        nothing()
    }

    fn claim(&mut self, row: u32, ask: &ClaimRequest) -> (Told, Told) {
        let real = self.h.store().claim(&self.keys[index(row)], ask);
        let model = self.model.store().claim(&row, ask).expect("the model claims");
        let real = match real {
            Ok(real) => real,
            Err(error) => return (vec![told::failure(&error)], vec!["no error".to_owned()]),
        };
        let lines = (told::refused(real.refusal()), told::refused(model.refusal()));
        if let (Some(real), Some(model)) = (real.claimed(), model.claimed()) {
            self.held.push(Pair { real: real.claim, model: model.claim });
        }
        lines
    }

    fn claimed<R, S>(
        &mut self,
        real: Result<Batch<Key<H>, R>, StoreError>,
        model: Result<Batch<u32, S>, StoreError>,
        limit: usize,
    ) -> (Told, Told) {
        let (real, model) = match (real, model) {
            (Ok(real), Ok(model)) => (real, model),
            (real, model) => return (told::failed(real), told::failed(model)),
        };
        // With a full batch nothing is promised about the next row.
        let next = |count: usize, known: bool| format!("next {}", count < limit && known);
        let mut lines = (
            vec![next(real.len(), real.next_due.is_some())],
            vec![next(model.len(), model.next_due.is_some())],
        );
        let mut real = real.into_iter().map(|claimed| claimed.claim);
        let mut model = model.into_iter().map(|claimed| claimed.claim);
        loop {
            let (one, two) = (real.next(), model.next());
            lines.0.extend(one.as_ref().map(|claim| format!("row {:?}", self.rows.get(claim.key()))));
            lines.1.extend(two.as_ref().map(|claim| format!("row {:?}", Some(claim.key()))));
            match (one, two) {
                (Some(real), Some(model)) => self.held.push(Pair { real, model }),
                (None, None) => return lines,
                _ => (),
            }
        }
    }

    fn resume(&mut self, n: usize) -> (Told, Told) {
        let pair = &self.held[n];
        let real = self.h.store().resume(&pair.real.token());
        let model = self.model.store().resume(&pair.model.token());
        match (real, model) {
            (Ok(real), Ok(model)) => {
                self.held.push(Pair { real, model });
                nothing()
            }
            (real, model) => (
                vec![real.map_or_else(|e| told::not_renewed(&e), |_| "resumed".to_owned())],
                vec![model.map_or_else(|e| told::not_renewed(&e), |_| "resumed".to_owned())],
            ),
        }
    }

    fn renew(&mut self, n: usize) -> (Told, Told) {
        let pair = &mut self.held[n];
        let real = self.h.store().renew(&mut pair.real, FAR);
        let model = self.model.store().renew(&mut pair.model, FAR);
        let lines = |answer: Result<(), _>| {
            vec![answer.map_or_else(|e| told::not_renewed(&e), |()| "renewed".to_owned())]
        };
        (lines(real), lines(model))
    }

    fn renew_all(&mut self) -> (Told, Told) {
        let mut seen = HashSet::new();
        let once: Vec<_> = self.held.iter().filter(|pair| seen.insert(*pair.model.key())).collect();
        let real: Vec<_> = once.iter().map(|pair| pair.real.token()).collect();
        let model: Vec<_> = once.iter().map(|pair| pair.model.token()).collect();
        let lines = |answers: Result<Vec<_>, _>| match answers {
            Ok(answers) => answers.iter().map(told::renewal).collect(),
            Err(error) => vec![told::failure(&error)],
        };
        let real = self.h.store().renew_all(&real, FAR);
        (lines(real), lines(self.model.store().renew_all(&model, FAR)))
    }

    /// Compares settlements, and keeps the claims that were handed back.
    fn settled(
        &mut self,
        real: Vec<Result<Receipt, SettleError<Key<H>>>>,
        model: Vec<Result<Receipt, SettleError<u32>>>,
    ) -> (Told, Told) {
        let (real, real_back): (Told, Vec<_>) = real.into_iter().map(told::settled).unzip();
        let (model, model_back): (Told, Vec<_>) = model.into_iter().map(told::settled).unzip();
        for back in real_back.into_iter().zip(model_back) {
            if let (Some(real), Some(model)) = back {
                self.held.push(Pair { real, model });
            }
        }
        (real, model)
    }

    fn settle_and_claim(&mut self, says: &[Say], limit: usize, worker: u8) -> (Told, Told) {
        let ask = ask(worker).limit(limit);
        // Whether a lost claim's row may be claimed by the same call is left to the store.
        let (real, model) = self.take_batch(says, |state| state != Some(State::Pending));
        let real = self.h.store().settle_and_claim(real, &ask);
        let model = self.model.store().settle_and_claim(model, &ask);
        let (mut one, mut two) = self.settled(real.settled, model.settled);
        let (three, four) = self.claimed(real.claimed, model.claimed, limit);
        one.extend(three);
        two.extend(four);
        (one, two)
    }

    /// Takes claims for a batch, each row once, whose row stands as wanted.
    fn take_batch(
        &mut self,
        says: &[Say],
        wanted: impl Fn(Option<State>) -> bool,
    ) -> (Verdicts<Key<H>>, Verdicts<u32>) {
        let (mut real, mut model, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for say in says {
            let fits = |pair: &Pair<Key<H>>| {
                let state = self.model.read(pair.model.key()).map(|row| row.state);
                !seen.contains(pair.model.key()) && wanted(state)
            };
            let Some(n) = self.held.iter().position(fits) else { break };
            let pair = self.held.swap_remove(n);
            seen.insert(*pair.model.key());
            real.push((pair.real, self.verdict(*say)));
            model.push((pair.model, self.verdict(*say)));
        }
        (real, model)
    }

    fn recover(&mut self, leave: bool) -> (Told, Told) {
        let then = if leave { Unsafe::Leave } else { Unsafe::Uncertain };
        let policy = RecoveryPolicy::default()
            .grace(Duration::from_secs(60))
            .backoff(Backoff::fixed(FAR))
            .max_crashes(2)
            .when_unsafe(then);
        let rows = &self.rows;
        let real = told::recovery(self.h.store(), &policy, |key| rows.get(key).copied());
        (real, told::recovery(self.model.store(), &policy, |key| Some(*key)))
    }

    /// Changes a row by hand on both sides, if it stands in this state.
    fn move_if(
        &mut self,
        state: State,
        row: u32,
        real: impl Fn(&H, &Key<H>),
        model: impl Fn(&MemoryHarness<u32>, &u32),
    ) -> (Told, Told) {
        if self.model.read(&row).is_some_and(|seen| seen.state == state) {
            real(self.h, &self.keys[index(row)]);
            model(&self.model, &row);
        }
        nothing()
    }

    fn with_row(&mut self, n: usize, act: impl FnOnce(&mut Self, u32) -> (Told, Told)) -> (Told, Told) {
        match self.keys.len() {
            0 => nothing(),
            count => act(self, u32::try_from(n % count).expect("a small number")),
        }
    }

    fn with_claim(&mut self, n: usize, act: impl FnOnce(&mut Self, usize) -> (Told, Told)) -> (Told, Told) {
        match self.held.len() {
            0 => nothing(),
            count => act(self, n % count),
        }
    }

    fn queues(&self, ask: ClaimRequest, both: bool) -> ClaimRequest {
        if both && self.h.columns().queue { ask.queues(["side", DEFAULT_QUEUE]) } else { ask }
    }

    fn verdict(&self, say: Say) -> Verdict {
        match say {
            Say::Complete => Verdict::complete(),
            Say::Fail if self.h.columns().due => Verdict::fail_after("it failed", FAR),
            Say::Fail => Verdict::fail("it failed"),
            Say::FailForGood => Verdict::fail_for_good("it failed for good"),
            Say::Release => Verdict::release(),
            Say::Snooze => Verdict::snooze(FAR),
        }
    }
}

fn nothing() -> (Told, Told) {
    (Vec::new(), Vec::new())
}

fn index(row: u32) -> usize {
    usize::try_from(row).expect("a small number")
}

fn ask(worker: u8) -> ClaimRequest {
    let name = WorkerId::new(format!("worker-{worker}")).expect("a valid name");
    ClaimRequest::new(&name).lease(FAR)
}
