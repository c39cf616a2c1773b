//! Copying the migrations into a project of the user's own.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::files::{self, Dialect};

/// Why the migrations were not exported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A file of that name is there and says something else.
    #[error(
        "{} exists with other content and is not overwritten: released migrations never change, so put back \
         what was there or move it away, and export again", .path.display()
    )]
    Differs {
        /// The file.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot write {}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
}

/// Writes the folders for `dialect` into the migrations directory `into` (created if it is missing), and
/// returns the files, those that were there already included.
///
/// Doing it again changes nothing; after an upgrade it adds what is new. Line endings do not count as a
/// difference, since version control may have changed them.
///
/// # Errors
///
/// [`ExportError::Differs`] if one of the files is there with other content; nothing is written then.
/// [`ExportError::Io`] for everything else.
pub fn export(dialect: Dialect, into: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let wanted: Vec<(PathBuf, &'static str)> =
        files::of(dialect).iter().map(|file| (into.join(file.folder).join(file.name), file.text)).collect();

    let mut missing = Vec::new();
    for (path, text) in &wanted {
        if !is_there(path, text)? {
            missing.push((path, text));
        }
    }
    for (path, text) in missing {
        write(path, text)?;
    }
    Ok(wanted.into_iter().map(|(path, _)| path).collect())
}

/// Whether the file is there with this text.
fn is_there(path: &Path, text: &str) -> Result<bool, ExportError> {
    match fs::read(path) {
        Ok(bytes) if same_text(&bytes, text.as_bytes()) => Ok(true),
        Ok(_) => Err(ExportError::Differs { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(ExportError::Io { path: path.to_owned(), source }),
    }
}

fn same_text(a: &[u8], b: &[u8]) -> bool {
    a.iter().filter(|byte| **byte != b'\r').eq(b.iter().filter(|byte| **byte != b'\r'))
}

/// Creates the file, or agrees with whoever created it in between. A file that could not be written whole
/// is removed again, so that it does not stand in the way of the next try.
fn write(path: &Path, text: &str) -> Result<(), ExportError> {
    let refused = |source| ExportError::Io { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(refused)?;
    }
    let mut file = match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return is_there(path, text).map(|_| ());
        }
        Err(source) => return Err(refused(source)),
    };
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|source| {
        drop(fs::remove_file(path));
        refused(source)
    })
}
