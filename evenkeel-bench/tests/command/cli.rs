//! The experiments by their commands: output and refusals.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::binary::{bench, lines, refused, run, stderr, stdout};
use suite::disturbance::ENOUGH;
#[cfg(unix)]
use suite::kit::fake::script;

/// Returns whether Go is on this machine.
fn has_go() -> bool {
    stdout(&run("list")).contains("go1.")
}

#[test]
fn help_tells_what_the_main_job_ends_with() {
    let output = run("--help");
    let words: Vec<&str> = stdout(&output).split_whitespace().collect();
    let help = words.join(" ");
    assert!(help.contains("then a summary and an HTML report"), "{help}");
    assert!(help.contains("Print all tables too, fitted to the terminal"), "{help}");
}

#[test]
fn wrong_command_lines_are_refused_with_the_known_names() {
    refused("run --bench spin", "unknown experiment `spin`: known are cycle, yield, churn");
    refused(
        "run --bench cycle --runtime tokio",
        "unknown runtime `tokio`: known are evenkeel, tokio-hand, tokio-native, go-native, go-hand",
    );
    refused(
        "run --bench locality --variant park --runtime tokio-hand",
        "locality has no variant `park`: known are share, noshare",
    );
    refused(
        "run --bench cycle --procs 0",
        "`0` is not a whole number (processors; --workers is the same as --procs) from 1 to 1024",
    );
    refused("run --bench cycle --procs 1025", "`1025` is not a whole number");
    refused("run --bench cycle --seconds -1", "--seconds");
    refused(
        "run --bench memory --runtime go-hand",
        if has_go() { "go-hand cannot run memory" } else { "go-hand was not found" },
    );
    refused("run", "--bench");
    refused(
        "run --bench churn --procs 1 --tasks-per-proc 1 --runtime tokio-hand",
        "churn needs at least 2 tasks: raise",
    );
}

#[test]
fn json_is_one_line_per_run_and_nothing_else() {
    let output = run("run --bench cycle,locality --runtime tokio-hand,tokio-native --procs 1 \
         --tasks-per-proc 4 --seconds 0.05 --repeats 2 --json");
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = lines(&output);
    // Cycle and two variants of Locality, twice on two runtimes. A run that does not count is
    // repeated, so there may be more lines than these.
    assert!(lines.len() >= 3 * 2 * 2, "{}", lines.len());
    for line in &lines {
        assert_eq!(line["workers"], 1);
        assert!(line["ops"].as_u64().unwrap() > 0, "{line}");
        assert!(line["seconds"].as_f64().unwrap() >= 0.05, "{line}");
        assert!(line["ns_per_op_per_proc"].as_f64().unwrap() > 0.0, "{line}");
        assert_eq!(line.get("dnc"), None);
    }
    let order: Vec<_> = lines.iter().take(4).map(|line| line["runtime"].as_str()).collect();
    let alternating = ["tokio-hand", "tokio-native", "tokio-native", "tokio-hand"];
    assert_eq!(order, alternating.map(Some));
    assert_eq!(lines[0]["tasks"], 20.0);
    let share = lines.iter().find(|line| line["variant"] == "share").unwrap();
    assert_eq!((&share["words"], &share["touch"]), (&2.into(), &2.into()));
}

#[test]
fn more_processors_than_cores_are_allowed_and_said() {
    let output = run(
        "run --bench yield --runtime tokio-hand --procs 1024 --tasks-per-proc 1 --seconds 0.05 \
         --repeats 1 --json",
    );
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("1024 processors share"), "{}", stderr(&output));
    let line: Value = serde_json::from_str(stdout(&output).lines().next().unwrap()).unwrap();
    assert_eq!(line["workers"], 1024);
}

