//! What was found, how bad it is, and what mends it.

use std::fmt;

use serde::{Serialize, Serializer};

/// How much a finding matters. Later ones are worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Good to know; claims are right and as fast as they should be.
    Notice,
    /// Claims are right, but slower than they should be, or something around them is about to hurt.
    Warning,
    /// Calls fail, or a promise of the library does not hold.
    Error,
}

impl Severity {
    /// `notice`, `warning` or `error`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Notice => "notice",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

macro_rules! checks {
    ($($(#[$about:meta])* $check:ident => $name:literal,)*) => {
        /// What was looked at. The names are stable; more may come.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Check {
            $($(#[$about])* $check,)*
        }

        impl Check {
            /// All of them, in the order of this page.
            pub const ALL: &'static [Check] = &[$(Check::$check),*];

            /// Its stable name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Check::$check => $name,)*
                }
            }
        }
    };
}

checks! {
    /// `table`: it is there, and rows of it can be claimed: no view, no foreign table.
    Table => "table",
    /// `columns`: each declared column is there.
    Columns => "columns",
    /// `types`: each declared column has a type that its role can be read from and written to.
    Types => "types",
    /// `nulls`: what must never be NULL cannot be, and what is emptied can be.
    Nulls => "nulls",
    /// `fence-default`: a new row begins with fence 0 by itself.
    FenceDefault => "fence-default",
    /// `key`: a key names one row.
    Key => "key",
    /// `state-words`: the table takes each declared word.
    StateWords => "state-words",
    /// `held-check`: the table refuses a running row without worker and lease.
    HeldCheck => "held-check",
    /// `claim-index`: an index serves the claim, and the plan uses it.
    ClaimIndex => "claim-index",
    /// `lease-index`: an index serves recovery.
    LeaseIndex => "lease-index",
    /// `triggers`: nothing runs inside each claim.
    Triggers => "triggers",
    /// `rows`: no stored row is impossible. A bounded sample.
    Rows => "rows",
    /// `stored-form`: stored instants and numbers have the form in which they compare rightly. A bounded
    /// sample (SQLite).
    StoredForm => "stored-form",
    /// `own-tables`: claimstore's own tables are there, in this library's version.
    OwnTables => "own-tables",
    /// `privileges`: this role may do what claims need.
    Privileges => "privileges",
    /// `row-security`: no policy hides rows from this role (PostgreSQL).
    RowSecurity => "row-security",
    /// `read-only`: the database can be written to.
    ReadOnly => "read-only",
    /// `version`: the database is new enough.
    Version => "version",
    /// `isolation`: the default isolation is READ COMMITTED (PostgreSQL).
    Isolation => "isolation",
    /// `timeouts`: no time limit is in the way, and what could wait for ever cannot.
    Timeouts => "timeouts",
    /// `durability`: a commit that was acknowledged stays.
    Durability => "durability",
    /// `clock`: host and database agree on the time (PostgreSQL).
    Clock => "clock",
    /// `vacuum`: dead rows are cleared away (PostgreSQL).
    Vacuum => "vacuum",
    /// `old-transaction`: nobody keeps dead rows alive (PostgreSQL).
    OldTransaction => "old-transaction",
    /// `journal`: the file is in WAL, and the WAL does not grow (SQLite).
    Journal => "journal",
    /// `foreign-keys`: they are enforced where there are any (SQLite).
    ForeignKeys => "foreign-keys",
    /// `file-system`: the file lies on this host (SQLite).
    FileSystem => "file-system",
    /// `pool`: the pool is not in the way.
    Pool => "pool",
    /// `unreadable`: something could not be looked at.
    Unreadable => "unreadable",
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// What was looked at.
    pub check: Check,
    /// What was found and what follows from it, for people.
    pub says: String,
    /// What mends it. It ends in a semicolon where it is SQL to be run as it stands, by a role that may; for
    /// rows that only a person can judge it is the `SELECT` that shows them. Otherwise it is a setting or a
    /// piece of code. Look at it before you run it.
    pub mend: Option<String>,
}

impl Finding {
    pub(super) fn new(severity: Severity, check: Check, says: impl Into<String>) -> Finding {
        Finding { severity, check, says: says.into(), mend: None }
    }

    pub(super) fn error(check: Check, says: impl Into<String>) -> Finding {
        Finding::new(Severity::Error, check, says)
    }

    pub(super) fn warning(check: Check, says: impl Into<String>) -> Finding {
        Finding::new(Severity::Warning, check, says)
    }

    pub(super) fn notice(check: Check, says: impl Into<String>) -> Finding {
        Finding::new(Severity::Notice, check, says)
    }

    /// Something that could not be looked at. Whatever it hides is not known to be wrong.
    pub(super) fn unreadable(what: &str, why: &diesel::result::Error) -> Finding {
        Finding::notice(Check::Unreadable, format!("{what} could not be looked at: {why}"))
    }

    pub(super) fn mend(self, mend: impl Into<String>) -> Finding {
        Finding { mend: Some(mend.into()), ..self }
    }

    /// Whether [`mend`](field@Finding::mend) is SQL.
    #[must_use]
    pub fn mend_is_sql(&self) -> bool {
        self.mend.as_deref().is_some_and(|mend| mend.ends_with(';'))
    }
}

impl fmt::Display for Finding {
    /// One line, and what mends it on a second one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<7} {}: {}", self.severity, self.check, self.says)?;
        match &self.mend {
            Some(mend) => write!(f, "\n        -> {mend}"),
            None => Ok(()),
        }
    }
}

/// All that [`Store::verify`](crate::Store::verify) found, worst first.
///
/// Displayed it is one line for each finding and one for what mends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[must_use = "what was found is in the report, not in an error"]
pub struct Report {
    /// Worst first, then in the order of [`Check`].
    pub findings: Vec<Finding>,
}

impl Report {
    pub(super) fn of(mut findings: Vec<Finding>) -> Report {
        findings.sort_by_key(|found| (std::cmp::Reverse(found.severity), found.check));
        Report { findings }
    }

