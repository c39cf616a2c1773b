//! Exporting the folders: what is written, what is refused, and that doing it twice is harmless.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use claimstore_migrations::{Dialect, ExportError, export};

type TestResult = Result<(), Box<dyn std::error::Error>>;

const BOTH: [(Dialect, &str); 2] = [(Dialect::Postgres, "postgres"), (Dialect::Sqlite, "sqlite")];

/// Every file below a folder, by its path from there.
fn tree(root: &Path) -> std::io::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).expect("below the root").to_owned();
                found.insert(name, fs::read(path)?);
            }
        }
    }
    Ok(found)
}

#[test]
fn export_writes_what_is_embedded_and_twice_is_once() -> TestResult {
    for (dialect, folder) in BOTH {
        let dir = tempfile::tempdir()?;
        let into = dir.path().join("not/there/yet");
        let first = export(dialect, &into)?;
        let written = tree(&into)?;
        assert_eq!(written, tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))?);
        assert_eq!(first.len(), written.len());

        assert_eq!(export(dialect, &into)?, first);
        assert_eq!(tree(&into)?, written);
    }
    Ok(())
}

#[test]
fn a_file_with_other_content_is_named_and_nothing_is_written() -> TestResult {
    for (dialect, _) in BOTH {
        let dir = tempfile::tempdir()?;
        let files = export(dialect, dir.path())?;
        let [gone, .., changed] = files.as_slice() else { panic!("two files at least") };
        fs::remove_file(gone)?;
        fs::write(changed, "SELECT 1;")?;
        let before = tree(dir.path())?;

        let error = export(dialect, dir.path()).expect_err("it differs");
        assert!(matches!(&error, ExportError::Differs { path } if path == changed), "{error:?}");
        assert!(error.to_string().contains(&changed.display().to_string()), "{error}");
        assert_eq!(tree(dir.path())?, before);
    }
    Ok(())
}

#[test]
fn what_is_missing_is_added_beside_the_projects_own_migrations() -> TestResult {
    let dir = tempfile::tempdir()?;
    let own = dir.path().join("2024-01-01-000000_own");
    fs::create_dir(&own)?;
    fs::write(own.join("up.sql"), "SELECT 1;")?;
    let files = export(Dialect::Sqlite, dir.path())?;
    fs::remove_file(&files[0])?;

    assert_eq!(export(Dialect::Sqlite, dir.path())?, files);
    assert!(files[0].exists());
    assert_eq!(fs::read_to_string(own.join("up.sql"))?, "SELECT 1;");
    Ok(())
}

#[test]
fn line_endings_are_not_a_difference() -> TestResult {
    let dir = tempfile::tempdir()?;
    let files = export(Dialect::Postgres, dir.path())?;
    let windows = fs::read_to_string(&files[0])?.replace('\n', "\r\n");
    fs::write(&files[0], &windows)?;
    export(Dialect::Postgres, dir.path())?;
    assert_eq!(fs::read_to_string(&files[0])?, windows, "and they are left alone");
    Ok(())
}

#[test]
fn a_folder_that_cannot_be_made_is_named() -> TestResult {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("migrations");
    fs::write(&file, "not a folder")?;
    let error = export(Dialect::Sqlite, &file).expect_err("a file is in the way");
    assert!(matches!(error, ExportError::Io { .. }), "{error:?}");
    assert!(error.to_string().contains("migrations"), "{error}");
    Ok(())
}