#[test]
fn memory_is_measured_in_a_fresh_process() {
    let output = run(
        "run --bench memory --runtime tokio-native --procs 1 --tasks-per-proc 20000 --repeats 1 \
         --json",
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let line: Value = serde_json::from_str(stdout(&output).lines().next().unwrap()).unwrap();
    let bytes = line["bytes_per_task"].as_f64().unwrap();
    assert!((100.0..2000.0).contains(&bytes), "{line}");
    // They include the future.
    assert!((1.0..bytes).contains(&line["future_bytes"].as_f64().unwrap()), "{line}");
}

#[test]
fn an_unwritable_report_folder_is_found_out_before_measuring() {
    let file = tempfile::NamedTempFile::new().unwrap();
    // No user can make a folder below a file, not even root.
    let folder = file.path().join("report");
    let output = bench().arg("--quick").arg("--report").arg(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(folder.to_str().unwrap()), "{}", stderr(&output));
    assert!(stderr(&output).contains("--report DIR"), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
}

/// Runs with a search path of this folder alone.
fn run_on_path(args: &str, folder: &Path) -> Output {
    let mut bench = bench();
    bench
        .args(args.split_whitespace())
        .env("PATH", folder)
        .env_remove("CXX")
        .env_remove("CC")
        .output()
        .unwrap()
}

/// Runs with an empty search path, so without any toolchain.
fn run_without_toolchains(args: &str) -> Output {
    let empty = tempfile::tempdir().unwrap();
    run_on_path(args, empty.path())
}

/// Makes a folder with a Go whose builds succeed and produce nothing.
#[cfg(unix)]
fn fake_go() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    script(folder.path(), "go", "echo 'go version go1.99'");
    folder
}

#[cfg(unix)]
#[test]
fn what_was_measured_before_a_failure_is_printed() {
    let args = "run --bench yield --runtime tokio-hand,go-native --procs 1 --tasks-per-proc 2 \
         --seconds 0.02 --reps 1";
    let output = run_on_path(args, fake_go().path());
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("tokio-hand"), "{}", stdout(&output));
    assert!(stdout(&output).lines().nth(1).unwrap().starts_with("yield"), "{}", stdout(&output));
    for words in ["not all was measured", "go-native failed yield", "1 worker, tasks per proc 2"] {
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_takes_the_folders_of_the_peers_with_it() {
    use rustix::process::{Pid, Signal, kill_process};

    let (go, folders) = (fake_go(), tempfile::tempdir().unwrap());
    let is_empty = || std::fs::read_dir(folders.path()).unwrap().next().is_none();
    let mut child = bench()
        .args("run --bench yield --runtime tokio-hand,go-native --procs 1 --seconds 60".split(' '))
        .env("PATH", go.path())
        .env("TMPDIR", folders.path())
        .spawn()
        .unwrap();
    while is_empty() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before its time");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // The first signal waits for the run that is under way, if there is one already.
    while child.try_wait().unwrap().is_none() {
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(is_empty());
}

#[test]
fn a_missing_go_toolchain_is_listed_and_refused_by_name() {
    let output = run_without_toolchains("list");
    assert!(output.status.success());
    let (_, missing) = stdout(&output).split_once("runtimes of scheduling missing:").unwrap();
    let (missing, _) = missing.split_once("runtimes of mixed found:").unwrap();
    assert!(missing.contains("go-native") && missing.contains("install Go"), "{missing}");

    let output = run_without_toolchains("run --bench cycle --runtime go-hand");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("go-hand was not found: install Go"), "{}", stderr(&output));
}

#[test]
fn list_names_experiments_variants_and_runtimes() {
    let output = run("list");
    assert!(output.status.success());
    let text = stdout(&output);
    for name in [
        "cycle",
        "locality (share, noshare)",
        "transfer (park, yield)",
        "latency (alone, compute, block-one, block-all, ready)",
        "mixed (joins, wakes)",
        "timers (cancel, timeout, idle, load, long)",
        "http (plain, steady, computing, blocking, slow)",
        "tokio-per-core",
        "schedint (waiter, signaller)",
        "async-lock",
        "rayon+tokio",
        "tokio-hand",
    ] {
        assert!(text.contains(name), "{text}");
    }
}

#[test]
fn go_runs_every_experiment_that_it_has_where_it_is_found() {
    if !has_go() {
        return;
    }
    let output =
        run("run --bench cycle,yield,churn,locality,transfer,spawn --runtime go-native,go-hand \
         --procs 1 --tasks-per-proc 4 --seconds 0.02 --repeats 1 --json");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).lines().count() >= 2 * 9, "{}", stdout(&output));
}

