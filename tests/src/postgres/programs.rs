//! Programs of this machine: on the search path, and the server's own beside it.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// Where a program of this name is, if anywhere.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    // Without a login shell these two are often missing from the path of root.
    let more = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    env::split_paths(&path).chain(more).map(|directory| directory.join(name)).find(|file| file.is_file())
}

/// The directory with `initdb`, `postgres` and `pg_ctl` of one and the same version.
pub(super) fn of_the_server() -> Result<PathBuf, String> {
    let beside_initdb =
        find("initdb").and_then(|initdb| Some(initdb.canonicalize().ok()?.parent()?.to_owned()));
    let complete = |directory: &PathBuf| {
        ["initdb", "postgres", "pg_ctl"].iter().all(|name| directory.join(name).is_file())
    };
    beside_initdb.into_iter().chain(named_by_pg_config()).chain(packaged()).find(complete).ok_or_else(|| {
        "no initdb, postgres and pg_ctl on the path, at pg_config --bindir, or in /usr/lib/postgresql/*/bin".to_owned()
    })
}

fn named_by_pg_config() -> Option<PathBuf> {
    let output = Command::new(find("pg_config")?).arg("--bindir").stdin(Stdio::null()).output().ok()?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}

/// Where distributions put the versions they keep side by side, newest first.
fn packaged() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for (parent, prefix) in
        [("/usr/lib/postgresql", ""), ("/usr", "pgsql-"), ("/opt/homebrew/opt", "postgresql@")]
    {
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if let Some(major) = name.to_str().and_then(|name| name.strip_prefix(prefix)?.parse::<u32>().ok())
            {
                found.push((Reverse(major), entry.path().join("bin")));
            }
        }
    }
    found.sort();
    found.into_iter().map(|(_, directory)| directory).collect()
}

/// The last lines of a file in one, for a reason.
pub(super) fn end_of(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let lines: Vec<_> = text.lines().rev().take(3).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
}
