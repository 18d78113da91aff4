//! Command lines that are refused, and the cases that others ask for.

use clap::Parser;

use super::args::Usage;
use super::run::{asked, run};
use super::{Cli, Command, status};
use suite::case::Case;

fn cells_of(line: &str) -> Result<Vec<Case>, String> {
    let words = line.split_whitespace();
    let cli = Cli::try_parse_from(["evenkeel-bench", "run"].into_iter().chain(words));
    let entry = crate::families::named("scheduling").unwrap();
    let asked = match cli.map_err(|error| error.to_string())?.command {
        Some(Command::Run(args)) => asked(&args, &(entry.describe)()),
        other => panic!("{other:?}"),
    };
    let part = (entry.asked)(&asked).map_err(|error| error.to_string())?;
    Ok(part.cases())
}

#[test]
fn lists_make_cells() {
    let line = "--bench locality,cycle --runtime tokio-hand,tokio-native --procs 1,2";
    let cells = cells_of(line).unwrap();
    let seen: Vec<_> = cells.iter().map(|case| (case.variant.as_ref(), case.workers)).collect();
    assert_eq!(
        seen,
        [("share", 1), ("share", 2), ("noshare", 1), ("noshare", 2), ("-", 1), ("-", 2)]
    );
    let number = |place: usize, name: &str| cells[place].settings.number(name);
    assert_eq!((number(0, "words"), number(0, "touch")), (Some(2.0), Some(2.0)));
    assert_eq!(number(4, "tasks_per_proc"), Some(100.0));
}

#[test]
fn servers_have_a_case_for_each_number_of_connections_and_size() {
    let entry = crate::families::named("serving").unwrap();
    let line = "--bench echo --procs 2 --connections 3,4 --bytes 16,64";
    let cases: Vec<_> = super::part_of(entry, line).cases().iter().map(Case::to_string).collect();
    assert_eq!(
        cases,
        [
            "echo, 2 workers, connections 3, bytes 16",
            "echo, 2 workers, connections 3, bytes 64",
            "echo, 2 workers, connections 4, bytes 16",
            "echo, 2 workers, connections 4, bytes 64",
        ]
    );
    for (line, words) in [
        // More than any limit of descriptors.
        ("--bench echo --connections 99999999999", "99999999999 connections need more descriptors"),
        ("--bench idle --arrivals 7", "--arrivals is not for idle"),
        (
            "--bench http --variant plain --arrivals 7",
            "--arrivals is for variants with fixed times",
        ),
        ("--bench http --connections 49", "one slow reader in 50 connections, so none in 49"),
        ("--bench http --bytes 64", "--bytes is not for http"),
        ("--bench http --variant lazy", "known are plain, steady, computing, blocking, slow"),
    ] {
        let error = fork_error(line);
        assert!(error.contains(words), "{line}: {error}");
    }
    for line in ["--bench echo --bytes 8", "--bench echo --connections 0"] {
        cells_of(line).unwrap_err();
    }
}

#[test]
fn unknown_names_name_the_known_ones() {
    let error = fork_error("--bench cycle,cycel");
    assert!(error.starts_with("unknown experiment `cycel`: known are cycle, yield"), "{error}");
    assert!(
        error.contains(
            "memory, latency, mixed, matmul, transpose, heat, cilksort, fib, nqueens, skynet, uts, timers, growth_tasks, growth_moves, growth_timers, ctxswitch, mutex, schedint, schedext, creation, contended, latency_probe, \
             pingpong, fanin, actor_spawn, actor_memory, savina_big, savina_threadring, savina_count, savina_fjcreate, \
             savina_chameneos, savina_banking, savina_bndbuffer, savina_philosopher, savina, directory, counters, map, heap, \
             scan, bank, graph, cache, histogram, own, classes, travel, echo, http, idle, soak"
        ),
        "{error}"
    );
    assert!(error.ends_with("travel, echo, http, idle, soak"), "{error}");
    let error = cells_of("--bench cycle --runtime tokio").unwrap_err();
    assert!(error.contains("unknown runtime `tokio`: known are evenkeel, tokio"), "{error}");
    let error = cells_of("--bench locality --variant shared").unwrap_err();
    assert!(
        error.contains("locality has no variant `shared`: known are share, noshare"),
        "{error}"
    );
}

#[test]
fn a_variant_of_another_experiment_is_refused() {
    let error = cells_of("--bench locality --variant park --runtime tokio-hand").unwrap_err();
    assert_eq!(error, "locality has no variant `park`: known are share, noshare");
    let error = cells_of("--bench cycle --variant park --runtime tokio-hand").unwrap_err();
    assert_eq!(error, "cycle has no variants, so not `park` either");
}