#[test]
fn a_fork_join_program_leaves_a_line_for_each_run() {
    let output = run("run --bench fib --n 12 --workers 1 --reps 2 --json \
         --runtime serial,evenkeel,evenkeel-worker,rayon,chili");
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = lines(&output);
    let of = |repeat: usize| {
        let is_of = |line: &&Value| line["repeat"] == repeat;
        lines.iter().filter(is_of).map(|line| line["runtime"].as_str().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(of(0), ["serial", "evenkeel", "chili", "evenkeel-worker", "rayon"]);
    // The second round has the order of the first reversed.
    assert!(of(1).iter().rev().eq(of(0).iter()), "{:?}", of(1));
    for line in &lines {
        assert_eq!((&line["n"], &line["workers"]), (&12.into(), &1.into()));
        assert_eq!(line["checksum"], "0x0000000000000090");
        assert!(line["seconds"].as_f64().unwrap() > 0.0, "{line}");
        let tells = line["runtime"].as_str().unwrap().starts_with("evenkeel");
        for field in
            ["execution_seconds", "inflation_seconds", "scheduling_seconds", "idle_seconds"]
        {
            assert_eq!(line.get(field).is_some_and(Value::is_f64), tells, "{line}");
        }
        if tells {
            assert_eq!(line["inflation_seconds"], 0.0, "{line}");
            assert_eq!(line["per_worker"].as_array().map(Vec::len), Some(1), "{line}");
            assert_eq!(line["levels"][0]["distance"], "Same", "{line}");
        }
    }
}

#[test]
fn a_fork_join_table_has_times_speed_ups_and_what_the_workers_did() {
    let output = run("run --bench fib --n 12 --runtime serial,evenkeel,rayon --reps 3");
    assert!(output.status.success(), "{}", stderr(&output));
    for words in ["ms", "speed-up", "ns/fork", "inflation, ms", "steals", "evenkeel is"] {
        assert!(stdout(&output).contains(words), "{words} is missing from {}", stdout(&output));
    }
    let output = run("run --bench fib --n 12 --workers 1 --runtime evenkeel,rayon --reps 1");
    let words = "No speed-up of evenkeel and rayon: plain calls in the same language";
    assert!(stdout(&output).contains(words), "{}", stdout(&output));
}

#[test]
fn simulations_say_that_they_are_and_know_their_programs() {
    let output = run("simulate --bench transpose --size small --seeds 1");
    assert!(stdout(&output).starts_with("SIMULATED"), "{}", stdout(&output));
    for scheduler in
        ["cilk-random", "cilk-restricted", "cilk-biased", "off", "random", "biased", "strict"]
    {
        assert!(stdout(&output).contains(scheduler), "{}", stdout(&output));
    }
    let output = run("simulate --bench transpose --size small,medium --seeds 2 --json");
    assert_eq!(stdout(&output).lines().count(), 2 * 7 * 2);
    for line in stdout(&output).lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["simulated"], true);
        for metric in ["seconds", "inflation_seconds", "scheduling_seconds", "idle_seconds"] {
            assert!(record[metric].is_f64(), "{line}");
        }
    }
    refused("simulate --size huge", "unknown size `huge`: known are small, medium, large");
    refused("simulate --size small,small", "`small` is named twice by --size");
    refused("simulate --size all,medium,medium", "`medium` is named twice by --size");
    refused("simulate --size all,huge", "unknown size `huge`");
    refused("simulate --seeds 0", "0 is not in 1..=1000");
}

#[test]
fn figure_4_is_simulated_in_both_halves_with_and_without_homes() {
    let output = run("simulate --coretime --kib 64");
    assert!(stdout(&output).starts_with("SIMULATED"), "{}", stdout(&output));
    let output = run("simulate --coretime --kib 64,96 --json");
    let lines = lines(&output);
    let names = |field: &str| -> Vec<&str> {
        lines.iter().map(|line| line[field].as_str().unwrap()).collect()
    };
    assert_eq!(names("runtime"), ["threads", "objects"].repeat(14));
    let variants = [
        "uniform",
        "oscillating",
        "oscillating in time",
        "uniform, from caches",
        "oscillating, from caches",
        "uniform, one line ahead",
        "oscillating, one line ahead",
    ];
    assert_eq!(names("variant"), variants.map(|variant| [variant; 4]).concat());
    assert!(lines.iter().all(|line| line["simulated"] == true));
    refused("simulate --coretime --bench heat", "cannot be used with");
    refused("simulate --kib 256", "--coretime");
    refused("simulate --coretime --kib 1", "1 is not in 32..=262144");
}

