//! What operators look at costs the same beside ten thousand finished rows and beside twenty times as many.
//!
//! Measured are rows and pages on PostgreSQL and steps of the machine on SQLite, which no other load changes.

use std::time::Duration;

use claimstore::Job;
use claimstore::core::{Filter, PageOrder, State};
use claimstore::query::{self, Due, Hold, Number, Set, Sighted};
use rusqlite::types::Value;

use crate::file::LoadedFile;
use crate::loaded::Loaded;
use crate::mix::Mix;
use crate::plan::Plan;

const FEW: Mix = Mix {
    completed: 10_000,
    dead: 1_000,
    cancelled: 1_000,
    uncertain: 100,
    running: 1_000,
    future: 2_000,
    due: 2_000,
};
const MANY: Mix = Mix { completed: 200_000, ..FEW };
const CAP: u32 = 1_000;
const MINUTE: Duration = Duration::from_secs(60);

fn page(state: Option<State>, timeless: bool) -> query::Look<Job> {
    let filter = state.map_or(Filter::any(), Filter::of);
    query::look_for::<Job>(&filter, PageOrder::of(filter.states()), timeless, 51, None, Hold::No)
}

/// Everything that a page of each state, `counts`, `show` and `queues` send, with its name.
fn on_postgres(mix: Mix) -> Vec<(String, Plan)> {
    let mut table = Loaded::with(mix);
    let cap = CAP.to_string();
    let mut all = Vec::new();
    let mut add = |name: String, plans: [Plan; 2]| all.extend(plans.map(|plan| (name.clone(), plan)));
    for state in State::ALL {
        add(format!("page of {state}"), table.plans::<Sighted<Job>, _>(page(Some(state), false), &["51"]));
        add(
            format!("count of {state}"),
            table.plans::<Number, _>(query::count::<Job>(state, CAP, None), &[&cap]),
        );
    }
    add("page".to_owned(), table.plans::<Sighted<Job>, _>(page(None, false), &["51"]));
    add(
        "rest of a page".to_owned(),
        table.plans::<Sighted<Job>, _>(page(Some(State::Completed), true), &["51"]),
    );
    let lately = query::count::<Job>(State::Completed, CAP, Some(MINUTE));
    add("rate".to_owned(), table.plans::<Number, _>(lately, &["interval '-1 minute'", &cap]));
    add("oldest due".to_owned(), table.plans::<Due, _>(query::oldest_due::<Job>(), &[]));
    add("queues".to_owned(), table.plans::<Set, _>(query::settings::<Job>(), &[]));
    add("show".to_owned(), table.plans::<Sighted<Job>, _>(query::look_at::<Job>(&7, Hold::No), &["7"]));
    all
}

#[test]
fn more_finished_rows_do_not_make_looking_read_more_on_postgresql() {
    let (few, many) = (on_postgres(FEW), on_postgres(MANY));
    assert!(few.len() == many.len() && few.len() > 30);
    for ((name, few), (_, many)) in few.iter().zip(&many) {
        let (rows, most) = (many.rows_read(), few.rows_read());
        assert!(rows <= most, "{name}: {rows} rows, {most} beside few: {many:?}");
        // One more level of each index.
        let (pages, most) = (many.pages, few.pages + few.pages / 4 + 8);
        assert!(pages <= most, "{name}: {pages} pages, {} beside few: {many:?}", few.pages);
    }
}

fn on_sqlite(mix: Mix) -> Vec<(String, i32)> {
    let file = LoadedFile::with(mix, true);
    let number = |n: i64| vec![Value::Integer(n)];
    let mut all = Vec::new();
    for state in State::ALL {
        all.push((format!("page of {state}"), file.run(&page(Some(state), false), number(51)).steps));
        let count = query::count::<Job>(state, CAP, None);
        all.push((format!("count of {state}"), file.run(&count, number(CAP.into())).steps));
    }
    all.push(("page".to_owned(), file.run(&page(None, false), number(51)).steps));
    all.push(("rest of a page".to_owned(), file.run(&page(Some(State::Completed), true), number(51)).steps));
    let lately = query::count::<Job>(State::Completed, CAP, Some(MINUTE));
    let since = [number(file.now - 60_000_000), number(CAP.into())].concat();
    all.push(("rate".to_owned(), file.run(&lately, since).steps));
    all.push(("oldest due".to_owned(), file.run(&query::oldest_due::<Job>(), vec![]).steps));
    all.push(("queues".to_owned(), file.run(&query::settings::<Job>(), vec![]).steps));
    all.push(("show".to_owned(), file.run(&query::look_at::<Job>(&7, Hold::No), number(7)).steps));
    all
}

#[test]
fn more_finished_rows_do_not_make_looking_read_more_on_sqlite() {
    let (few, many) = (on_sqlite(FEW), on_sqlite(MANY));
    assert!(few.len() == many.len() && few.len() > 15);
    for ((name, few), (_, many)) in few.iter().zip(&many) {
        assert!(*many <= few + few / 20 + 20, "{name}: {many} steps, {few} beside few");
    }
}
