//! The entries of `#[claim(…)]`, as written.

use std::collections::BTreeMap;

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, Ident, Path, Result, Token, parenthesized};

use crate::words::Words;

/// The columns by role.
pub(crate) const ROLES: [&str; 18] = [
    "key",
    "fence",
    "worker",
    "lease",
    "claimed_at",
    "due",
    "queue",
    "kind",
    "priority",
    "unique_key",
    "failures",
    "crashes",
    "interruptions",
    "max_failures",
    "max_crashes",
    "idempotent",
    "last_error",
    "finished_at",
];

const OTHERS: [&str; 8] =
    ["backend", "state", "order", "null_due_is_now", "events", "queues", "lock", "crate"];

/// Everything that was written, each entry once.
#[derive(Default)]
pub(crate) struct Entries {
    pub(crate) columns: BTreeMap<&'static str, Ident>,
    pub(crate) postgres: Option<Span>,
    pub(crate) sqlite: Option<Span>,
    pub(crate) state: Option<(Ident, Words)>,
    pub(crate) order: Option<Vec<Order>>,
    pub(crate) null_due_is_now: Option<Span>,
    pub(crate) events: Option<Span>,
    pub(crate) queues: Option<Span>,
    pub(crate) no_key_update: Option<Span>,
    pub(crate) krate: Option<Path>,
}

/// `column.desc()`.
pub(crate) struct Order {
    pub(crate) column: Ident,
    pub(crate) descending: bool,
}

impl Entries {
    pub(crate) fn read(input: &syn::DeriveInput) -> Result<Entries> {
        let mut entries = Entries::default();
        for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("claim")) {
            attribute.parse_args_with(|stream: ParseStream<'_>| {
                while !stream.is_empty() {
                    entries.read_one(stream)?;
                    if !stream.is_empty() {
                        stream.parse::<Token![,]>()?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(entries)
    }

    fn read_one(&mut self, stream: ParseStream<'_>) -> Result<()> {
        if stream.peek(Token![crate]) {
            let at = stream.parse::<Token![crate]>()?.span();
            stream.parse::<Token![=]>()?;
            return once(&mut self.krate, stream.call(Path::parse_mod_style)?, at, "crate");
        }
        let name: Ident = stream.parse()?;
        let word = name.to_string();
        if let Some(role) = ROLES.into_iter().find(|role| word == *role) {
            stream.parse::<Token![=]>()?;
            let column: Ident = stream.parse()?;
            if self.columns.insert(role, column).is_some() {
                return Err(twice(name.span(), role));
            }
            return Ok(());
        }
        match word.as_str() {
            "backend" => self.read_backends(stream),
            "state" => {
                let inner = parens(stream)?;
                let column: Ident = inner.parse()?;
                inner.parse::<Token![,]>()?;
                once(&mut self.state, (column, Words::read(&inner, name.span())?), name.span(), "state")
            }
            "order" => {
                let inner = parens(stream)?;
                let list = Punctuated::<Order, Token![,]>::parse_terminated(&inner)?;
                if list.is_empty() {
                    return Err(Error::new(name.span(), "`order` is empty; leave it out or name a column"));
                }
                once(&mut self.order, list.into_iter().collect(), name.span(), "order")
            }
            "null_due_is_now" => once(&mut self.null_due_is_now, name.span(), name.span(), "null_due_is_now"),
            "events" => once(&mut self.events, name.span(), name.span(), "events"),
            "queues" => once(&mut self.queues, name.span(), name.span(), "queues"),
            "lock" => {
                stream.parse::<Token![=]>()?;
                let strength: Ident = stream.parse()?;
                if strength != "no_key_update" {
                    let message = format!(
                        "unknown lock `{strength}`; the one choice is `no_key_update`, and without `lock` \
                         rows are locked FOR UPDATE"
                    );
                    return Err(Error::new(strength.span(), message));
                }
                once(&mut self.no_key_update, strength.span(), name.span(), "lock")
            }
            _ => Err(unknown(&name)),
        }
    }

    fn read_backends(&mut self, stream: ParseStream<'_>) -> Result<()> {
        for backend in Punctuated::<Ident, Token![,]>::parse_terminated(&parens(stream)?)? {
            match backend.to_string().as_str() {
                "postgres" => once(&mut self.postgres, backend.span(), backend.span(), "postgres")?,
                "sqlite" => once(&mut self.sqlite, backend.span(), backend.span(), "sqlite")?,
                other => {
                    let message = format!("unknown backend `{other}`; there are `postgres` and `sqlite`");
                    return Err(Error::new(backend.span(), message));
                }
            }
        }
        Ok(())
    }
}

fn parens<'a>(stream: ParseStream<'a>) -> Result<syn::parse::ParseBuffer<'a>> {
    let inner;
    parenthesized!(inner in stream);
    Ok(inner)
}

fn once<V>(slot: &mut Option<V>, value: V, at: Span, name: &str) -> Result<()> {
    if slot.replace(value).is_some() { Err(twice(at, name)) } else { Ok(()) }
}

fn twice(at: Span, name: &str) -> Error {
    Error::new(at, format!("`{name}` stands twice"))
}

/// Names the entry that was perhaps meant.
fn unknown(name: &Ident) -> Error {
    let word = name.to_string();
    let known = ROLES.into_iter().chain(OTHERS);
    let near = known.clone().map(|entry| (distance(&word, entry), entry)).min();
    let message = match near {
        Some((far, entry)) if far <= 2 => format!("unknown entry `{word}`; did you mean `{entry}`?"),
        _ => format!("unknown entry `{word}`; known are: {}", known.collect::<Vec<_>>().join(", ")),
    };
    Error::new(name.span(), message)
}

/// Edits from one word to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut before = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in to.iter().enumerate() {
            let replaced = before + usize::from(a != *b);
            before = row[j + 1];
            row[j + 1] = replaced.min(before + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

impl Parse for Order {
    fn parse(stream: ParseStream<'_>) -> Result<Order> {
        let expr: Expr = stream.parse()?;
        let form = || Error::new(expr.span(), "an order is written `column.asc()` or `column.desc()`");
        let Expr::MethodCall(call) = &expr else { return Err(form()) };
        let Expr::Path(path) = call.receiver.as_ref() else { return Err(form()) };
        let column = path.path.get_ident().cloned().ok_or_else(form)?;
        let descending = match call.method.to_string().as_str() {
            "asc" => false,
            "desc" => true,
            _ => return Err(form()),
        };
        if !call.args.is_empty() {
            return Err(form());
        }
        Ok(Order { column, descending })
    }
}