#[test]
fn schedulers_are_simulated_on_both_machines_with_many_and_few_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let output = bench()
        .args("simulate --scheduling --workers 1,200 --seeds 1 --rounds 1 --json".split(' '))
        .arg("--report")
        .arg(folder.path())
        .output()
        .unwrap();
    let lines = lines(&output);
    let points: Vec<_> =
        lines.iter().map(|line| (line["machine"].as_str().unwrap(), &line["workers"])).collect();
    // The first machine has 192 threads.
    let one = Value::from(1);
    let many = Value::from(200);
    let amd = [("amd", &one), ("amd", &many)];
    // Six with many and with few tasks, Sleep and End. Transfer needs two workers, and is simulated
    // where the thesis has figures.
    assert_eq!(points, [vec![("intel", &one); 14], amd.repeat(14)].concat());
    assert!(lines.iter().all(|line| line["simulated"] == true));
    // Every picture says that it is simulated: on both machines two of each of eight experiments,
    // and the times of two transfers. The lines of the legends are drawn too.
    let page = fs::read_to_string(folder.path().join("scheduling.html")).unwrap();
    assert_eq!(page.matches("<figcaption>Simulated ").count(), 36);
    assert_eq!(page.matches("<svg").count(), 36 + 4);
    assert!(page.contains("No core has run this") && page.contains(">SIMULATED"));
    assert!(page.contains("\nSimulated and measured"));
    assert!(page.contains("<li>Two threads of a core that are both awake take 1.6 times"));
    refused("simulate --scheduling --coretime", "cannot be used with");
    refused("simulate --workers 2", "--scheduling");
    refused("simulate --rounds 2", "--scheduling");
    refused("simulate --scheduling --workers 2,2", "`2` is named twice by --workers");
    refused("simulate --scheduling --workers 257", "257 is not in 1..=256");
}

#[test]
fn a_mixed_run_leaves_one_line_with_the_figures_of_both_sides() {
    let output =
        run("run --bench mixed --n 6 --tasks 20 --workers 2 --seconds 0.05 --reps 2 --json");
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = lines(&output);
    // A run that does not count is repeated, so there may be more lines than these.
    for variant in ["joins", "wakes"] {
        for runtime in ["evenkeel", "rayon+tokio"] {
            let is = |line: &&Value| line["variant"] == variant && line["runtime"] == runtime;
            assert!(lines.iter().filter(is).count() >= 2, "{variant} on {runtime}");
        }
    }
    for line in &lines {
        assert_eq!(
            (&line["bench"], &line["workers"], &line["tasks"], &line["n"]),
            (&"mixed".into(), &2.into(), &20.into(), &6.into())
        );
        let figure = |field: &str| line[field].as_f64().unwrap_or(f64::NAN);
        assert!(figure("computations") > 0.0, "{line}");
        // A percentile is kept if at least ten values lie beyond it.
        let kept_from = |fewest: f64, of: &str, percentile: &str| {
            assert_eq!(line[percentile].is_f64(), figure(of) >= fewest, "{percentile}: {line}");
        };
        kept_from(20.0, "computations", "computation_us_p50");
        kept_from(1_000.0, "computations", "computation_us_p99");
        assert!(figure("computation_us_max") > 0.0, "{line}");
        if line["variant"] == "joins" {
            assert!(figure("polls") > 0.0 && line.get("wakes").is_none(), "{line}");
        } else {
            assert!(figure("wakes") > 0.0 && line.get("polls").is_none(), "{line}");
            for of in ["wake_us", "relay_us"] {
                kept_from(20.0, "wakes", &format!("{of}_p50"));
                kept_from(1_000.0, "wakes", &format!("{of}_p99"));
                kept_from(10_000.0, "wakes", &format!("{of}_p999"));
                assert!(figure(&format!("{of}_max")) > 0.0, "{line}");
            }
        }
    }
}

