//! A database of its own for one test, for settings that a schema cannot carry.

use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection};

use super::schema::{Pool, connect, pool};
use super::server::{say, server};
use super::url::ServerUrl;
use crate::scratch;

/// An empty database, dropped with its connections.
///
/// It costs far more than a [schema](super::fresh): for `ALTER DATABASE`, defaults per role, and
/// what is one per database.
#[derive(Debug)]
pub struct TestDatabase {
    name: String,
    admin: ServerUrl,
    url: ServerUrl,
}

/// A fresh database on the [server](server()) of this process.
///
/// # Panics
///
/// Where there is no server, or it refuses the database.
pub fn fresh_database() -> TestDatabase {
    let name = scratch::name();
    let admin = server().url().clone();
    // The other template may have connections, and then it cannot be copied.
    connect(&admin).batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0")).unwrap_or_else(
        |error| {
            panic!("no database for a test on {admin}: {error}");
        },
    );
    let url = admin.clone().with_database(&name).with_parameter("application_name", &name);
    TestDatabase { name, admin, url }
}

impl TestDatabase {
    /// The database's name, which is also the `application_name` of its connections.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A URL whose connections work in this database.
    pub fn url(&self) -> String {
        self.url.in_full()
    }

    /// Sets a default for connections opened from now on, as in `ALTER DATABASE … SET`.
    ///
    /// # Panics
    ///
    /// Where the server does not know the setting or refuses the value.
    pub fn set(&self, setting: &str, value: &str) {
        let alter = format!("ALTER DATABASE {} SET {setting} = '{}'", self.name, value.replace('\'', "''"));
        connect(&self.admin).batch_execute(&alter).unwrap_or_else(|error| panic!("{alter}: {error}"));
    }

    /// A connection to this database.
    ///
    /// # Panics
    ///
    /// Where the server takes no more connections.
    pub fn connect(&self) -> PgConnection {
        connect(&self.url)
    }

    /// A pool of at most `size` connections, opened as they are needed.
    ///
    /// # Panics
    ///
    /// Where the server takes no more connections.
    pub fn pool(&self, size: u32) -> Pool {
        pool(&self.url, size)
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let drop = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let removed = PgConnection::establish(&self.admin.in_full())
            .map_err(|error| error.to_string())
            .and_then(|mut c| c.batch_execute(&drop).map_err(|error| error.to_string()));
        if let Err(error) = removed {
            say(&format!("database {} stays behind: {error}", self.name));
        }
    }
}

#[cfg(test)]
mod tests {
    use diesel::RunQueryDsl;
    use diesel::dsl::sql;
    use diesel::sql_types::Text;

    use super::*;

    #[test]
    fn a_default_of_the_database_reaches_new_connections() {
        let database = fresh_database();
        database.set("default_transaction_isolation", "serializable");
        let level: String = diesel::select(sql::<Text>("current_setting('transaction_isolation')"))
            .get_result(&mut database.connect())
            .expect("an answer");
        assert_eq!(level, "serializable");
    }
}
