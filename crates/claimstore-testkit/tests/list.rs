//! The lists of scenarios name each of them.

use claimstore_testkit::{for_each_inspect_scenario, for_each_operator_scenario, for_each_scenario};

macro_rules! names {
    ([] $($area:ident { $($name:ident)* })*) => {
        &[$((stringify!($area), &[$(stringify!($name)),*] as &[&str])),*]
    };
}

type List = &'static [(&'static str, &'static [&'static str])];

const LISTS: [List; 3] =
    [for_each_scenario!([names]), for_each_inspect_scenario!([names]), for_each_operator_scenario!([names])];

#[test]
fn every_public_scenario_is_listed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/scenario");
    for file in std::fs::read_dir(folder).expect("the scenarios' folder") {
        let path = file.expect("an entry").path();
        let area = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a text");
        let written: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("pub fn "))
            .map(|rest| rest.split(['<', '(']).next().expect("a name"))
            .collect();
        let listed = LISTS
            .into_iter()
            .flatten()
            .find(|(name, _)| *name == area)
            .map_or(&[] as &[&str], |(_, names)| names);
        assert_eq!(written, listed, "{area}");
    }
}