#[test]
fn a_mixed_run_prints_the_figures_of_both_sides() {
    let output = run("run --bench mixed --n 6 --tasks 20 --workers 2 --seconds 0.05 --reps 1");
    assert!(output.status.success(), "{}", stderr(&output));
    for name in ["mixed joins", "mixed wakes", "polls/s", "wake max", "relay max", "rayon+tokio"] {
        assert!(stdout(&output).contains(name), "{}", stdout(&output));
    }
}

/// A light task that never runs is a result, and no failure.
#[test]
fn latency_leaves_a_line_for_each_load_and_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("latency.svg");
    let line = "run --bench latency --runtime evenkeel,tokio-native --workers 2 --seconds 0.2 \
                --reps 1 --json --picture";
    let output = run(&format!("{line} {}", picture.display()));
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = lines(&output);
    for variant in ["alone", "compute", "block-one", "block-all", "ready"] {
        for runtime in ["evenkeel", "tokio-native"] {
            let is = |line: &&Value| line["variant"] == variant && line["runtime"] == runtime;
            let line = lines.iter().find(is).unwrap_or_else(|| panic!("{variant} on {runtime}"));
            let never = line["never_percent"].as_f64().unwrap();
            assert_eq!(never > 0.0, line.get("dnc").is_some(), "{line}");
            assert!(never > 0.0 || line["wake_us_p50"].as_f64() > Some(0.0), "{line}");
            // 200 wakes are too few for the 99.9th percentile.
            assert!(line.get("wake_us_p999").is_none(), "{line}");
        }
    }
    let svg = std::fs::read_to_string(picture).unwrap();
    for words in ["2 workers", "block-all", "promise, all workers stuck: 9.39 ms"] {
        assert!(svg.contains(words), "{words} is missing from {svg}");
    }
    // The picture has what counts: on a busy machine that may be nothing.
    let counts = |line: &Value| {
        line["cpu_share"].as_f64() >= Some(ENOUGH) && line["regime"].as_str() == Some("near")
    };
    let loads = lines.chunk_by(|a, b| a["variant"] == b["variant"]);
    let is_drawn = loads.into_iter().any(|of_load| of_load.iter().all(counts));
    for runtime in ["evenkeel", "tokio-native"] {
        assert!(!is_drawn || svg.contains(&format!(">{runtime}<")), "{runtime}: {svg}");
    }
}

#[test]
fn a_picture_of_a_family_that_draws_none_is_refused() {
    let output = run("run --bench cycle --runtime evenkeel --picture cycle.svg");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--picture is not for cycle"), "{}", stderr(&output));
}

#[test]
fn timers_leave_a_line_for_each_runtime_and_variant() {
    let output = run("run --bench timers --tasks 20 --workers 2 --seconds 0.05 --reps 1 --json");
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = lines(&output);
    // A run that does not count is repeated, so there may be more lines than these.
    let mut names: Vec<_> = lines
        .iter()
        .map(|line| (line["variant"].as_str().unwrap(), line["runtime"].as_str().unwrap()))
        .collect();
    names.truncate(2);
    assert_eq!(names, [("cancel", "evenkeel"), ("cancel", "tokio-native")]);
    for variant in ["cancel", "timeout", "idle", "load", "long"] {
        for runtime in ["evenkeel", "tokio-native"] {
            let is = |line: &&Value| line["variant"] == variant && line["runtime"] == runtime;
            assert!(lines.iter().any(|line| is(&line)), "{variant} on {runtime}");
        }
    }
    for line in &lines {
        let figure = |field: &str| line[field].as_f64().unwrap_or(f64::NAN);
        assert!(figure("ops") > 0.0, "{line}");
        if line["variant"] == "cancel" || line["variant"] == "timeout" {
            assert!(figure("ns_per_timer") > 0.0 && line.get("late_us_p50").is_none(), "{line}");
        } else {
            assert!(figure("late_us_p50") <= figure("late_us_max"), "{line}");
            assert!(line.get("ns_per_timer").is_none(), "{line}");
        }
    }
}

