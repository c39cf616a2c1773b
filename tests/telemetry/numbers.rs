//! A recorder for one test: what was counted by one piece of work, and nothing else.

use std::collections::BTreeMap;

use metrics_util::debugging::{DebugValue, DebuggingRecorder};

/// Numbers by name and labels, without what all share: the prefix and the table. Of a histogram, how many
/// values it was given; of a gauge, its whole seconds.
pub(crate) type Numbers = BTreeMap<String, u64>;

/// What `work` counts on this thread.
pub(crate) fn counted<R>(work: impl FnOnce() -> R) -> (R, Numbers) {
    let recorder = DebuggingRecorder::new();
    let done = metrics::with_local_recorder(&recorder, work);
    let numbers = recorder.snapshotter().snapshot().into_vec().into_iter().map(|(key, _, _, value)| {
        let value = match value {
            DebugValue::Counter(count) => count,
            DebugValue::Histogram(values) => {
                assert!(values.iter().all(|seconds| (0.0..60.0).contains(&seconds.into_inner())));
                values.len() as u64
            }
            DebugValue::Gauge(seconds) => seconds.into_inner() as u64,
        };
        (name(key.key()), value)
    });
    (done, numbers.collect())
}

fn name(key: &metrics::Key) -> String {
    let bare = key.name().strip_prefix("claimstore_").expect("they all begin with the library's name");
    let (table, mut others): (Vec<_>, Vec<_>) = key.labels().partition(|label| label.key() == "table");
    assert_eq!(table.iter().map(|label| label.value()).collect::<Vec<_>>(), ["claimstore_jobs"], "{bare}");
    others.sort();
    let others: Vec<_> = others.iter().map(|label| format!("{}={}", label.key(), label.value())).collect();
    if others.is_empty() { bare.to_owned() } else { format!("{bare}{{{}}}", others.join(",")) }
}

/// These and no others.
#[track_caller]
pub(crate) fn assert_counted<const N: usize>(numbers: &Numbers, expected: [(&str, u64); N]) {
    let expected: Numbers = expected.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    assert_eq!(*numbers, expected);
}
