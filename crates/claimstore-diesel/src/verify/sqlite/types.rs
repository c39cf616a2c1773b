//! Whether each column keeps what its role writes. SQLite has no types, but an affinity by which it converts.

use diesel::sqlite::Sqlite;

use super::columns::{Column, definition, of};
use super::table::Table;
use crate::dialect::Dialect;
use crate::query::TimeForm;
use crate::verify::finding::{Check, Finding};
use crate::verify::role::{Holds, Role, Touch, roles};

/// What SQLite makes of a declared type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Affinity {
    Integer,
    Text,
    Blob,
    Real,
    Numeric,
}

impl Affinity {
    /// By the rules of SQLite, in their order.
    fn of(written: &str) -> Affinity {
        let written = written.to_ascii_uppercase();
        let says = |part: &str| written.contains(part);
        if says("INT") {
            Affinity::Integer
        } else if says("CHAR") || says("CLOB") || says("TEXT") {
            Affinity::Text
        } else if says("BLOB") || written.is_empty() {
            Affinity::Blob
        } else if says("REAL") || says("FLOA") || says("DOUB") {
            Affinity::Real
        } else {
            Affinity::Numeric
        }
    }

    /// What becomes of a whole number.
    fn spoils_numbers(self) -> Option<&'static str> {
        match self {
            Affinity::Text => Some("a number is kept as text there, and compared as text"),
            Affinity::Real => Some("a number is kept as a fraction of 53 bits there"),
            _ => None,
        }
    }

    /// What becomes of a text.
    fn spoils_texts(self) -> Option<&'static str> {
        match self {
            Affinity::Integer | Affinity::Real | Affinity::Numeric => {
                Some("a text that looks like a number is kept as one there")
            }
            _ => None,
        }
    }
}

/// Whether instants of this form are texts.
pub(super) fn is_text(form: TimeForm) -> bool {
    matches!(form, TimeForm::Text | TimeForm::Plain)
}

pub(super) fn judge(table: &Table<'_>, columns: &[Column]) -> Vec<Finding> {
    let mut found = Vec::new();
    for role in roles(table.text) {
        let Some(column) = of(columns, &role) else { continue };
        found.extend(wrong_type(table, &role, column));
        found.extend(nulls(table, &role, column));
        if role.holds == Holds::Fence && !has_default_of_zero(column) {
            let says =
                format!("column {} has no default of 0: each insert has to bring a fence", name(&role));
            let mend = rebuilt(table, &role);
            found.push(Finding::warning(Check::FenceDefault, says).mend(mend));
        }
    }
    found
}

fn name(role: &Role) -> String {
    Sqlite::quote(role.column)
}

fn rebuilt(table: &Table<'_>, role: &Role) -> String {
    let definition = definition(table, role).unwrap_or_default();
    table.rebuild(format_args!("{} {definition}", name(role)))
}

fn wrong_type(table: &Table<'_>, role: &Role, column: &Column) -> Option<Finding> {
    let affinity = Affinity::of(&column.written);
    let (spoilt, is_error) = match role.holds {
        Holds::Key | Holds::Sorted => return None,
        Holds::Fence | Holds::Count | Holds::Budget | Holds::Flag => (affinity.spoils_numbers()?, true),
        Holds::Instant(form) if !is_text(form) => (affinity.spoils_numbers()?, true),
        // No instant of the one width looks like a number.
        Holds::Instant(_) => return None,
        Holds::Word | Holds::Text => (affinity.spoils_texts()?, false),
    };
    let says = format!("column {}, declared as {}, is {}: {spoilt}", name(role), role.name, column.written);
    let finding =
        if is_error { Finding::error(Check::Types, says) } else { Finding::warning(Check::Types, says) };
    Some(finding.mend(rebuilt(table, role)))
}

fn nulls(table: &Table<'_>, role: &Role, column: &Column) -> Option<Finding> {
    let name = name(role);
    if column.not_null {
        if role.touch != Touch::Empties {
            return None;
        }
        let says =
            format!("column {name} is NOT NULL, and what ends a claim empties it: that write is refused");
        return Some(Finding::error(Check::Nulls, says).mend(rebuilt(table, role)));
    }
    let declaration = table.text.declaration;
    let columns = &declaration.columns;
    let finding = match role.holds {
        Holds::Fence => Finding::error(
            Check::Nulls,
            format!("column {name} may be NULL: a row without a fence can be claimed by nobody"),
        ),
        Holds::Word => Finding::error(
            Check::Nulls,
            format!("column {name} may be NULL: a row without a state is in none, and stays there"),
        ),
        Holds::Budget => Finding::warning(
            Check::Nulls,
            format!("column {name} may be NULL: a row without a budget is never claimed"),
        ),
        Holds::Count
            if (role.name == "failures" && columns.max_failures.is_some())
                || (role.name == "crashes" && columns.max_crashes.is_some()) =>
        {
            Finding::warning(
                Check::Nulls,
                format!("column {name} may be NULL: a row without this count is never claimed"),
            )
        }
        Holds::Instant(_) if role.name == "due" && !declaration.null_due_is_now => Finding::notice(
            Check::Nulls,
            format!("column {name} may be NULL: such a row is never due, unless null_due_is_now is declared"),
        ),
        _ => return None,
    };
    Some(finding.mend(rebuilt(table, role)))
}

fn has_default_of_zero(column: &Column) -> bool {
    column.default.as_deref().is_some_and(|default| default.trim_matches(['\'', '(', ')', ' ']) == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affinities_are_those_of_the_manual() {
        let cases = [
            ("BIGINT", Affinity::Integer),
            ("VARCHAR(20)", Affinity::Text),
            ("", Affinity::Blob),
            ("DOUBLE PRECISION", Affinity::Real),
            ("STRING", Affinity::Numeric),
            ("TIMESTAMP", Affinity::Numeric),
            ("FLOATING POINT", Affinity::Integer),
        ];
        for (written, affinity) in cases {
            assert_eq!(Affinity::of(written), affinity, "{written}");
        }
    }
}
