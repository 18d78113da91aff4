//! The tests: each runs a job of several ranks with a program, and checks its end.

use crate::{LIMIT, PROGRAM};
use std::path::Path;
use std::process::{self, Command, Output};
use std::{env, fs};

/// All tests by name.
pub(crate) const TESTS: &[(&str, fn())] = &[
    ("frames_arrive_whole_and_in_order_between_two_ranks", || all_end("order", 2)),
    ("frames_arrive_whole_and_in_order_among_three_ranks", || all_end("order", 3)),
    ("order_holds_with_random_delays", || all_end("delays", 3)),
    ("a_rank_alone_starts_and_ends", || all_end("order", 1)),
    ("frames_of_the_greatest_length_cross_and_longer_ones_are_refused", || all_end("long", 2)),
    ("many_small_frames_arrive", || all_end("small", 2)),
    ("a_rank_that_does_not_poll_is_owed_a_window", || all_end("full", 2)),
    ("long_frames_are_bounded_by_the_window_too", || all_end("full_of_long", 2)),
    ("requests_in_flight_are_bounded", || all_end("in_flight", 3)),
    ("who_leaves_is_down_after_its_last_frame", || all_end("leave", 3)),
    ("who_leaves_first_waits_for_the_others_to_end", || all_end("early", 3)),
    ("a_drop_without_leave_leaves", || all_end("dropped", 3)),
    ("a_wait_is_ended_by_a_frame_and_by_the_waker", || all_end("wait", 2)),
    ("a_node_that_leaves_first_does_not_stop_its_worker", || all_end("early_node", 2)),
    ("nor_does_one_with_a_thread_for_its_host", || all_end("early_node_on_a_thread", 2)),
    ("a_panic_of_a_handler_ends_its_actor_and_no_rank", || all_end("handler", 2)),
    ("nor_any_whose_host_has_a_thread", || all_end("handler_on_a_thread", 2)),
    ("a_panic_of_a_node_s_owner_ends_the_job_with_an_error", || a_panic_outside("part")),
    ("and_so_does_one_whose_host_has_a_thread", || a_panic_outside("part_on_a_thread")),
    ("a_panic_of_a_host_ends_the_job_and_says_which_rank", || a_panic_of_a_host("host")),
    ("and_so_does_that_of_a_host_with_a_thread", || a_panic_of_a_host("host_on_a_thread")),
    ("frames_to_no_such_rank_are_refused", || all_end("no_such_rank", 2)),
    ("mpi_is_initialised_once", || all_end("twice", 2)),
    ("ranks_that_differ_are_told", || all_end("differs", 3)),
    ("two_programs_in_one_job_are_told_that_they_are_two", || two_programs("programs")),
    ("two_programs_that_belong_together_start", || two_programs("programs_of_one_name")),
    ("a_panic_ends_the_job_and_says_which_rank", a_panic),
    ("a_rank_that_is_killed_ends_the_job", a_kill),
    ("a_rank_that_exits_without_an_end_ends_the_job", an_exit),
];

/// The name of this program as the other one of a job.
pub(crate) const OTHER: &str = "evenkeel-mpi-other";

/// Runs a job.
fn job(program: &str, ranks: u32) -> Output {
    let own = env::current_exe().expect("a program knows its path");
    run(program, &[(ranks, &own)])
}

/// Runs a job with a number of ranks of each program.
fn run(program: &str, of: &[(u32, &Path)]) -> Output {
    let mpiexec = env::var("EVENKEEL_MPIEXEC").unwrap_or_else(|_| "mpiexec".to_owned());
    let mut command = Command::new(&mpiexec);
    for (number, (ranks, path)) in of.iter().enumerate() {
        command.args((number > 0).then_some(":")).args(["-n", &ranks.to_string()]).arg(path);
    }
    command
        .env(PROGRAM, program)
        .env("MPIEXEC_TIMEOUT", LIMIT)
        // The following variables are for Open MPI. As root, for example in a container, it needs
        // two of them.
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        // More ranks than processors, and no rank tied to one.
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("OMPI_MCA_hwloc_base_binding_policy", "none")
        // Without the system call that reads another process's memory, which containers forbid.
        .env("OMPI_MCA_btl_vader_single_copy_mechanism", "none")
        .output()
        .unwrap_or_else(|error| panic!("{mpiexec} does not start ({error}): install openmpi-bin, or name another by EVENKEEL_MPIEXEC"))
}

/// Returns how many ranks have printed that they got to their ends.
fn ends(output: &Output) -> usize {
    String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.ends_with(": end")).count()
}

fn describe(output: &Output) -> String {
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{}\n-- standard output\n{out}\n-- standard error\n{err}", output.status)
}

/// Runs a job that succeeds.
fn all_end(program: &str, ranks: u32) {
    let output = job(program, ranks);
    let ended = ends(&output) == ranks as usize && output.status.success();
    assert!(ended, "{program}: {}", describe(&output));
}

/// Runs a job of two ranks, each with a program file of its own.
fn two_programs(program: &str) {
    let own = env::current_exe().expect("a program knows its path");
    let folder = env::temp_dir().join(format!("evenkeel-mpi-{}", process::id()));
    fs::create_dir_all(&folder).expect("a folder can be made");
    let other = folder.join(OTHER);
    fs::copy(&own, &other).expect("a program can be copied");
    let output = run(program, &[(1, &own), (1, &other)]);
    fs::remove_dir_all(&folder).expect("it is there");
    assert!(ends(&output) == 2 && output.status.success(), "{program}: {}", describe(&output));
}

/// Runs a job that one of its ranks ends, and returns its standard error.
fn is_ended(program: &str, ranks: u32) -> String {
    let output = job(program, ranks);
    let described = describe(&output);
    assert!(!output.status.success() && ends(&output) == 0, "{program}: {described}");
    // The message of mpiexec when the limit has passed.
    assert!(!described.to_lowercase().contains("time limit"), "{program}: {described}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn a_panic() {
    let said = is_ended("panic", 3);
    assert!(said.contains("evenkeel-mpi: rank 1 of 3 panics"), "{said}");
    assert!(said.contains("in mid-stream"), "the panic's own message: {said}");
}

/// The node leaves in order, so the other one goes on; then the rank ends with an error.
fn a_panic_outside(program: &str) {
    let output = job(program, 2);
    let described = describe(&output);
    assert!(!output.status.success() && described.contains("outside of all actors"), "{described}");
    // Another message would come from a rank that cannot end, or that finds an error.
    assert_eq!(described.matches("panicked at").count(), 1, "{described}");
    assert!(!described.contains("rank 1: end"), "{described}");
    assert!(!described.to_lowercase().contains("time limit"), "{described}");
}

fn a_panic_of_a_host(program: &str) {
    let said = is_ended(program, 2);
    assert!(said.contains("evenkeel-mpi: rank 1 of 2 panics"), "{said}");
    assert!(said.contains("in the host"), "the panic's own message: {said}");
}

fn a_kill() {
    let said = is_ended("kill", 3);
    assert!(said.contains("rank 1") && said.contains("signal 9"), "mpiexec says it: {said}");
}

fn an_exit() {
    let said = is_ended("exit", 3);
    assert!(said.contains("rank 1") && said.contains("exit"), "mpiexec says it: {said}");
}
