//! The statements that mend what both databases can lack.

use super::role::words;
use crate::dialect::Dialect;
use crate::query::{TableText, literal};

/// A quoted name as it is in the catalog.
pub(super) fn unquoted(name: &str) -> String {
    let mut chars = name.chars();
    let (Some(quote), Some(_)) = (chars.next(), chars.next_back()) else { return name.to_owned() };
    chars.as_str().replace(&format!("{quote}{quote}"), &quote.to_string())
}

/// The table's own name, without schema and quotes.
pub(super) fn table_name<D: Dialect>(text: &TableText<D>) -> String {
    unquoted(text.bare())
}

/// The name of something that belongs to the table, quoted.
pub(super) fn named<D: Dialect>(text: &TableText<D>, what: &str) -> String {
    D::quote(&format!("{}_{what}", table_name(text)))
}

/// A list of literals.
pub(super) fn literals<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(literal).collect::<Vec<_>>().join(", ")
}

/// The test of the state for pending ones, as an index's predicate.
fn is_pending<D: Dialect>(text: &TableText<D>) -> String {
    let state = D::quote(text.declaration.columns.state);
    match text.declaration.words.pending {
        [only] => format!("{state} = {}", literal(only)),
        words => format!("{state} IN ({})", literals(words.iter().copied())),
    }
}

/// What a claim walks along: the queue, then the declared order, over pending rows alone. `create` is how a
/// statement begins here.
pub(super) fn claim_index<D: Dialect>(text: &TableText<D>, create: &str, on: &str) -> String {
    let queue = text.declaration.columns.queue.map(|queue| D::quote(queue));
    let order = text.order().into_iter().map(|(column, down)| if down { column + " DESC" } else { column });
    let columns: Vec<String> = queue.into_iter().chain(order).collect();
    let (name, columns) = (named(text, "claim_order"), columns.join(", "));
    format!("{create} {name} ON {on} ({columns}) WHERE {};", is_pending(text))
}

/// What recovery walks along. The predicate is not one that a settlement's `WHERE` implies: else the planner
/// could settle through this index, which is full of dead entries.
pub(super) fn lease_index<D: Dialect>(text: &TableText<D>, create: &str, on: &str) -> String {
    let columns = &text.declaration.columns;
    let (lease, key) = (D::quote(columns.lease.unwrap_or_default()), D::quote(columns.key));
    let name = named(text, "lease_order");
    format!("{create} {name} ON {on} ({lease}, {key}) WHERE {lease} IS NOT NULL;")
}

/// A running row says who has it and until when.
pub(super) fn held_condition<D: Dialect>(text: &TableText<D>) -> String {
    let columns = &text.declaration.columns;
    let state = D::quote(columns.state);
    let held = [columns.worker, columns.lease].into_iter().flatten();
    let held: Vec<String> = held.map(|column| format!("{} IS NOT NULL", D::quote(column))).collect();
    let running = literal(text.declaration.words.running);
    format!("{state} <> {running} OR ({})", held.join(" AND "))
}

/// The state is one of the declared words.
pub(super) fn known_word<D: Dialect>(text: &TableText<D>) -> String {
    format!("{} IN ({})", D::quote(text.declaration.columns.state), literals(words(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_name_is_read_back() {
        assert_eq!(unquoted("\"a\"\"b\""), "a\"b");
        assert_eq!(unquoted("`jobs`"), "jobs");
    }
}
