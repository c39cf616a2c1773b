//! Where this repository is, and the `cargo` that works in it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository, from wherever the command was called.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a directory of the repository")
}

/// `cargo` with these arguments, in the root.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// What `cargo metadata` says about the workspace and its dependencies, all features on.
pub(crate) fn metadata() -> Result<serde_json::Value, String> {
    ask_metadata(&["--all-features"])
}

fn ask_metadata(arguments: &[&str]) -> Result<serde_json::Value, String> {
    let output = cargo(&["metadata", "--format-version=1"])
        .args(arguments)
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot run cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err("cargo metadata failed".to_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

/// The directory that cargo builds into.
pub(crate) fn target_directory() -> Result<PathBuf, String> {
    let metadata = ask_metadata(&["--no-deps"])?;
    let directory =
        metadata["target_directory"].as_str().ok_or("cargo metadata names no target directory")?;
    Ok(PathBuf::from(directory))
}
