//! A checked declaration.

use std::collections::BTreeMap;

use syn::{Data, DeriveInput, Error, Fields, Ident, Meta, Path, Result, Token, Type};

use crate::entries::{Entries, Order};
use crate::words::Words;

/// Everything the expansion needs, known to fit together.
pub(crate) struct Table<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) krate: Path,
    pub(crate) path: Path,
    pub(crate) key_field: Ident,
    pub(crate) key_type: Type,
    pub(crate) state: Ident,
    pub(crate) words: Words,
    pub(crate) order: Vec<Order>,
    pub(crate) entries: Entries,
}

impl<'a> Table<'a> {
    pub(crate) fn read(input: &'a DeriveInput) -> Result<Table<'a>> {
        if let Some(parameter) = input.generics.params.first() {
            let message = "a claimable row model has no generic parameters: it is one table's";
            return Err(Error::new_spanned(parameter, message));
        }
        let mut entries = Entries::read(input)?;
        let need = |what: &str| Error::new(input.ident.span(), format!("`#[claim(…)]` needs {what}"));
        let key = entries.columns.get("key").cloned().ok_or_else(|| need("`key = column`"))?;
        if !entries.columns.contains_key("fence") {
            return Err(need("`fence = column`, a BIGINT NOT NULL DEFAULT 0 of its own"));
        }
        if entries.postgres.is_none() && entries.sqlite.is_none() {
            return Err(need("`backend(postgres)`, `backend(sqlite)` or both"));
        }
        let (state, words) = entries
            .state
            .take()
            .ok_or_else(|| need("`state(column, pending(\"…\"), running(\"…\"))` with the table's words"))?;
        check_together(&entries, &state)?;
        if let Some(column) = entries.columns.get("failures").filter(|_| words.one("dead").is_none()) {
            let message = "`failures` needs a word for `dead` in `state`: the last failure leads there";
            return Err(Error::new(column.span(), message));
        }
        let (key_field, key_type) = key_field(input, &key)?;
        let order = match entries.order.take() {
            Some(order) => order,
            None => default_order(&entries.columns, &key),
        };
        Ok(Table {
            name: &input.ident,
            krate: entries.krate.take().unwrap_or_else(|| syn::parse_quote!(::claimstore)),
            path: table_path(input)?,
            key_field,
            key_type,
            state,
            words,
            order,
            entries,
        })
    }
}

impl Table<'_> {
    /// The table without its module.
    pub(crate) fn table_name(&self) -> String {
        self.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
    }
}

fn default_order(columns: &BTreeMap<&'static str, Ident>, key: &Ident) -> Vec<Order> {
    let due = columns.get("due").into_iter();
    due.chain([key]).map(|column| Order { column: column.clone(), descending: false }).collect()
}

/// Entries that make no sense without, or beside, another.
fn check_together(entries: &Entries, state: &Ident) -> Result<()> {
    let columns = &entries.columns;
    for (role, needs, why) in [
        ("max_failures", "failures", "a budget without a count never ends"),
        ("max_crashes", "crashes", "a budget without a count never ends"),
        ("crashes", "lease", "a crash is known by a lease that ran out"),
        ("idempotent", "lease", "it decides what a lease that ran out leads to"),
    ] {
        if let Some(column) = columns.get(role).filter(|_| !columns.contains_key(needs)) {
            return Err(Error::new(column.span(), format!("`{role}` needs `{needs}`: {why}")));
        }
    }
    if let Some(at) = entries.null_due_is_now.filter(|_| !columns.contains_key("due")) {
        return Err(Error::new(at, "`null_due_is_now` needs `due`"));
    }
    let paused_by = ["queue", "kind"].map(|role| columns.contains_key(role));
    if let Some(at) = entries.queues.filter(|_| paused_by == [false, false]) {
        let message = "`queues` needs `queue` or `kind`: what is paused has a name in one of these columns";
        return Err(Error::new(at, message));
    }
    if let Some(at) = entries.no_key_update.filter(|_| entries.postgres.is_none()) {
        return Err(Error::new(at, "`lock` is PostgreSQL's; SQLite has no row locks"));
    }
    let mut met: BTreeMap<String, &str> = BTreeMap::from([(state.to_string(), "state")]);
    for (role, column) in columns {
        if let Some(other) = met.insert(column.to_string(), role) {
            let message = format!(
                "column `{column}` has the role `{other}` already; each role has a column of its own"
            );
            return Err(Error::new(column.span(), message));
        }
    }
    Ok(())
}

/// `#[diesel(table_name = path)]`.
fn table_path(input: &DeriveInput) -> Result<Path> {
    let mut found = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("diesel")) {
        let entries = attribute
            .parse_args_with(syn::punctuated::Punctuated::<Meta, Token![,]>::parse_terminated)
            .unwrap_or_default();
        for meta in entries {
            if let Meta::NameValue(pair) = meta
                && pair.path.is_ident("table_name")
                && let syn::Expr::Path(path) = pair.value
            {
                found = Some(path.path);
            }
        }
    }
    found.ok_or_else(|| {
        Error::new(input.ident.span(), "which table? add `#[diesel(table_name = crate::schema::…)]`")
    })
}

/// The field that holds the key: its type is the key's.
fn key_field(input: &DeriveInput, key: &Ident) -> Result<(Ident, Type)> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "a claimable row model is a struct"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new(input.ident.span(), "a claimable row model has named fields"));
    };
    for field in &fields.named {
        let Some(name) = &field.ident else { continue };
        if column_of(field, name)? == *key {
            return Ok((name.clone(), field.ty.clone()));
        }
    }
    let message = format!("no field reads the key column `{key}`; add one, since the claim carries the key");
    Err(Error::new(key.span(), message))
}

fn column_of(field: &syn::Field, name: &Ident) -> Result<Ident> {
    let mut column = name.clone();
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("diesel")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("column_name") {
                column = meta.value()?.parse()?;
            } else if meta.input.peek(Token![=]) {
                meta.value()?.parse::<syn::Expr>()?;
            }
            Ok(())
        })?;
    }
    Ok(column)
}
