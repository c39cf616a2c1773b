//! Who acts on other people's claims, and why.

use std::time::Duration;

use crate::input::{InputError, check_span, check_text};

/// A person, or a program in a person's name, with the reason for one action. Both are recorded with it.
///
/// ```
/// # use claimstore_core::Operator;
/// let anna = Operator::new("anna@example.org", "ticket 4711: the printer is back")?;
/// let anna_who_knows_the_worker_is_dead = anna.clone().force();
/// # Ok::<(), claimstore_core::InputError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operator {
    actor: String,
    reason: String,
    force: bool,
    wait: Duration,
}

impl Operator {
    /// The longest reason, in bytes.
    pub const MAX_REASON: usize = 2_000;

    /// Who and why.
    ///
    /// # Errors
    /// [`InputError`] where one of them is empty, the actor has more than 200 bytes, the reason more than
    /// [`Operator::MAX_REASON`], or one contains U+0000.
    pub fn new(actor: impl Into<String>, reason: impl Into<String>) -> Result<Operator, InputError> {
        let (actor, reason) = (actor.into(), reason.into());
        check_text("actor", &actor, 200)?;
        check_text("reason", &reason, Self::MAX_REASON)?;
        Ok(Operator { actor, reason, force: false, wait: Duration::from_secs(2) })
    }

    /// May end a claim whose lease still runs. Its holder is refused from then on, and whatever it did outside
    /// of the database stays done.
    #[must_use]
    pub fn force(self) -> Operator {
        Operator { force: true, ..self }
    }

    /// Waits this long for a row that somebody has locked (on SQLite: for the file), two seconds unless set; below a
    /// millisecond is not at all. Actions on many rows never wait: they pass over locked ones.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Operator {
        Operator { wait, ..self }
    }

    /// Who.
    #[must_use]
    pub fn actor(&self) -> &str {
        &self.actor
    }

    /// Why.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Whether a live claim may be ended.
    #[must_use]
    pub fn forces(&self) -> bool {
        self.force
    }

    /// How long a locked row is waited for.
    #[must_use]
    pub fn wait_span(&self) -> Duration {
        self.wait
    }

    /// Refuses what no store can serve.
    ///
    /// # Errors
    /// [`InputError::SpanTooLong`] for a wait above a hundred years.
    pub fn check(&self) -> Result<(), InputError> {
        check_span("wait", self.wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_without_a_name_or_a_reason_is_refused() {
        assert_eq!(Operator::new("", "why"), Err(InputError::Empty { field: "actor" }));
        assert_eq!(Operator::new("anna", ""), Err(InputError::Empty { field: "reason" }));
        assert_eq!(Operator::new("anna", "a\0"), Err(InputError::Nul { field: "reason" }));
        assert!(Operator::new("anna", "x".repeat(2_001)).is_err());
        assert!(Operator::new("anna", "why").is_ok_and(|anna| !anna.forces() && anna.force().forces()));
    }
}
