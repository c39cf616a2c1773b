//! A sleep in a test needs a sentence of defence.

use super::{Finding, Repository, SourceFile};

/// The same line, or the comment above it, says `// sleep:` and why.
pub(super) fn have_a_reason(repository: &Repository) -> Vec<Finding> {
    repository.rust().filter(|file| !file.path.starts_with("xtask/")).flat_map(without_a_reason).collect()
}

fn without_a_reason(file: &SourceFile) -> Vec<Finding> {
    let mut in_tests = is_a_test(&file.path);
    let mut defended = false;
    let mut findings = Vec::new();
    for (number, line) in file.lines() {
        let line = line.trim();
        in_tests |= line == "#[cfg(test)]";
        let excuse = line.contains("// sleep:");
        if in_tests && line.contains("sleep(") && !line.starts_with("//") && !excuse && !defended {
            findings.push(file.finding(number, "a sleep without `// sleep: why` on its line or above it"));
        }
        // The reason may go on over further lines of its comment.
        defended = excuse || (defended && line.starts_with("//"));
    }
    findings
}

fn is_a_test(path: &str) -> bool {
    path.starts_with("tests/") || path.contains("/tests/") || path.starts_with("crates/claimstore-testkit/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        have_a_reason(&Repository::of(&[(path, text)])).len()
    }

    #[test]
    fn a_bare_sleep_in_a_test_is_found() {
        assert_eq!(findings("tests/tests/a.rs", "thread::sleep(d);"), 1);
        assert_eq!(findings("crates/a/src/lib.rs", "#[cfg(test)]\nmod tests {\nsleep(d);\n}"), 1);
        assert_eq!(findings("tests/tests/a.rs", "// sleep: why\nlet a = 1;\nsleep(d);"), 1);
    }

    #[test]
    fn a_reason_or_library_code_is_fine() {
        assert_eq!(findings("tests/tests/a.rs", "sleep(d); // sleep: polls a server"), 0);
        assert_eq!(findings("tests/tests/a.rs", "// sleep: polls a server,\n// which is slow\nsleep(d);"), 0);
        assert_eq!(findings("crates/a/src/lib.rs", "thread::sleep(backoff);"), 0);
    }
}