#[test]
fn numbers_out_of_range_are_refused() {
    for line in [
        "--bench cycle --procs 0",
        "--bench cycle --procs 1025",
        "--bench cycle --tasks-per-proc 0",
        "--bench cycle --seconds 0",
        "--bench cycle --seconds NaN",
        "--bench cycle --repeats 0",
        "--bench churn --procs 1 --tasks-per-proc 1 --runtime tokio-hand",
    ] {
        cells_of(line).unwrap_err();
    }
    for (line, words) in [
        (
            "--workers 0",
            "`0` is not a whole number (processors; --workers is the same as --procs) from 1 to 1024",
        ),
        (
            "--workers -1",
            "`-1` is not a whole number (processors; --workers is the same as --procs)",
        ),
        ("--n -1", "`-1` is not a whole number (size) from 0"),
        ("--n 3,abc", "`abc` is not a whole number (size) from 0"),
    ] {
        let error = cells_of(&format!("--bench fib {line}")).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    cells_of("--bench cycle --procs 1024 --runtime tokio-hand").unwrap();
}

fn fork_error(line: &str) -> String {
    let words = line.split_whitespace();
    let cli = Cli::try_parse_from(["evenkeel-bench", "run"].into_iter().chain(words)).unwrap();
    let Some(Command::Run(args)) = cli.command else { panic!("it is run") };
    let error = run(&args).unwrap_err();
    assert_eq!(status(&error), 2);
    error.to_string()
}

#[test]
fn programs_that_cannot_be_run_are_refused() {
    let error = fork_error("--bench fib,cycle");
    assert_eq!(error, "cycle has columns of its own, not those of fib: run them in two commands");
    let error = fork_error("--bench cycle --n 5");
    assert_eq!(error, "--n is not for cycle");
    let error = fork_error("--bench cycle --size all");
    assert_eq!(error, "--size is not for cycle");
    let error = fork_error("--bench timers --size all");
    assert_eq!(error, "--size is not for timers");
    let error = fork_error("--bench fib --words 3");
    assert_eq!(error, "--words is not for fib");
    let error = fork_error("--bench transfer,cycle --touch 5");
    assert_eq!(error, "--touch is not for transfer and cycle");
    let error = fork_error("--bench fib --variant share");
    assert_eq!(error, "fib has no variants, so not `share` either");
    let error = fork_error("--bench fib --seconds 0.1");
    assert_eq!(error, "--seconds is not for fib");
    let error = fork_error("--bench latency_probe --seconds 0.1");
    assert_eq!(error, "--seconds is not for latency_probe");
    fork_error("--bench fib --tasks-per-proc 3");
    let error = fork_error("--bench fib --n 0");
    assert_eq!(error, "fib of size 0: sizes are 1 to 60, usually 25, 35, 40");
    fork_error("--bench fib --n 61");
    let error = fork_error("--bench fib --runtime tokio-hand");
    let words = "unknown runtime of fork-join programs `tokio-hand`: known are serial, evenkeel,";
    assert!(error.starts_with(words), "{error}");
}

#[test]
fn mixed_runs_that_cannot_be_are_refused() {
    let error = fork_error("--bench mixed,fib");
    assert_eq!(error, "mixed has columns of its own, not those of fib: run them in two commands");
    let error = fork_error("--bench mixed --runtime rayon");
    assert_eq!(error, "unknown runtime of mixed `rayon`: known are evenkeel, rayon+tokio");
    let error = fork_error("--bench mixed --variant share");
    assert_eq!(error, "mixed has no variant `share`: known are joins, wakes");
    let error = fork_error("--bench mixed --variant wakes --tasks 7");
    assert_eq!(error, "the tasks of wakes come in pairs: 7 is odd");
    let error = fork_error("--bench mixed --n 17");
    assert_eq!(error, "computations of size 17: sizes are 1 to 16, usually 11");
    let error = fork_error("--bench mixed --tasks-per-proc 3");
    assert_eq!(error, "--tasks-per-proc is not for mixed");
    let error = fork_error("--bench timers,cycle");
    assert_eq!(
        error,
        "cycle has columns of its own, not those of timers: run them in two commands"
    );
    let error = fork_error("--bench timers --runtime go-hand");
    assert_eq!(
        error,
        "unknown runtime of timers `go-hand`: known are evenkeel, tokio-native, tokio-one"
    );
    let error = fork_error("--bench timers --runtime tokio-one --workers 2");
    assert_eq!(error, "tokio-one cannot run timers cancel, 2 workers, tasks 2");
    let error = fork_error("--bench timers --n 3");
    assert_eq!(error, "--n is not for timers");
    let error = fork_error("--bench timers --tasks-per-proc 3");
    assert_eq!(error, "--tasks-per-proc is not for timers");
    let error = fork_error("--bench timers --variant joins");
    assert_eq!(error, "timers has no variant `joins`: known are cancel, timeout, idle, load, long");
    let error = fork_error("--bench cycle --tasks 3");
    assert_eq!(error, "--tasks is not for cycle");
}

#[test]
fn objects_that_cannot_be_run_are_refused() {
    for (line, words) in [
        (
            "--bench counters,cycle",
            "cycle has columns of its own, not those of counters: run them in two commands",
        ),
        (
            "--bench map --runtime tokio",
            "unknown runtime of objects `tokio`: known are threads+spin, tasks+parking_lot, tasks+arc, tasks+rwlock, tasks+combining, tasks+shipping, \
             in-place, home, automatic, atomic, mutex, parking_lot, dashmap, one-thread",
        ),
        (
            "--bench map --runtime atomic --workers 2 --objects 1 --keys 1024",
            "atomic cannot run map, 2 workers, objects 1, bytes 34816, keys 1024, popularity uniform",
        ),
        (
            "--bench travel --runtime in-place --workers 2 --tasks-per-core 8",
            "in-place cannot run travel, 2 workers, tasks per core 8, objects 2, bytes 16, popularity uniform",
        ),
        ("--bench scan --access found", "scan has no access `found`: known are read, alone, all"),
        ("--bench directory --period 20", "--period is for --popularity oscillating"),
        ("--bench directory --kib 31", "31 KiB hold no object of 32000 bytes: raise --kib"),
        ("--bench counters --kib 64", "--kib is for directory and scan"),
        ("--bench directory,counters --keys 64", "--keys is for map, heap, cache and classes"),
        ("--bench cycle --keys 64", "--keys is not for cycle"),
        ("--bench fib --tasks-per-core 64", "--tasks-per-core is not for fib"),
        (
            "--bench counters --runtime atomic --tasks-per-core 8",
            "--tasks-per-core is for tasks+parking_lot, tasks+arc, tasks+rwlock, tasks+combining, tasks+shipping, in-place, home and automatic: none of them is asked for",
        ),
        (
            "--bench heap --runtime mutex --workers 2 --objects 1 --keys 64,064",
            "heap, 2 workers, objects 1, bytes 512, keys 64, popularity uniform is asked for twice: leave out one of the values that mean it",
        ),
        ("--bench heap --zipf 1", "--zipf is for bank and cache"),
        ("--bench bank --steps 1", "--steps is for own"),
        ("--bench bank --read-percent 1", "--read-percent is for cache"),
        ("--bench bank --objects 1", "bank is between two accounts: raise --objects"),
        ("--bench heap --tasks 8", "--tasks is not for heap"),
        ("--bench heap --tasks-per-proc 8", "--tasks-per-proc is not for heap"),
        ("--bench heap --n 8", "--n is not for heap"),
        ("--bench heap --monitors 2", "--monitors is not for heap"),
        ("--bench heap --words 2", "--words is not for heap"),
        (
            "--bench travel --workers 1",
            "travel goes from home to home: it needs 2 workers at least, not 1",
        ),
    ] {
        assert_eq!(fork_error(line), words, "{line}");
    }
}

#[test]
fn numbers_of_objects_out_of_range_are_refused() {
    for (line, words) in [
        (
            "--bench heap --tasks-per-core 0",
            "`0` is not a whole number (tasks for each core) from 1 to 100000",
        ),
        ("--bench heap --objects -1", "`-1` is not a whole number (objects) from 1 to 1048576"),
        ("--bench heap --keys 1,x", "`x` is not a whole number (keys) from 1 to 16777216"),
        (
            "--bench scan --kib 0",
            "`0` is not a whole number (KiB of all objects) from 1 to 4194304",
        ),
        (
            "--bench scan --object-bytes 4",
            "`4` is not a whole number (bytes of an object) from 8 to",
        ),
        ("--bench scan --object-bytes 20", "`20` is no multiple of 8"),
        ("--bench bank --zipf -1", "`-1` is not an exponent of Zipf's law from 0 to 4"),
        ("--bench bank --zipf nan", "`nan` is not an exponent of Zipf's law from 0 to 4"),
        (
            "--bench cache --read-percent 101",
            "`101` is not a whole number (reads in a hundred operations) from 0 to 100",
        ),
        (
            "--bench scan --access write",
            "unknown access `write`: known are read, alone, found, all",
        ),
        (
            "--bench directory --popularity zipf",
            "unknown popularity `zipf`: known are uniform, oscillating",
        ),
        (
            "--bench directory --popularity oscillating --period 10",
            "`10` is not a whole number (milliseconds; the first 10 after a change are left out) from 11 to 10000",
        ),
    ] {
        let error = cells_of(line).unwrap_err();
        assert!(error.contains(words), "{line}: {error}");
    }
}

#[test]
fn a_wrong_command_line_is_status_two() {
    assert_eq!(status(&anyhow::Error::new(Usage("x".to_owned()))), 2);
    assert_eq!(status(&anyhow::anyhow!("x")), 1);
}
