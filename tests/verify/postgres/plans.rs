//! Whether an index serves the claim and recovery.

use claimstore::PgStore;
use claimstore::verify::{Check, Severity};
use claimstore_tests::postgres;
use diesel::connection::SimpleConnection;
use diesel::pg::Pg;

use super::sound;
use crate::bench::{Bench, more, one};
use crate::tables::{TASKS_POSTGRES, Task};

/// More than a few hundred rows, most of them finished.
const MANY: &str = "INSERT INTO tasks (id, state, urgency)
    SELECT n, CASE WHEN n % 3 = 0 THEN 'new' ELSE 'done' END, n % 7 FROM generate_series(1, 900) AS n;
    ANALYZE tasks;";

/// On a small table it is good to know, on a large one it hurts.
const SIZES: [(&str, Severity); 2] = [("ANALYZE tasks", Severity::Notice), (MANY, Severity::Warning)];

#[test]
fn without_an_index_the_claim_reads_or_sorts_everything() {
    for (rows, severity) in SIZES {
        let bench = sound().but(rows);
        let found = bench.broken_and_mended("DROP INDEX tasks_claim", Check::ClaimIndex, severity);
        assert_eq!(
            found.mend.as_deref(),
            Some(
                "CREATE INDEX CONCURRENTLY \"tasks_claim_order\" ON \"tasks\" (\"lane\", \"urgency\" DESC, \"due\", \
                 \"id\") WHERE \"state\" IN ('new', 'again');"
            )
        );
        bench.run("DROP INDEX tasks_claim_order");
        // In another order it is no help.
        let other =
            "CREATE INDEX tasks_claim ON tasks (lane, urgency, due, id) WHERE state IN ('new', 'again')";
        bench.broken_and_mended(other, Check::ClaimIndex, severity);
    }
}

#[test]
fn an_index_over_rows_that_are_not_for_the_claim_is_walked_in_vain() {
    for (rows, severity) in SIZES {
        let bench = sound().but(rows);
        let found = |index: &str| {
            bench.broken_and_mended(
                &format!("DROP INDEX IF EXISTS tasks_claim, tasks_claim_order; CREATE INDEX tasks_claim ON tasks {index}"),
                Check::ClaimIndex,
                severity,
            )
        };
        let of_all = found("(lane, urgency DESC, due, id)");
        assert!(of_all.says.contains("over rows that are not pending"), "{of_all}");
        let of_queues = found("(urgency DESC, due, id) WHERE state IN ('new', 'again')");
        assert!(of_queues.says.contains("over rows of other queues"), "{of_queues}");
    }
}

#[test]
fn without_an_index_recovery_reads_everything() {
    for (rows, severity) in SIZES {
        let bench = sound().but(rows);
        let found = bench.broken_and_mended("DROP INDEX tasks_lease", Check::LeaseIndex, severity);
        assert_eq!(
            found.mend.as_deref(),
            Some(
                "CREATE INDEX CONCURRENTLY \"tasks_lease_order\" ON \"tasks\" (\"lease\", \"id\") \
                 WHERE \"lease\" IS NOT NULL;"
            )
        );
    }
}

/// There is an index, and the planner is told not to take it.
#[test]
fn an_index_that_is_not_used_is_told() {
    let database = postgres::fresh_database();
    let rows = MANY.replace("900", "12000");
    database.connect().batch_execute(&format!("{TASKS_POSTGRES}{rows}")).expect("a table");
    let store = || PgStore::<Task>::new(database.pool(2));
    let sound = store().verify().expect("the server is there").findings;
    for setting in ["enable_indexscan", "enable_bitmapscan", "enable_indexonlyscan"] {
        database.set(setting, "off");
    }
    let found = more(store().verify().expect("the server is there"), &sound);
    let claim: Vec<_> = found.into_iter().filter(|found| found.check == Check::ClaimIndex).collect();
    let claim = one(claim, Check::ClaimIndex, Severity::Warning);
    assert!(
        claim.says.contains("reads the whole table though the index \"tasks_claim\" serves it"),
        "{claim}"
    );
    assert_eq!(claim.mend.as_deref(), Some("ANALYZE \"tasks\";"));
}

#[test]
fn partitions_are_served_by_the_indexes_of_their_table() {
    // The first statement's end.
    let partitioned = TASKS_POSTGRES.replacen(");", ") PARTITION BY LIST (id);", 1);
    let table = format!("{partitioned} CREATE TABLE tasks_rest PARTITION OF tasks DEFAULT;");
    let bench = Bench::<Task, Pg>::of(&table);
    let found = bench.broken_and_mended("DROP INDEX tasks_claim", Check::ClaimIndex, Severity::Notice);
    assert!(
        found.mend.as_deref().is_some_and(|mend| mend.starts_with("CREATE INDEX \"tasks_claim_order\"")),
        "{found}"
    );
}
