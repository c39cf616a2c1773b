//! The book names each number, and no other.

use std::cell::RefCell;
use std::collections::BTreeMap;

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};

/// Name, kind and unit of what is described.
#[derive(Default)]
struct Described(RefCell<BTreeMap<String, (&'static str, String)>>);

impl Described {
    fn add(&self, kind: &'static str, name: KeyName, unit: Option<Unit>, meaning: &SharedString) {
        assert!(!meaning.is_empty());
        let unit = unit.expect("each has a unit").as_str().to_owned();
        let before = self.0.borrow_mut().insert(name.as_str().to_owned(), (kind, unit));
        assert!(before.is_none(), "{} is described twice", name.as_str());
    }
}

impl Recorder for Described {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, meaning: SharedString) {
        self.add("counter", name, unit, &meaning);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, meaning: SharedString) {
        self.add("gauge", name, unit, &meaning);
    }

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, meaning: SharedString) {
        self.add("histogram", name, unit, &meaning);
    }

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

#[test]
fn the_chapter_names_each_number_with_its_kind_and_unit() {
    let described = Described::default();
    metrics::with_local_recorder(&described, claimstore::describe_metrics);
    let chapter = include_str!("../../docs/src/observing.md");
    let rows = chapter.lines().filter_map(|line| line.strip_prefix("| `claimstore_"));
    let told: BTreeMap<_, _> = rows
        .map(|row| {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            let name = format!("claimstore_{}", cells[0].trim_end_matches('`'));
            (name, (cells[1].to_owned(), cells[2].to_owned()))
        })
        .collect();
    let described: BTreeMap<_, _> =
        described.0.take().into_iter().map(|(name, (kind, unit))| (name, (kind.to_owned(), unit))).collect();
    assert_eq!(told, described);
}
