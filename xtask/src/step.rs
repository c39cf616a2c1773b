//! Running a program and saying in one line why it did not work.

use std::process::Command;

/// Runs to the end with our output; anything but success is an error.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let name = in_words(command);
    let status = command.status().map_err(|error| format!("cannot run {name}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name} failed ({status})")) }
}

/// The command line as one would type it.
pub(crate) fn in_words(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
