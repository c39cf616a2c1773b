//! Keys of tables under test.

use std::fmt::Debug;

/// A key that a harness makes up and writes as a literal.
pub trait TestKey: Clone + Debug {
    /// The n-th key, greater than the one before it.
    fn nth(n: u32) -> Self;
    /// It, in SQL.
    fn literal(&self) -> String;
}

/// Above what a test enqueues, whose ids the database counts up from one.
const FIRST: u32 = 1_000_000;

impl TestKey for i64 {
    fn nth(n: u32) -> i64 {
        i64::from(FIRST + n)
    }
    fn literal(&self) -> String {
        self.to_string()
    }
}

impl TestKey for i32 {
    fn nth(n: u32) -> i32 {
        i32::try_from(FIRST + n).expect("few rows")
    }
    fn literal(&self) -> String {
        self.to_string()
    }
}

impl TestKey for String {
    /// With what must be quoted in a literal, in an array and in JSON.
    fn nth(n: u32) -> String {
        format!("{n:06}'\"\\{{}},ü")
    }
    fn literal(&self) -> String {
        text(self)
    }
}

/// A text as an SQL literal of both databases.
pub(super) fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
