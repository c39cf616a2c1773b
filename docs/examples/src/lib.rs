//! The examples of the book are the programs under `src/bin`; this library holds only the README's code, so
//! that it is built and run.

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
