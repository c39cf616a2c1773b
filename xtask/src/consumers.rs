//! `cargo xtask consumers`: crates that use claimstore as a user does, by path and not as members.
//!
//! Each directory of `consumers` is one. A workspace unites the features of its members, so only
//! from outside does it show that a crate links with the features that it asks for.

use std::fs;
use std::path::PathBuf;

use crate::postgres;
use crate::root::{cargo, root, target_directory};
use crate::step;

pub(crate) fn run() -> Result<(), String> {
    let manifests = manifests()?;
    let target = target_directory()?.join("consumers");
    let with_postgres = postgres::built_alone()?;
    for manifest in &manifests {
        println!("-- {}", manifest.strip_prefix(root()).unwrap_or(manifest).display());
        let mut command = cargo(&["run", "--quiet", "--manifest-path"]);
        command.arg(manifest).env("CARGO_TARGET_DIR", &target);
        step::run(&mut postgres::wrapped(&with_postgres, &command))?;
    }
    Ok(())
}

fn manifests() -> Result<Vec<PathBuf>, String> {
    let directory = root().join("consumers");
    let entries = fs::read_dir(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut found: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path().join("Cargo.toml"))
        .filter(|file| file.is_file())
        .collect();
    found.sort();
    if found.is_empty() { Err(format!("no crate in {}", directory.display())) } else { Ok(found) }
}