#[test]
fn timers_print_a_table_for_each_variant() {
    let output = run("run --bench timers --workers 1 --seconds 0.05 --reps 2");
    assert!(output.status.success(), "{}", stderr(&output));
    for name in ["timers cancel", "timers load", "ns/timer", "late p99.9", "tokio-one"] {
        assert!(stdout(&output).contains(name), "{}", stdout(&output));
    }
}

#[test]
fn servers_and_their_clients_are_processes_of_this_program() {
    for bench in ["echo --bytes 64", "http --variant plain,steady"] {
        let output = run(&format!(
            "run --bench {bench} --connections 3 --workers 2 --runtime \
             evenkeel,tokio,tokio-per-core --seconds 0.1 --repeats 1 --json"
        ));
        assert!(output.status.success(), "{bench}: {}", stderr(&output));
        let lines = lines(&output);
        for runtime in ["evenkeel", "tokio", "tokio-per-core"] {
            assert!(lines.iter().any(|line| line["runtime"] == runtime), "{bench}, {runtime}");
        }
        for line in &lines {
            let figure = |field: &str| line[field].as_f64().unwrap_or(f64::NAN);
            assert_eq!(line["connections"], 3, "{line}");
            assert!(figure("server_us_per_request") > 0.0, "{line}");
            assert!(figure("delay_us_p50") <= figure("delay_us_max"), "{line}");
            let is_closed = line["variant"] != "steady";
            assert_eq!(line.get("requests_per_s").is_some(), is_closed, "{line}");
            assert_eq!(line.get("client_us_p999").is_some(), !is_closed, "{line}");
        }
    }
}

