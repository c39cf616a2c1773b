//! Names of things that a test makes and removes, which tell their age.
//!
//! A run that is killed leaves its schemas behind on a server that outlives it. The name alone says
//! whose they are and since when, so the next run can remove them without a list of its own.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const PREFIX: &str = "claimstore_test_";
const RANDOM_DIGITS: usize = 12;

/// A new name: fixed prefix, the second it was made in, and a random part.
pub(crate) fn name() -> String {
    let random: String = std::iter::repeat_with(|| fastrand::digit(36)).take(RANDOM_DIGITS).collect();
    format!("{PREFIX}{:010}_{random}", unix_seconds())
}

/// Whether `name` was made by [`name`] longer ago than `age`. Foreign names are never old.
pub(crate) fn is_older_than(name: &str, age: Duration) -> bool {
    let Some((born, random)) = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')) else {
        return false;
    };
    let well_formed = born.len() == 10
        && random.len() == RANDOM_DIGITS
        && random.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    match born.parse::<u64>() {
        Ok(born) if well_formed => born.saturating_add(age.as_secs()) < unix_seconds(),
        _ => false,
    }
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    #[test]
    fn a_new_name_is_not_old_and_not_met_twice() {
        let (one, other) = (name(), name());
        assert_ne!(one, other);
        assert!(!is_older_than(&one, DAY));
    }

    #[test]
    fn a_name_of_long_ago_is_old() {
        assert!(is_older_than("claimstore_test_1600000000_abc123def456", DAY));
    }

    #[test]
    fn foreign_names_are_never_old() {
        for foreign in ["public", "claimstore", "claimstore_test_", "claimstore_test_1600000000_mine", "t_1"]
        {
            assert!(!is_older_than(foreign, DAY), "{foreign}");
        }
    }
}
