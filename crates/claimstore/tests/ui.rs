//! What must not compile, and what the compiler says of it: a claim settled twice, a wrong declaration.
//!
//! `TRYBUILD=overwrite` rewrites the messages.

#[test]
fn misuse_does_not_compile_and_is_named_where_it_stands() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
