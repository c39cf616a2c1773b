//! Dependencies between the crates of the workspace point down only.

use serde_json::Value;

use super::{Finding, Repository};

/// What each published crate may depend on here. Crates that are not named may depend on all.
const ALLOWED: [(&str, &[&str]); 8] = [
    ("claimstore-core", &[]),
    ("claimstore-derive", &[]),
    ("claimstore-migrations", &["claimstore-core"]),
    ("claimstore-diesel", &["claimstore-core", "claimstore-derive", "claimstore-migrations"]),
    ("claimstore-worker", &["claimstore-core"]),
    ("claimstore-testkit", &["claimstore-core", "claimstore-diesel"]),
    (
        "claimstore",
        &[
            "claimstore-core",
            "claimstore-derive",
            "claimstore-diesel",
            "claimstore-migrations",
            "claimstore-worker",
        ],
    ),
    (
        "claimstore-cli",
        &["claimstore", "claimstore-core", "claimstore-diesel", "claimstore-migrations", "claimstore-worker"],
    ),
];

/// Only the tests and examples, which nobody depends on, see everything. Dependencies of a crate's
/// own tests are no arrows.
pub(super) fn point_down(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in members(&repository.metadata) {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else { continue };
        for dependency in dependencies(package).filter(|dependency| dependency["kind"] != "dev") {
            let to = dependency["name"].as_str().unwrap_or_default();
            let ours = to.starts_with("claimstore") || !dependency["path"].is_null();
            if ours && !allowed.contains(&to) {
                findings.push(Finding {
                    path: format!("crate {name}"),
                    line: 0,
                    what: format!("must not depend on {to}"),
                });
            }
        }
    }
    findings
}

/// The packages of the workspace.
pub(super) fn members(metadata: &Value) -> impl Iterator<Item = &Value> {
    let ids = metadata["workspace_members"].as_array().map_or(&[][..], Vec::as_slice);
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    packages.iter().filter(|package| ids.contains(&package["id"]))
}

/// What a package's manifest names; the `kind` is null, `dev` or `build`.
pub(super) fn dependencies(package: &Value) -> impl Iterator<Item = &Value> {
    package["dependencies"].as_array().map_or(&[][..], Vec::as_slice).iter()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn findings(from: &str, to: &str, kind: Value) -> usize {
        point_down(&Repository::with_metadata(json!({
            "workspace_members": ["one"],
            "packages": [{"id": "one", "name": from, "dependencies": [{"name": to, "kind": kind, "path": null}]}],
        })))
        .len()
    }

    #[test]
    fn an_arrow_upwards_is_found() {
        assert_eq!(findings("claimstore-worker", "claimstore-diesel", Value::Null), 1);
        assert_eq!(findings("claimstore-core", "claimstore-derive", json!("build")), 1);
    }

    #[test]
    fn arrows_downwards_outwards_and_in_tests_are_fine() {
        assert_eq!(findings("claimstore-worker", "claimstore-core", Value::Null), 0);
        assert_eq!(findings("claimstore-worker", "serde", Value::Null), 0);
        assert_eq!(findings("claimstore-worker", "claimstore-testkit", json!("dev")), 0);
        assert_eq!(findings("claimstore-tests", "claimstore-testkit", Value::Null), 0);
    }
}
