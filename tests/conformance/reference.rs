//! The claim in three plain steps behaves as the claim in one statement does, in every scenario.

use claimstore::Job;
use claimstore_testkit::reference::ThreeSteps;
use claimstore_testkit::{for_each_scenario, scenario};
use claimstore_tests::harness::Db;
use diesel::pg::Pg;

macro_rules! over_three_steps {
    ([] $($area:ident { $($name:ident)* })*) => { $(
        mod $area {
            use super::*;
            $(
                #[test]
                fn $name() {
                    scenario::$area::$name(&Db::<ThreeSteps, Pg>::wrapped::<Job>(ThreeSteps));
                }
            )*
        }
    )* };
}

for_each_scenario!([over_three_steps]);
