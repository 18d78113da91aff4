//! Experiments on actors, run with the built binary.

use serde_json::Value;

use crate::binary::{bench, lines, refused, run, stderr, stdout};

#[test]
fn command_lines_that_cannot_be_are_refused() {
    for (args, words) in [
        ("--bench fanin,cycle", "cycle has columns of its own, not those of fanin"),
        ("--bench cycle,fanin", "cycle has columns of its own, not those of fanin"),
        ("--bench fanin --runtime tokyo", "unknown actor system `tokyo`: known are "),
        ("--bench fanin --runtime tokio-native", "unknown actor system `tokio-native`"),
        ("--bench fanin --pings 5", "--pings is not for fanin"),
        ("--bench latency_probe --in-flight 5", "--in-flight is not for latency_probe"),
        ("--bench latency_probe --pairs 5", "--pairs is not for latency_probe"),
        ("--bench pingpong --actors-per-worker 5", "--actors-per-worker is not for pingpong"),
        ("--bench pingpong --producers 5", "--producers is not for pingpong"),
        ("--bench actor_spawn --messages 5", "--messages is not for actor_spawn"),
        ("--bench fanin,pingpong --actors 5", "--actors is not for fanin and pingpong"),
        ("--bench cycle --actors 5", "--actors is not for cycle"),
        ("--bench fib --pings 5", "--pings is not for fib"),
        ("--bench fanin --tasks 5", "--tasks is not for fanin"),
        ("--bench fanin --n 5", "--n is not for fanin"),
        ("--bench latency_probe --seconds 0.1", "--seconds is not for latency_probe"),
        ("--bench fanin --monitors 1", "--monitors is not for fanin"),
        ("--bench fanin --variant alive", "fanin has no variants, so not `alive` either"),
        ("--bench actor_spawn --variant idle", "no variant `idle`: known are alive, waves"),
        ("--bench actor_spawn --variant all", "no variant `all`: known are alive, waves"),
        ("--bench fanin --rounds 5", "--rounds is not for fanin"),
        ("--bench fib --rounds 5", "--rounds is not for fib"),
        ("--bench savina --pings 5", "--pings is not for savina_big, savina_threadring"),
        ("--bench savina_big,cycle", "cycle has columns of its own, not those of savina_big"),
        ("--bench savina --runtime kameo", "kameo cannot run savina_big, 1 worker"),
        ("--bench savina,savina_big", "`savina_big` is named twice by --bench"),
        ("--bench savina_fib", "unknown experiment `savina_fib`"),
        ("--bench savina_count --rounds 1000001", "1000001 is not in 1..=1000000"),
        ("--bench fanin --producers 1", "1 is not in 2..="),
        ("--bench latency_probe --pings 0", "0 is not in 1..="),
        ("--bench latency_probe --workers 0", "`0` is not a whole number"),
    ] {
        refused(&format!("run {args}"), words);
    }
}

#[test]
fn latency_probe_leaves_lines_with_round_trips_that_analyse_takes() {
    let output = run("run --bench latency_probe --runtime tokio,actix --workers 1,2 --pings 200 \
         --actors-per-worker 10 --reps 3 --json");
    let records = lines(&output);
    // A run that does not count is repeated, so there may be more lines than these.
    for (runtime, workers) in [("tokio", 1), ("actix", 1), ("tokio", 2), ("actix", 2)] {
        let is = |line: &&Value| line["runtime"] == runtime && line["workers"] == workers;
        assert!(records.iter().filter(is).count() >= 3, "{runtime} on {workers}");
    }
    for line in &records {
        let workers = line["workers"].as_u64().unwrap();
        let figure = |field: &str| line[field].as_f64().unwrap_or(f64::NAN);
        assert_eq!(line["bench"], "latency_probe");
        assert_eq!(line["actors"], 10 * workers);
        assert_eq!(line["messages"], 2 * 10 * workers * 200);
        let ns = figure("seconds") * 1e9 / figure("messages");
        assert!((figure("ns_per_message") / ns - 1.0).abs() < 1e-9, "{line}");
        assert!(figure("trip_us_p50") <= figure("trip_us_p99"), "{line}");
        assert!(figure("trip_us_p99") <= figure("trip_us_max"), "{line}");
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &output.stdout).unwrap();
    let output = bench()
        .args([
            "analyse",
            "--pool",
            "regime",
            "--model",
            "multiplicative",
            "--keep",
            "disturbed,mixed",
        ])
        .arg("--contrast=tokio,actix")
        .arg(file.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("latency_probe"), "{}", stdout(&output));
}

