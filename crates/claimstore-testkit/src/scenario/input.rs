//! Bad input is refused in words, and nothing is written.

use std::time::Duration;

use claimstore_core::{
    ClaimRequest, ClaimStore, InputError, MAX_BATCH, MAX_SPAN, RecoverStore, RecoveryPolicy, RenewError,
    State, StoreErrorKind, Verdict, Wait,
};

use super::step::{LEASE, ask, input, refused_verdict, row, seed_and_take};
use crate::{Harness, Seed};

/// Claims with this request, by readiness and by key, are refused alike; the row is not touched.
#[track_caller]
fn is_refused<H: Harness>(h: &H, request: &ClaimRequest) -> InputError {
    let key = h.seed(Seed::pending());
    let before = row(h, &key);
    let next = h.store().claim_next(request).map(drop).expect_err("the request is bad");
    let one = h.store().claim(&key, request).map(drop).expect_err("the request is bad");
    assert_eq!(next.kind(), StoreErrorKind::Input);
    assert_eq!(input(&next), input(&one));
    assert_eq!(row(h, &key), before);
    h.delete(&key);
    input(&next)
}

/// A limit of zero is not "all", and neither is one above the most (H99).
pub fn a_limit_outside_its_range_is_refused<H: Harness>(h: &H) {
    for given in [0, MAX_BATCH + 1, usize::MAX] {
        assert_eq!(is_refused(h, &ask("anna").limit(given)), InputError::Limit { given });
    }
}

/// An empty list of queues is not all of them (H99).
pub fn an_empty_list_of_queues_is_refused<H: Harness>(h: &H) {
    let none = ask("anna").queues(Vec::<String>::new());
    assert_eq!(is_refused(h, &none), InputError::NoQueues);
}

/// Queue names that no store can hold are refused (H51).
pub fn a_bad_queue_name_is_refused<H: Harness>(h: &H) {
    for name in [String::new(), "x".repeat(201), "a\0b".to_owned()] {
        let error = h.store().claim_next(&ask("anna").queue(name)).map(drop).expect_err("a bad name");
        let told = input(&error);
        let named =
            matches!(told, InputError::Empty { .. } | InputError::TooLong { .. } | InputError::Nul { .. });
        assert!(named || !h.columns().queue, "{told}");
    }
}

/// A queue's name is data: quotes and wildcards in it mean themselves.
pub fn a_queue_name_is_only_a_name<H: Harness>(h: &H) {
    if !h.columns().queue {
        return a_bad_queue_name_is_refused(h);
    }
    let odd = ["it's", "a\"b", "%", "_", "a,b", "{x}", "\\", "größe 🦀", "NULL", "'; --"];
    h.seed(Seed::pending());
    for name in odd {
        let key = h.seed(Seed::pending().queue(name));
        let batch = h.store().claim_next(&ask("anna").queue(name).limit(5)).expect("a good name");
        let got: Vec<_> = batch.into_iter().map(|claimed| claimed.claim.key().clone()).collect();
        assert_eq!(got, [key], "{name}");
    }
}

/// Leases and waits outside their range are refused; the ends of the range are served (H52).
pub fn a_span_outside_its_range_is_refused<H: Harness>(h: &H) {
    for lease in [Duration::ZERO, Duration::from_nanos(999)] {
        assert_eq!(is_refused(h, &ask("anna").lease(lease)), InputError::ZeroSpan { field: "lease" });
    }
    for lease in [MAX_SPAN + Duration::from_secs(1), Duration::from_secs(u64::MAX), Duration::MAX] {
        let told = is_refused(h, &ask("anna").lease(lease));
        assert!(matches!(told, InputError::SpanTooLong { .. }), "{told}");
    }
    let told = is_refused(h, &ask("anna").wait(Wait::AtMost(Duration::MAX)));
    assert!(matches!(told, InputError::SpanTooLong { .. }), "{told}");
    for lease in [Duration::from_micros(1), MAX_SPAN] {
        let key = h.seed(Seed::pending());
        let outcome = h.store().claim(&key, &ask("anna").lease(lease)).expect("the end of the range");
        assert_eq!(outcome.refusal(), None);
        assert_eq!(row(h, &key).state, State::Running);
    }
}

/// A renewal by nothing or for ever is refused, and the lease stays as it is.
pub fn a_bad_renewal_is_refused<H: Harness>(h: &H) {
    let (key, mut claim) = seed_and_take(h, "anna");
    let held = row(h, &key);
    for lease in [Duration::ZERO, Duration::MAX] {
        match h.store().renew(&mut claim, lease) {
            Err(RenewError::Store(error)) => drop(input(&error)),
            other => panic!("{lease:?} was not refused: {other:?}"),
        }
        input(&h.store().renew_all(&[claim.token()], lease).expect_err("a bad lease"));
        assert_eq!(row(h, &key), held);
    }
    h.store().renew(&mut claim, LEASE).expect("a good lease");
}

/// A delay that no column can hold is refused, and the claim handed back.
pub fn a_bad_delay_is_refused<H: Harness>(h: &H) {
    let (key, mut claim) = seed_and_take(h, "anna");
    let held = row(h, &key);
    for verdict in [Verdict::snooze(Duration::MAX), Verdict::fail_after("no", Duration::MAX)] {
        let (told, back) = refused_verdict(h.store().settle(claim, verdict));
        assert!(matches!(told, InputError::SpanTooLong { .. } | InputError::NoColumn { .. }), "{told}");
        assert_eq!(row(h, &key), held);
        claim = back;
    }
    h.store().complete(claim).expect("the claim was handed back");
}

/// A bad verdict in a batch is refused in words; every answer says what really became of its row.
pub fn a_bad_verdict_in_a_batch_is_refused<H: Harness>(h: &H) {
    let (bad, a) = seed_and_take(h, "anna");
    let (good, b) = seed_and_take(h, "anna");
    let batch = vec![(a, Verdict::snooze(Duration::MAX)), (b, Verdict::complete())];
    let mut answers = h.store().settle_all(batch);
    assert_eq!(answers.len(), 2);
    let written = answers.remove(1).is_ok();
    let _handed_back = refused_verdict(answers.remove(0));
    assert_eq!(row(h, &bad).state, State::Running);
    assert_eq!(row(h, &good).state, if written { State::Completed } else { State::Running });
}

/// Recoveries with an impossible limit or policy are refused.
pub fn a_bad_recovery_is_refused<H: Harness>(h: &H) {
    let (key, _claim) = seed_and_take(h, "anna");
    h.expire(&key, LEASE);
    let (held, now) = (row(h, &key), RecoveryPolicy::default().grace(Duration::ZERO));
    let bad = [
        (now, 0),
        (now, MAX_BATCH + 1),
        (now.grace(Duration::MAX), 10),
        (now.max_crashes(0), 10),
        (now.max_crashes(-1), 10),
    ];
    for (policy, limit) in bad {
        input(&h.store().recover(&policy, limit).map(drop).expect_err("a bad recovery"));
        input(&h.store().preview(&policy, limit).map(drop).expect_err("a bad preview"));
        assert_eq!(row(h, &key), held);
    }
}
