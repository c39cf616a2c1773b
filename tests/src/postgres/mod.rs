//! A PostgreSQL for tests, from the first of three providers that can serve.
//!
//! 1. a URL in `CLAIMSTORE_TEST_POSTGRES_URL`;
//! 2. a container, image from `CLAIMSTORE_TEST_POSTGRES_IMAGE` if set;
//! 3. a throwaway cluster from server programs installed here.
//!
//! A provider that cannot serve says why, on standard error, and the next one is tried. Setting
//! `CLAIMSTORE_TEST_POSTGRES_PROVIDER` to `url`, `container` or `local` leaves only that one: where a
//! run claims to have tested a certain server, another must not stand in for it.

mod account;
mod container;
mod database;
mod local;
mod programs;
mod schema;
mod server;
mod sweep;
mod url;
mod watchdog;

pub use container::IMAGE_VARIABLE;
pub use database::{TestDatabase, fresh_database};
pub use schema::{Pool, TestSchema, fresh};
pub use server::{NoServer, PROVIDER_VARIABLE, Server, server};
pub use url::{ServerUrl, URL_VARIABLE};