#[test]
fn every_experiment_leaves_a_line_for_each_system() {
    let output = run("run --bench pingpong,fanin,actor_spawn --workers 2 \
         --runtime evenkeel,actix,ractor,kameo,tokio,tokio-batch --pings 500 --in-flight 7 \
         --pairs 2 --producers 3 --messages 400 --actors 1500 --reps 1 --json");
    let records = lines(&output);
    let of = |bench: &str, variant: &str| {
        let is = |line: &&Value| line["bench"] == bench && line["variant"] == variant;
        records.iter().filter(is).collect::<Vec<_>>()
    };
    for (bench, variant, actors, messages) in [
        ("pingpong", "-", 4, 2 * 2 * 500),
        ("fanin", "-", 4, 3 * 400),
        ("actor_spawn", "alive", 1_500, 1_500),
        ("actor_spawn", "waves", 1_500, 1_500),
    ] {
        let records = of(bench, variant);
        let runtimes: Vec<_> = records.iter().map(|line| line["runtime"].as_str()).collect();
        for name in ["evenkeel", "actix", "ractor", "kameo", "tokio", "tokio-batch"] {
            assert!(runtimes.contains(&Some(name)), "{name} is missing in {runtimes:?}");
        }
        for line in records {
            assert_eq!((&line["actors"], &line["messages"]), (&actors.into(), &messages.into()));
            assert!(line["ns_per_message"].as_f64().unwrap() > 0.0, "{line}");
            assert_eq!(line.get("in_flight").is_some(), bench == "pingpong", "{line}");
            assert!(line.get("trip_us_p50").is_none(), "{line}");
        }
    }
}

#[test]
fn the_memory_of_idle_actors_is_measured_in_a_fresh_process() {
    let output = run("run --bench actor_memory --runtime actix,kameo,tokio --workers 1 \
         --actors 20000 --reps 1 --json");
    let records = lines(&output);
    let bytes = |runtime: &str, variant: &str| {
        let is = |line: &&Value| line["runtime"] == runtime && line["variant"] == variant;
        let line = records.iter().find(is).unwrap();
        assert_eq!(line["actors"], 20_000.0);
        assert!(line.get("ns_per_message").is_none(), "{line}");
        line["bytes_per_actor"].as_f64().unwrap()
    };
    assert!(records.len() >= 6);
    for variant in ["idle", "used"] {
        assert!((300.0..3_000.0).contains(&bytes("actix", variant)), "{records:?}");
        assert!((600.0..6_000.0).contains(&bytes("tokio", variant)), "{records:?}");
        assert!(bytes("kameo", variant) > bytes("tokio", variant), "{records:?}");
    }
}

#[test]
fn the_programs_of_savina_leave_a_line_for_each_system() {
    let output = run("run --bench savina --workers 1,2 --rounds 20 --reps 1 --json");
    let records = lines(&output);
    for (bench, actors, messages) in [
        ("savina_big", 121, 120 * 43),
        ("savina_threadring", 100, 121),
        ("savina_count", 2, 23),
        ("savina_fjcreate", 20, 20),
        ("savina_chameneos", 101, 480),
        ("savina_banking", 1_001, 1_081),
        ("savina_bndbuffer", 81, 40 * 82 + 40),
        ("savina_philosopher", 21, 20 * 81),
    ] {
        for workers in [1, 2] {
            let is = |line: &&Value| line["bench"] == bench && line["workers"] == workers;
            let of: Vec<_> = records.iter().filter(is).collect();
            let runtimes: Vec<_> =
                of.iter().map(|line| line["runtime"].as_str().unwrap()).collect();
            assert_eq!(runtimes[..4], ["evenkeel", "actix", "tokio-batch", "tokio"], "{bench}");
            for line in of {
                assert_eq!(
                    (&line["actors"], &line["messages"]),
                    (&actors.into(), &messages.into())
                );
                assert!(line["ns_per_message"].as_f64().unwrap() > 0.0, "{line}");
            }
        }
    }
}

