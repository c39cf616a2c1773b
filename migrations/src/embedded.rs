//! The folders as sources for Diesel's runner.

use diesel_migrations::{EmbeddedMigrations, embed_migrations};

const POSTGRES: EmbeddedMigrations = embed_migrations!("postgres");
const SQLITE: EmbeddedMigrations = embed_migrations!("sqlite");

/// The migrations for PostgreSQL, for a runner of your own.
///
/// It needs a lock of its own too: Diesel's runner takes none around listing and applying.
#[must_use]
pub const fn postgres() -> EmbeddedMigrations {
    POSTGRES
}

/// The migrations for SQLite, for a runner of your own.
///
/// It needs `BEGIN IMMEDIATE` around it: Diesel's runner reads first and writes later, which SQLite
/// refuses when another connection wrote in between.
#[must_use]
pub const fn sqlite() -> EmbeddedMigrations {
    SQLITE
}