#[test]
fn localities_are_measured_beside_the_others_where_they_are_asked_for() {
    let seen = |args: &str| {
        let output = run(&format!("run --bench fib --n 12 --workers 2 --reps 1 --json {args}"));
        assert!(output.status.success(), "{}", stderr(&output));
        let lines = lines(&output);
        let first = lines.iter().filter(|line| line["repeat"] == 0);
        first.map(|line| line["runtime"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let off = "evenkeel-off";
    assert_eq!(
        seen("--runtime serial,evenkeel --locality off,strict"),
        ["serial", "evenkeel", "evenkeel-strict", off]
    );
    assert_eq!(seen("--runtime evenkeel-off --locality off"), [off]);
    assert_eq!(seen("--runtime evenkeel-off"), [off]);
    let has = |seen: &[String], name: &str| seen.iter().any(|runtime| runtime == name);
    let all = seen("--locality all");
    assert!([off, "evenkeel-biased", "evenkeel-strict"].iter().all(|name| has(&all, name)));
    let usual = seen("");
    let always = ["serial", "evenkeel", "evenkeel-worker", "rayon", "chili"];
    assert!(always.iter().all(|name| has(&usual, name)) && !has(&usual, off), "{usual:?}");
    refused(
        "run --bench fib --locality far",
        "[possible values: off, random, biased, strict, all]",
    );
    refused("run --bench fib --locality off,off", "`off` is named twice by --locality");
    refused("run --bench cycle --locality off", "--locality is not for cycle");
}

#[test]
fn sizes_are_given_by_number_or_by_name() {
    let sizes = |args: &str| {
        let output = run(&format!("run --bench fib,nqueens --runtime serial {args} --json"));
        assert!(output.status.success(), "{}", stderr(&output));
        let lines =
            stdout(&output).lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut sizes: Vec<u64> = lines.map(|line| line["n"].as_u64().unwrap()).collect();
        // A run that does not count is repeated.
        sizes.dedup();
        sizes
    };
    assert_eq!(sizes("--workers 1 --reps 1 --n 7,9"), [7, 9, 7, 9]);
    assert_eq!(sizes("--workers 1 --reps 1 --size small"), [25, 10]);
    refused("run --bench fib --size small --n 5", "cannot be used with");
    refused("run --bench fib --size tiny", "[possible values: small, usual, large, all, caches]");
    refused("run --bench fib --size caches", "fib has no data that fill caches");
    refused("run --bench fib --n 5,61", "fib of size 61: sizes are 1 to 60");
    refused("run --bench cycle --size all", "--size is not for cycle");
    refused("run --bench fib --runtime tbb", "known are serial, evenkeel, evenkeel-worker, rayon");
}

#[test]
fn a_missing_compiler_is_listed_and_refused_by_name_and_the_others_run() {
    let output = run_without_toolchains("list");
    let (_, missing) = stdout(&output).split_once("runtimes of fork-join missing:").unwrap();
    for name in ["serial-cpp", "onetbb", "openmp"] {
        assert!(missing.contains(name), "{missing}");
    }
    assert!(missing.contains("`g++` was not found; install g++"), "{missing}");

    let output = run_without_toolchains("run --bench fib --n 5 --runtime serial,onetbb");
    assert_eq!(output.status.code(), Some(2));
    let words = "onetbb was not found: `g++` was not found; install g++";
    assert!(stderr(&output).contains(words), "{}", stderr(&output));

    let output = run_without_toolchains("run --bench fib --n 5 --workers 1 --reps 1 --json");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!stdout(&output).contains("serial-cpp") && stdout(&output).contains("rayon"));
}

/// A compiler that finds no library, whatever is installed on this machine.
#[cfg(unix)]
#[test]
fn a_missing_library_is_said_in_the_words_of_the_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let lines = "case \"$*\" in --version) echo 'fake 1.0' ;;\n\
        *) echo 'trial.cpp:1: fatal error: tbb.h: No such file' >&2; exit 1 ;; esac";
    script(folder.path(), "g++", lines);
    let output = run_on_path("run --bench fib --n 5 --runtime onetbb", folder.path());
    assert_eq!(output.status.code(), Some(2));
    let words =
        "onetbb was not found: trial.cpp:1: fatal error: tbb.h: No such file; install oneTBB";
    assert!(stderr(&output).contains(words), "{}", stderr(&output));
}

/// A compiler that finds oneTBB where a variable or pkg-config points, and no other library.
#[cfg(unix)]
#[test]
fn a_library_is_found_where_its_installer_has_put_it() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("own");
    script(
        folder.path(),
        "g++",
        &format!(
            "case \"$*\" in --version) echo 'fake 1.0' ;;\n\
             *-I{0}/include*-L{0}/lib*) echo '#!/bin/sh' > trial; /bin/chmod +x trial ;;\n\
             *) echo 'trial.cpp:1: fatal error: tbb.h: No such file' >&2; exit 1 ;; esac",
            place.display()
        ),
    );
    let is_found = |variable: Option<&Path>| {
        let mut bench = bench();
        bench.arg("list").env("PATH", folder.path()).env_remove("CXX").env_remove("TBBROOT");
        variable.map(|place| bench.env("TBBROOT", place));
        let output = bench.output().unwrap();
        let (_, of) = stdout(&output).split_once("runtimes of fork-join found:").unwrap();
        let (there, missing) = of.split_once("runtimes of fork-join missing:").unwrap();
        assert!(missing.contains("openmp"), "{missing}");
        there.contains("onetbb")
    };
    assert!(!is_found(None));
    assert!(!is_found(Some(&place)), "there is nothing yet");
    for file in ["include/oneapi/tbb/task_arena.h", "lib/libtbb.so"] {
        let file = place.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "").unwrap();
    }
    assert!(is_found(Some(&place)));
    let flags = format!("echo '-I{0}/include -L{0}/lib -ltbb'", place.display());
    script(folder.path(), "pkg-config", &flags);
    assert!(is_found(None));
}

