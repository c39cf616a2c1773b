//! A SQLite database file for one test.

use std::path::{Path, PathBuf};
use std::{env, fs};

use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};

use crate::scratch;

/// A database file in a directory of its own, removed with its `-wal` and `-shm` on drop.
///
/// The file does not exist until someone opens it: what its pragmas are is the opener's business.
#[derive(Debug)]
pub struct TestFile {
    directory: PathBuf,
    url: String,
}

impl TestFile {
    /// A file that nobody has opened yet.
    ///
    /// # Panics
    ///
    /// Where the directory for temporary files cannot be written or is not UTF-8.
    pub fn fresh() -> Self {
        let directory = env::temp_dir().join(scratch::name());
        if let Err(error) = fs::create_dir(&directory) {
            panic!("no directory {} for a test database: {error}", directory.display());
        }
        let file = directory.join("test.db");
        let url = file.to_str().expect("the directory for temporary files has a UTF-8 name").to_owned();
        Self { directory, url }
    }

    /// Where the file is or will be.
    pub fn path(&self) -> &Path {
        Path::new(&self.url)
    }

    /// The same as [`Self::path`], as `SqliteConnection::establish` wants it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A plain connection for reading what a store wrote. It waits up to five seconds for the file.
    ///
    /// # Panics
    ///
    /// Where SQLite cannot open the file.
    pub fn connect(&self) -> SqliteConnection {
        let mut connection = SqliteConnection::establish(&self.url)
            .unwrap_or_else(|error| panic!("cannot open {}: {error}", self.url));
        connection.batch_execute("PRAGMA busy_timeout = 5000").expect("a pragma without effect on the file");
        connection
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        // A file that a killed child still holds open is no reason to fail a test that passed.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

#[cfg(test)]
mod tests {
    use diesel::RunQueryDsl;

    use super::*;

    #[test]
    fn two_files_share_nothing() {
        let (one, other) = (TestFile::fresh(), TestFile::fresh());
        one.connect().batch_execute("CREATE TABLE t (a INTEGER)").expect("a new table");
        assert!(diesel::sql_query("SELECT a FROM t").execute(&mut one.connect()).is_ok());
        assert!(diesel::sql_query("SELECT a FROM t").execute(&mut other.connect()).is_err());
    }

    #[test]
    fn nothing_is_left_after_a_test() {
        let file = TestFile::fresh();
        file.connect().batch_execute("PRAGMA journal_mode = WAL; CREATE TABLE t (a)").expect("a new table");
        let directory = file.path().parent().expect("a file in a directory").to_owned();
        assert!(file.path().exists());
        drop(file);
        assert!(!directory.exists());
    }
}
