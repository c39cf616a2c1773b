//! Who has a row locked (PostgreSQL).

use claimstore::core::{InspectStore, Verdict, Wait, Why};
use claimstore::{Job, PgStore};
use claimstore_tests::postgres::{TestSchema, fresh_database};
use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection};

use crate::bench::{due, held, olga, one, seen};
use crate::support::{
    Database, OnPostgres, TestResult, ask, backend_pid, begin, commit, note, pg_pool, roll_back,
};

/// A connection of somebody else's program.
fn stranger(schema: &TestSchema) -> PgConnection {
    let url = schema.server_url().clone().with_parameter("application_name", "nightly report");
    PgConnection::establish(&url.in_full()).expect("the server takes it")
}

/// A lock is told with its backend, its program, since when and what it runs; and is gone with its transaction.
#[test]
fn a_lock_in_the_way_is_told_with_whose_it_is() -> TestResult {
    let db = OnPostgres::fresh(1);
    let (id, mut other) = (one(&db), stranger(&db.schema));
    let before = db.store().show(&id)?.expect("it is there").clock;
    begin(&mut other);
    let sql = format!("SELECT payload FROM claimstore_jobs WHERE id = {id} FOR UPDATE");
    other.batch_execute(&sql)?;
    let told = db.store().explain(&id)?;
    let lock = told.lock.as_ref().expect("somebody has it");
    assert_eq!((told.why, lock.application.as_deref()), (Why::Locked, Some("nightly report")));
    let (state, query) = (lock.state.as_deref(), lock.query.as_deref());
    assert_eq!((state, query), (Some("idle in transaction"), Some(sql.as_str())));
    let now = told.row.as_ref().expect("it is there").clock;
    assert!(lock.since.is_some_and(|since| before <= since && since <= now), "{:?}", lock.since);
    let said = told.to_string();
    let (whose, cure) = (format!("locked by backend {} of nightly report", lock.pid), "pg_terminate_backend");
    assert!(said.contains(&whose) && said.contains(cure), "{said}");
    assert_eq!(
        lock.pid.to_string(),
        OnPostgres::texts_on(&mut other, "SELECT pg_backend_pid()::text AS text")[0]
    );
    roll_back(&mut other);
    let told = db.store().explain(&id)?;
    assert_eq!((told.why, told.lock), (Why::Ready, None));
    Ok(())
}

/// Every way in which a transaction can have the row, also a savepoint in it that has ended.
#[test]
fn whatever_has_the_row_is_found() -> TestResult {
    let db = OnPostgres::fresh(1);
    let mut a = db.connect();
    let pid = backend_pid(&mut a);
    let ways = [
        "SELECT 1 FROM claimstore_jobs WHERE id = {id} FOR UPDATE",
        "SELECT 1 FROM claimstore_jobs WHERE id = {id} FOR NO KEY UPDATE",
        "SELECT 1 FROM claimstore_jobs WHERE id = {id} FOR KEY SHARE",
        "UPDATE claimstore_jobs SET priority = 1 WHERE id = {id}",
        "DELETE FROM claimstore_jobs WHERE id = {id}",
        "SAVEPOINT one; SELECT 1 FROM claimstore_jobs WHERE id = {id} FOR UPDATE",
        "SAVEPOINT one; SELECT 1 FROM claimstore_jobs WHERE id = {id} FOR UPDATE; RELEASE SAVEPOINT one",
        "SELECT 1 FROM claimstore_jobs WHERE id = {id} FOR SHARE; SAVEPOINT one; \
         UPDATE claimstore_jobs SET priority = 1 WHERE id = {id}; RELEASE SAVEPOINT one",
    ];
    for way in ways {
        let id = one(&db);
        begin(&mut a);
        a.batch_execute(&way.replace("{id}", &id.to_string()))?;
        let told = db.store().explain(&id)?;
        let found = told.lock.as_ref().map(|lock| lock.pid.to_string());
        assert_eq!((told.why, found.as_ref()), (Why::Locked, Some(&pid)), "{way}");
        roll_back(&mut a);
        assert_eq!(db.store().explain(&id)?.why, Why::Ready, "{way}");
    }
    Ok(())
}