#[cfg(not(feature = "forte"))]
#[test]
fn a_binary_without_forte_says_how_to_build_one_with_it() {
    let output = run("run --bench fib --n 5 --runtime forte");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("cargo run --release -p evenkeel-bench --features forte"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn tables_of_the_thesis_that_cannot_be_are_refused() {
    for (args, words) in [
        ("--bench mutex,cycle", "cycle has columns of its own, not those of mutex"),
        (
            "--bench mutex --runtime tokyo",
            "unknown runtime of these experiments `tokyo`: known are evenkeel, tokio, tokio-notify",
        ),
        ("--bench mutex --runtime genawaiter", "genawaiter has no experiment `mutex`"),
        ("--bench mutex --monitors 3", "mutex does not enter 3 monitors: known are 1, 2, 4"),
        ("--bench ctxswitch --monitors 1", "--monitors is not for ctxswitch"),
        ("--bench timers --monitors 1", "--monitors is not for timers"),
        ("--bench cycle --monitors 2", "--monitors is not for cycle"),
        (
            "--bench schedint --variant caller",
            "schedint has no variant `caller`: known are waiter, signaller",
        ),
        (
            "--bench schedint --variant call",
            "schedint has no variant `call`: known are waiter, signaller",
        ),
        ("--bench mutex --variant waiter", "mutex has no variants, so not `waiter` either"),
        ("--bench schedint --procs 2", "--procs is not for schedint"),
        ("--bench schedint --tasks 2", "--tasks is not for schedint"),
        ("--bench contended --n 5", "--n is not for contended"),
        ("--bench contended --tasks-per-proc 5", "--tasks-per-proc is not for contended"),
        ("--bench mutex --n 0", "0 rounds have no time"),
        ("--bench mutex --n 5,6", "these experiments take one number of rounds"),
        ("--bench mutex --size small", "--size is not for mutex"),
    ] {
        refused(&format!("run {args}"), words);
    }
}

#[test]
fn rounds_leave_one_line_per_run_that_analyse_takes() {
    let output = run("run --bench mutex --runtime std,tokio,call --n 2000 --reps 3 --json");
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = lines(&output);
    for monitors in [1, 2, 4] {
        for runtime in ["std", "tokio", "call"] {
            let is = |line: &&Value| line["runtime"] == runtime && line["monitors"] == monitors;
            let runs = lines.iter().filter(is).count();
            // A run that does not count is repeated, so there may be more runs than these.
            let has = runtime != "call" || monitors == 1;
            assert!(if has { runs >= 3 } else { runs == 0 }, "{runtime}, {monitors}: {runs}");
        }
    }
    for line in &lines {
        assert_eq!((&line["bench"], &line["ops"]), (&"mutex".into(), &2000.into()));
        assert!(line["ns_per_op_per_proc"].as_f64().unwrap() > 0.0, "{line}");
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &output.stdout).unwrap();
    let output = bench()
        .args(["analyse", "--where", "runtime=std,tokio", "--model", "multiplicative"])
        .args(["--contrast=std,tokio", "--keep=disturbed"])
        .arg(file.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("monitors 2"), "{}", stdout(&output));
}

#[test]
fn rows_that_no_chosen_runtime_has_are_left_out() {
    let output = run("run --bench creation --runtime corosensei --n 10 --reps 1 --json");
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = stdout(&output).lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut variants: Vec<_> =
        lines.map(|line| line["variant"].as_str().unwrap().to_owned()).collect();
    variants.dedup();
    assert_eq!(variants, ["coroutine-lazy", "coroutine-eager"]);
}

#[test]
fn contended_runs_show_throughput_and_the_longest_wait() {
    let args =
        "run --bench contended --runtime evenkeel,parking_lot --seconds 0.05 --reps 1 --tasks 3";
    let output = run(args);
    assert!(output.status.success(), "{}", stderr(&output));
    let has = ["contended tight", "contended yielding", "entries, million/s", "longest wait, µs"];
    for words in has {
        assert!(stdout(&output).contains(words), "{}", stdout(&output));
    }
    let output = run(&format!("{args} --json --variant tight"));
    for line in stdout(&output).lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&line["workers"], &line["tasks"]), (&2.into(), &3.into()));
        assert!(line["longest_wait_us"].as_f64().unwrap() > 0.0, "{line}");
    }
}

#[test]
fn a_missing_c_compiler_is_listed_and_refused_by_name_and_the_others_run() {
    let output = run_without_toolchains("list");
    let (_, missing) = stdout(&output).split_once("runtimes of concurrency missing:").unwrap();
    assert!(missing.contains("pthread"), "{missing}");
    assert!(missing.contains("`cc` was not found; install a C compiler"), "{missing}");

    let output = run_without_toolchains("run --bench mutex --runtime std,pthread");
    assert_eq!(output.status.code(), Some(2));
    let words = "pthread was not found: `cc` was not found; install a C compiler";
    assert!(stderr(&output).contains(words), "{}", stderr(&output));

    let output = run_without_toolchains("run --bench schedext --n 100 --reps 1 --json");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("flume") && !stdout(&output).contains("\"go\""));
}
