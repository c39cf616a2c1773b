//! `counts`, `page` and `show` beside ten thousand finished rows and beside a million.

use std::time::{Duration, Instant};

use claimstore::core::{Filter, InspectStore, PageRequest, QueueStore, State};
use claimstore::{ClaimOn, Dialect, Job, Store};

use crate::rows::Rows;
use crate::{median, micros};

const FEW: usize = 10_000;
const MANY: usize = 1_000_000;
const CALLS: usize = 301;
const CAP: u32 = 1_000;
/// The most that a call may cost more beside many.
const ALLOWED: f64 = 1.5;

/// A call, by its name.
type Look<'a, D> = (&'static str, Box<dyn Fn(&Store<Job, D>) + 'a>);

pub(crate) fn bench<D: Dialect>(backend: &str, stores: [&Store<Job, D>; 2], rows: [&dyn Rows; 2])
where
    Job: ClaimOn<D>,
    Store<Job, D>: InspectStore<Key = i64> + QueueStore,
{
    println!(
        "\n{backend}: µs a call beside {FEW} and beside {MANY} completed rows, median of {CALLS} calls in turn"
    );
    println!("{:<52} {:>10} {:>10} {:>7}", "", "few", "many", "ratio");
    for (rows, count) in rows.into_iter().zip([FEW, MANY]) {
        rows.others();
        rows.completed(count);
        rows.settle_down();
    }
    for (name, look) in looks::<D>() {
        let [few, many] = in_turn(stores, &look);
        let ratio = many / few;
        let mark = if ratio > ALLOWED { "  above what is allowed" } else { "" };
        println!("{name:<52} {few:>10.0} {many:>10.0} {ratio:>7.2}{mark}");
    }
}

/// The median time of a call on each of them.
fn in_turn<D: Dialect>(stores: [&Store<Job, D>; 2], look: &dyn Fn(&Store<Job, D>)) -> [f64; 2] {
    let mut took = [Vec::new(), Vec::new()];
    for _ in 0..CALLS {
        for (store, took) in stores.into_iter().zip(&mut took) {
            let started = Instant::now();
            look(store);
            took.push(started.elapsed());
        }
    }
    // The first ones prepare.
    took.map(|took: Vec<Duration>| median(took.into_iter().skip(CALLS / 10).map(micros)))
}

fn looks<'a, D: Dialect>() -> Vec<Look<'a, D>>
where
    Job: ClaimOn<D>,
    Store<Job, D>: InspectStore<Key = i64> + QueueStore,
{
    fn page<D: Dialect>(filter: Filter) -> impl Fn(&Store<Job, D>)
    where
        Store<Job, D>: InspectStore<Key = i64>,
    {
        move |store| {
            let page = store.page(&PageRequest::new(filter.clone())).expect("a page");
            assert!(!page.rows.is_empty());
        }
    }
    fn next<D: Dialect>(store: &Store<Job, D>)
    where
        Store<Job, D>: InspectStore<Key = i64>,
    {
        let first = PageRequest::new(Filter::of(State::Completed));
        let after = store.page(&first).expect("a page").next.expect("there are more");
        assert!(!store.page(&first.after(after)).expect("a page").rows.is_empty());
    }
    vec![
        ("counts", Box::new(|store| assert!(store.counts(CAP).expect("counted").oldest_due.is_some()))),
        ("page: any state", Box::new(page(Filter::any()))),
        ("page: completed", Box::new(page(Filter::of(State::Completed)))),
        ("page: completed, and the next one", Box::new(next)),
        ("page: completed, of a queue", Box::new(page(Filter::of(State::Completed).queue("b")))),
        ("page: dead", Box::new(page(Filter::of(State::Dead)))),
        ("page: pending", Box::new(page(Filter::of(State::Pending)))),
        ("page: running", Box::new(page(Filter::of(State::Running)))),
        ("page: uncertain", Box::new(page(Filter::of(State::Uncertain)))),
        ("show", Box::new(|store| assert!(store.show(&7).expect("looked").is_some()))),
        ("queues", Box::new(|store| assert!(store.queues().expect("looked").is_empty()))),
    ]
}
