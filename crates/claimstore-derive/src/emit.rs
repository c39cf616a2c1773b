//! The expansion.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;

use crate::table::Table;

pub(crate) fn emit(table: &Table<'_>) -> TokenStream {
    let krate = &table.krate;
    let declaration = declaration(table);
    let postgres = table.entries.postgres.map(|_| {
        let implementation = on_postgres(table);
        quote!(#krate::__with_postgres! { #implementation })
    });
    let sqlite = table.entries.sqlite.map(|_| {
        let implementation = on_sqlite(table);
        quote!(#krate::__with_sqlite! { #implementation })
    });
    let name = table.name;
    let events = table.entries.events.map(|_| quote!(impl c::KeepsEvents for #name {}));
    let queues = table.entries.queues.map(|_| quote!(impl c::KeepsQueues for #name {}));
    quote! {
        const _: () = {
            use #krate::derive_support as c;
            #declaration
            #events
            #queues
            #postgres
            #sqlite
        };
    }
}

fn declaration(table: &Table<'_>) -> TokenStream {
    let Table { name, path, key_type, key_field, state, words, .. } = table;
    let column = |column: &Ident| quote!(<#path::#column as c::Column>::NAME);
    let columns = crate::entries::ROLES.map(|role| {
        let field = format_ident!("{role}");
        let found = table.entries.columns.get(role).map(column);
        match (role, found) {
            ("key" | "fence", Some(found)) => quote!(#field: #found),
            (_, Some(found)) => quote!(#field: ::core::option::Option::Some(#found)),
            (_, None) => quote!(#field: ::core::option::Option::None),
        }
    });
    let state_column = column(state);
    let pending = words.pending();
    let running = words.one("running");
    let optional = ["completed", "dead", "cancelled", "uncertain"].map(|state| {
        let field = format_ident!("{state}");
        match words.one(state) {
            Some(word) => quote!(#field: ::core::option::Option::Some(#word)),
            None => quote!(#field: ::core::option::Option::None),
        }
    });
    let order = table.order.iter().map(|by| {
        let (column, descending) = (column(&by.column), by.descending);
        quote!(c::Order { column: #column, descending: #descending })
    });
    let table_name = table.table_name();
    let no_key_update = table.entries.no_key_update.is_some();
    let null_due_is_now = table.entries.null_due_is_now.is_some();
    let events = table.entries.events.is_some();
    let queues = table.entries.queues.is_some();
    quote! {
        impl c::ClaimTable for #name {
            type Key = #key_type;
            const DECLARATION: c::Declaration = c::Declaration {
                table: #table_name,
                columns: c::Columns { state: #state_column, #(#columns),* },
                words: c::Words { pending: &[#(#pending),*], running: #running, #(#optional),* },
                order: &[#(#order),*],
                no_key_update: #no_key_update,
                null_due_is_now: #null_due_is_now,
                events: #events,
                queues: #queues,
            };
            fn key(&self) -> Self::Key {
                ::core::clone::Clone::clone(&self.#key_field)
            }
        }
    }
}

/// A database for which selects are written.
struct Target {
    dialect: TokenStream,
    /// Passing over locked rows, and waiting for them.
    lock: [TokenStream; 2],
    /// SQLite takes a comparison without statistics for a sharp one. It would read an index by due time and
    /// sort all that is due, in place of the index that has them in order.
    due_is_likely: bool,
    /// PostgreSQL takes a comparison of two columns for one that a third of the rows pass, and a name not among
    /// others for one that half of them pass. By all of them together it would expect so few rows that it
    /// sorts a queue of a thousand to claim a hundred.
    the_rest_is_likely: bool,
    /// A condition on the queue that is asked for is looked at once, and not for each row.
    one_time_filters: bool,
}

/// A macro-local filter chain: the rows of the table that may be claimed now.
fn ready(table: &Table<'_>, target: &Target) -> TokenStream {
    let dialect = &target.dialect;
    let Table { path, state, .. } = table;
    let columns = &table.entries.columns;
    let words = table.words.pending();
    let is = words.iter().map(|word| {
        quote!(c::ExpressionMethods::eq(#path::#state, c::Fill::<c::SqlTypeOf<#path::#state>>::literal(#word)))
    });
    let is_pending =
        is.reduce(|so_far, next| quote!(c::BoolExpressionMethods::or(#so_far, #next))).unwrap_or_default();
    let fence = &columns["fence"];
    let likely = |holds| if target.the_rest_is_likely { quote!(c::Likely(#holds)) } else { holds };
    let mut filters = vec![
        is_pending,
        quote!(c::ExpressionMethods::le(#path::#fence, c::Fill::<c::SqlTypeOf<#path::#fence>>::last_fence())),
    ];
    for (count, most) in [("failures", "max_failures"), ("crashes", "max_crashes")] {
        if let (Some(count), Some(most)) = (columns.get(count), columns.get(most)) {
            filters.push(likely(quote!(c::ExpressionMethods::lt(#path::#count, #path::#most))));
        }
    }
    if let Some(due) = columns.get("due") {
        let now = quote!(c::Fill::<c::SqlTypeOf<#path::#due>>::now::<#dialect>(FORMS.due));
        let past = quote!(c::ExpressionMethods::le(#path::#due, #now));
        let is_due = if table.entries.null_due_is_now.is_some() {
            quote!(c::BoolExpressionMethods::or(c::ExpressionMethods::is_null(#path::#due), #past))
        } else {
            past
        };
        filters.push(if target.due_is_likely { quote!(c::Likely(#is_due)) } else { is_due });
    }
    if let Some(kind) = columns.get("kind").filter(|_| table.entries.queues.is_some()) {
        let name = table.table_name();
        filters.push(likely(quote!(c::Runs::kind(#path::#kind, #name))));
    }
    quote!(c::QueryDsl::select(#path::table, #path::#state) #(.filter(#filters))*)
}

/// The selects, in Diesel's DSL. On PostgreSQL this is where the row locks stand.
fn selects(table: &Table<'_>, target: &Target) -> [TokenStream; 4] {
    let Target { dialect, lock: [skipping, waiting], .. } = target;
    let path = &table.path;
    let key = &table.entries.columns["key"];
    let ready = ready(table, target);
    let order = table.order.iter().map(|by| {
        let column = &by.column;
        if by.descending { quote!(#path::#column.desc()) } else { quote!(#path::#column.asc()) }
    });
    let order = quote!((#(#order,)*));
    let others = table.order.iter().map(|by| &by.column).filter(|column| *column != key);
    let others: Vec<_> = others.collect();
    let next = |queue: TokenStream| {
        quote!(c::render::<#dialect>(
            &#ready #queue .select((#path::#key, #(#path::#others,)*)).order(#order) #skipping
        ))
    };
    let queue = table.entries.columns.get("queue");
    let pauses = table.entries.queues.is_some();
    let name = table.table_name();
    let from = |fill: TokenStream| {
        queue.map(|queue| {
            let fill = quote!(c::Fill::<c::SqlTypeOf<#path::#queue>>::#fill);
            let runs =
                (pauses && target.one_time_filters).then(|| quote!(.filter(c::Runs::queue(#fill, #name))));
            quote!(.filter(c::ExpressionMethods::eq(#path::#queue, #fill)) #runs)
        })
    };
    let asked =
        if pauses && !target.one_time_filters { quote!(queue_unless_paused(#name)) } else { quote!(queue()) };
    let this_runs =
        queue.filter(|_| pauses).map(|queue| quote!(.filter(c::Runs::queue(#path::#queue, #name))));
    let this = quote!(.filter(c::ExpressionMethods::eq(
        #path::#key, c::Fill::<c::SqlTypeOf<#path::#key>>::key()
    )) #this_runs .select(#path::#key));
    [
        next(from(asked).unwrap_or_default()),
        match from(quote!(queue_of_each())) {
            Some(from) => next(from),
            None => quote!(::std::string::String::new()),
        },
        quote!(c::render::<#dialect>(&#ready #this #skipping)),
        quote!(c::render::<#dialect>(&#ready #this #waiting)),
    ]
}

fn on_postgres(table: &Table<'_>) -> TokenStream {
    let path = &table.path;
    let key = &table.entries.columns["key"];
    let lock = if table.entries.no_key_update.is_some() {
        quote!(.for_no_key_update())
    } else {
        quote!(.for_update())
    };
    let lock = [quote!(#lock.skip_locked()), lock];
    let selects = selects(
        table,
        &Target {
            dialect: quote!(c::Pg),
            lock,
            due_is_likely: false,
            the_rest_is_likely: true,
            one_time_filters: true,
        },
    );
    let given = quote! {
        out.push_bind_param::<c::Array<c::SqlTypeOf<#path::#key>>, ::std::vec::Vec<Self::Key>>(given.keys())
    };
    implementation(table, &quote!(c::Pg), &selects, &given)
}

fn on_sqlite(table: &Table<'_>) -> TokenStream {
    let lock = [quote!(), quote!()];
    let selects = selects(
        table,
        &Target {
            dialect: quote!(c::Sqlite),
            lock,
            due_is_likely: true,
            the_rest_is_likely: false,
            one_time_filters: false,
        },
    );
    let (path, key) = (&table.path, &table.entries.columns["key"]);
    let checked = quote_spanned!(key.span()=> c::travels_as_json::<c::SqlTypeOf<#path::#key>>(););
    let given = quote!(#checked out.push_bind_param::<c::Text, c::Given<Self::Key>>(given));
    implementation(table, &quote!(c::Sqlite), &selects, &given)
}

fn implementation(
    table: &Table<'_>,
    dialect: &TokenStream,
    selects: &[TokenStream; 4],
    given: &TokenStream,
) -> TokenStream {
    let Table { name, path, .. } = table;
    let key = &table.entries.columns["key"];
    let form = |role: &str| {
        let field = format_ident!("{role}");
        match table.entries.columns.get(role) {
            // Where the type cannot hold an instant, the column is what is underlined.
            Some(column) => {
                let form = quote_spanned!(column.span()=>
                    <c::SqlTypeOf<#path::#column> as c::TimeColumn<#dialect>>::FORM
                );
                quote!(#field: #form)
            }
            None => quote!(#field: c::TimeForm::Zoned),
        }
    };
    let forms = ["due", "lease", "claimed_at", "finished_at"].map(form);
    let row = quote!(c::SqlTypeOf<<Self as c::Selectable<#dialect>>::SelectExpression>);
    quote! {
        impl c::ClaimOn<#dialect> for #name {
            fn text() -> &'static c::TableText<#dialect> {
                #[allow(unused_imports)]
                use c::diesel::prelude::*;
                static DECLARATION: c::Declaration = <#name as c::ClaimTable>::DECLARATION;
                const FORMS: c::Forms = c::Forms { #(#forms),* };
                static TEXT: ::std::sync::OnceLock<c::TableText<#dialect>> = ::std::sync::OnceLock::new();
                TEXT.get_or_init(|| {
                    c::TableText::new(
                        &DECLARATION,
                        FORMS,
                        c::render::<#dialect>(&#path::table),
                        c::render::<#dialect>(&<Self as c::Selectable<#dialect>>::construct_selection()),
                        [#(#selects),*],
                    )
                })
            }
            fn bind_key<'b>(
                key: &'b Self::Key,
                out: &mut c::AstPass<'_, 'b, #dialect>,
            ) -> c::QueryResult<()> {
                out.push_bind_param::<c::SqlTypeOf<#path::#key>, Self::Key>(key)
            }
            fn bind_given<'b>(
                given: &'b c::Given<Self::Key>,
                out: &mut c::AstPass<'_, 'b, #dialect>,
            ) -> c::QueryResult<()> {
                #given
            }
            fn row_fields() -> usize {
                <Self as c::StaticallySizedRow<#row, #dialect>>::FIELD_COUNT
            }
            fn read_row<'a>(row: &impl c::Row<'a, #dialect>) -> c::deserialize::Result<Self> {
                <Self as c::FromSqlRow<#row, #dialect>>::build_from_row(row)
            }
            fn read_key<'a>(
                row: &impl c::Row<'a, #dialect>,
                at: usize,
            ) -> c::deserialize::Result<Self::Key> {
                c::Row::get_value::<c::SqlTypeOf<#path::#key>, Self::Key, usize>(row, at)
            }
        }
    }
}
