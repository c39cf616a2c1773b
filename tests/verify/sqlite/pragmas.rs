//! The connection's pragmas.

use claimstore::SqliteStore;
use claimstore::verify::{Check, Finding, Report, Severity};
use claimstore_tests::sqlite::TestFile;
use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;
use diesel::r2d2::{ConnectionManager, Pool};

use crate::bench::{more, one};
use crate::tables::{TASKS_SQLITE, Task};

/// A store on the one connection that somebody set up without the library.
struct Plain {
    store: SqliteStore<Task>,
    sound: Vec<Finding>,
    _file: TestFile,
}

impl Plain {
    fn new() -> Plain {
        let file = TestFile::fresh();
        let pool = Pool::builder()
            .max_size(1)
            .test_on_check_out(false)
            .build(ConnectionManager::<SqliteConnection>::new(file.url()))
            .expect("a pool");
        let store = SqliteStore::new(pool).expect("a file");
        let mut plain = Plain { store, sound: Vec::new(), _file: file };
        plain.run("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON");
        plain.run(TASKS_SQLITE);
        plain.sound = plain.report().findings;
        assert!(plain.sound.iter().all(|found| found.check == Check::Pool), "{:#?}", plain.sound);
        plain
    }

    fn run(&self, sql: &str) {
        self.store.pool().get().expect("the connection").batch_execute(sql).expect(sql);
    }

    fn report(&self) -> Report {
        self.store.verify().expect("the file is there")
    }

    #[track_caller]
    fn broken_and_mended(&self, sql: &str, check: Check, severity: Severity) {
        self.run(sql);
        let found = one(more(self.report(), &self.sound), check, severity);
        assert!(found.mend_is_sql(), "{found}");
        self.run(found.mend.as_deref().expect("a statement"));
        assert_eq!(more(self.report(), &self.sound), [], "{found}");
    }
}

#[test]
fn each_pragma_is_judged_and_mended() {
    let plain = Plain::new();
    plain.broken_and_mended("PRAGMA journal_mode = DELETE", Check::Journal, Severity::Warning);
    plain.broken_and_mended("PRAGMA synchronous = NORMAL", Check::Durability, Severity::Notice);
    plain.broken_and_mended("PRAGMA synchronous = OFF", Check::Durability, Severity::Warning);
    plain.broken_and_mended("PRAGMA busy_timeout = 0", Check::Timeouts, Severity::Error);
    plain.broken_and_mended("PRAGMA query_only = ON", Check::ReadOnly, Severity::Error);
}

/// Off is as good as on where there are none.
#[test]
fn foreign_keys_matter_where_there_are_some() {
    let plain = Plain::new();
    plain.run("PRAGMA foreign_keys = OFF");
    assert_eq!(more(plain.report(), &plain.sound), []);
    let child = "CREATE TABLE pages (id INTEGER PRIMARY KEY, task INTEGER REFERENCES tasks (id))";
    plain.broken_and_mended(child, Check::ForeignKeys, Severity::Notice);
}
