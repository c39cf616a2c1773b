//! A sound table, on which one thing is broken.

use claimstore::verify::{Check, Finding, Report, Severity};
use claimstore::{ClaimOn, Store};
use claimstore_tests::harness::TestDialect;
use diesel::connection::SimpleConnection;

/// A place with one table, the store on it, and what is found there from the start.
pub(crate) struct Bench<T, D: TestDialect> {
    pub(crate) store: Store<T, D>,
    pub(crate) place: D::Place,
    /// What is found in a sound table: what the server is told for tests.
    sound: Vec<Finding>,
}

impl<T: ClaimOn<D>, D: TestDialect> Bench<T, D> {
    /// A table made by this SQL, which has to be fit and without a warning.
    pub(crate) fn of(sql: &str) -> Self {
        let place = D::place();
        D::connect(&place).batch_execute(sql).unwrap_or_else(|why| panic!("{sql}: {why}"));
        let store = D::store::<T>(&place, 2);
        let mut bench = Bench { store, place, sound: Vec::new() };
        let report = bench.report();
        assert!(report.worst() <= Some(Severity::Notice), "{report}");
        assert!(report.findings.iter().all(|found| found.check != Check::Unreadable), "{report}");
        bench.sound = report.findings;
        bench
    }

    /// A table made by this SQL, whatever is wrong with it, beside what is found in a `sound` one elsewhere.
    pub(crate) fn of_any(sql: &str, sound: &str) -> Self {
        let Bench { sound, .. } = Self::of(sound);
        let place = D::place();
        D::connect(&place).batch_execute(sql).unwrap_or_else(|why| panic!("{sql}: {why}"));
        Bench { store: D::store::<T>(&place, 2), place, sound }
    }

    /// The same, changed before it counts as sound.
    pub(crate) fn but(mut self, sql: &str) -> Self {
        self.run(sql);
        self.sound = self.report().findings;
        self
    }

    pub(crate) fn run(&self, sql: &str) {
        D::connect(&self.place).batch_execute(sql).unwrap_or_else(|why| panic!("{sql}: {why}"));
    }

    pub(crate) fn report(&self) -> Report {
        self.store.verify().expect("the database is there")
    }

    /// What is found beyond what a sound table has.
    pub(crate) fn more(&self) -> Vec<Finding> {
        more(self.report(), &self.sound)
    }

    /// Breaks it: that one finding is more, and nothing else.
    #[track_caller]
    pub(crate) fn broken(&self, sql: &str, check: Check, severity: Severity) -> Finding {
        self.run(sql);
        one(self.more(), check, severity)
    }

    /// The same, and mends it by the statement that the finding brings: all is sound again.
    #[track_caller]
    pub(crate) fn broken_and_mended(&self, sql: &str, check: Check, severity: Severity) -> Finding {
        let found = self.broken(sql, check, severity);
        self.mend(&found);
        found
    }

    /// Does what the finding says, and looks that nothing is left.
    #[track_caller]
    pub(crate) fn mend(&self, found: &Finding) {
        assert!(found.mend_is_sql(), "{found}");
        self.run(found.mend.as_deref().expect("a statement"));
        self.is_sound();
    }

    #[track_caller]
    pub(crate) fn is_sound(&self) {
        assert_eq!(self.more(), [], "nothing is left");
    }
}

pub(crate) fn more(report: Report, sound: &[Finding]) -> Vec<Finding> {
    report.findings.into_iter().filter(|found| !sound.contains(found)).collect()
}

#[track_caller]
pub(crate) fn one(mut found: Vec<Finding>, check: Check, severity: Severity) -> Finding {
    assert_eq!(found.len(), 1, "{found:#?}");
    let found = found.remove(0);
    assert_eq!((found.check, found.severity), (check, severity), "{found}");
    found
}
