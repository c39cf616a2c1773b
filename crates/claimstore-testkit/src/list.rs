//! The lists of scenarios, each of which exists once.

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

/// The same with every scenario of looking at rows and of deleting what is old, for stores that are also
/// [`InspectStore`](claimstore_core::InspectStore) and [`RetainStore`](claimstore_core::RetainStore). They fit every
/// table.
#[macro_export]
macro_rules! for_each_inspect_scenario {
    ([$($callback:tt)*] $($with:tt)*) => {
        $($callback)*! {
            [$($with)*]
            inspect {
                a_row_is_shown_as_it_stands
                the_last_holder_of_an_ended_row_is_shown
                a_missing_row_is_not_shown
                looking_changes_nothing
                a_ready_row_is_explained
                a_row_due_later_is_explained
                an_exhausted_row_is_explained
                a_held_row_is_explained
                an_abandoned_row_is_explained
                an_ended_row_is_explained
            }
            page {
                pending_rows_come_by_due_time
                running_rows_come_by_the_end_of_their_lease
                ended_rows_come_latest_first
                rows_without_a_time_come_last
                uncertain_rows_come_by_key
                rows_of_several_states_come_newest_first
                a_full_last_page_is_the_last
                a_page_may_be_of_one_queue_or_kind
                a_page_may_be_of_one_worker
                a_page_may_be_of_old_rows
                a_bad_page_is_refused
            }
            counts {
                counts_are_exact_below_the_cap
                counts_above_the_cap_say_so
                every_state_of_the_table_is_told
                the_oldest_due_row_is_told
                what_was_completed_lately_is_told
                a_bad_cap_is_refused
            }
            retain {
                old_rows_of_the_named_state_go
                each_state_has_its_own_age
                what_is_not_over_is_kept
                what_is_not_named_is_kept
                batches_are_bounded_and_oldest_first
                old_events_go
                a_bad_retention_is_refused
            }
        }
    };
}

/// The same with every scenario of operators, for stores that are also
/// [`OperateStore`](claimstore_core::OperateStore) and [`QueueStore`](claimstore_core::QueueStore): over tables with
/// events and queues.
#[macro_export]
macro_rules! for_each_operator_scenario {
    ([$($callback:tt)*] $($with:tt)*) => {
        $($callback)*! {
            [$($with)*]
            operate {
                each_verb_begins_from_its_own_states
                what_the_table_cannot_hold_is_refused
                a_retried_row_begins_anew
                a_retried_pending_row_is_due_at_once
                an_ended_row_is_not_claimed_again
                an_uncertain_row_is_decided
                a_requeued_row_waits_for_its_new_time
                a_new_priority_leaves_the_time
                a_recovery_by_hand_costs_a_crash
                a_recovery_by_hand_keeps_to_its_policy
                a_bad_action_is_refused
                a_deleted_row_leaves_only_its_events
            }
            force {
                a_live_claim_is_not_ended_without_force
                force_ends_a_live_claim
                an_expired_claim_needs_no_force
                a_holder_that_settled_first_has_its_way
                a_changed_row_is_shown_as_it_is_now
                one_look_acts_once
                a_missing_row_is_said_to_be_missing
                a_fence_that_cannot_rise_stops_an_action
                the_late_verdict_is_shown_for_the_decision
                what_was_ended_may_be_begun_again
            }
            revive {
                a_deleted_row_never_comes_back
                a_cancelled_row_stays_cancelled
                the_holder_of_a_deleted_row_is_told
                a_reissued_key_is_not_the_deleted_row
            }
            bulk {
                a_batch_is_bounded_and_the_next_goes_on
                rows_that_stay_in_the_filter_are_met_once
                a_preview_writes_nothing
                everything_has_to_be_said
                a_dead_workers_rows_are_freed_and_no_others
                a_refused_row_holds_up_no_other
                each_condition_narrows_what_is_done
                each_row_of_a_batch_is_recorded
                a_bad_batch_is_refused
                force_in_a_batch_fences_every_holder
            }
            probe {
                each_answer_is_acted_on
                a_row_decided_meanwhile_is_left_alone
                a_round_is_bounded_and_the_next_goes_on
            }
            history {
                a_row_that_goes_well_writes_nothing
                a_failure_is_recorded
                the_failures_of_a_batch_are_recorded
                a_failure_while_claiming_is_recorded
                a_recovery_is_recorded
                a_late_writer_is_told
                an_operators_action_is_recorded
                an_event_says_when_and_of_which_row
                the_last_events_come_first
                every_transition_may_be_recorded
                what_changes_nothing_is_not_recorded
                acting_in_vain_is_not_recorded
            }
            pause {
                a_paused_queue_gives_no_row
                a_paused_kind_gives_no_row
                a_row_waits_for_its_queue_and_its_kind
                a_pause_is_of_that_name_only
                a_paused_row_is_nothing_to_wait_for
                a_pause_is_told_before_the_due_time
                held_claims_go_on_in_a_pause
                settling_and_claiming_passes_a_pause_over
                a_second_pause_keeps_the_first_reason
                what_is_set_is_told_in_order
                a_paused_row_is_explained
                a_bad_name_is_refused
            }
            discard {
                a_completed_row_is_deleted
                only_completed_rows_are_deleted
                a_mixed_batch_deletes_what_it_should
                settling_and_claiming_deletes_as_well
                what_was_set_at_the_claim_holds
                a_resumed_claim_deletes_as_well
                a_lost_claim_deletes_nothing
                a_repeated_completion_finds_no_row
                what_is_kept_is_told
            }
            contest {
                force_and_completion_exclude_each_other
                an_action_and_a_claim_exclude_each_other
                an_action_and_a_sweep_exclude_each_other
                two_operators_act_once
                two_operators_in_bulk_change_each_row_once
                nothing_is_claimed_once_a_pause_has_returned
            }
        }
    };
}

/// Makes a module with every scenario as a test of its own, over a fresh harness each.
///
/// ```
/// # // The module is only compiled under test.
/// use claimstore_testkit::{MemoryHarness, conformance};
///
/// conformance!(claims, MemoryHarness::jobs());
/// conformance!(claims_and_looks, MemoryHarness::jobs(), inspect);
/// conformance!(everything, MemoryHarness::jobs(), operators);
/// ```
///
/// Without a word behind the harness only claiming, settling and recovering is tested; `inspect` adds
/// [`for_each_inspect_scenario!`](crate::for_each_inspect_scenario), `operators` also
/// [`for_each_operator_scenario!`](crate::for_each_operator_scenario). The expression is evaluated once for each
/// test, in the scope of the call.
#[macro_export]
macro_rules! conformance {
    ($module:ident, $harness:expr) => {
        #[cfg(test)]
        mod $module {
            use super::*;
            $crate::for_each_scenario!([$crate::__tests_of] $harness);
        }
    };
    ($module:ident, $harness:expr, inspect) => {
        #[cfg(test)]
        mod $module {
            use super::*;
            $crate::for_each_scenario!([$crate::__tests_of] $harness);
            $crate::for_each_inspect_scenario!([$crate::__tests_of] $harness);
        }
    };
    ($module:ident, $harness:expr, operators) => {
        #[cfg(test)]
        mod $module {
            use super::*;
            $crate::for_each_scenario!([$crate::__tests_of] $harness);
            $crate::for_each_inspect_scenario!([$crate::__tests_of] $harness);
            $crate::for_each_operator_scenario!([$crate::__tests_of] $harness);
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
