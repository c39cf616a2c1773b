//! Whether an index serves the claim and recovery.

use claimstore::verify::{Check, Severity};
use diesel::sqlite::Sqlite;

use super::sound;
use crate::bench::Bench;
use crate::tables::{LETTERS_SQLITE, Letter};

/// More than a few hundred rows, most of them finished.
const MANY: &str = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 900)
    INSERT INTO tasks (id, state, urgency) SELECT n, CASE WHEN n % 3 = 0 THEN 'new' ELSE 'done' END, n % 7 FROM n;";

/// On a small table it is good to know, on a large one it hurts.
const SIZES: [(&str, Severity); 2] = [("", Severity::Notice), (MANY, Severity::Warning)];

#[test]
fn without_an_index_the_claim_reads_or_sorts_everything() {
    for (rows, severity) in SIZES {
        let bench = sound().but(rows);
        let found = bench.broken_and_mended("DROP INDEX tasks_claim", Check::ClaimIndex, severity);
        assert!(found.says.contains("reads the whole table"), "{found}");
        assert_eq!(
            found.mend.as_deref(),
            Some(
                "CREATE INDEX `tasks_claim_order` ON `tasks` (`lane`, `urgency` DESC, `due`, `id`) \
                 WHERE `state` IN ('new', 'again');"
            )
        );
        bench.run("DROP INDEX tasks_claim_order");
        let other = "CREATE INDEX tasks_claim ON tasks (lane, due) WHERE state IN ('new', 'again')";
        let found = bench.broken_and_mended(other, Check::ClaimIndex, severity);
        assert!(found.says.contains("sorts all rows"), "{found}");
    }
}

#[test]
fn an_index_over_rows_that_are_not_for_the_claim_is_walked_in_vain() {
    let bench = sound().but(MANY);
    let found = |index: &str| {
        let drop = "DROP INDEX IF EXISTS tasks_claim; DROP INDEX IF EXISTS tasks_claim_order";
        let broken = format!("{drop}; CREATE INDEX tasks_claim ON tasks {index}");
        bench.broken_and_mended(&broken, Check::ClaimIndex, Severity::Warning)
    };
    let of_all = found("(lane, urgency DESC, due, id)");
    assert!(of_all.says.contains("over rows that are not pending"), "{of_all}");
    let of_queues = found("(urgency DESC, due, id) WHERE state IN ('new', 'again')");
    assert!(of_queues.says.contains("over rows of other queues"), "{of_queues}");
}

#[test]
fn without_an_index_recovery_reads_everything() {
    for (rows, severity) in SIZES {
        let bench = sound().but(rows);
        bench.broken_and_mended("DROP INDEX tasks_lease", Check::LeaseIndex, severity);
    }
}

/// Without a queue, and with instants as text.
#[test]
fn a_table_without_a_queue_is_served_by_its_order() {
    let bench = Bench::<Letter, Sqlite>::of(LETTERS_SQLITE);
    bench.broken_and_mended("DROP INDEX letters_claim", Check::ClaimIndex, Severity::Notice);
    bench.broken_and_mended("DROP INDEX letters_lease", Check::LeaseIndex, Severity::Notice);
}
