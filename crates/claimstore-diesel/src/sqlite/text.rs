//! How SQLite's text is written.

use crate::query::{ClaimParts, GivenColumn, Hold, Hole, LookParts, PruneParts, TimeForm};

/// The guarded write itself is the claim: it reads its candidates under the write lock it has taken.
pub(super) fn claim_statement(parts: &ClaimParts<'_>) -> String {
    let ClaimParts { table, key, most, set, still, returning, .. } = parts;
    let limit = match most {
        None => String::new(),
        Some(1) => " LIMIT 1".to_owned(),
        Some(_) => format!(" LIMIT {}", Hole::Limit.mark()),
    };
    let picked = if parts.merge {
        let each = parts.candidates.iter().map(|one| format!("SELECT * FROM ({one}{limit})"));
        let each: Vec<String> = each.collect();
        let by = parts.order.iter().map(|(c, down)| if *down { format!("{c} DESC") } else { c.clone() });
        let by: Vec<String> = by.collect();
        let by = if by.is_empty() { String::new() } else { format!(" ORDER BY {}", by.join(", ")) };
        format!("{}{by}{limit}", each.join(" UNION ALL "))
    } else {
        format!("{}{limit}", parts.candidates[0])
    };
    format!(
        "UPDATE {table} SET {set} WHERE {table}.{key} IN (SELECT {key} FROM ({picked})) AND {still} RETURNING {returning}"
    )
}

/// A given instant, microseconds since 1970, in the form a column stores.
pub(super) fn stored(form: TimeForm, micros: &str) -> String {
    match form {
        TimeForm::Micros | TimeForm::Zoned => micros.to_owned(),
        // Whole milliseconds: SQLite's own text functions know no finer ones.
        TimeForm::Plain | TimeForm::Text => {
            format!("strftime('%Y-%m-%d %H:%M:%f', {micros} / 1000000.0, 'unixepoch') || '000'")
        }
    }
}

/// The rows travel as one JSON text, so that any number of them is one value and the text stays the same.
pub(super) fn given(columns: &[GivenColumn]) -> String {
    let read = columns.iter().map(|column| {
        format!("json_extract(value, '$[{}]') AS {}", super::given::place(*column), column.name())
    });
    let read: Vec<String> = read.collect();
    format!("(SELECT {} FROM json_each({}))", read.join(", "), Hole::GivenKeys.mark())
}

/// A look that takes its row is a write, so that no stale snapshot decides.
pub(super) fn look_statement(parts: &LookParts<'_>) -> String {
    let LookParts { table, fence, columns, which, tail, .. } = parts;
    match parts.hold {
        Hold::Waiting => {
            format!("UPDATE {table} SET {fence} = {table}.{fence} WHERE {which} RETURNING {columns}")
        }
        Hold::No | Hold::Skipping => format!("SELECT {columns} FROM {table} WHERE {which}{tail}"),
    }
}

pub(super) fn prune_statement(parts: &PruneParts<'_>) -> String {
    let PruneParts { table, key, which, order, limit } = parts;
    format!(
        "DELETE FROM {table} WHERE {table}.{key} IN \
         (SELECT {table}.{key} FROM {table} WHERE {which} ORDER BY {order} LIMIT {limit})"
    )
}
