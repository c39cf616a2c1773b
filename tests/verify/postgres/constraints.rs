//! The key, the CHECKs, an enum, and triggers.

use claimstore::core::{ClaimRequest, ClaimStore, Verdict, WorkerId};
use claimstore::verify::{Check, Severity};

use super::sound;

#[test]
fn a_key_that_names_several_rows_is_an_error() {
    let bench = sound();
    let found =
        bench.broken_and_mended("ALTER TABLE tasks DROP CONSTRAINT tasks_key", Check::Key, Severity::Error);
    assert!(found.mend.as_deref().is_some_and(|mend| mend.contains("ADD PRIMARY KEY (\"id\")")), "{found}");
    // Together with another column it names nothing.
    let found = bench.broken_and_mended(
        "ALTER TABLE tasks DROP CONSTRAINT tasks_pkey; ALTER TABLE tasks ADD PRIMARY KEY (lane, id)",
        Check::Key,
        Severity::Error,
    );
    assert!(found.mend.as_deref().is_some_and(|mend| mend.starts_with("CREATE UNIQUE INDEX")), "{found}");
    // Nor for some rows only.
    bench.run("DROP INDEX tasks_claim_key");
    bench.broken(
        "CREATE UNIQUE INDEX tasks_some ON tasks (id) WHERE state = 'new'",
        Check::Key,
        Severity::Error,
    );
}

#[test]
fn a_check_that_refuses_a_declared_word_is_widened() {
    let bench = sound();
    let narrow = "ALTER TABLE tasks DROP CONSTRAINT tasks_words;
                  ALTER TABLE tasks ADD CONSTRAINT tasks_words CHECK (state IN ('new', 'held', 'done'))";
    let found = bench.broken_and_mended(narrow, Check::StateWords, Severity::Error);
    assert!(found.says.contains("the declared words 'again', 'lost'"), "{found}");
    bench.run("INSERT INTO tasks (id, state) VALUES (1, 'lost')");
}

/// Other columns decide with it: only what is certain is told, and only to be looked at.
#[test]
fn a_check_over_several_columns_is_told_as_a_notice_or_not_at_all() {
    let bench = sound();
    let found = bench.broken_and_mended(
        "ALTER TABLE tasks ADD CONSTRAINT two CHECK (state IN ('new', 'held', 'done', 'lost') AND fence >= 0)",
        Check::StateWords,
        Severity::Notice,
    );
    assert!(found.says.contains("'again'"), "{found}");
    bench.run("ALTER TABLE tasks ADD CONSTRAINT given_up CHECK (state <> 'lost' OR trouble IS NOT NULL)");
    bench.is_sound();
}

#[test]
fn a_running_row_should_say_who_has_it() {
    sound().broken_and_mended(
        "ALTER TABLE tasks DROP CONSTRAINT tasks_held",
        Check::HeldCheck,
        Severity::Notice,
    );
}

const ENUM: &str = "
    CREATE TYPE words AS ENUM ('new', 'again', 'held', 'done', 'lost');
    DROP INDEX tasks_claim;
    ALTER TABLE tasks DROP CONSTRAINT tasks_words, DROP CONSTRAINT tasks_held, ALTER state DROP DEFAULT;
    ALTER TABLE tasks ALTER state TYPE words USING state::words, ALTER state SET DEFAULT 'new';
    ALTER TABLE tasks ADD CONSTRAINT tasks_held
        CHECK (state <> 'held' OR (worker IS NOT NULL AND lease IS NOT NULL));
    CREATE INDEX tasks_claim ON tasks (lane, urgency DESC, due, id) WHERE state IN ('new', 'again');";

/// What the mending promises is tried: claims and settlements, one by one and several at once.
#[test]
fn an_enum_needs_a_cast() {
    let bench = sound();
    bench.broken_and_mended(ENUM, Check::Types, Severity::Error);
    bench.run("INSERT INTO tasks (id) SELECT generate_series(1, 4)");
    let ask = ClaimRequest::new(&WorkerId::new("anna").expect("a valid name")).limit(4);
    let mut claims = bench.store.claim_next(&ask).expect("claims").into_iter().map(|claimed| claimed.claim);
    let mut next = || claims.next().expect("a claim");
    bench.store.settle(next(), Verdict::complete()).expect("it is ours");
    let both = vec![(next(), Verdict::complete()), (next(), Verdict::fail_for_good("no"))];
    assert!(bench.store.settle_all(both).into_iter().all(|answer| answer.is_ok()));
}

#[test]
fn an_enum_without_a_declared_word_is_given_it() {
    let bench = sound().but(&format!("{ENUM} CREATE CAST (text AS words) WITH INOUT AS ASSIGNMENT"));
    let found = bench.broken_and_mended(
        "ALTER TYPE words RENAME VALUE 'lost' TO 'gone'",
        Check::StateWords,
        Severity::Error,
    );
    assert!(found.says.contains("no value 'lost'"), "{found}");
}

#[test]
fn a_trigger_that_fires_for_each_claim_is_told() {
    let bench = sound();
    bench.run("CREATE FUNCTION touched() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'");
    let found = bench.broken(
        "CREATE TRIGGER touch BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION touched()",
        Check::Triggers,
        Severity::Warning,
    );
    assert!(found.says.contains("touch runs touched() before each claim"), "{found}");
    assert!(!found.mend_is_sql(), "{found}");
    bench.run(
        "DROP TRIGGER touch ON tasks;
         CREATE TRIGGER touch BEFORE UPDATE OF urgency ON tasks FOR EACH ROW EXECUTE FUNCTION touched();
         CREATE TRIGGER fresh AFTER INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION touched();
         CREATE TRIGGER asleep AFTER UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION touched();
         ALTER TABLE tasks DISABLE TRIGGER asleep",
    );
    bench.is_sound();
    bench.broken(
        "CREATE TRIGGER lease AFTER UPDATE OF lease ON tasks FOR EACH ROW EXECUTE FUNCTION touched()",
        Check::Triggers,
        Severity::Warning,
    );
}