    /// The worst severity among the findings; `None` where nothing was found.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|found| found.severity).max()
    }

    /// No [`Severity::Error`]: the table can be worked with.
    #[must_use]
    pub fn is_fit(&self) -> bool {
        self.worst() != Some(Severity::Error)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.findings.is_empty() {
            return f.write_str("nothing found");
        }
        for (n, found) in self.findings.iter().enumerate() {
            let before = if n == 0 { "" } else { "\n" };
            write!(f, "{before}{found}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Report {
        Report::of(vec![
            Finding::notice(Check::Pool, "one connection"),
            Finding::error(Check::Key, "twice").mend("ALTER TABLE t ADD PRIMARY KEY (id);"),
        ])
    }

    #[test]
    fn the_worst_comes_first_and_decides() {
        assert_eq!(two().worst(), Some(Severity::Error));
        assert!(!two().is_fit());
        assert!(Report::of(Vec::new()).is_fit());
        assert_eq!(
            two().to_string(),
            "error   key: twice\n        -> ALTER TABLE t ADD PRIMARY KEY (id);\nnotice  pool: one connection"
        );
    }

    #[test]
    fn it_is_data() {
        assert_eq!(
            serde_json::to_value(two()).expect("plain data"),
            serde_json::json!({"findings": [
                {"severity": "error", "check": "key", "says": "twice",
                 "mend": "ALTER TABLE t ADD PRIMARY KEY (id);"},
                {"severity": "notice", "check": "pool", "says": "one connection", "mend": null},
            ]})
        );
    }

    #[test]
    fn each_check_has_a_name_of_its_own_in_small_letters() {
        let mut names: Vec<_> = Check::ALL.iter().map(|check| check.name()).collect();
        assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '-')));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Check::ALL.len());
    }
}
