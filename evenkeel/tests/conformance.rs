//! The cases of monitors, conditions, external scheduling, tasks and coroutines in C∀ and µC++,
//! each with its test, or the reason why it does not exist here.
//!
//! A to E are from the sources and tests of C∀: entry, internal scheduling, external scheduling,
//! tasks, coroutines. F is what C∀ has besides: other locks, channels, futures, selection among
//! them, actors. G is the special case of futures, which can be dropped where a thread cannot. H is
//! from µC++'s reference manual.

use self::Place::{Absent, Docs, Test};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The place of a case.
enum Place {
    /// This function of this file of `tests` tests it.
    Test(&'static str, &'static str),
    /// The compiler refuses it, as shown by an example with this line in this file of `src`.
    Docs(&'static str, &'static str),
    /// It does not exist, for this reason.
    Absent(&'static str),
}

const DETECT: &str = "detect.rs";
const ENTRY: &str = "monitor/entry.rs";
const INTERNAL: &str = "monitor/internal.rs";
const BARRIER: &str = "monitor/barrier.rs";
const EXTERNAL: &str = "monitor/external.rs";
const SERVER: &str = "monitor/server.rs";
const TIME: &str = "monitor/time.rs";
const TASKS: &str = "task/conformance.rs";
const COROUTINE: &str = "coroutine.rs";
const CANCEL: &str = "monitor/cancel.rs";
const DROPS: &str = "monitor/drops.rs";
const UCPP: &str = "monitor/ucpp.rs";
/// Actors have a package of their own.
const ACTORS: &str = "../../evenkeel-actor/tests/actors/basics.rs";
const CONTAINED: &str = "../../evenkeel-actor/tests/actors/contained.rs";
const PARTS: &str = "monitor/parts.rs";
const EXTEND: &str = "monitor/extend.rs";

const SELECTION: &str =
    "selection among locks, futures, channels and times is another matter than monitors";
const CHANNELS: &str = "channels are another matter than monitors";
const FUTURES: &str = "Rust's futures are another thing than C∀'s, which are single results";

/// The cases; some have several places.
const CASES: &[(&str, &[Place])] = &[
    // Entry.
    ("A1", &[Test(ENTRY, "a1_reentrant_entry")]),
    ("A2", &[Test(ENTRY, "a2_pairs_of_three")]),
    ("A3", &[Test(ENTRY, "a3_both_orders_are_one")]),
    ("A4", &[Test(ENTRY, "a4_sets_that_share_one")]),
    ("A5", &[Docs("sync/monitor/mod.rs", "lock_all((&one, &mutex))")]),
    (
        "A6",
        &[
            Test(ENTRY, "a6_values_come_in_the_order_of_the_set"),
            Docs("sync/monitor/mod.rs", "lock_all((&one, (&two, &three)))"),
        ],
    ),
    ("A7", &[Test(ENTRY, "a7_one_lock")]),
    (
        "A8",
        &[
            Test(ENTRY, "a8_nested_superset"),
            Test(EXTEND, "a8_an_extension_is_left_before_the_rest"),
        ],
    ),
    (
        "A9",
        &[Absent(
            "a constructor is a function like any other, and no other task can reach its result",
        )],
    ),
    ("A10", &[Docs("sync/monitor/held.rs", "A held monitor cannot be dropped")]),
    ("A11", &[Docs("sync/monitor/held.rs", "A held monitor cannot be dropped")]),
    ("A12", &[Docs("sync/monitor/enter.rs", "A monitor with an entrant cannot be dropped")]),
    ("A13", &[Test(ENTRY, "a13_the_same_monitor_twice")]),
    // Internal scheduling.
    ("B1", &[Test(INTERNAL, "b1_conditions_of_many_sets")]),
    ("B2", &[Test(INTERNAL, "b2_no_task_barges_in")]),
    // Disjoint signalling: a signaller leaves the monitors of the signalled one by one.
    ("B3", &[Test(PARTS, "b3_no_task_barges_in_between_two_releases")]),
    ("B4", &[Test(INTERNAL, "b4_front_is_the_datum_of_the_first")]),
    ("B5", &[Test(PARTS, "b5_two_holders_free_a_pair_one_after_the_other")]),
    ("B6", &[Test(PARTS, "b6_a_part_signals_its_own_waiters_beside_those_of_the_whole")]),
    ("B7", &[Test(INTERNAL, "b7_the_signaller_goes_on")]),
    ("B8", &[Test(INTERNAL, "b8_signalled_ones_come_before_entrants")]),
    ("B9", &[Test(INTERNAL, "b9_signalled_ones_go_in_order")]),
    ("B10", &[Test(INTERNAL, "b10_waiters_are_signalled_in_the_order_of_their_waits")]),
    ("B11", &[Test(INTERNAL, "b11_signal_all")]),
    ("B12", &[Test(INTERNAL, "b12_no_waiter_wakes_for_nothing")]),
    ("B13", &[Test(INTERNAL, "b13_bounded_buffer")]),
    (
        "B15",
        &[
            Test(INTERNAL, "b15_a_condition_belongs_to_one_set"),
            Test(INTERNAL, "b15_a_set_that_moves_is_the_same_set"),
            Test(PARTS, "b15_a_holder_of_a_part_may_not_signal_for_the_whole"),
        ],
    ),
    ("B16", &[Docs("sync/monitor/condition.rs", "Only a holder can wait")]),
    (
        "B17",
        &[
            Test(INTERNAL, "b17_a_wait_leaves_its_own_set_alone"),
            Test(EXTEND, "b17_a_wait_in_an_extended_hold_leaves_all_of_it"),
        ],
    ),
    (
        "B18",
        &[Absent(
            "a monitor is not entered several times: the hold is passed down, and a wait takes it",
        )],
    ),
    ("B20", &[Test(BARRIER, "b20_generations_do_not_mix")]),
    ("B21", &[Test(BARRIER, "b21_the_last_arrival_acts_before_the_others_go_on")]),
    ("B22", &[Test(BARRIER, "b22_the_order_of_arrival")]),
    ("B23", &[Test(BARRIER, "b23_sleepers_at_a_barrier")]),
    // External scheduling.
    ("C1", &[Test(EXTERNAL, "c1_no_task_barges_in")]),
    ("C2", &[Test(EXTERNAL, "c2_closed_clauses"), Test(SERVER, "c2_operations_in_turns")]),
    ("C3", &[Test(EXTERNAL, "c3_blocks_go_with_calls")]),
    ("C4", &[Test(EXTERNAL, "c4_the_order_of_clauses_is_their_priority")]),
    ("C5", &[Test(EXTERNAL, "c5_else_and_closed_clauses")]),
    ("C6", &[Test(EXTERNAL, "c5_else_and_closed_clauses")]),
    ("C7", &[Test(EXTERNAL, "c5_else_and_closed_clauses")]),
    ("C8", &[Test(EXTERNAL, "c5_else_and_closed_clauses")]),
    ("C10", &[Test(EXTERNAL, "c10_a_call_from_the_middle_of_the_queue")]),
    ("C12", &[Test(EXTERNAL, "c12_calls_of_the_same_set")]),
    (
        "C13",
        &[Absent("a clause names an operation and no set: it is of the whole set that is held")],
    ),
    (
        "C14",
        &[
            Test(EXTERNAL, "c14_an_entry_without_a_name_is_not_accepted"),
            Test(EXTEND, "c14_an_extension_is_not_accepted"),
        ],
    ),
    (
        "C15",
        &[
            Test(EXTERNAL, "c15_the_end_comes_last"),
            Test(SERVER, "c15_an_object_from_its_beginning_to_its_end"),
        ],
    ),
    ("C16", &[Test(EXTERNAL, "c16_a_server")]),
    ("C17", &[Test(SERVER, "c17_a_busy_server_ends")]),
    ("C18", &[Test(SERVER, "c18_results_come_at_the_end")]),
    ("C19", &[Test(EXTERNAL, "c19_the_acceptor_goes_on_when_the_call_waits")]),
    (
        "C20",
        &[
            Test(EXTERNAL, "c20_a_broken_call_has_its_block"),
            Test(CANCEL, "g7_accepted_call_panics"),
        ],
    ),
    ("C21", &[Test(EXTERNAL, "c21_bounded_buffer")]),
    ("C22", &[Test(EXTERNAL, "c22_syntax")]),
    (
        "C23",
        &[
            Test(EXTERNAL, "c23_time_and_calls"),
            Test(TIME, "c23_a_timeout_without_a_call"),
            Test(TIME, "c23_calls_at_the_deadline"),
        ],
    ),
    // A task stays on its runtime.
    ("C24", &[Test(TASKS, "c24_a_coroutine_goes_from_runtime_to_runtime")]),
    // Tasks.
    ("D1", &[Test(TASKS, "d1_unpark_before_the_first_park")]),
    ("D2", &[Test(TASKS, "d2_parks_and_unparks_at_random")]),
    ("D3", &[Test(TASKS, "d3_unpark_oneself_and_park_after_other_turns")]),
    ("D4", &[Test(TASKS, "d4_results_come_through_joins")]),
    ("D5", &[Test(TASKS, "d5_clusters_come_and_go")]),
    ("D6", &[Test(TASKS, "d6_a_leader_spins_until_all_have_seen_it")]),
    // There is no preemption.
    ("D7", &[Test(TASKS, "d7_turns_by_yielding")]),
    ("D8", &[Test(TASKS, "d8_call_once")]),
    ("D9", &[Test(TASKS, "d9_a_fast_and_a_slow_sleeper")]),
    ("D10", &[Test(TASKS, "d10_blocks_that_run_together_end_together")]),
    // Coroutines.
    ("E1", &[Test(COROUTINE, "e1_two_fibonacci_coroutines")]),
    ("E2", &[Test(COROUTINE, "e2_running_total_suspends_in_a_helper")]),
    ("E3", &[Test(COROUTINE, "e3_line_formatter_ends_its_line_when_it_is_dropped")]),
    ("E4", &[Test(COROUTINE, "e4_ping_pong_ends_at_the_starter")]),
    ("E5", &[Test(COROUTINE, "e5_producer_and_consumer_stop_in_order")]),
    ("E6", &[Test(COROUTINE, "e6_drop_runs_the_destructors_of_a_suspended_body")]),
    ("E7", &[Test(COROUTINE, "e7_resume_after_the_end_is_an_error")]),
    ("E8", &[Test(COROUTINE, "e8_a_suspender_that_escapes_is_useless")]),
    ("E10", &[Test(COROUTINE, "e10_a_body_publishes_itself_after_it_is_suspended")]),
    ("E11", &[Test(COROUTINE, "e11_an_exception_goes_out_through_nested_coroutines")]),
    ("E12", &[Test(COROUTINE, "e12_exceptions_that_are_resumed_drive_fibonacci")]),
    (
        "E13",
        &[Test(
            COROUTINE,
            "e13_a_coroutine_that_cancels_itself_gives_the_exception_to_its_resumer",
        )],
    ),
    ("E14", &[Test(COROUTINE, "e14_a_task_that_cancels_itself_gives_the_exception_to_its_joiner")]),
    // Other locks, channels, selection; actors, which end by an order to their mailboxes, not by a
    // special message.
    ("F1", &[Absent("a condition belongs to monitors, and there is one kind of them")]),
    ("F2", &[Test(TIME, "f2_signals_at_the_deadline")]),
    ("F3", &[Test(ENTRY, "a7_one_lock")]),
    ("F4", &[Absent(SELECTION)]),
    ("F5", &[Absent(FUTURES)]),
    ("F6", &[Absent(FUTURES)]),
    ("F7", &[Absent(FUTURES)]),
    ("F8", &[Absent(FUTURES)]),
    ("F9", &[Absent(SELECTION)]),
    ("F10", &[Absent(SELECTION)]),
    ("F11", &[Absent(SELECTION)]),
    ("F12", &[Absent(SELECTION)]),
    ("F13", &[Absent(SELECTION)]),
    ("F14", &[Absent(SELECTION)]),
    ("F15", &[Absent(SELECTION)]),
    ("F16", &[Absent(CHANNELS)]),
    (
        "F17",
        &[
            Test(
                ACTORS,
                "messages_of_one_sender_are_handled_in_order_through_slots_queue_and_batch",
            ),
            Test(ACTORS, "a_drain_handles_what_is_there_and_takes_nothing_more"),
            Test(ACTORS, "a_runtime_that_ends_ends_its_actors"),
            Test(
                CONTAINED,
                "the_value_of_an_actor_that_panics_is_dropped_once_while_its_panic_unwinds",
            ),
        ],
    ),
    (
        "F18",
        &[Absent(
            "there is no lock-free stack; the queues of the scheduler have models of their own",
        )],
    ),
    // Futures that are dropped.
    (
        "G1",
        &[
            Test(CANCEL, "g1_entry_dropped_in_the_queue"),
            Test(CANCEL, "g1_end_dropped"),
            Test(CANCEL, "g1_bulk_entry_dropped_half_way"),
        ],
    ),
    (
        "G2",
        &[
            Test(EXTEND, "g2_an_extension_that_is_dropped_leaves_everything"),
            Test(EXTEND, "g2_an_extension_that_runs_out_of_time_gives_the_hold_back"),
        ],
    ),
    (
        "G3",
        &[
            Test(CANCEL, "g3_wait_dropped_before_its_first_poll"),
            Test(CANCEL, "g3_wait_dropped_in_the_queue"),
            Test(DROPS, "signals_pass_over_waiters_that_go_away"),
        ],
    ),
    (
        "G4",
        &[
            Test(CANCEL, "g4_wait_dropped_once_it_is_signalled"),
            Test(CANCEL, "g4_wait_dropped_with_its_hold"),
            Test(CANCEL, "g4_wait_in_a_set_dropped"),
            Test(PARTS, "g4_the_next_waiter_of_a_divided_set_takes_the_place_of_one_that_gives_up"),
        ],
    ),
    (
        "G5",
        &[
            Test(CANCEL, "g5_signal_block_dropped"),
            Test(CANCEL, "g5_signalled_by_signal_block_and_dropped"),
        ],
    ),
    (
        "G7",
        &[
            Test(CANCEL, "g7_accepted_call_dropped_inside"),
            Test(CANCEL, "g7_accepted_call_dropped_with_its_hold"),
            Test(CANCEL, "g7_accepted_call_dropped_where_it_has_given_its_hold_to_a_future"),
        ],
    ),
    ("G8", &[Test(CANCEL, "g8_a_hold_goes_to_another_task")]),
    (
        "G9",
        &[
            Test(CANCEL, "g9_forgotten_futures_and_holds"),
            Test(PARTS, "g9_a_part_that_is_forgotten_leaves_the_other_ones_to_those_that_give_up"),
        ],
    ),
    ("G10", &[Test(CANCEL, "g10_a_runtime_dropped_with_tasks_that_wait")]),
    ("G11", &[Test(CANCEL, "g11_polls_for_nothing")]),
    // µC++.
    ("H1", &[Test(UCPP, "h1_a_call_that_unwinds_breaks_its_rendezvous")]),
    ("H2", &[Test(EXTERNAL, "c19_the_acceptor_goes_on_when_the_call_waits")]),
    ("H3", &[Test(UCPP, "h3_several_operations_in_a_clause")]),
    ("H4", &[Test(UCPP, "h4_timeout_and_else")]),
    ("H5", &[Test(EXTERNAL, "c5_else_and_closed_clauses")]),
    (
        "H6",
        &[
            Test(UCPP, "h6_a_condition_belongs_to_the_object_of_its_first_wait"),
            Docs("sync/monitor/condition.rs", "A condition with a waiter cannot be dropped"),
        ],
    ),
    ("H7", &[Docs("sync/monitor/enter.rs", "A monitor with an entrant cannot be dropped")]),
    ("H8", &[Test(UCPP, "h8_holds_are_left_in_any_order")]),
    ("H9", &[Test(UCPP, "h9_a_runtime_ends_before_its_tasks")]),
    // Of some tasks as well as of all.
    ("H10", &[Test(DETECT, "two_monitors_crosswise"), Test(DETECT, "tasks_that_join_each_other")]),
    ("H11", &[Docs("coroutine/frame.rs", "scope.spawn(|| coroutine.resume(()));")]),
];

/// The number of cases of each letter, and the numbers without a case.
const NUMBERS: [(char, usize, &[usize]); 8] = [
    ('A', 13, &[]),
    ('B', 23, &[14, 19]),
    ('C', 24, &[9, 11]),
    ('D', 10, &[]),
    ('E', 14, &[9]),
    ('F', 18, &[]),
    ('G', 11, &[6]),
    ('H', 11, &[]),
];

fn read(folder: &str, file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_case_is_here_once() {
    let wanted = NUMBERS.iter().flat_map(|&(letter, last, none)| {
        (1..=last)
            .filter(|number| !none.contains(number))
            .map(move |number| format!("{letter}{number}"))
    });
    assert!(wanted.eq(CASES.iter().map(|(case, _)| String::from(*case))));
}

#[test]
fn every_case_is_where_it_is_said_to_be() {
    for (case, places) in CASES {
        assert!(!places.is_empty(), "{case} is nowhere");
        for place in *places {
            match place {
                Test(file, function) => {
                    let head = format!("#[test]\nfn {function}() {{");
                    assert!(read("tests", file).contains(&head), "{case}: no {function} in {file}");
                }
                Docs(file, line) => {
                    let text = read("src", file);
                    let at =
                        text.find(line).unwrap_or_else(|| panic!("{case}: no {line} in {file}"));
                    // The line that begins the example is just above, or just below.
                    let around =
                        &text.as_bytes()[at.saturating_sub(300)..(at + 200).min(text.len())];
                    let around = String::from_utf8_lossy(around);
                    assert!(around.contains("```compile_fail"), "{case}: {line} compiles");
                }
                Absent(reason) => assert!(!reason.is_empty(), "{case}: why is it not here"),
            }
        }
    }
}

/// The list contains every test with a case's name, so that no new test is left out.
#[test]
fn every_test_of_a_case_is_in_the_list() {
    let files = [
        ENTRY, INTERNAL, BARRIER, EXTERNAL, SERVER, TIME, TASKS, COROUTINE, CANCEL, DROPS, UCPP,
        PARTS, EXTEND,
    ];
    let letters: BTreeSet<_> =
        NUMBERS.iter().map(|(letter, ..)| letter.to_ascii_lowercase()).collect();
    for file in files {
        for line in read("tests", file).lines() {
            let Some(name) = line.strip_prefix("fn ") else { continue };
            let (case, _) = name.split_once('_').unwrap_or((name, ""));
            let mut rest = case.chars();
            let is_case = rest.next().is_some_and(|letter| letters.contains(&letter))
                && !rest.as_str().is_empty()
                && rest.all(|digit| digit.is_ascii_digit());
            let named = case.to_ascii_uppercase();
            assert!(
                !is_case || CASES.iter().any(|(case, _)| *case == named) || is_ours(&named),
                "{name}"
            );
        }
    }
}

/// Cases that neither C∀ nor µC++ has a number for: first come, first served; nested accepts; an
/// accept that is dropped.
fn is_ours(case: &str) -> bool {
    ["A14", "C9", "G6"].contains(&case)
}
