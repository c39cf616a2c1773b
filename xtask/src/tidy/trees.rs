//! What the whole dependency tree of a crate may hold.

use std::collections::BTreeSet;

use serde_json::Value;

use super::arrows::{dependencies, members};
use super::{Finding, Repository};

const WITHOUT_DIESEL: [&str; 2] = ["claimstore-core", "claimstore-worker"];
const FOR_TESTS_ONLY: [&str; 5] = ["testcontainers", "rstest", "proptest", "trybuild", "criterion"];
const TEST_CRATES: [&str; 2] = ["claimstore-tests", "claimstore-testkit"];

/// Core and worker run on any store, so nothing below them knows Diesel or a database.
pub(super) fn core_and_worker_have_no_diesel(repository: &Repository) -> Vec<Finding> {
    let metadata = &repository.metadata;
    let mut findings = Vec::new();
    for package in members(metadata) {
        let name = package["name"].as_str().unwrap_or_default();
        if WITHOUT_DIESEL.contains(&name) {
            for below in normal_tree(metadata, &package["id"]) {
                let below = name_of(metadata, below);
                if below.starts_with("diesel") || ["pq-sys", "libsqlite3-sys"].contains(&below) {
                    findings.push(finding(name, format!("has {below} in its dependency tree")));
                }
            }
        }
    }
    findings
}

/// A user of claimstore never builds what only its tests need.
pub(super) fn test_crates_stay_in_tests(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in members(&repository.metadata) {
        let name = package["name"].as_str().unwrap_or_default();
        if TEST_CRATES.contains(&name) {
            continue;
        }
        for dependency in dependencies(package).filter(|dependency| dependency["kind"] != "dev") {
            let to = dependency["name"].as_str().unwrap_or_default();
            if FOR_TESTS_ONLY.contains(&to) {
                findings.push(finding(name, format!("may have {to} only for its tests")));
            }
        }
    }
    findings
}

/// The ids of all packages that are built for a user of `id`, without it.
fn normal_tree<'a>(metadata: &'a Value, id: &'a Value) -> BTreeSet<&'a str> {
    let nodes = metadata["resolve"]["nodes"].as_array().map_or(&[][..], Vec::as_slice);
    let mut seen = BTreeSet::new();
    let mut open = vec![id.as_str().unwrap_or_default()];
    while let Some(next) = open.pop() {
        let node = nodes.iter().find(|node| node["id"] == next);
        let below = node.and_then(|node| node["deps"].as_array()).map_or(&[][..], Vec::as_slice);
        for dependency in below.iter().filter(|dependency| is_normal(dependency)) {
            let id = dependency["pkg"].as_str().unwrap_or_default();
            if seen.insert(id) {
                open.push(id);
            }
        }
    }
    seen
}

fn is_normal(dependency: &Value) -> bool {
    dependency["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"] != "dev"))
}

fn name_of<'a>(metadata: &'a Value, id: &str) -> &'a str {
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let package = packages.iter().find(|package| package["id"] == id);
    package.and_then(|package| package["name"].as_str()).unwrap_or_default()
}

fn finding(name: &str, what: String) -> Finding {
    Finding { path: format!("crate {name}"), line: 0, what }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn worker_over(kind: Value) -> Repository {
        let edge = |to| json!({"pkg": to, "dep_kinds": [{"kind": kind}]});
        Repository::with_metadata(json!({
            "workspace_members": ["w"],
            "packages": [
                {"id": "w", "name": "claimstore-worker", "dependencies": [{"name": "rstest", "kind": kind}]},
                {"id": "m", "name": "middle"},
                {"id": "d", "name": "diesel"},
            ],
            "resolve": {"nodes": [{"id": "w", "deps": [edge("m")]}, {"id": "m", "deps": [edge("d")]}]},
        }))
    }

    #[test]
    fn diesel_is_found_at_any_depth() {
        assert_eq!(core_and_worker_have_no_diesel(&worker_over(Value::Null)).len(), 1);
        assert_eq!(core_and_worker_have_no_diesel(&worker_over(json!("dev"))).len(), 0);
    }

    #[test]
    fn a_test_crate_is_found_among_the_dependencies_of_users() {
        assert_eq!(test_crates_stay_in_tests(&worker_over(Value::Null)).len(), 1);
        assert_eq!(test_crates_stay_in_tests(&worker_over(json!("dev"))).len(), 0);
    }
}