/// A verb of the library's own, in the caller's transaction: to bound its wait it runs in a savepoint.
#[test]
fn a_claim_that_is_not_committed_is_a_lock() -> TestResult {
    let db = OnPostgres::fresh(1);
    let (id, mut a) = (one(&db), db.connect());
    let pid = backend_pid(&mut a);
    begin(&mut a);
    let patient = ask("anna").wait(Wait::AtMost(crate::bench::LONG));
    let claim = db.store().on(&mut a).claim(&id, &patient)?.claimed().expect("it is free").claim;
    let told = db.store().explain(&id)?;
    assert_eq!(told.why, Why::Locked);
    assert_eq!(told.lock.map(|lock| lock.pid.to_string()), Some(pid.clone()));
    commit(&mut a);
    let told = db.store().explain(&id)?;
    assert_eq!((told.why, told.lock), (Why::Held, None));
    // Of a row that is held it is told as well: the holder's settlement may be under way.
    begin(&mut a);
    db.store().on(&mut a).settle(&claim, &Verdict::complete())?;
    let told = db.store().explain(&id)?;
    assert_eq!((told.why, told.lock.map(|lock| lock.pid.to_string())), (Why::Held, Some(pid)));
    commit(&mut a);
    assert!(db.store().explain(&id)?.lock.is_none());
    Ok(())
}

/// Several may share a row, as those do that refer to it from a table of their own: the first one is told, and then the
/// next.
#[test]
fn of_several_that_share_a_row_the_first_is_told() -> TestResult {
    let db = OnPostgres::fresh(1);
    let (id, mut others) = (one(&db), [db.connect(), db.connect(), db.connect()]);
    for other in &mut others {
        begin(other);
        other.batch_execute(&format!("SELECT 1 FROM claimstore_jobs WHERE id = {id} FOR KEY SHARE"))?;
    }
    for mut other in others {
        let told = db.store().explain(&id)?;
        let found = told.lock.map(|lock| lock.pid.to_string());
        assert_eq!((told.why, found), (Why::Locked, Some(backend_pid(&mut other))));
        roll_back(&mut other);
    }
    assert_eq!(db.store().explain(&id)?.why, Why::Ready);
    Ok(())
}

/// A row was locked in a savepoint that has been released, and two transactions could have done it: none is blamed. With
/// one of them gone it is the other.
#[test]
fn nobody_is_blamed_on_suspicion() -> TestResult {
    let db = OnPostgres::fresh(1);
    let (ids, [mut a, mut b]) = (due(&db, 3), [db.connect(), db.connect()]);
    let lock = |id: i64| format!("SELECT 1 FROM claimstore_jobs WHERE id = {id} FOR UPDATE;");
    for (conn, id) in [(&mut a, ids[0]), (&mut b, ids[1])] {
        begin(conn);
        conn.batch_execute(&lock(id))?;
    }
    a.batch_execute(&format!("SAVEPOINT one; {} RELEASE SAVEPOINT one", lock(ids[2])))?;
    assert_eq!(db.store().explain(&ids[2])?.lock, None);
    roll_back(&mut b);
    let told = db.store().explain(&ids[2])?;
    assert_eq!(told.lock.map(|lock| lock.pid.to_string()), Some(backend_pid(&mut a)));
    // What a savepoint has given back is free, and an old number in the row means nothing.
    a.batch_execute(&format!("SAVEPOINT two; {} ROLLBACK TO two", lock(ids[1])))?;
    assert_eq!(db.store().explain(&ids[1])?.lock, None);
    roll_back(&mut a);
    begin(&mut b);
    b.batch_execute(&lock(ids[0]))?;
    assert_eq!(db.store().explain(&ids[2])?.lock, None);
    roll_back(&mut b);
    Ok(())
}

