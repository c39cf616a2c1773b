//! What the rules look at: the text files of the repository, and its crates.

use std::path::Path;
use std::{fmt, fs, io};

use serde_json::Value;

/// Directories whose content is made, or is not ours.
const SKIPPED: [&str; 4] = ["target", ".git", "book", "node_modules"];
const READ: [&str; 4] = ["rs", "md", "sql", "toml"];

/// One text file; the path is from the root, with forward slashes.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl SourceFile {
    /// The lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(at, line)| (at + 1, line))
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub(crate) fn finding(&self, line: usize, what: impl Into<String>) -> Finding {
        Finding { path: self.path.clone(), line, what: what.into() }
    }
}

/// A place where a rule is broken. Line 0 means the file as a whole.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

/// The files, sorted by path, and the answer of `cargo metadata` where a rule needs it.
#[derive(Debug, Default)]
pub(crate) struct Repository {
    pub(crate) files: Vec<SourceFile>,
    pub(crate) metadata: Value,
}

impl Repository {
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let mut files = Vec::new();
        walk(root, root, &mut files).map_err(|error| format!("cannot read {}: {error}", root.display()))?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { files, metadata: Value::Null })
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.file(path).is_some()
    }

    pub(crate) fn file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    pub(crate) fn under<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a SourceFile> {
        self.files.iter().filter(move |file| file.path.starts_with(prefix))
    }

    pub(crate) fn rust(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.is_rust())
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let file =
            |(path, text): &(&str, &str)| SourceFile { path: (*path).to_owned(), text: (*text).to_owned() };
        Self { files: files.iter().map(file).collect(), metadata: Value::Null }
    }

    #[cfg(test)]
    pub(crate) fn with_metadata(metadata: Value) -> Self {
        Self { files: Vec::new(), metadata }
    }
}

fn walk(root: &Path, directory: &Path, files: &mut Vec<SourceFile>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !SKIPPED.iter().any(|skipped| entry.file_name() == *skipped) {
                walk(root, &path, files)?;
            }
        } else if kind.is_file() && path.extension().is_some_and(|end| READ.iter().any(|read| end == *read)) {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            files.push(SourceFile { path: name, text: fs::read_to_string(&path)? });
        }
    }
    Ok(())
}
