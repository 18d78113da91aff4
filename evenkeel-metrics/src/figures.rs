//! The figures of a runtime and of a processor: one for each field of their snapshots, but for the
//! times and the histogram.

use crate::series::{Figure, Value};
use evenkeel::metrics::{ProcessorMetrics, RuntimeMetrics};

const fn count<T>(name: &'static str, help: &'static str, value: fn(&T) -> u64) -> Figure<T> {
    Figure { name, help, value: Value::Count(value) }
}

const fn number<T>(name: &'static str, help: &'static str, value: fn(&T) -> usize) -> Figure<T> {
    Figure { name, help, value: Value::Number(value) }
}

const fn time<T>(
    name: &'static str,
    help: &'static str,
    value: fn(&T) -> std::time::Duration,
) -> Figure<T> {
    Figure { name, help, value: Value::Time(value) }
}

pub(crate) const OF_RUNTIME: [Figure<RuntimeMetrics>; 10] = [
    number("evenkeel_workers", "Workers of the runtime", |r| r.processors.len()),
    number("evenkeel_sleeping", "Processors that are asleep", |r| r.sleeping),
    number("evenkeel_searching", "Processors that search for work", |r| r.searching),
    count(
        "evenkeel_spawned_outside_total",
        "Tasks and blocking closures spawned from outside, calls, parts of broadcasts, jobs \
         without a joiner, and scopes of threads outside, once for each time that they have jobs",
        |r| r.spawned_outside,
    ),
    count(
        "evenkeel_completed_outside_total",
        "Blocking closures, calls, parts of broadcasts and jobs that are complete, and tasks that \
         were cancelled before a worker had them; evenkeel_alive has the difference to those that \
         were spawned",
        |r| r.completed_outside,
    ),
    number(
        "evenkeel_completed_elsewhere",
        "Complete tasks that the processors that are their homes have not counted yet",
        |r| r.completed_elsewhere as usize,
    ),
    number("evenkeel_alive", "Tasks, closures, calls and jobs that have not ended", |r| {
        r.alive() as usize
    }),
    count(
        "evenkeel_run_by_spares_total",
        "Calls and jobs from outside that spares have taken from workers that wait",
        |r| r.run_by_spares,
    ),
    number("evenkeel_blocking_threads", "Threads for blocking closures, busy and idle", |r| {
        r.blocking_threads
    }),
    number("evenkeel_blocking_waiting", "Blocking closures that wait for a thread", |r| {
        r.blocking_waiting
    }),
];

pub(crate) const OF_PROCESSOR: [Figure<ProcessorMetrics>; 34] = [
    count("evenkeel_polls_total", "Polls of tasks", |p| p.polls),
    count("evenkeel_spawned_total", "Tasks spawned by tasks here", |p| p.spawned),
    count("evenkeel_completed_total", "Tasks that are complete", |p| p.completed),
    count("evenkeel_wakes_local_total", "Wakes by tasks here", |p| p.wakes_local),
    count("evenkeel_wakes_outside_total", "Wakes and spawns that came through the inbox", |p| {
        p.wakes_outside
    }),
    count("evenkeel_handovers_asked_total", "Requests for work that were made here", |p| {
        p.handovers_asked
    }),
    count(
        "evenkeel_handovers_given_total",
        "Requests for work that were answered with tasks",
        |p| p.handovers_given,
    ),
    count(
        "evenkeel_heavy_fences_total",
        "Heavy fences, to take work from a processor that did not answer",
        |p| p.heavy_fences,
    ),
    count("evenkeel_helps_total", "Times that older work was taken beside own work", |p| p.helps),
    count("evenkeel_steals_total", "Times that work was taken for want of own work", |p| p.steals),
    count("evenkeel_jobs_stolen_total", "Fork-join jobs taken from other workers", |p| {
        p.jobs_stolen
    }),
    count("evenkeel_splits_undone_total", "Times that quick tasks were given away again", |p| {
        p.splits_undone
    }),
    count("evenkeel_migrations_total", "Tasks received by helping or stealing", |p| p.migrations),
    count("evenkeel_hops_total", "Journeys of tasks from here to the homes of objects", |p| p.hops),
    count("evenkeel_searches_total", "Times that a search for work began", |p| p.searches),
    count("evenkeel_sleeps_total", "Times that the worker began to fall asleep", |p| p.sleeps),
    count("evenkeel_watches_total", "Times that it woke as the watch and found nothing", |p| {
        p.watches
    }),
    count("evenkeel_wake_ups_total", "Times that the thread woke from a sleep", |p| p.wake_ups),
    count("evenkeel_timers_armed_total", "Timers armed here", |p| p.timers_armed),
    count("evenkeel_timers_fired_total", "Timers armed here that have fired", |p| p.timers_fired),
    count(
        "evenkeel_timers_cancelled_total",
        "Timers armed here that were dropped or reset before they fired",
        |p| p.timers_cancelled,
    ),
    count("evenkeel_timers_moved_total", "Moves of timers to a lower level of the wheel", |p| {
        p.timers_moved
    }),
    count("evenkeel_timers_fired_for_others_total", "Timers of other processors fired here", |p| {
        p.timers_fired_for_others
    }),
    count(
        "evenkeel_moves_total",
        "Times that the worker moved to another hardware thread, away from another worker",
        |p| p.moves,
    ),
    count("evenkeel_stalls_total", "Polls in which the thread was found stuck", |p| p.stalls),
    number("evenkeel_ready", "Tasks in the ready queue", |p| p.ready),
    time("evenkeel_head_age_seconds", "How long the oldest ready task has been waiting", |p| {
        p.head_age
    }),
    time("evenkeel_longest_wait_seconds", "The longest wait from ready to polled so far", |p| {
        p.longest_wait
    }),
    time("evenkeel_longest_batch_seconds", "The longest batch of polls so far", |p| {
        p.longest_batch
    }),
    number("evenkeel_sockets_open", "Sockets whose readiness the worker looks for", |p| {
        p.sockets.open
    }),
    count("evenkeel_sockets_moved_total", "Sockets that have moved here", |p| p.sockets.moved),
    count("evenkeel_sockets_accepted_total", "Connections that were accepted here", |p| {
        p.sockets.accepted
    }),
    count("evenkeel_sockets_looks_total", "Looks at the set of sockets", |p| p.sockets.looks),
    count("evenkeel_sockets_notes_total", "Times that a look has found a socket ready", |p| {
        p.sockets.notes
    }),
];
