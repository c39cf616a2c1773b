//! The files themselves, byte for byte, in the published crate as in the checkout.

/// Which database the files are for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dialect {
    /// PostgreSQL.
    Postgres,
    /// SQLite.
    Sqlite,
}

/// One file of one migration.
pub(crate) struct File {
    pub(crate) folder: &'static str,
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

/// Both files of each folder of a dialect. A test compares the result with what is on the disk.
macro_rules! folders {
    ($dialect:literal: $($folder:literal),+ $(,)?) => {
        &[$(
            File {
                folder: $folder,
                name: "up.sql",
                text: include_str!(concat!("../", $dialect, "/", $folder, "/up.sql")),
            },
            File {
                folder: $folder,
                name: "down.sql",
                text: include_str!(concat!("../", $dialect, "/", $folder, "/down.sql")),
            },
        )+]
    };
}

const POSTGRES: &[File] = folders!["postgres": "0000claimstore0001_jobs", "0000claimstore0002_operators"];
const SQLITE: &[File] = folders!["sqlite": "0000claimstore0001_jobs", "0000claimstore0002_operators"];

pub(crate) fn of(dialect: Dialect) -> &'static [File] {
    match dialect {
        Dialect::Postgres => POSTGRES,
        Dialect::Sqlite => SQLITE,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::{Dialect, of};
    use crate::SCHEMA_VERSION;

    fn on_disk(folder: &str) -> BTreeSet<(String, String, String)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut found = BTreeSet::new();
        for entry in fs::read_dir(root).expect("the folder is there") {
            let dir = entry.expect("readable").path();
            for file in fs::read_dir(&dir).expect("a folder per migration") {
                let file = file.expect("readable").path();
                let text = fs::read_to_string(&file).expect("text");
                let name = |path: &Path| path.file_name().expect("named").to_string_lossy().into_owned();
                found.insert((name(&dir), name(&file), text));
            }
        }
        found
    }

    fn embedded(dialect: Dialect) -> BTreeSet<(String, String, String)> {
        of(dialect).iter().map(|f| (f.folder.into(), f.name.into(), f.text.into())).collect()
    }

    #[test]
    fn every_file_on_disk_is_embedded_and_no_other() {
        assert_eq!(embedded(Dialect::Postgres), on_disk("postgres"));
        assert_eq!(embedded(Dialect::Sqlite), on_disk("sqlite"));
    }

    #[test]
    fn both_dialects_hold_the_same_versions_without_a_gap_up_to_the_schema_version() {
        let folders = |dialect| of(dialect).iter().map(|f| f.folder).collect::<BTreeSet<_>>();
        assert_eq!(folders(Dialect::Postgres), folders(Dialect::Sqlite));
        let versions: Vec<&str> =
            folders(Dialect::Sqlite).iter().map(|f| f.split('_').next().expect("never empty")).collect();
        let wanted: Vec<String> = (1..=SCHEMA_VERSION).map(|n| format!("0000claimstore{n:04}")).collect();
        assert_eq!(versions, wanted, "migration n sets claimstore_schema to n");
    }
}
