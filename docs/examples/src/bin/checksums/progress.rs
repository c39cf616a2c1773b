//! How far it is: a bar on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::Failure;
use crate::database::Database;

/// Between two counts, at least.
const EVERY: Duration = Duration::from_millis(100);

/// Counting a long table takes long. This many times as long passes before it is counted again.
const SPARING: u32 = 20;

pub(crate) struct Progress {
    total: u64,
    /// `None` where standard error is no terminal.
    bar: Option<ProgressBar>,
    /// Jobs that waited or ran at the last count.
    open: u64,
    next_count: Instant,
    /// Tenths that have been said.
    said: u64,
}

impl Progress {
    pub(crate) fn new(total: u64) -> Self {
        let bar = stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:40} {pos}/{len} files  {elapsed}");
            ProgressBar::new(total).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { total, bar, open: total, next_count: Instant::now(), said: 0 }
    }

    /// Counts now and then, and shows what is done.
    pub(crate) fn show(&mut self, database: &dyn Database) -> Result<(), Failure> {
        let begun = Instant::now();
        if begun < self.next_count {
            return Ok(());
        }
        self.open = database.open_jobs()?;
        self.next_count = Instant::now() + EVERY.max(begun.elapsed() * SPARING);
        let done = self.total.saturating_sub(self.open);
        let tenths = (done * 10).checked_div(self.total).unwrap_or(10);
        match &self.bar {
            Some(bar) => bar.set_position(done),
            None if tenths > self.said => eprintln!("{done} of {} files", self.total),
            None => {}
        }
        self.said = self.said.max(tenths);
        Ok(())
    }

    /// Whether no job was left at the last count.
    pub(crate) fn is_complete(&self) -> bool {
        self.open == 0
    }

    pub(crate) fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{line}")),
            None => eprintln!("{line}"),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }
}
