//! The words of an SQL text, apart from its literals and comments.

use std::collections::HashSet;
use std::ops::Range;

/// One piece of an SQL text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    /// Where it stands, in bytes.
    pub(super) at: Range<usize>,
}

/// What a piece is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A bare word, in small letters: a keyword or a name.
    Word(String),
    /// A quoted name, in small letters and without its quotes.
    Name(String),
    /// A text, or a number.
    Literal,
    /// Any other character.
    Sign(char),
}

impl Piece {
    #[cfg_attr(not(feature = "sqlite"), allow(dead_code, reason = "only SQLite keeps its tables as text"))]
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, Kind::Word(this) if this == word)
    }

    #[cfg_attr(not(feature = "sqlite"), allow(dead_code, reason = "only SQLite keeps its tables as text"))]
    pub(super) fn is_sign(&self, sign: char) -> bool {
        self.kind == Kind::Sign(sign)
    }

    /// The name that it may be.
    pub(super) fn name(&self) -> Option<&str> {
        match &self.kind {
            Kind::Word(name) | Kind::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// Takes a text apart.
pub(super) fn pieces(sql: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = sql[at..].chars().next() {
        let rest = &sql[at..];
        let (kind, len) = match first {
            _ if rest.starts_with("--") => (None, rest.find('\n').unwrap_or(rest.len())),
            _ if rest.starts_with("/*") => (None, rest.find("*/").map_or(rest.len(), |end| end + 2)),
            '\'' => (Some(Kind::Literal), quoted(rest, '\'')),
            '"' | '`' => {
                let len = quoted(rest, first);
                let inner = rest[1..len].trim_end_matches(first).to_lowercase();
                (Some(Kind::Name(inner)), len)
            }
            '[' => match rest.find(']') {
                Some(end) => (Some(Kind::Name(rest[1..end].to_lowercase())), end + 1),
                None => (Some(Kind::Sign(first)), 1),
            },
            _ if first.is_ascii_digit() => (Some(Kind::Literal), run(rest)),
            _ if is_of_a_word(first) => (Some(Kind::Word(rest[..run(rest)].to_lowercase())), run(rest)),
            _ if first.is_whitespace() => (None, first.len_utf8()),
            sign => (Some(Kind::Sign(sign)), sign.len_utf8()),
        };
        found.extend(kind.map(|kind| Piece { kind, at: at..at + len }));
        at += len;
    }
    found
}

/// Every word and name in it.
pub(super) fn names(sql: &str) -> HashSet<String> {
    pieces(sql).iter().filter_map(|piece| piece.name().map(str::to_owned)).collect()
}

/// Whether a NULL in it can make it FALSE. If it cannot, and it is FALSE while all but one of its columns are
/// NULL, then it is FALSE whatever these hold.
pub(super) fn may_ask_for_null(sql: &str) -> bool {
    const ASK: [&str; 9] =
        ["is", "isnull", "notnull", "coalesce", "ifnull", "nullif", "case", "iif", "typeof"];
    let names = names(sql);
    ASK.iter().any(|word| names.contains(*word))
}

fn is_of_a_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn run(rest: &str) -> usize {
    rest.find(|c: char| !is_of_a_word(c) && c != '$').unwrap_or(rest.len())
}

/// The length of a quoted piece; a doubled quote is part of it.
fn quoted(rest: &str, quote: char) -> usize {
    let mut at = 1;
    while let Some(end) = rest[at..].find(quote) {
        at += end + 1;
        if !rest[at..].starts_with(quote) {
            return at;
        }
        at += 1;
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_comments_are_no_words() {
        let sql =
            "state IN ('is null', 'it''s') -- case\n AND /* coalesce */ \"Lease\" > 1e3 AND `a``b` = [C d]";
        let mut found: Vec<_> = names(sql).into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, ["a``b", "and", "c d", "in", "lease", "state"]);
        assert!(!may_ask_for_null(sql));
        assert!(may_ask_for_null("state = 'a' OR lease IS NULL"));
    }

    #[test]
    fn each_piece_knows_its_place() {
        let sql = "CHECK (a <> 'ä)')";
        let all = pieces(sql);
        assert!(all[0].is_word("check") && all[1].is_sign('('));
        let last = all.last().expect("a piece");
        assert!(last.is_sign(')') && &sql[last.at.clone()] == ")");
        assert_eq!(all.len(), 7);
    }

    #[test]
    fn what_is_not_closed_ends_with_the_text() {
        for sql in ["'open", "\"open", "/* open", "[open", "-- open"] {
            assert!(pieces(sql).iter().all(|piece| piece.at.end <= sql.len()), "{sql}");
        }
    }
}
