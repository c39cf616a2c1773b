//! `#[derive(ClaimTable)]`: declares a table whose rows can be claimed.

mod emit;
mod entries;
mod table;
mod words;

use proc_macro::TokenStream;

/// Declares that rows of this model's table can be claimed.
///
/// It stands on a struct that also derives Diesel's `Queryable` and `Selectable`, names its table with
/// `#[diesel(table_name = …)]`, and has the key column among its fields. The entries of `#[claim(…)]`:
///
/// | entry | meaning |
/// |---|---|
/// | `backend(postgres, sqlite)` | the databases it serves; at least one |
/// | `key = column` | names a row |
/// | `state(column, pending("…", …), running("…"), completed("…"), dead("…"), cancelled("…"), uncertain("…"))` | the state column and the table's own words; pending and running are required, and a release writes the first pending word |
/// | `fence = column` | the fence: `BIGINT NOT NULL DEFAULT 0` |
/// | `worker`, `lease`, `claimed_at`, `due`, `queue`, `kind`, `priority`, `unique_key`, `failures`, `crashes`, `interruptions`, `max_failures`, `max_crashes`, `idempotent`, `last_error`, `finished_at` `= column` | optional; what is absent is a weaker promise, see `guarantees()` |
/// | `order(column.desc(), column.asc())` | the order of claiming; by due time, then key, unless given |
/// | `null_due_is_now` | a row without a due time is due now |
/// | `events` | refused late writers, failures, recoveries and operators' actions are recorded in `claimstore_events` |
/// | `queues` | queues and kinds can be paused, and a queue's completed rows deleted at once, as `claimstore_queues` says; needs `queue` or `kind` |
/// | `lock = no_key_update` | lock rows `FOR NO KEY UPDATE`: inserts of foreign-key children do not wait for a claim |
/// | `crate = path` | where claimstore is, if not at `::claimstore` |
///
/// It emits the declaration, the key, and for each database four candidate selects in Diesel's own DSL, so
/// that Diesel checks columns and types. Everything stands in a nameless constant: nothing leaks.
#[proc_macro_derive(ClaimTable, attributes(claim))]
pub fn claim_table(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    let emitted = table::Table::read(&input).map(|table| emit::emit(&table));
    emitted.unwrap_or_else(syn::Error::into_compile_error).into()
}
