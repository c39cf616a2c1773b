//! The jobs of one batch that have the same key, folded into one write.
//!
//! They are answered as if they were enqueued one after the other. Each row is written once all the same: a
//! second pass over the keys would lock rows out of order, and two batches could wait for each other.

use std::collections::HashMap;
use std::time::Duration;

use claimstore_core::Timestamp;

use crate::job::NewJob;
use crate::unique::{Enqueued, OnDuplicate};

/// When a job is due: the later of an instant and a span from the database's present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) at: Option<Timestamp>,
    pub(super) delay: Option<Duration>,
}

impl Due {
    pub(super) fn of(job: &NewJob) -> Due {
        Due { at: job.at, delay: job.at.is_none().then_some(job.delay) }
    }

    fn or_later(self, other: Due) -> Due {
        Due { at: self.at.max(other.at), delay: self.delay.max(other.delay) }
    }
}

/// What a row becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wish<'a> {
    pub(super) job: &'a NewJob,
    pub(super) due: Due,
    /// A due time that the row has already and that is later stays.
    pub(super) put_off: bool,
}

/// What was there, or is there now, under a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing was, and the row was inserted.
    New(i64),
    /// A pending row.
    Waiting(i64),
    /// A running or uncertain one.
    Busy(i64),
}

/// Jobs with one key, in the order given, each with its place in the batch. A job without a key is alone.
#[derive(Debug)]
pub(super) struct Group<'a>(Vec<(usize, &'a NewJob)>);

/// The groups of a batch, by their first places.
pub(super) fn groups(jobs: &[NewJob]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::with_capacity(jobs.len());
    let mut known = HashMap::new();
    for (place, job) in jobs.iter().enumerate() {
        let index = match &job.unique {
            Some(key) => *known.entry((&job.kind, key)).or_insert(groups.len()),
            None => groups.len(),
        };
        match groups.get_mut(index) {
            Some(group) => group.0.push((place, job)),
            None => groups.push(Group(vec![(place, job)])),
        }
    }
    groups
}

impl<'a> Group<'a> {
    fn jobs(&self) -> impl Iterator<Item = &'a NewJob> {
        self.0.iter().map(|(_, job)| *job)
    }

    /// Any of them: kind and key are the same.
    pub(super) fn job(&self) -> &'a NewJob {
        self.0[0].1
    }

    /// The row to insert where there is none.
    pub(super) fn new_row(&self) -> Wish<'a> {
        let first = Wish { job: self.job(), due: Due::of(self.job()), put_off: false };
        self.jobs().skip(1).fold(first, |row, job| then(Some(row), job).unwrap_or(row))
    }

    /// What a pending row becomes; nothing where all of them let it be.
    pub(super) fn change(&self) -> Option<Wish<'a>> {
        self.jobs().fold(None, then)
    }

    /// The answers, each with its place in the batch.
    pub(super) fn answers(&self, found: Found) -> impl Iterator<Item = (usize, Enqueued)> {
        self.0.iter().enumerate().map(move |(n, (place, job))| {
            let answer = match found {
                Found::New(id) if n == 0 => Enqueued::New { id },
                Found::New(id) | Found::Waiting(id) if job.on_duplicate != OnDuplicate::Keep => {
                    Enqueued::Replaced { id }
                }
                Found::New(id) | Found::Waiting(id) | Found::Busy(id) => Enqueued::Duplicate { id },
            };
            (*place, answer)
        })
    }
}

