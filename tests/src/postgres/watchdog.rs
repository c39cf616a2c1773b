//! Cleaning up after a process that may be killed at any moment.
//!
//! A `Drop` does not run for a static, on an abort, or under SIGKILL. So a small shell is started
//! beforehand that waits at the end of a pipe whose other end only this process holds. The kernel
//! closes it however the process ends, and then the shell does what it was started for.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// A shell script that runs when this value is dropped or this process is gone.
#[derive(Debug)]
pub(super) struct Watchdog {
    shell: Child,
}

impl Watchdog {
    /// Runs `script` afterwards, with `arguments` as `$1`, `$2` and so on.
    pub(super) fn afterwards(script: &str, arguments: &[OsString]) -> io::Result<Self> {
        let script = format!("trap '' HUP INT QUIT TERM; cat >/dev/null\n{script}");
        let shell = Command::new("/bin/sh")
            .args(["-c", &script, "watchdog"])
            .args(arguments)
            .current_dir("/")
            // A Ctrl-C goes to the group of the terminal; whoever cleans up must not be in it.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { shell })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // Closes the pipe and waits for the script: afterwards nothing is left.
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::TestFile;

    #[test]
    fn the_script_runs_when_the_value_is_dropped_and_not_before() {
        let file = TestFile::fresh();
        let watchdog = Watchdog::afterwards(r#": > "$1""#, &[file.path().into()]).expect("a shell");
        assert!(!file.path().exists());
        drop(watchdog);
        assert!(file.path().exists());
    }
}
