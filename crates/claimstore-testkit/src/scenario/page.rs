//! Reading many rows, a page at a time.

use std::time::Duration;

use claimstore_core::{
    ClaimStore, Filter, InputError, InspectStore, MAX_BATCH, PageOrder, PageRequest, State,
};

use super::step::{LONG, ask, input, seed_and_take, take, worker};
use crate::{Harness, Key, Seed};

/// The keys of this filter, read in pages of `limit`.
#[track_caller]
fn walk<H: Harness>(h: &H, filter: &Filter, limit: usize) -> Vec<Key<H>>
where
    H::Store: InspectStore,
{
    let (mut keys, mut ask) = (Vec::new(), PageRequest::new(filter.clone()).limit(limit));
    loop {
        let page = h.store().page(&ask).expect("the store looks");
        assert!(page.rows.len() <= limit, "{} rows for a limit of {limit}", page.rows.len());
        assert!(page.next.is_none() || page.rows.len() == limit, "a short page is the last");
        let order = PageOrder::of(filter.states());
        if let (Some(next), Some(last)) = (&page.next, page.rows.last()) {
            assert_eq!((next.at, &next.key), (order.time(last), &last.key));
        }
        keys.extend(page.rows.into_iter().map(|row| row.key));
        assert!(keys.len() < 100, "no end is in sight");
        match page.next {
            Some(next) => ask = PageRequest::new(filter.clone()).limit(limit).after(next),
            None => return keys,
        }
    }
}

/// The same keys, whatever the size of a page.
#[track_caller]
fn come_as<H: Harness>(h: &H, filter: &Filter, expected: &[&Key<H>])
where
    H::Store: InspectStore,
{
    for limit in [1, 2, expected.len().max(1), 50] {
        assert_eq!(
            walk(h, filter, limit).iter().collect::<Vec<_>>(),
            expected,
            "pages of {limit}: {filter:?}"
        );
    }
}

/// Why a page of this filter is refused, which it is.
#[track_caller]
fn is_refused<H: Harness>(h: &H, ask: &PageRequest<Key<H>>) -> InputError
where
    H::Store: InspectStore,
{
    input(&h.store().page(ask).map(drop).expect_err("the page is refused"))
}

/// Rows in this state, some of the same age, in key order.
fn aged<H: Harness>(h: &H, state: State, minutes: &[u64]) -> Vec<Key<H>> {
    let stand = |minutes: &u64| {
        let key = h.seed(Seed::pending().state(state));
        h.age(&key, Duration::from_secs(minutes * 60));
        key
    };
    minutes.iter().map(stand).collect()
}

/// Pending rows come by due time, those that wait for longest first.
pub fn pending_rows_come_by_due_time<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let keys = [
        h.seed(Seed::pending().due_in(LONG)),
        h.seed(Seed::pending().due_ago(LONG)),
        h.seed(Seed::pending().due_in(2 * LONG)),
        h.seed(Seed::pending().due_ago(2 * LONG)),
    ];
    let order = if h.columns().due { [3, 1, 0, 2] } else { [0, 1, 2, 3] };
    come_as(h, &Filter::of(State::Pending), &order.map(|n| &keys[n]));
}

/// Running rows come by the end of their lease, the next to run out first.
pub fn running_rows_come_by_the_end_of_their_lease<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let hold = |lease: Duration| {
        let key = h.seed(Seed::pending());
        let outcome = h.store().claim(&key, &ask("anna").lease(lease)).expect("the store claims");
        assert!(outcome.refusal().is_none());
        key
    };
    let keys = [hold(2 * LONG), hold(LONG), hold(3 * LONG), hold(LONG)];
    h.expire(&keys[2], LONG);
    let order = if h.columns().lease { [2, 1, 3, 0] } else { [0, 1, 2, 3] };
    come_as(h, &Filter::of(State::Running), &order.map(|n| &keys[n]));
}

/// Rows that have ended come latest first; of one instant the greatest key does.
pub fn ended_rows_come_latest_first<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let columns = h.columns();
    for state in columns.words.iter().copied().filter(|state| state.is_final()) {
        let keys = aged(h, state, &[9, 2, 7, 4]);
        let order = if columns.finished { [1, 3, 2, 0] } else { [3, 2, 1, 0] };
        come_as(h, &Filter::of(state), &order.map(|n| &keys[n]));
    }
}

/// Rows without the time that orders a page come after those with one, by key, and no page's border loses any.
pub fn rows_without_a_time_come_last<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let early = [(); 3].map(|()| h.seed(Seed::pending().state(State::Completed)));
    let timed = aged(h, State::Completed, &[5, 3]);
    let late = h.seed(Seed::pending().state(State::Completed));
    let expected = match h.columns().finished {
        true => [&timed[1], &timed[0], &late, &early[2], &early[1], &early[0]],
        false => [&late, &timed[1], &timed[0], &early[2], &early[1], &early[0]],
    };
    come_as(h, &Filter::of(State::Completed), &expected);
}

/// Uncertain rows come by key.
pub fn uncertain_rows_come_by_key<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    if !h.columns().has_word(State::Uncertain) {
        return come_as(h, &Filter::of(State::Uncertain), &[]);
    }
    let keys = aged(h, State::Uncertain, &[3, 9, 1]);
    come_as(h, &Filter::of(State::Uncertain), &keys.iter().collect::<Vec<_>>());
}

