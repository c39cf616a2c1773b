//! Why a row is not running.

mod lock;
mod text;
mod why;
