//! The files below a directory, and the payload that names one.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

use claimstore::JobKind;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// What is made, not written, has no place in the list. Only at the top: deeper down the name may mean
/// something else.
const SKIPPED: [&str; 2] = ["target", ".git"];

/// The payload of a job: compute the checksum of this file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Checksum {
    file: Name,
}

/// A path from the directory, as JSON can carry it: most are text, and on a Unix any may be bytes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    Bytes(Vec<u8>),
}

impl JobKind for Checksum {
    const KIND: &'static str = "checksum";
    /// Workers are killed here on purpose, and a crowded machine may delay others.
    const MAX_CRASHES: i32 = 20;
}

impl Checksum {
    pub(crate) fn of(file: &Path) -> Self {
        let bytes = file.as_os_str().as_bytes();
        let file = std::str::from_utf8(bytes)
            .map_or_else(|_| Name::Bytes(bytes.to_vec()), |text| Name::Text(text.to_owned()));
        Self { file }
    }

    pub(crate) fn path(self) -> PathBuf {
        match self.file {
            Name::Text(text) => text.into(),
            Name::Bytes(bytes) => std::ffi::OsString::from_vec(bytes).into(),
        }
    }
}

/// The regular files below `directory`, sorted, as paths from there. Links are not followed. A directory
/// below it that vanishes or cannot be read is said on standard error; its files are not known.
pub(crate) fn below(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(inner) = open.pop() {
        match list(directory, &inner, &mut found, &mut open) {
            Ok(()) => {}
            Err(why) if inner == Path::new("") => {
                return Err(format!("cannot read {}: {why}", directory.display()).into());
            }
            Err(why) => eprintln!("left out, cannot be read: {}: {why}", inner.display()),
        }
    }
    found.sort();
    Ok(found)
}

fn list(directory: &Path, inner: &Path, found: &mut Vec<PathBuf>, open: &mut Vec<PathBuf>) -> io::Result<()> {
    let top = inner == Path::new("");
    for entry in fs::read_dir(directory.join(inner))? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name());
        if kind.is_file() {
            found.push(inner.join(name));
        } else if kind.is_dir() && !(top && SKIPPED.iter().any(|skipped| name == OsStr::new(skipped))) {
            open.push(inner.join(name));
        }
    }
    Ok(())
}
