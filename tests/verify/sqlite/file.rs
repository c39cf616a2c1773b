//! The file and its WAL.

use claimstore::verify::{Check, Severity};
use claimstore_tests::harness::TestDialect;
use diesel::connection::SimpleConnection;
use diesel::sqlite::Sqlite;

use super::sound;

/// A reader that never ends keeps the WAL from being reset; once it has, the statement makes it small again.
#[test]
fn a_wal_that_a_reader_keeps_is_told() {
    let bench = sound();
    bench.run("CREATE TABLE ballast (b BLOB); INSERT INTO ballast VALUES (1)");
    let mut reader = Sqlite::connect(&bench.place);
    reader.batch_execute("BEGIN; SELECT * FROM ballast").expect("a snapshot");
    // In parts, so that no single row is that large.
    let large = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 66)
        INSERT INTO ballast SELECT zeroblob(1048576) FROM n";
    let found = bench.broken(large, Check::Journal, Severity::Warning);
    assert!(found.says.contains("a reader that never ends"), "{found}");
    reader.batch_execute("ROLLBACK").expect("it ends");
    bench.mend(&found);
}

#[test]
fn it_writes_nothing() {
    let bench = sound().but("INSERT INTO tasks (id) VALUES (1), (2)");
    let version = |conn: &mut _| {
        Sqlite::number(conn, "SELECT CAST(data_version AS INTEGER) AS value FROM pragma_data_version")
    };
    let mut beside = Sqlite::connect(&bench.place);
    let before = version(&mut beside);
    bench.is_sound();
    assert_eq!(version(&mut beside), before, "no other connection has committed");
}
