//! The list of scenarios, which exists once.

/// Calls a macro of yours with every scenario, grouped by module.
///
/// `for_each_scenario!([callback] anything)` expands to
/// `callback! { [anything] claim { a_missing_row_is_refused … } ready { … } … }`. With rstest, over
/// several harnesses:
///
/// ```
/// use claimstore_testkit::{Harness, for_each_scenario, scenario};
///
/// macro_rules! over_all_stores {
///     ([] $($area:ident { $($name:ident)* })*) => { $(
///         mod $area {
///             use super::*;
///             $(
///                 // #[rstest]
///                 // #[case::jobs(MemoryHarness::jobs())]
///                 // #[case::sqlite(sqlite_file())]
///                 fn $name<H: Harness>(/* #[case] */ h: H) {
///                     scenario::$area::$name(&h);
///                 }
///             )*
///         }
///     )* };
/// }
/// for_each_scenario!([over_all_stores]);
/// # fn main() {}
/// ```
///
/// For one harness [`conformance!`](crate::conformance) is shorter.
#[macro_export]
macro_rules! for_each_scenario {
    ([$($callback:tt)*] $($with:tt)*) => {
        $($callback)*! {
            [$($with)*]
            claim {
                guarantees_fit_the_table
                a_pending_row_is_claimed_by_key
                a_claim_is_stored_whole_at_once
                each_row_is_won_once
                a_missing_row_is_refused
                a_held_row_says_by_whom_and_until_when
                an_expired_row_is_held_until_it_is_recovered
                a_row_in_another_state_is_not_pending
                a_row_due_later_says_when
                a_row_with_a_spent_budget_is_exhausted
                a_row_whose_fence_cannot_rise_is_exhausted
                every_wait_mode_claims_a_free_row
                each_claim_raises_the_fence_by_a_random_step
                a_dropped_claim_leaves_its_row_running
            }
            ready {
                rows_come_in_the_declared_order
                never_more_than_the_limit
                an_empty_table_gives_an_empty_batch
                each_claim_of_a_batch_is_stored
                rows_due_later_are_passed_over
                rows_that_can_never_be_claimed_take_no_slot
                an_exhausted_row_is_nothing_to_wait_for
                a_worn_out_fence_does_not_stop_the_others
                full_counters_do_not_stop_the_others
                only_the_named_queues_are_claimed
                several_queues_share_one_limit
            }
            renew {
                renewing_moves_the_lease_and_keeps_the_fence
                a_lease_may_be_shortened
                an_expired_claim_may_be_renewed
                a_settled_claim_cannot_be_renewed
                a_lost_claim_cannot_be_renewed
                renewals_are_answered_in_the_order_given
                renewing_nothing_is_answered_with_nothing
            }
            settle {
                completing_writes_what_the_verdict_says
                failing_writes_what_the_verdict_says
                releasing_writes_what_the_verdict_says
                snoozing_writes_what_the_verdict_says
                failing_with_a_delay_waits_that_long
                failing_for_good_is_dead_or_refused
                the_last_failure_makes_the_row_dead
                releasing_often_costs_no_failure
                an_expired_claim_may_settle
                the_same_verdict_again_is_a_success
                another_verdict_afterwards_is_refused
                a_token_survives_being_sent
                any_error_text_can_be_stored
            }
            fenced {
                an_old_generation_can_do_nothing
                a_claim_taken_away_is_lost_before_the_next
                a_late_failure_lets_nobody_else_in
                a_deleted_row_fences_its_holder
                a_reissued_key_is_not_the_old_claim
                a_refused_late_writer_is_not_forgotten
                only_late_writers_are_recorded
                the_right_fence_under_another_name_is_refused
            }
            recover {
                nothing_is_recovered_before_the_grace
                the_lease_end_in_the_row_decides
                a_recovered_row_waits_under_a_new_fence
                a_spent_crash_budget_gives_the_row_up
                a_spent_row_may_be_parked_for_a_person
                unsafe_work_is_not_repeated
                rows_left_alone_hide_nothing
                never_more_than_the_limit
                the_name_of_the_holder_keeps_nothing_alive
                an_owner_that_came_first_is_left_alone
                a_preview_writes_nothing
                completing_and_recovering_exclude_each_other
            }
            batch {
                mixed_verdicts_are_all_written
                a_lost_claim_holds_up_no_other
                one_claim_twice_in_a_batch_is_refused
                settling_nothing_is_answered_with_nothing
                a_large_batch_is_settled_whole
                settling_and_claiming_does_both
                a_released_row_does_not_come_back_at_once
                a_released_row_takes_no_place_of_the_next
                a_lost_answer_is_not_lost_to_the_claiming_half
                a_late_half_does_not_hold_up_the_claiming_half
                a_refused_request_does_not_lose_the_results
            }
            input {
                a_limit_outside_its_range_is_refused
                an_empty_list_of_queues_is_refused
                a_bad_queue_name_is_refused
                a_queue_name_is_only_a_name
                a_span_outside_its_range_is_refused
                a_bad_renewal_is_refused
                a_bad_delay_is_refused
                a_bad_verdict_in_a_batch_is_refused
                a_bad_recovery_is_refused
            }
            race {
                one_row_is_won_by_one_thread
                the_next_row_is_won_by_one_thread
                many_rows_are_each_won_once
                all_work_is_done_once
                completing_races_recovering
                two_sweepers_recover_each_row_once
            }
        }
    };
}

/// Makes a module with every scenario as a test of its own, over a fresh harness each.
///
/// ```
/// # // The module is only compiled under test.
/// claimstore_testkit::conformance!(in_memory, claimstore_testkit::MemoryHarness::jobs());
/// ```
///
/// The expression is evaluated once for each test, in the scope of the call.
#[macro_export]
macro_rules! conformance {
    ($module:ident, $harness:expr) => {
        #[cfg(test)]
        mod $module {
            use super::*;
            $crate::for_each_scenario!([$crate::__tests_of] $harness);
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __tests_of {
    ([$harness:expr] $($area:ident { $($name:ident)* })*) => { $(
        mod $area {
            #[allow(unused_imports)]
            use super::*;
            $(
                #[test]
                fn $name() {
                    $crate::scenario::$area::$name(&$harness);
                }
            )*
        }
    )* };
}
