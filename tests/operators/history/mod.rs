//! What is recorded: with the transition or not at all, as much as was asked for, and readable for ever.

mod damaged;
mod everything;
mod together;
