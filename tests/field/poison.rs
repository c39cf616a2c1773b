//! A row that the model cannot read.

use claimstore::core::{ClaimStore, RecoverStore, RecoveryPolicy, StoreErrorKind, Wait};
use claimstore::{ClaimOn, Job};

use crate::support::{Database, Ids, OnPostgres, OnSqlite, TestResult, ask, notes};

/// It fails by itself, with its reason, and its neighbours are claimed all the same (field report H72, and
/// that every row which was marked is returned or settled).
fn it_takes_no_neighbour_along<B: Database>(db: &B, spoil: &[&str], mend: &str) -> TestResult
where
    Job: ClaimOn<B::D>,
{
    let store = db.store();
    let ids = store.enqueue(&notes(5))?.ids();
    spoil.iter().for_each(|sql| db.run(&sql.replace("{id}", &ids[2].to_string())));
    let batch = store.claim_next(&ask("anna").limit(10))?;
    let claimed: Vec<i64> = batch.claimed.iter().map(|one| one.row.id).collect();
    assert_eq!(claimed, [ids[0], ids[1], ids[3], ids[4]]);
    assert_eq!(
        (db.state(ids[2]), db.count("claimstore_jobs WHERE state = 'running'")),
        ("pending".into(), 4)
    );
    let said = db.texts("SELECT last_error AS text FROM claimstore_jobs WHERE failures = 1");
    assert!(said[0].starts_with(&format!("row {} cannot be read", ids[2])), "{said:?}");

    // By key the caller is told, and by name.
    db.run(&format!("UPDATE claimstore_jobs SET due = created_at WHERE id = {}", ids[2]));
    let patient = ask("anna").wait(Wait::AtMost(std::time::Duration::from_secs(5)));
    let told = store.claim(&ids[2], &patient).expect_err("it cannot be read");
    assert_eq!(told.kind(), StoreErrorKind::CorruptRow);
    assert!(told.to_string().contains(&format!("row {}", ids[2])), "{told}");

    // Once mended it is claimed like any other.
    db.run(&mend.replace("{id}", &ids[2].to_string()));
    db.run(&format!("UPDATE claimstore_jobs SET due = created_at WHERE id = {}", ids[2]));
    assert_eq!(store.claim_next(&ask("anna").limit(10))?.len(), 1);
    Ok(())
}

#[test]
fn an_unreadable_row_takes_no_neighbour_along_on_sqlite() -> TestResult {
    let spoil = ["UPDATE claimstore_jobs SET payload = CAST(x'fffe41' AS TEXT) WHERE id = {id}"];
    let mend = "UPDATE claimstore_jobs SET payload = '{}' WHERE id = {id}";
    it_takes_no_neighbour_along(&OnSqlite::fresh(2), &spoil, mend)
}

#[test]
fn an_unreadable_row_takes_no_neighbour_along_on_postgres() -> TestResult {
    let spoil = [
        "ALTER TABLE claimstore_jobs ALTER COLUMN payload DROP NOT NULL",
        "UPDATE claimstore_jobs SET payload = NULL WHERE id = {id}",
    ];
    let mend = "UPDATE claimstore_jobs SET payload = '{}' WHERE id = {id}";
    let db: OnPostgres = Database::fresh(2);
    it_takes_no_neighbour_along::<OnPostgres>(&db, &spoil, mend)
}

/// A worker's name that cannot be read is no reason to leave its row, and all behind it, where they are.
#[test]
fn an_unreadable_holder_does_not_hold_up_the_recovery() -> TestResult {
    let db = OnSqlite::fresh(2);
    let store = db.store();
    let ids = store.enqueue(&notes(3))?.ids();
    drop(store.claim_next(&ask("anna").limit(3))?);
    db.expire(&ids);
    db.run(&format!("UPDATE claimstore_jobs SET worker = CAST(x'fffe' AS TEXT) WHERE id = {}", ids[0]));
    let recovered = store.recover(&RecoveryPolicy::default(), 10)?;
    assert_eq!(recovered.rows.len(), 3);
    assert_eq!(recovered.rows[0].worker, None);
    Ok(())
}