/// The row after one more job.
fn then<'a>(row: Option<Wish<'a>>, job: &'a NewJob) -> Option<Wish<'a>> {
    let due = Due::of(job);
    match (job.on_duplicate, row) {
        (OnDuplicate::Keep, row) => row,
        (OnDuplicate::Replace, _) => Some(Wish { job, due, put_off: false }),
        (OnDuplicate::Debounce, None) => Some(Wish { job, due, put_off: true }),
        (OnDuplicate::Debounce, Some(row)) => Some(Wish { job, due: row.due.or_later(due), ..row }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::JobKind;
    use OnDuplicate::{Debounce, Keep, Replace};

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Number(u64);

    impl JobKind for Number {
        const KIND: &'static str = "number";
    }

    /// Its number is also its delay in seconds.
    fn job(number: u64, key: &str, on_duplicate: OnDuplicate) -> NewJob {
        let job = NewJob::of(&Number(number)).expect("it is JSON");
        job.delay(Duration::from_secs(number)).unique(key).on_duplicate(on_duplicate)
    }

    /// What the row holds, when it is due, and whether a later time of its own stays.
    fn told(wish: Option<Wish<'_>>) -> Option<(&str, u64, bool)> {
        let wish = wish?;
        Some((wish.job.payload.as_str(), wish.due.delay?.as_secs(), wish.put_off))
    }

    #[test]
    fn a_fold_is_what_one_after_the_other_would_have_made() {
        let cases = [
            (vec![(5, Keep), (9, Keep)], ("5", 5, false), None),
            (vec![(5, Keep), (9, Replace)], ("9", 9, false), Some(("9", 9, false))),
            (vec![(9, Replace), (5, Replace)], ("5", 5, false), Some(("5", 5, false))),
            (vec![(9, Replace), (5, Keep)], ("9", 9, false), Some(("9", 9, false))),
            (vec![(9, Keep), (5, Debounce)], ("5", 9, false), Some(("5", 5, true))),
            (vec![(9, Debounce), (5, Debounce)], ("5", 9, false), Some(("5", 9, true))),
            (vec![(9, Debounce), (5, Replace)], ("5", 5, false), Some(("5", 5, false))),
            (vec![(9, Replace), (5, Debounce)], ("5", 9, false), Some(("5", 9, false))),
        ];
        for (asked, new_row, change) in cases {
            let jobs: Vec<NewJob> = asked.iter().map(|(number, mode)| job(*number, "k", *mode)).collect();
            let groups = groups(&jobs);
            assert_eq!(groups.len(), 1);
            assert_eq!(told(Some(groups[0].new_row())), Some(new_row), "{asked:?}");
            assert_eq!(told(groups[0].change()), change, "{asked:?}");
        }
    }

    #[test]
    fn an_instant_and_a_span_are_compared_by_the_database() {
        let at = Timestamp::from_micros(7);
        let jobs = [job(5, "k", Keep), job(0, "k", Debounce).run_at(at)];
        let row = groups(&jobs)[0].new_row();
        assert_eq!(row.due, Due { at: Some(at), delay: Some(Duration::from_secs(5)) });
    }

    #[test]
    fn each_answer_keeps_its_place() {
        let plain = || NewJob { unique: None, ..job(0, "a", Keep) };
        let jobs = [
            job(1, "b", Keep),
            plain(),
            job(2, "a", Replace),
            plain(),
            job(3, "b", Replace),
            job(4, "a", Keep),
        ];
        let groups = groups(&jobs);
        let places = |group: &Group<'_>| group.answers(Found::Busy(0)).map(|(n, _)| n).collect::<Vec<_>>();
        assert_eq!(groups.iter().map(places).collect::<Vec<_>>(), [vec![0, 4], vec![1], vec![2, 5], vec![3]]);

        let id = 7;
        let (new, duplicate, replaced) =
            (Enqueued::New { id }, Enqueued::Duplicate { id }, Enqueued::Replaced { id });
        let answers = |n: usize, found| groups[n].answers(found).map(|(_, it)| it).collect::<Vec<_>>();
        assert_eq!(answers(0, Found::New(id)), [new, replaced]);
        assert_eq!(answers(0, Found::Waiting(id)), [duplicate, replaced]);
        assert_eq!(answers(2, Found::New(id)), [new, duplicate]);
        assert_eq!(answers(2, Found::Busy(id)), [duplicate, duplicate]);
    }
}
