//! What operators decide, against everybody who is at work: forced races and unforced ones, histories, explanations,
//! and the field reports about them.

mod bench;
mod explain;
mod history;
mod races;
mod reports;
#[path = "../field/support/mod.rs"]
#[allow(dead_code, unused_imports)]
mod support;
mod unique;
