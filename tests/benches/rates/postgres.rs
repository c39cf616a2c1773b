//! PostgreSQL against pgbench.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use claimstore::core::{Budget, Settlement};
use claimstore::core::{Claim, ClaimParts, ClaimRequest, Fence, LocalInstant, State, Tally, WorkerId};
use claimstore::diesel::connection::SimpleConnection;
use claimstore::diesel::debug_query;
use claimstore::diesel::pg::Pg;
use claimstore::{Job, PgStore, query};
use claimstore_tests::postgres::{TestSchema, fresh};

use crate::table::Table;
use crate::{RUNS, Run, drain, fill, pairs};

pub(crate) fn bench() {
    let mut table = Table::of("PostgreSQL");
    let schema = fresh();
    let store = PgStore::<Job>::new(schema.pool(16));
    store.migrate().expect("migrated");
    let prepare = |run| {
        schema.connect().batch_execute("TRUNCATE claimstore_jobs").expect("emptied");
        fill(&store, run);
        for settle_down in ["VACUUM ANALYZE claimstore_jobs", "CHECKPOINT"] {
            schema.connect().batch_execute(settle_down).expect("settled down");
        }
    };
    for run in RUNS {
        let ours = |run| {
            prepare(run);
            drain(&store, run)
        };
        let raw = |run| {
            prepare(run);
            pgbench(&schema, run)
        };
        pairs(&mut table, run, ours, raw);
    }
}

/// The library's own text, with pgbench's variables in place of parameters. They have names of their own:
/// `\gset` makes a variable of each column that comes back.
fn script(run: Run) -> String {
    let me = WorkerId::new("bench").expect("a name");
    let ask = ClaimRequest::new(&me).limit(run.batch);
    let claim = text(&debug_query::<Pg, _>(&query::claim_next::<Job>(&ask)).to_string());
    let parts = ClaimParts {
        key: 1,
        fence: Fence::new(1),
        worker: me,
        until: None,
        tally: Tally::default(),
        budget: Budget::default(),
        discard: false,
    };
    let held = Claim::granted(parts, LocalInstant::now(), None);
    let to = Settlement { to: State::Completed, delay: None, tally: Tally::default(), error: None };
    let lease = ":my_lease::interval";
    if run.batch == 1 {
        let claim = fill_in(&claim, &[":my_queue", ":my_queue", ":my_worker", lease]);
        let settle = text(&debug_query::<Pg, _>(&query::settle::<Job>(&held, &to)).to_string());
        let settle = fill_in(&settle, &[":id", ":fence", ":my_worker"]);
        // The last column has no name of its own, and `\gset` wants one.
        format!("{claim} AS discards \\gset\n{settle};\n")
    } else {
        let claim = fill_in(&claim, &[":my_queue", ":my_queue", ":batch::bigint", ":my_worker", lease]);
        let (head, _) = claim.split_once("SELECT * FROM won").expect("a batch is put in order");
        let settle = text(&debug_query::<Pg, _>(&query::settle_many::<Job>([(&held, &to)])).to_string());
        let workers = "array_fill(:my_worker::text, ARRAY[:batch::int])";
        let settle = fill_in(&settle, &[":ids::bigint[]", ":fences::bigint[]", workers]);
        let arrays = "SELECT array_agg(won.claim_order_2) AS ids, array_agg(won.fence) AS fences FROM won";
        format!("\\set batch {}\n{head}{arrays} \\gset\n{settle};\n", run.batch)
    }
}

/// The statement without the list of binds that `debug_query` adds.
fn text(debug: &str) -> String {
    debug.split(" -- binds").next().unwrap_or(debug).to_owned()
}

fn fill_in(text: &str, values: &[&str]) -> String {
    // From the last to the first, so that `$1` is not found in `$12`.
    let numbered = values.iter().enumerate().rev();
    numbered.fold(text.to_owned(), |text, (n, value)| text.replace(&format!("${}", n + 1), value))
}

fn pgbench(schema: &TestSchema, run: Run) -> Duration {
    let file = std::env::temp_dir().join(format!("claimstore-bench-{}.sql", std::process::id()));
    std::fs::write(&file, script(run)).expect("a script for pgbench");
    let each = run.jobs / run.batch / run.threads;
    let output = Command::new(pgbench_program())
        .args(["--no-vacuum", "--protocol=prepared", "--file"])
        .arg(&file)
        .args(["--client", &run.threads.to_string(), "--jobs", &run.threads.min(2).to_string()])
        .args(["--transactions", &each.to_string()])
        .args(["--define=my_queue=default", "--define=my_worker=bench", "--define=my_lease=30s"])
        .arg(schema.url())
        .output()
        .expect("pgbench, from PostgreSQL's own packages");
    let _ = std::fs::remove_file(&file);
    let said = String::from_utf8_lossy(&output.stdout);
    let rate =
        said.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse::<f64>().ok());
    let Some(rate) = rate.filter(|_| output.status.success()) else {
        panic!("pgbench failed:\n{said}\n{}", String::from_utf8_lossy(&output.stderr));
    };
    Duration::from_secs_f64(run.jobs as f64 / (rate * run.batch as f64))
}

/// On the path, or among the server's own programs.
fn pgbench_program() -> PathBuf {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        installed.map(|version| version.path().join("bin/pgbench")).filter(|path| path.exists()).collect();
    found.sort();
    found.pop().unwrap_or_else(|| PathBuf::from("pgbench"))
}
