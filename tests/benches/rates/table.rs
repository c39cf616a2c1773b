//! The printed result.

/// Rates and ratios, a line for each run.
pub(crate) struct Table;

impl Table {
    pub(crate) fn of(backend: &str) -> Table {
        println!("\n{backend}: jobs claimed and completed a second, median of pairs");
        println!("{:<52} {:>10} {:>10} {:>7}", "", "ours", "raw", "ratio");
        Table
    }

    pub(crate) fn row(&mut self, name: &str, pairs: Vec<(f64, f64)>) {
        let ours = median(pairs.iter().map(|(ours, _)| *ours));
        let raw = median(pairs.iter().map(|(_, raw)| *raw));
        let ratio = median(pairs.iter().map(|(ours, raw)| ours / raw));
        println!("{name:<52} {ours:>10.0} {raw:>10.0} {ratio:>7.2}");
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
