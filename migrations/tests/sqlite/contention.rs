//! Many at once on one empty file (field report H79).

use std::sync::Barrier;
use std::thread;

use claimstore_migrations::run_sqlite;

use crate::child::Migrator;
use crate::support::{Database, PATIENT, TestResult, all_versions};

const ROUNDS: usize = 50;
const THREADS: usize = 8;
const PROCESSES: usize = 8;

/// Half of the rounds begin without a file, half with an empty one in WAL mode.
fn fresh(round: usize) -> Database {
    let db = Database::empty();
    if round % 2 == 1 {
        db.execute("PRAGMA journal_mode = WAL");
    }
    db
}

#[test]
fn eight_threads_migrate_an_empty_file_once() -> TestResult {
    for round in 0..ROUNDS {
        let db = fresh(round);
        let barrier = Barrier::new(THREADS);
        let applied: usize = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|_| {
                    scope.spawn(|| {
                        let mut conn = db.connect();
                        barrier.wait();
                        run_sqlite(&mut conn, PATIENT).expect("all succeed or wait").versions.len()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(applied, all_versions().len(), "round {round}");
        assert_eq!(db.recorded(), all_versions(), "round {round}");
    }
    Ok(())
}

#[test]
fn eight_processes_migrate_an_empty_file_once() -> TestResult {
    for round in 0..ROUNDS {
        let db = fresh(round);
        let mut processes: Vec<_> = (0..PROCESSES).map(|_| Migrator::start(&db.path(), None)).collect();
        processes.iter_mut().for_each(Migrator::go);
        let applied: usize = processes.into_iter().map(Migrator::migrated).sum();
        assert_eq!(applied, all_versions().len(), "round {round}");
        assert_eq!(db.recorded(), all_versions(), "round {round}");
    }
    Ok(())
}