/// Rows of several states come by key, greatest first, and each is met once.
pub fn rows_of_several_states_come_newest_first<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let words = h.columns().words;
    let mut keys = Vec::new();
    for n in 0..12 {
        keys.push(match words[n % words.len()] {
            State::Running => seed_and_take(h, "anna").0,
            state => h.seed(Seed::pending().state(state)),
        });
    }
    keys.reverse();
    come_as(h, &Filter::any(), &keys.iter().collect::<Vec<_>>());
    let two = Filter::of(State::Completed).state(State::Pending);
    let wanted = keys
        .iter()
        .filter(|key| h.read(key).is_some_and(|row| matches!(row.state, State::Completed | State::Pending)));
    come_as(h, &two, &wanted.collect::<Vec<_>>());
}

/// A page that holds all that is left says that it is the last.
pub fn a_full_last_page_is_the_last<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let page = h.store().page(&PageRequest::new(Filter::any())).expect("the store looks");
    assert!(page.rows.is_empty() && page.next.is_none());
    let _keys = [(); 4].map(|()| h.seed(Seed::pending()));
    let ask = PageRequest::new(Filter::of(State::Pending)).limit(2);
    let first = h.store().page(&ask).expect("the store looks");
    let second = h.store().page(&ask.after(first.next.expect("two are left"))).expect("the store looks");
    assert_eq!((second.rows.len(), second.next), (2, None));
}

/// Only rows of the queue and of the kind that were named; a table without the column refuses.
pub fn a_page_may_be_of_one_queue_or_kind<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let columns = h.columns();
    let _plain = h.seed(Seed::pending());
    let aside = h.seed(Seed::pending().queue("side"));
    let odd = h.seed(Seed::pending().kind("odd"));
    let both = h.seed(Seed::pending().queue("side").kind("odd"));
    let (queue, kind) = (Filter::any().queue("side"), Filter::of(State::Pending).kind("odd"));
    if columns.queue {
        come_as(h, &queue, &[&both, &aside]);
        come_as(h, &queue.clone().queue("sid"), &[]);
    } else {
        let told = is_refused(h, &PageRequest::new(queue.clone()));
        assert!(matches!(told, InputError::NoQueueColumn { .. }), "{told}");
    }
    if columns.kind {
        h.age(&odd, 2 * LONG);
        h.age(&both, LONG);
        come_as(h, &kind, if columns.due { [&odd, &both] } else { [&both, &odd] }.as_slice());
    } else {
        let told = is_refused(h, &PageRequest::new(kind.clone()));
        assert!(matches!(told, InputError::NoColumn { column: "kind", .. }), "{told}");
    }
    if columns.queue && columns.kind {
        come_as(h, &queue.kind("odd"), &[&both]);
    }
}

/// Only rows that this worker holds, or held when they ended: not those of a name that begins the same, and not
/// those it handed back (H90).
pub fn a_page_may_be_of_one_worker<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let filter = Filter::any().worker(&worker("anna"));
    if !h.columns().worker {
        let told = is_refused(h, &PageRequest::new(filter));
        assert!(matches!(told, InputError::NoColumn { column: "worker", .. }), "{told}");
        return;
    }
    let (held, _claim) = seed_and_take(h, "anna");
    let _others = ["anna-2", "ann", "ANNA", "ann_", "%"].map(|name| seed_and_take(h, name));
    let (ended, done) = seed_and_take(h, "anna");
    let (_back, released) = seed_and_take(h, "anna");
    h.store().complete(done).expect("it is ours");
    h.store().release(released).expect("it is ours");
    come_as(h, &filter, &[&ended, &held]);
    come_as(h, &filter.clone().state(State::Running), &[&held]);
    come_as(h, &filter.state(State::Completed), &[&ended]);
    come_as(h, &Filter::any().worker(&worker("nobody")), &[]);
}

/// Only rows that have stood so for longer; where the table does not know since when, it refuses.
pub fn a_page_may_be_of_old_rows<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    let columns = h.columns();
    for state in columns.words.clone() {
        let filter = Filter::of(state).older_than(LONG);
        let known = match state {
            State::Pending => columns.due,
            State::Running | State::Uncertain => columns.claimed_at,
            _ => columns.finished,
        };
        if !known {
            let told = is_refused(h, &PageRequest::new(filter));
            assert!(matches!(told, InputError::NoColumn { .. }), "{state}: {told}");
            continue;
        }
        let stand = |by: Duration| {
            let running = state == State::Running;
            let key = h.seed(Seed::pending().state(if running { State::Pending } else { state }));
            if running {
                let _held = take(h, &key, "anna");
            }
            h.age(&key, by);
            key
        };
        let (old, _young) = (stand(LONG + Duration::from_secs(60)), stand(LONG - Duration::from_secs(60)));
        come_as(h, &filter, &[&old]);
    }
}

/// A page of nothing, of too much or of an impossible filter is refused.
pub fn a_bad_page_is_refused<H: Harness>(h: &H)
where
    H::Store: InspectStore,
{
    for limit in [0, MAX_BATCH + 1, usize::MAX] {
        let told = is_refused(h, &PageRequest::new(Filter::any()).limit(limit));
        assert_eq!(told, InputError::Limit { given: limit });
    }
    let bad = [
        Filter::any().queue(""),
        Filter::any().queue("x".repeat(201)),
        Filter::any().kind("a\0b"),
        Filter::any().older_than(Duration::MAX),
    ];
    for filter in bad {
        is_refused(h, &PageRequest::new(filter));
    }
    h.store().page(&PageRequest::new(Filter::any()).limit(MAX_BATCH)).expect("the end of the range");
}
