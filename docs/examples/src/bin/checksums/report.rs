//! The table at the end, and whether it shows what it should.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use claimstore::core::State;

use crate::Failure;
use crate::database::Database;
use crate::sha256;
use crate::watch::Interruption;

/// A file and its job.
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) job: i64,
}

/// What only the run itself knows.
pub(crate) struct Ran {
    pub(crate) directory: PathBuf,
    pub(crate) started: SystemTime,
    pub(crate) files: Vec<File>,
    pub(crate) recovered: usize,
}

/// At most so many problems are named.
const NAMED: usize = 20;

/// Prints the table and says whether everything is as it should be.
pub(crate) fn print(
    database: &dyn Database,
    ran: &Ran,
    interruption: &Interruption,
) -> Result<bool, Failure> {
    let mut written: HashMap<i64, Vec<String>> = HashMap::new();
    for (job, digest) in database.digests()? {
        written.entry(job).or_default().push(digest);
    }
    let (mut right, mut failed, mut problems) = (0, 0, Vec::new());
    for file in &ran.files {
        interruption.check()?;
        let job = database.job(file.job)?;
        let digests = written.remove(&file.job).unwrap_or_default();
        let problem = if job.state == State::Dead.word() {
            failed += 1;
            Some(job.error.unwrap_or_default())
        } else if job.state != State::Completed.word() {
            Some(format!("its job is {}", job.state))
        } else {
            check(ran, &file.path, &digests)
        };
        match problem {
            None => right += 1,
            Some(problem) => problems.push(format!("{}: {problem}", file.path.display())),
        }
    }
    let (claims, refused) = (database.claims()?, database.refused()?);
    for (name, value) in [
        ("files", ran.files.len().to_string()),
        ("claims", claims.to_string()),
        ("recovered", ran.recovered.to_string()),
        ("late writers refused", refused.to_string()),
        ("failed for good", failed.to_string()),
        ("digests checked", format!("{right} right of {}", ran.files.len())),
    ] {
        println!("{name:<22}{value}");
    }
    if ran.files.is_empty() {
        println!("no file, so nothing is shown");
        return Ok(false);
    }
    if !written.is_empty() {
        problems.push(format!("{} digests belong to no file", written.len()));
    }
    if ran.recovered == 0 {
        problems.push("no claim was recovered".to_owned());
    }
    if refused == 0 {
        problems.push("no late writer was refused".to_owned());
    }
    problems.iter().take(NAMED).for_each(|problem| println!("{problem}"));
    match problems.len() {
        0 => println!("every file was completed exactly once"),
        many if many > NAMED => println!("and {} more", many - NAMED),
        _ => {}
    }
    Ok(problems.is_empty())
}

/// One digest, and the one that a direct reading gives.
fn check(ran: &Ran, path: &Path, digests: &[String]) -> Option<String> {
    let [digest] = digests else { return Some(format!("{} digests were written", digests.len())) };
    let path = ran.directory.join(path);
    match sha256::directly(&path) {
        Ok(direct) if direct == *digest => None,
        Ok(_) if changed_since(ran.started, &path) => Some("the file was changed during this run".to_owned()),
        Ok(direct) => Some(format!("the digest is {digest} and should be {direct}")),
        Err(why) => Some(format!("cannot be read again: {why}")),
    }
}

fn changed_since(start: SystemTime, path: &Path) -> bool {
    fs::metadata(path).and_then(|about| about.modified()).is_ok_and(|at| at >= start)
}
