//! `state(column, pending("…"), running("…"), …)`.

use std::collections::BTreeMap;

use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitStr, Result, Token, parenthesized};

const STATES: [&str; 6] = ["pending", "running", "completed", "dead", "cancelled", "uncertain"];

/// The table's words by state.
pub(crate) struct Words(BTreeMap<&'static str, Vec<LitStr>>);

impl Words {
    /// `at` is where a missing word is told of.
    pub(crate) fn read(stream: ParseStream<'_>, at: Span) -> Result<Words> {
        let mut words = BTreeMap::new();
        while !stream.is_empty() {
            let state: Ident = stream.parse()?;
            let inner;
            parenthesized!(inner in stream);
            let list: Vec<LitStr> =
                Punctuated::<LitStr, Token![,]>::parse_terminated(&inner)?.into_iter().collect();
            let Some(known) = STATES.into_iter().find(|known| state == *known) else {
                let message = format!("unknown state `{state}`; there are: {}", STATES.join(", "));
                return Err(Error::new(state.span(), message));
            };
            if list.is_empty() {
                return Err(Error::new(state.span(), format!("`{state}` needs a word")));
            }
            if known != "pending" && list.len() > 1 {
                let message = format!("`{state}` takes one word; only `pending` may have several");
                return Err(Error::new(state.span(), message));
            }
            if words.insert(known, list).is_some() {
                return Err(Error::new(state.span(), format!("`{state}` stands twice")));
            }
            if !stream.is_empty() {
                stream.parse::<Token![,]>()?;
            }
        }
        let words = Words(words);
        words.check(at)?;
        Ok(words)
    }

    fn check(&self, at: Span) -> Result<()> {
        for needed in ["pending", "running"] {
            if !self.0.contains_key(needed) {
                let message = format!("a claimable table needs a word for `{needed}`: {needed}(\"…\")");
                return Err(Error::new(at, message));
            }
        }
        let mut met = BTreeMap::new();
        for (state, word) in
            self.0.iter().flat_map(|(state, list)| list.iter().map(move |word| (state, word)))
        {
            let text = word.value();
            if text.is_empty() || text.chars().any(char::is_control) {
                return Err(Error::new(
                    word.span(),
                    "a state word is not empty and has no control characters",
                ));
            }
            if let Some(other) = met.insert(text.clone(), state) {
                let message = format!("\"{text}\" stands for `{other}` already; each word has one meaning");
                return Err(Error::new(word.span(), message));
            }
        }
        Ok(())
    }

    pub(crate) fn pending(&self) -> &[LitStr] {
        self.0.get("pending").map_or(&[], Vec::as_slice)
    }

    pub(crate) fn one(&self, state: &str) -> Option<&LitStr> {
        self.0.get(state).and_then(|list| list.first())
    }
}
