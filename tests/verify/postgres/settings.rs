//! The server's settings, set for one database.

use claimstore::PgStore;
use claimstore::verify::{Check, Finding, Severity};
use claimstore_tests::postgres::{TestDatabase, fresh_database};
use diesel::connection::SimpleConnection;

use crate::bench::{more, one};
use crate::tables::{TASKS_POSTGRES, Task};

fn found(database: &TestDatabase) -> Vec<Finding> {
    PgStore::<Task>::new(database.pool(2)).verify().expect("the server is there").findings
}

fn run(database: &TestDatabase, found: &Finding) {
    let mend = found.mend.as_deref().expect("a statement");
    database.connect().batch_execute(mend).unwrap_or_else(|why| panic!("{mend}: {why}"));
}

#[test]
fn each_setting_is_judged_and_mended() {
    let database = fresh_database();
    database.connect().batch_execute(TASKS_POSTGRES).expect("a table");
    // What the server says by itself is mended first, so that each of them is told to have been wrong.
    for name in ["idle_in_transaction_session_timeout", "lock_timeout"] {
        let all = found(&database);
        let open = all.iter().find(|found| found.says.starts_with(name)).expect("no limit unless set");
        assert_eq!((open.check, open.severity), (Check::Timeouts, Severity::Notice), "{open}");
        run(&database, open);
        assert!(!found(&database).iter().any(|found| found.says.starts_with(name)));
    }
    let sound = found(&database);
    for (setting, value, check, severity) in [
        ("default_transaction_isolation", "serializable", Check::Isolation, Severity::Notice),
        ("default_transaction_isolation", "repeatable read", Check::Isolation, Severity::Notice),
        ("statement_timeout", "999ms", Check::Timeouts, Severity::Warning),
        ("synchronous_commit", "off", Check::Durability, Severity::Notice),
        ("default_transaction_read_only", "on", Check::ReadOnly, Severity::Error),
    ] {
        // For this role in this database nothing is said yet, or not any more.
        let reset = format!("ALTER ROLE CURRENT_USER IN DATABASE {} RESET {setting}", database.name());
        database.connect().batch_execute(&reset).expect("a role may reset itself");
        database.set(setting, value);
        let wrong = one(more(report(&database), &sound), check, severity);
        assert!(wrong.says.starts_with(&format!("{setting} is ")), "{wrong}");
        run(&database, &wrong);
        assert_eq!(more(report(&database), &sound), [], "{wrong}");
    }
}

fn report(database: &TestDatabase) -> claimstore::verify::Report {
    PgStore::<Task>::new(database.pool(2)).verify().expect("the server is there")
}

/// What the client itself asks for is not mended by a statement.
#[test]
fn a_setting_of_the_connection_is_mended_there() {
    let schema = claimstore_tests::postgres::fresh();
    schema.connect().batch_execute(TASKS_POSTGRES).expect("a table");
    let url = schema.server_url().clone().with_setting("statement_timeout", "500").in_full();
    let report = PgStore::<Task>::connect(&url).expect("a server").verify().expect("the server is there");
    let found = report.findings.iter().find(|found| found.severity == Severity::Warning).expect("a warning");
    assert_eq!(found.mend.as_deref(), Some("the connection says statement_timeout; there say 30s"));
}
