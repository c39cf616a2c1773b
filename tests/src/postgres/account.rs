//! Who runs the local server. PostgreSQL refuses to run as root.

use std::ffi::OsString;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, io};

use super::programs;

/// The account of the server: ours, or where we are root an unprivileged one.
#[derive(Debug)]
pub(super) struct Account {
    /// Words before a command line that make it run under the account.
    switch: Vec<OsString>,
    owner: Option<(u32, u32)>,
}

impl Account {
    /// Decides by who owns `ours`, a directory that this process has made.
    pub(super) fn beside(ours: &Path) -> Result<Self, String> {
        let us = fs::metadata(ours).map_err(|error| error.to_string())?.uid();
        if us != 0 {
            return Ok(Self { switch: Vec::new(), owner: None });
        }
        let (name, uid, gid) = ["postgres", "nobody"]
            .into_iter()
            .find_map(|name| Some((name, id("-u", name)?, id("-g", name)?)))
            .ok_or("we are root, the server refuses root, and there is no user postgres or nobody")?;
        let switch = switch_to(name, uid, gid)
            .ok_or("we are root, the server refuses root, and there is no setpriv, runuser or su")?;
        Ok(Self { switch, owner: Some((uid, gid)) })
    }

    /// Makes the server's account the owner of a file or directory of ours.
    pub(super) fn give(&self, path: &Path) -> io::Result<()> {
        match self.owner {
            Some((uid, gid)) => chown(path, Some(uid), Some(gid)),
            None => Ok(()),
        }
    }

    /// The words that run `program` under the account; arguments may follow.
    pub(super) fn words(&self, program: &Path) -> Vec<OsString> {
        self.switch.iter().cloned().chain([program.into()]).collect()
    }

    /// A command under the account, in a directory that every account may enter.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut words = self.words(program).into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).current_dir("/").stdin(Stdio::null());
        command
    }
}

fn switch_to(name: &str, uid: u32, gid: u32) -> Option<Vec<OsString>> {
    let (program, arguments): (_, Vec<String>) = if let Some(setpriv) = programs::find("setpriv") {
        (
            setpriv,
            vec![format!("--reuid={uid}"), format!("--regid={gid}"), "--clear-groups".into(), "--".into()],
        )
    } else if let Some(runuser) = programs::find("runuser") {
        (runuser, vec!["-u".into(), name.into(), "--".into()])
    } else {
        let su = programs::find("su")?;
        let words = ["-s", "/bin/sh", "-c", r#"exec "$0" "$@""#, "--", name];
        (su, words.map(String::from).into())
    };
    Some(std::iter::once(program.into()).chain(arguments.into_iter().map(OsString::from)).collect())
}

fn id(what: &str, name: &str) -> Option<u32> {
    let output = Command::new("id").args([what, name]).stdin(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok().filter(|id| *id != 0)
}
