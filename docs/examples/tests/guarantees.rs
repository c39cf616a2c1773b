//! The table in the chapter on guarantees is what the code says.
//!
//! `CLAIMSTORE_WRITE=1 cargo test -p claimstore-examples --test guarantees` writes it anew.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use claimstore::core::{ClaimStore, Guarantees};
use claimstore::diesel::{pg::Pg, sqlite::Sqlite};
use claimstore::{ClaimTable, Dialect, Job, SqliteStore};
use diesel::prelude::*;

const BEGIN: &str = "<!-- guarantees:begin -->\n";
const END: &str = "<!-- guarantees:end -->";
const WRITE: &str = "CLAIMSTORE_WRITE";

mod schema {
    diesel::table! {
        things (id) {
            id -> BigInt,
            state -> Text,
            fence -> BigInt,
        }
    }
}
use schema::things;

/// The least that a table can declare.
#[derive(Queryable, Selectable, ClaimTable)]
#[diesel(table_name = things)]
#[claim(backend(postgres, sqlite), key = id, fence = fence, order(id.asc()))]
#[claim(state(state, pending("waiting"), running("busy")))]
struct Thing {
    id: i64,
}

#[test]
fn the_chapter_says_what_the_code_promises() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../src/guarantees.md");
    let chapter = fs::read_to_string(&path).expect("the chapter");
    let (before, rest) = chapter.split_once(BEGIN).expect("the marker where the table begins");
    let (_, after) = rest.split_once(END).expect("the marker where it ends");
    let expected = format!("{before}{BEGIN}{}{END}{after}", table());
    if env::var_os(WRITE).is_some() {
        fs::write(&path, expected).expect("the chapter can be written");
    } else if chapter != expected {
        panic!("docs/src/guarantees.md is not what the code says; {WRITE}=1 writes it anew:\n{}", table());
    }
}

/// What the chapter prints is what a store answers.
#[test]
fn a_store_answers_what_its_declaration_gives() {
    let store = SqliteStore::<Thing>::open(":memory:").expect("a database in memory");
    assert_eq!(store.guarantees(), Sqlite::guarantees(&Thing::DECLARATION));
}

fn table() -> String {
    let jobs = [Pg::guarantees(&Job::DECLARATION), Sqlite::guarantees(&Job::DECLARATION)];
    let things = [Pg::guarantees(&Thing::DECLARATION), Sqlite::guarantees(&Thing::DECLARATION)];
    let [pg, sqlite] = jobs.map(|promised| promised.lines());
    let mut table =
        "| | the job table on PostgreSQL | the job table on SQLite | a table of your own with key, \
                     state and fence alone |\n| --- | --- | --- | --- |\n"
            .to_owned();
    for (at, ((name, pg), (_, sqlite))) in pg.iter().zip(&sqlite).enumerate() {
        let least = least(&things, at, [pg, sqlite]);
        writeln!(table, "| {name} | {pg} | {sqlite} | {least} |").expect("a string takes it");
    }
    table
}

/// One cell for both databases, which differ here in the same lines as for the job table.
fn least(things: &[Guarantees; 2], at: usize, jobs: [&String; 2]) -> String {
    let [pg, sqlite] = things.each_ref().map(|promised| promised.lines().remove(at).1);
    if [&pg, &sqlite] == jobs {
        "the same".to_owned()
    } else if pg == sqlite {
        pg
    } else {
        format!("{pg} (PostgreSQL); {sqlite} (SQLite)")
    }
}
