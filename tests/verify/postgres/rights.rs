//! Another role than the table's owner.

use claimstore::core::ClaimStore;
use claimstore::verify::{Check, Finding, Severity};
use claimstore::{Job, PgPool, PgStore};
use claimstore_tests::postgres::{TestDatabase, TestSchema, fresh, fresh_database};
use diesel::connection::SimpleConnection;
use diesel::r2d2::{ConnectionManager, Pool};

use crate::bench::{more, one};
use crate::tables::{TASKS_POSTGRES, Task};

/// A role that may do what claims need; gone with its test.
struct Role<P: Place> {
    name: String,
    place: P,
}

/// Where it works.
trait Place {
    fn name(&self) -> &str;
    fn run(&self, sql: &str);
    /// An address whose connections work as this role.
    fn url(&self, role: &str) -> String;
}

impl Place for TestSchema {
    fn name(&self) -> &str {
        self.name()
    }
    fn run(&self, sql: &str) {
        self.connect().batch_execute(sql).unwrap_or_else(|why| panic!("{sql}: {why}"));
    }
    fn url(&self, role: &str) -> String {
        self.server_url().clone().with_setting("role", role).in_full()
    }
}

impl Place for TestDatabase {
    fn name(&self) -> &str {
        self.name()
    }
    fn run(&self, sql: &str) {
        self.connect().batch_execute(sql).unwrap_or_else(|why| panic!("{sql}: {why}"));
    }
    fn url(&self, role: &str) -> String {
        format!("{}&options=-crole%3D{role}", self.url())
    }
}

impl<P: Place> Role<P> {
    fn at(place: P, table: &str) -> Self {
        let name = format!("{}_role", place.name());
        place.run(table);
        place.run(&format!("CREATE ROLE {name}"));
        let role = Role { name, place };
        role.run("GRANT SELECT, INSERT, UPDATE, DELETE ON tasks TO ROLE");
        role
    }

    /// `ROLE` stands for its name.
    fn run(&self, sql: &str) {
        self.place.run(&sql.replace("ROLE", &self.name));
    }

    fn pool(&self) -> PgPool {
        let manager = ConnectionManager::new(self.place.url(&self.name));
        Pool::builder().max_size(2).min_idle(Some(0)).test_on_check_out(false).build(manager).expect("a pool")
    }

    fn found(&self) -> Vec<Finding> {
        PgStore::<Task>::new(self.pool()).verify().expect("the server is there").findings
    }

    fn more(&self, sound: &[Finding]) -> Vec<Finding> {
        more(PgStore::<Task>::new(self.pool()).verify().expect("the server is there"), sound)
    }
}

impl<P: Place> Drop for Role<P> {
    fn drop(&mut self) {
        self.run("DROP OWNED BY ROLE");
        self.place.run(&format!("DROP ROLE {}", self.name));
    }
}

fn in_a_schema() -> Role<TestSchema> {
    let schema = fresh();
    let usage = format!("GRANT USAGE ON SCHEMA {} TO ROLE", schema.name());
    let role = Role::at(schema, TASKS_POSTGRES);
    role.run(&usage);
    role
}

#[test]
fn a_privilege_that_is_missing_is_granted() {
    let role = in_a_schema();
    let sound = role.found();
    assert!(sound.iter().all(|found| found.severity == Severity::Notice), "{sound:#?}");
    for (privilege, severity) in
        [("UPDATE", Severity::Error), ("INSERT", Severity::Notice), ("DELETE", Severity::Notice)]
    {
        role.run(&format!("REVOKE {privilege} ON tasks FROM ROLE"));
        let found = one(role.more(&sound), Check::Privileges, severity);
        role.run(found.mend.as_deref().expect("a statement"));
        assert_eq!(role.more(&sound), []);
    }
    // Without reading, the looks at rows and plans fail too: they say that they could not look.
    role.run("REVOKE SELECT ON tasks FROM ROLE");
    let found = role.more(&sound);
    let (errors, others): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|found| found.severity == Severity::Error);
    let found = one(errors, Check::Privileges, Severity::Error);
    assert!(others.iter().all(|found| found.check == Check::Unreadable), "{others:#?}");
    role.run(found.mend.as_deref().expect("a statement"));
    assert_eq!(role.more(&sound), []);
}

/// The least that claims need can be granted column by column.
#[test]
fn privileges_on_the_columns_that_are_written_are_enough() {
    let role = in_a_schema();
    let sound = role.found();
    role.run(
        "REVOKE UPDATE ON tasks FROM ROLE;
         GRANT UPDATE (state, fence, worker, since, lease, due, failures, trouble) ON tasks TO ROLE",
    );
    assert_eq!(role.more(&sound), []);
    role.run("REVOKE UPDATE (lease) ON tasks FROM ROLE");
    let found = one(role.more(&sound), Check::Privileges, Severity::Error);
    assert!(found.says.contains("may not update \"lease\""), "{found}");
}

#[test]
fn row_level_security_hides_rows() {
    let role = in_a_schema();
    let sound = role.found();
    role.run("ALTER TABLE tasks ENABLE ROW LEVEL SECURITY");
    let found = one(role.more(&sound), Check::RowSecurity, Severity::Error);
    assert!(found.says.contains("it finds nothing"), "{found}");
    role.run("CREATE POLICY some_rows ON tasks TO ROLE USING (lane = 'mine')");
    let found = one(role.more(&sound), Check::RowSecurity, Severity::Warning);
    role.run(found.mend.as_deref().expect("a statement"));
    assert_eq!(role.more(&sound), []);
    // What another policy takes away again no statement of ours gives back.
    role.run("CREATE POLICY not_these ON tasks AS RESTRICTIVE TO ROLE USING (lane <> 'secret')");
    let found = one(role.more(&sound), Check::RowSecurity, Severity::Warning);
    assert_eq!(found.mend, None);
}

/// The tables beside the user's own have privileges of their own.
#[test]
fn claimstores_own_tables_need_privileges_too() {
    let role = in_a_schema();
    PgStore::<Job>::new(role.place.pool(1)).migrate().expect("the tables");
    let tables = "claimstore_jobs, claimstore_events, claimstore_queues, claimstore_schema";
    role.run(&format!("GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO ROLE"));
    let found = || PgStore::<Job>::new(role.pool()).verify().expect("the server is there");
    let sound = found().findings;
    for (revoke, check) in [
        ("REVOKE INSERT ON claimstore_events FROM ROLE", Check::Privileges),
        ("REVOKE SELECT ON claimstore_queues FROM ROLE", Check::Privileges),
        ("REVOKE SELECT ON claimstore_schema FROM ROLE", Check::OwnTables),
    ] {
        role.run(revoke);
        let finding = one(more(found(), &sound), check, Severity::Error);
        role.run(finding.mend.as_deref().expect("a statement"));
        assert_eq!(more(found(), &sound), []);
    }
    assert!(PgStore::<Job>::new(role.pool()).guarantees().late_writers);
}

/// A catalog view that this role may not read costs only its own answer.
#[test]
fn what_may_not_be_read_is_a_notice() {
    let role = Role::at(fresh_database(), TASKS_POSTGRES);
    role.run("GRANT USAGE ON SCHEMA public TO ROLE");
    let sound = role.found();
    role.place.run("REVOKE SELECT ON pg_catalog.pg_settings FROM PUBLIC");
    let found = one(role.more(&sound), Check::Unreadable, Severity::Notice);
    assert!(found.says.contains("the server's settings could not be looked at"), "{found}");
    assert!(found.says.contains("permission denied"), "{found}");
}
