//! The experiments on objects with the built binary: their lines, tables and page.

use std::fs;

use crate::binary::{lines, run, stderr, stdout};

#[test]
fn modes_take_turns_and_leave_one_line_each() {
    let output =
        run("run --bench heap,travel --workers 2 --keys 64 --tasks-per-core 2 --seconds 0.02 \
         --repeats 2 --json");
    let lines = lines(&output);
    let order: Vec<_> = lines.iter().map(|line| line["runtime"].as_str().unwrap()).collect();
    let round = [
        "threads+spin",
        "tasks+parking_lot",
        "one-thread",
        "tasks+arc",
        "automatic",
        "tasks+combining",
        "home",
        "tasks+shipping",
        "in-place",
    ];
    assert_eq!(order[..9], round);
    // The second round is reversed, and a busy machine may take further rounds.
    assert!(order[9..18].iter().rev().eq(&round), "{order:?}");
    let heaps = lines.iter().filter(|line| line["bench"] == "heap").count();
    assert!(heaps >= 18 && lines.len() >= heaps + 2, "{order:?}");
    assert!(order[heaps..].iter().all(|name| *name == "home"), "{order:?}");
    let is_counted = stdout(&run("list")).contains("the processor's counter");
    for (place, line) in lines.iter().enumerate() {
        assert!(is_counted || line.get("misses").is_none(), "{line}");
        let bench = if place < heaps { "heap" } else { "travel" };
        assert_eq!((&line["bench"], &line["workers"]), (&bench.into(), &2.into()));
        let (repeat, is_planned) = (place / 9, place < 18);
        assert!(!is_planned || line["repeat"] == repeat, "{line}");
        for figure in ["operations", "seconds", "mops", "line_ns_before", "line_ns_after"] {
            assert!(line[figure].as_f64().is_some_and(|value| value >= 0.0), "{figure} of {line}");
        }
        assert!(line["operations"].as_u64().unwrap() > 0, "{line}");
        assert!(line["hops"].is_u64() && line["regime"].is_string(), "{line}");
        assert_eq!((&line["tasks_per_core"], &line["variant"]), (&2.into(), &"-".into()));
    }
    assert_eq!((&lines[0]["objects"], &lines[0]["bytes"]), (&1.into(), &512.into()));
}

#[test]
fn tables_and_page_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&format!(
        "run --bench directory,counters --workers 2 --kib 64 --access read,all --objects 4 \
         --runtime threads+spin,home --tasks-per-core 8 --seconds 0.02 --repeats 1 --report {}",
        folder.path().display()
    ));
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for words in [
        "million ops/s",
        "All rows of directory: tasks per core 8, objects 2, bytes 64000, popularity uniform.",
        "All rows of counters: tasks per core 8, objects 4, bytes 32, popularity uniform.",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let page = fs::read_to_string(folder.path().join("objects.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("threads+spin"));
}

#[test]
fn list_names_experiments_accesses_and_modes() {
    let output = run("list");
    assert!(output.status.success(), "{}", stderr(&output));
    for words in [
        "--access read, alone, found, all; --popularity uniform, oscillating",
        "incremented word by word (--access read, alone, all)",
        "runtimes of objects found:",
        "std::sync::Mutex; counters only",
        "evidence of cache misses",
    ] {
        assert!(stdout(&output).contains(words), "{words}: {}", stdout(&output));
    }
}
