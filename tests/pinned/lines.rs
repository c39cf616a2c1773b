//! A statement in lines that a person can read, and whose differences a person can see.

/// Words before which a line breaks.
const CLAUSES: [&str; 16] = [
    "WITH",
    "SELECT",
    "FROM",
    "WHERE",
    "AND",
    "OR",
    "ORDER BY",
    "LIMIT",
    "FOR UPDATE",
    "FOR NO KEY UPDATE",
    "CROSS JOIN",
    "FULL JOIN",
    "UNION ALL",
    "UPDATE",
    "SET",
    "RETURNING",
];

/// Above this a list also breaks after a comma.
const WIDE: usize = 90;

/// The text with line breaks at its clauses, indented by its parentheses. Only blanks are exchanged.
pub(crate) fn broken(sql: &str) -> String {
    let mut lines = Lines::default();
    let mut quote = None;
    let mut rest = sql;
    while let Some(c) = rest.chars().next() {
        if quote.is_none() && c == ' ' && lines.breaks_before(&rest[1..]) {
            lines.end();
        } else {
            lines.line.push(c);
        }
        match (quote, c) {
            (None, '\'' | '"' | '`') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '(') => lines.depth += 1,
            (None, ')') => lines.depth = lines.depth.saturating_sub(1),
            _ => {}
        }
        rest = &rest[c.len_utf8()..];
        if quote.is_none() && c == '(' && begins(rest, &["SELECT", "UPDATE"]) {
            lines.end();
        }
    }
    lines.end();
    lines.out
}

#[derive(Default)]
struct Lines {
    out: String,
    line: String,
    /// Open parentheses here, and where the line began.
    depth: usize,
    began: usize,
}

impl Lines {
    fn breaks_before(&self, next: &str) -> bool {
        let assignments = self.line.starts_with("SET ") || self.line.starts_with("    ");
        let of_list = self.line.ends_with(',') && self.depth <= self.began;
        let inside = ["FOR", "KEY", "epoch"].iter().any(|word| self.line.ends_with(word));
        (of_list && (assignments || self.line.len() > WIDE || self.line.ends_with("),")))
            || (!inside && begins(next, &CLAUSES))
    }

    fn end(&mut self) {
        let goes_on =
            self.line.ends_with(',') && (self.line.starts_with("SET ") || self.line.starts_with("    "));
        if !self.line.is_empty() {
            self.out.push_str(&"  ".repeat(self.began));
            self.out.push_str(&self.line);
            self.out.push('\n');
        }
        self.line.clear();
        self.began = self.depth;
        if goes_on {
            self.line.push_str("    ");
        }
    }
}

fn begins(text: &str, words: &[&str]) -> bool {
    let ends = |then: &str| !then.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    words.iter().any(|word| text.strip_prefix(word).is_some_and(ends))
}