/// Transactions on other rows of the table are in nobody's way, and a lock that has ended leaves no trace.
#[test]
fn a_lock_on_another_row_is_not_told() -> TestResult {
    let db = OnPostgres::fresh(1);
    let ((busy, claim), id, mut a) = (held(&db), one(&db), db.connect());
    begin(&mut a);
    a.batch_execute(&format!("SELECT 1 FROM claimstore_jobs WHERE id = {id} FOR UPDATE"))?;
    commit(&mut a);
    begin(&mut a);
    db.store().on(&mut a).guard(&claim)?;
    a.batch_execute("UPDATE claimstore_queues SET reason = reason; SELECT 1 FROM claimstore_jobs")?;
    let told = db.store().explain(&id)?;
    assert_eq!((told.why, told.lock), (Why::Ready, None));
    assert_eq!(
        db.store().on(&mut a).operate(&id, seen(&db, id), &claimstore::core::Action::Cancel, &olga())?.key,
        id
    );
    assert!(db.store().explain(&busy)?.lock.is_some());
    roll_back(&mut a);
    Ok(())
}

/// A role that may do no more than claim sees that there is a lock, and of whose statement nothing.
#[test]
fn a_role_without_rights_sees_no_statement() -> TestResult {
    let role = Role::on(OnPostgres::fresh(1));
    let db = &role.db;
    let (id, mut other) = (one(db), stranger(&db.schema));
    begin(&mut other);
    other.batch_execute(&format!("SELECT payload FROM claimstore_jobs WHERE id = {id} FOR UPDATE"))?;
    let store = PgStore::<Job>::new(pg_pool(&role.url(), 1));
    let told = store.explain(&id)?;
    let lock = told.lock.as_ref().expect("that there is one may be seen");
    assert_eq!((told.why, lock.query.as_ref()), (Why::Locked, None));
    assert_eq!(lock.pid.to_string(), backend_pid(&mut other));
    assert!(told.to_string().contains("what it runs this role may not see"), "{told}");
    assert!(!told.to_string().contains("payload"), "{told}");
    roll_back(&mut other);
    Ok(())
}

/// What a role may not even ask is no reason to say nothing.
#[test]
fn a_role_that_may_not_see_locks_is_told_the_rest() -> TestResult {
    // The right is one of the whole database.
    let database = fresh_database();
    let role = format!("{}_role", database.name());
    let owner = PgStore::<Job>::new(pg_pool(&database.url(), 1));
    owner.migrate()?;
    let id = owner.enqueue(&[note("a")])?[0].id();
    let mut conn = database.connect();
    conn.batch_execute(&format!(
        "CREATE ROLE {role}; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}; \
         REVOKE SELECT ON pg_locks FROM PUBLIC; GRANT {role} TO CURRENT_USER"
    ))?;
    let url = format!("{}&options=-crole%3D{role}", database.url());
    let store = PgStore::<Job>::new(pg_pool(&url, 1));
    let told = store.explain(&id);
    conn.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}"))?;
    let told = told?;
    assert_eq!((told.why, told.lock), (Why::Ready, None));
    Ok(())
}

/// A role that may claim, and is gone with its test.
struct Role {
    name: String,
    db: OnPostgres,
}

impl Role {
    fn on(db: OnPostgres) -> Role {
        let name = format!("{}_role", db.schema.name());
        db.run(&format!(
            "CREATE ROLE {name}; GRANT USAGE ON SCHEMA {} TO {name}; \
             GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {0} TO {name}",
            db.schema.name()
        ));
        Role { name, db }
    }

    fn url(&self) -> String {
        self.db.schema.server_url().clone().with_setting("role", &self.name).in_full()
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        self.db.run(&format!("DROP OWNED BY {0}; DROP ROLE {0}", self.name));
    }
}
