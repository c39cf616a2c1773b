//! Who claims.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::input::{InputError, check_text};

/// The name of one worker process, printable and stored with each claim.
///
/// It tells people who holds a row; it never decides who may write: only the fence does. Prefer
/// [`WorkerId::generate`], whose random part keeps a restarted process from being taken for its
/// predecessor (field report H9).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkerId(Arc<str>);

impl WorkerId {
    /// The longest name, in bytes.
    pub const MAX_LEN: usize = 200;

    /// A name of the caller's choosing.
    ///
    /// # Errors
    /// [`InputError`] where it is empty, longer than [`WorkerId::MAX_LEN`] bytes or contains U+0000.
    pub fn new(name: impl AsRef<str>) -> Result<WorkerId, InputError> {
        let name = name.as_ref();
        check_text("worker", name, Self::MAX_LEN)?;
        Ok(WorkerId(name.into()))
    }

    /// `name@host:pid:random`, new for each call. An empty or over-long `name` is cut or replaced, so
    /// that this cannot fail.
    #[must_use]
    pub fn generate(name: &str) -> WorkerId {
        let clean = |text: &str, most: usize| -> String {
            text.chars().filter(|c| !c.is_control()).take(most).collect()
        };
        let host = gethostname::gethostname();
        let host = clean(&host.to_string_lossy(), 20);
        let random = fastrand::u64(..) & 0xffff_ffff_ffff;
        let name = if name.is_empty() { "worker" } else { name };
        WorkerId(format!("{}@{host}:{}:{random:012x}", clean(name, 20), std::process::id()).into())
    }

    /// The name, as stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for WorkerId {
    type Error = InputError;
    fn try_from(name: String) -> Result<Self, Self::Error> {
        WorkerId::new(name)
    }
}

impl From<WorkerId> for String {
    fn from(id: WorkerId) -> String {
        id.0.as_ref().to_owned()
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkerId({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_names_differ_and_always_fit() {
        let (a, b) = (WorkerId::generate("w"), WorkerId::generate("w"));
        assert_ne!(a, b);
        for name in ["", "é".repeat(500).as_str(), "a\0b\n"] {
            let id = WorkerId::generate(name);
            assert!(WorkerId::new(id.as_str()).is_ok(), "{id}");
        }
    }

    #[test]
    fn chosen_names_are_checked() {
        assert!(WorkerId::new("").is_err());
        assert!(WorkerId::new("a\0").is_err());
        assert!(WorkerId::new("x".repeat(201)).is_err());
        assert!(serde_json::from_str::<WorkerId>("\"\"").is_err());
    }
}
