//! Each statement's text is pinned in a file, per table and database.
//!
//! A change of a text is a change that somebody has to read: it is what the database plans, and what the
//! guards of the contract consist of. `cargo xtask sql --write` rewrites the files.

mod lines;
mod statements;
mod tables;

use std::path::PathBuf;
use std::{env, fs};

use claimstore::Job;
use claimstore::diesel::pg::Pg;
use claimstore::diesel::query_builder::QueryFragment;
use claimstore::diesel::sqlite::Sqlite;

use statements::Named;
use tables::{Minimal, PgInvoice, SqliteInvoice};

#[test]
fn the_job_table_on_postgresql() {
    compare("postgres/job.sql", postgres::<Job>(&7));
}

#[test]
fn a_foreign_table_on_postgresql() {
    compare("postgres/invoice.sql", postgres::<PgInvoice>(&"a".to_owned()));
}

#[test]
fn a_minimal_table_on_postgresql() {
    compare("postgres/minimal.sql", postgres::<Minimal>(&7));
}

#[test]
fn the_job_table_on_sqlite() {
    compare("sqlite/job.sql", statements::of::<Job, Sqlite>(&7, sqlite_text));
}

#[test]
fn a_foreign_table_on_sqlite() {
    compare("sqlite/invoice.sql", statements::of::<SqliteInvoice, Sqlite>(&"a".to_owned(), sqlite_text));
}

#[test]
fn a_minimal_table_on_sqlite() {
    compare("sqlite/minimal.sql", statements::of::<Minimal, Sqlite>(&7, sqlite_text));
}

fn postgres<T: claimstore::ClaimOn<Pg>>(key: &T::Key) -> Vec<Named> {
    let mut all = statements::of::<T, Pg>(key, pg_text);
    all.extend(statements::settle_and_claim::<T, Pg>(key, pg_text));
    all
}

fn pg_text(node: &dyn QueryFragment<Pg>) -> String {
    without_binds(&diesel::debug_query::<Pg, _>(&node).to_string())
}

fn sqlite_text(node: &dyn QueryFragment<Sqlite>) -> String {
    without_binds(&diesel::debug_query::<Sqlite, _>(&node).to_string())
}

/// `debug_query` shows the values after the text.
fn without_binds(shown: &str) -> String {
    shown.split_once(" -- binds: ").expect("it always shows them").0.to_owned()
}

fn compare(file: &str, named: Vec<Named>) {
    let blocks: Vec<String> =
        named.iter().map(|(name, sql)| format!("-- {name}\n{}", lines::broken(sql))).collect();
    let now = blocks.join("\n");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("pinned/sql").join(file);
    if env::var_os("CLAIMSTORE_WRITE_SQL").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
        fs::write(&path, now).expect("the file can be written");
        return;
    }
    let pinned = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    if let Some(difference) = first_difference(&pinned, &now) {
        panic!(
            "tests/pinned/sql/{file} is not what is sent; read the change and run: cargo xtask sql --write\n{difference}"
        );
    }
}

/// The first block that differs, as pinned and as sent.
fn first_difference(pinned: &str, now: &str) -> Option<String> {
    if pinned == now {
        return None;
    }
    let (pinned, now): (Vec<&str>, Vec<&str>) = (pinned.split("\n\n").collect(), now.split("\n\n").collect());
    let at = pinned.iter().zip(&now).take_while(|(a, b)| a == b).count();
    let block = |blocks: &[&str]| blocks.get(at).map_or("(nothing)", |block| *block).to_owned();
    Some(format!("pinned:\n{}\n\nsent:\n{}", block(&pinned), block(&now)))
}

#[test]
fn only_blanks_outside_quotes_are_exchanged() {
    let sql =
        "WITH a AS (SELECT 'x AND y' FROM t WHERE b = ? AND c FOR NO KEY UPDATE) UPDATE a SET b = 1, c = 2";
    let shown = lines::broken(sql);
    assert!(shown.contains("'x AND y'"), "{shown}");
    assert_eq!(shown.lines().count(), 9, "{shown}");
    let joined = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(joined(&shown), joined(sql));
}