#[test]
fn tables_are_printed_and_thoriums_counters() {
    let output = run("run --bench latency_probe,actor_spawn --runtime tokio --workers 1 \
         --pings 200 --actors 1000 --reps 2");
    assert!(output.status.success(), "{}", stderr(&output));
    for words in [
        "ns per message",
        "round trip p99, µs",
        "ns per actor",
        "\ntokio, 1 worker, the median of ",
        ":\nPERFORMANCE_COUNTER node-count = 1\n", // Of one run or more: the others were disturbed.
        "PERFORMANCE_COUNTER actor-count = 100\n",
        "PERFORMANCE_COUNTER message-count = 20000\n",
        "PERFORMANCE_COUNTER message-count-with-replies = 40000\n",
        "PERFORMANCE_COUNTER round-trip-p50 = ",
    ] {
        assert!(stdout(&output).contains(words), "{words}: {}", stdout(&output));
    }
    // There is no subject to compare with.
    assert!(!stdout(&output).contains("evenkeel is"), "{}", stdout(&output));
    // Each row is announced when it begins.
    for cell in ["latency_probe, 1 worker", "actor_spawn waves, 1 worker"] {
        assert!(stderr(&output).lines().any(|line| line.starts_with(cell)), "{}", stderr(&output));
    }
}

#[test]
fn list_names_experiments_and_systems() {
    let output = run("list");
    for words in [
        "latency_probe ",
        "actor_spawn (alive, waves)",
        "actor_memory (idle, used)",
        "savina_threadring ",
        "savina ",
        "runtimes of actors found:",
        "tokio-batch",
        "ractor",
    ] {
        assert!(stdout(&output).contains(words), "{words}: {}", stdout(&output));
    }
}

#[test]
fn a_missing_toolchain_is_listed_and_refused_by_name_and_the_others_run() {
    let empty = tempfile::tempdir().unwrap();
    let without = |args: &str| {
        let mut bench = bench();
        let bare = bench.args(args.split_whitespace()).env("PATH", empty.path());
        let bare = bare.env("HOME", empty.path()).env_remove("CXX").env_remove("JAVA_HOME");
        bare.output().unwrap()
    };
    let output = without("list");
    let (found, missing) = stdout(&output).split_once("runtimes of actors missing:").unwrap();
    let (_, found) = found.split_once("runtimes of actors found:").unwrap();
    let (missing, _) = missing.split_once("runtimes of ").unwrap_or((missing, ""));
    // Some are also looked for in system folders, and have one line each in either list.
    for name in ["pekko", "erlang"] {
        let is = |line: &str| line.split_whitespace().next() == Some(name);
        assert!(found.lines().chain(missing.lines()).any(is), "{name}: {missing}");
    }
    for name in ["caf", "go"] {
        assert!(missing.contains(name), "{name}: {missing}");
    }
    let output = without("run --bench fanin --runtime tokio,go");
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    assert!(stderr(&output).contains("go was not found: "), "{}", stderr(&output));
    let output = without("run --bench fanin --messages 50 --workers 1 --reps 1 --json");
    assert!(lines(&output).len() >= 6, "{}", stdout(&output));
    assert!(!stdout(&output).contains("\"go\""), "{}", stdout(&output));
}

#[test]
fn systems_in_other_languages_run_what_they_are_asked_for_where_they_are_found() {
    let listed = run("list");
    let (_, systems) = stdout(&listed).split_once("runtimes of actors found:").unwrap();
    let (systems, _) = systems.split_once("missing:").unwrap_or((systems, ""));
    let is_there =
        |name: &&str| systems.lines().any(|line| line.split_whitespace().next() == Some(*name));
    let there: Vec<&str> = ["pekko", "erlang", "caf", "go"].into_iter().filter(is_there).collect();
    if there.is_empty() {
        return;
    }
    let output = run(&format!(
        "run --bench latency_probe,pingpong,fanin,actor_spawn,actor_memory --runtime {} --workers 1 \
         --pings 50 --messages 100 --actors 2000 --reps 2 --json",
        there.join(","),
    ));
    let records = lines(&output);
    // Three experiments without variants, and two with two each.
    assert!(records.len() >= there.len() * 2 * 7);
    for line in &records {
        let memory = line["bench"] == "actor_memory";
        assert_eq!(
            line["bytes_per_actor"].as_f64().is_some_and(|bytes| bytes > 0.0),
            memory,
            "{line}"
        );
        assert_eq!(line["ns_per_message"].as_f64().is_some_and(|ns| ns > 0.0), !memory, "{line}");
    }
}
