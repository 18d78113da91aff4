//! The page as a whole, on an invented session.

use std::fs;
use std::path::PathBuf;

use super::example::{case, record, session};
use super::kept::{Kept, UNFINISHED};
use super::{Session, page, prepare};
use suite::entry::Measured;
use suite::record::Record;
use suite::rows::{Absent, rows};
use suite::words;

/// Returns the page of a session with only these runs of scheduling.
fn page_of(records: Vec<Record>) -> String {
    let mut session = session();
    session.measured.truncate(1);
    session.measured[0].records = records;
    page::render(&session).expect("a page can be made of any records")
}

/// Returns the page of the whole session.
fn whole_page() -> String {
    page::render(&session()).expect("a page can be made of any records")
}

/// Returns a folder for this test alone, which does not exist yet.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("evenkeel-{}-{name}", std::process::id()));
    assert!(!folder.exists(), "{} was left behind by another run", folder.display());
    folder
}

#[test]
fn the_page_holds_the_median_of_every_cell() {
    let page = whole_page();
    let Measured { of, records, absent } = &session().measured[0];
    for row in rows(of, records, absent) {
        for quantity in row.quantities() {
            for value in row.cells.iter().filter_map(|cell| row.summary(quantity, cell)) {
                let (median, min) = (words::figure(value.median), words::figure(value.min));
                let range = [format!("[{min} to"), format!("from {min}")];
                let has_range = range.iter().any(|range| page.contains(range));
                let has_all = page.contains(&median) && (has_range || value.min == value.max);
                assert!(!value.completed() || has_all, "{median} from {min} is missing");
            }
        }
    }
    for words in [
        "<strong>18.2</strong>",
        "2.0 x faster",
        "1.17 x slower",
        "1 of 3 did not complete",
        "2 runs made while the distance of the cores changed",
        "tokio-hand: Tokio with hand-made park",
        "They were stopped after 0.5 to 1.0 s",
    ] {
        assert!(page.contains(words), "{words} is missing");
    }
}

#[test]
fn what_was_measured_with_several_workers_is_drawn_as_lines() {
    let page = whole_page();
    let figure = "<figcaption>";
    for words in ["Cycle, tasks per proc 100", "Locality share, tasks per proc 100, words 2"] {
        assert!(page.contains(&format!("{figure}{words}")), "{words} is missing");
    }
    assert!(!page.contains(&format!("{figure}Cycle, 1 worker")));
    // Rows without lines have a row of dots for each case.
    assert!(page.contains(&format!("{figure}Transfer park, 2 workers, tasks per proc 100")));
    let one = page_of(vec![record("evenkeel", &case("cycle", "-", 2, 100), 0, 9.0)]);
    assert!(one.contains(&format!("{figure}Cycle, 2 workers, tasks per proc 100")));
}

#[test]
fn a_run_that_did_not_complete_appears_as_words() {
    let run =
        |runtime, repeat, value| record(runtime, &case("transfer", "yield", 2, 100), repeat, value);
    let runs = |repeat| [run("tokio-hand", repeat, f64::INFINITY), run("evenkeel", repeat, 28.4)];
    let records = (0..3).flat_map(runs).collect();
    let page = page_of(records);
    assert!(page.contains("did not complete") && page.contains("only one to complete"));
    let page = page.replace("inflation", "");
    assert!(!page.contains("inf") && !page.contains("NaN"));
}

#[test]
fn fork_join_programs_have_a_table_and_pictures() {
    let page = whole_page();
    for words in [
        "<h2 class=\"pictures\" id=\"fork-join\">Fork-join",
        "Product of two n x n matrices",
        "7.80<span class=\"range\">[7.64 to 8.19]",
        "<strong>1.92</strong>",
        "Matmul, 2 workers, n 512, cores near",
        "openmp has no figure of fib, 2 workers, n 30: it would take too long",
        "evenkeel is",
    ] {
        assert!(page.contains(words), "{words} is missing");
    }
    let page = page::render(&Session { measured: Vec::new(), ..session() }).expect("a page");
    assert!(!page.contains("Fork-join"));
}

#[test]
fn timers_have_a_table_and_pictures() {
    let page = whole_page();
    for words in [
        "<h2 class=\"pictures\" id=\"timers\">Timers",
        "[26.1 to 27.7]",
        "<strong>27.0</strong>",
        "4.8 x faster",
        "2,345",
        "Timers cancel, 1 worker, tasks 1",
        "Timers long, 1 worker, tasks 1",
        "not compared: 1 run of 3",
        "<h3 id=\"bench-timers\">",
        "tokio-one",
    ] {
        assert!(page.contains(words), "{words} is missing");
    }
    let page = page::render(&Session { measured: Vec::new(), ..session() }).expect("a page");
    assert!(!page.contains("id=\"timers\""));
}

#[test]
fn tables_of_the_thesis_stand_beside_what_it_published() {
    let page = whole_page();
    for words in [
        "Concurrency in C∀",
        "mutex, 1 worker<span class=\"range\">monitors 2, tasks 1",
        "<strong>8.70</strong>",
        "[8.53 to 9.13]",
        "average 8.79 ± 0.31",
        "<strong>19.2</strong>",
        "published µC++",
        "2288.5 / 2326.86 ± 54.73",
        "AMD Opteron 6380 at 2.5 GHz",
        "<td class=\"quantity\">longest wait, µs</td>",
        "entries, million/s",
        "behind one in 1 and neither in ",
    ] {
        assert!(page.contains(words), "{words} is missing");
    }
    let page = page::render(&Session { measured: Vec::new(), ..session() }).expect("a page");
    assert!(!page.contains("Opteron"));
}

#[test]
fn actors_have_tables_and_pictures() {
    let page = whole_page();
    for words in [
        "<h2 class=\"pictures\" id=\"actors\">Actors",
        "<h3 id=\"bench-latency_probe\">Latency_probe</h3>",
        "<strong>73.0</strong>",
        "[89.2 to 95.5]",
        "round trip p99.9, µs",
        "actor_spawn waves, 1 worker",
        "Actor_spawn waves, 1 worker",
        "Pingpong, 2 workers, actors 4, messages 8000000, in flight 1000, cores near",
        "The programs of Savina follow the rules",
        "<h3 id=\"bench-savina_fjcreate\">",
        "<strong>171</strong>",
    ] {
        assert!(page.contains(words), "{words} is missing");
    }
    assert!(!page.contains("PERFORMANCE_COUNTER"));
    let page = page::render(&Session { measured: Vec::new(), ..session() }).expect("a page");
    assert!(!page.contains("id=\"actors\""));
}

#[test]
fn objects_have_a_picture_of_each_regime() {
    let page = whole_page();
    for words in [
        "<h2 class=\"pictures\" id=\"objects\">Objects with homes",
        "Directory, 2 workers, tasks per core 16, access read, popularity uniform, cores near",
        "Travel, 2 workers, bytes 64000, popularity uniform, cores near",
        "Homes by worker: counters",
        "x threads+spin",
        "<li>  directory, 2 workers",
    ] {
        assert!(page.contains(words), "{words} is missing");
    }
    let page = page::render(&Session { measured: Vec::new(), ..session() }).expect("a page");
    assert!(!page.contains("<h2 class=\"pictures\" id=\"objects\">Objects with homes"));
}

#[test]
fn names_are_escaped() {
    let mut session = session();
    session.machine = "<b>machine</b>".to_owned();
    session.notes = vec!["a < b & c, `x --y`".to_owned()];
    let case = session.measured[0].records[0].case.clone();
    let why = "<script>".to_owned();
    session.measured[0].absent.push(Absent { case, runtime: "go-hand", why, runs: 0 });
    let page = page::render(&session).expect("a page can be made of any names");
    assert!(page.contains("&lt;script&gt;"));
    assert!(page.contains("a &lt; b &amp; c, <code>x --y</code>"));
    assert!(!page.contains("<script") && !page.contains("<b>"));
}

#[test]
fn pictures_follow_the_page_and_need_nothing_else() {
    let page = whole_page();
    assert!(page.contains(r#"stroke="var(--series-0)""#) && page.contains(r#"fill="var(--ink)""#));
    let pictures = page.split("<svg").skip(1).filter_map(|rest| rest.split("</svg>").next());
    for picture in pictures {
        assert!(!picture.contains(r##"="#"##), "a colour of its own in {picture}");
    }
    assert!(!page.contains("src=") && !page.contains("url(") && !page.contains("<script"));
}

#[test]
fn little_data_makes_a_page_too() {
    assert!(page_of(Vec::new()).contains("0 runs"));
    let page = page_of(vec![record("tokio-hand", &case("cycle", "-", 1, 100), 0, 93.8)]);
    assert!(page.contains("93.8") && page.contains("subject not measured"));
    let page = page_of(vec![record("evenkeel", &case("yield", "-", 256, 100), 0, 9.0)]);
    assert!(page.contains("no peer to compare") && page.contains("256 workers"));
}

#[test]
fn the_folder_holds_the_page_and_the_runs() {
    let folder = folder("report");
    let session = session();
    let mut kept = Kept::begin(&folder).expect("the temporary folder is writable");
    for Measured { of, records, .. } in &session.measured {
        for record in records {
            kept.add(of.name, record).expect("the temporary folder is writable");
        }
    }
    let page = kept.write(&session, true).expect("the temporary folder is writable");
    assert_eq!(page, folder.join("index.html"));
    assert!(fs::read_to_string(page).expect("written").starts_with("<!DOCTYPE html>"));
    for measured in &session.measured {
        let file = folder.join(format!("{}.jsonl", measured.of.name));
        let lines = fs::read_to_string(file).expect("written");
        let records: Result<Vec<serde_json::Value>, _> =
            lines.lines().map(serde_json::from_str).collect();
        assert_eq!(records.expect("each line is a record").len(), measured.records.len());
    }
    let files = fs::read_dir(&folder).expect("there").count();
    assert_eq!(files, session.measured.len() + 1);
    fs::remove_dir_all(folder).expect("the temporary folder is ours");
}

#[test]
fn runs_of_an_older_session_are_not_those_of_the_page() {
    let folder = folder("older");
    prepare(&folder).expect("the temporary folder is writable");
    for file in ["scheduling.jsonl", "timers.jsonl", "own.jsonl"] {
        fs::write(folder.join(file), "old\n").expect("the temporary folder is writable");
    }
    let mut session = session();
    session.measured.retain(|measured| ["scheduling", "timers"].contains(&measured.of.name));
    session.measured[0].records.truncate(2);
    session.measured[1].records.clear();
    let mut kept = Kept::begin(&folder).expect("the temporary folder is writable");
    for record in &session.measured[0].records {
        kept.add("scheduling", record).expect("the temporary folder is writable");
    }
    let page = kept.write(&session, true).expect("the temporary folder is writable");
    let lines = fs::read_to_string(folder.join("scheduling.jsonl")).expect("written");
    assert_eq!(lines.lines().count(), 2);
    assert!(!lines.contains("old") && !folder.join("timers.jsonl").exists());
    assert!(folder.join("own.jsonl").exists(), "it is no file of the session's");
    let page = fs::read_to_string(page).expect("written");
    assert!(page.contains("scheduling.jsonl") && !page.contains("timers.jsonl"));
    fs::remove_dir_all(folder).expect("the temporary folder is ours");
}

#[test]
fn a_session_that_ends_early_leaves_an_older_report_as_it_is() {
    let folder = folder("early");
    prepare(&folder).expect("the temporary folder is writable");
    let old = ["scheduling.jsonl", "timers.jsonl", "index.html"];
    for file in old {
        fs::write(folder.join(file), "old\n").expect("the temporary folder is writable");
    }
    let mut session = session();
    session.measured.retain(|measured| measured.of.name == "scheduling");
    let mut kept = Kept::begin(&folder).expect("the temporary folder is writable");
    for record in &session.measured[0].records {
        kept.add("scheduling", record).expect("the temporary folder is writable");
    }
    let page = kept.write(&session, false).expect("the temporary folder is writable");
    let unfinished = folder.join(UNFINISHED);
    assert_eq!(page, unfinished.join("index.html"));
    assert!(unfinished.join("scheduling.jsonl").exists());
    let is_old = |file| fs::read_to_string(folder.join(file)).is_ok_and(|text| text == "old\n");
    assert!(old.into_iter().all(is_old));
    drop(kept);
    // The next session leaves it there until there is a run that replaces it.
    let mut kept = Kept::begin(&folder).expect("the temporary folder is writable");
    assert_eq!(fs::read_dir(&unfinished).expect("there").count(), 2);
    let run = &session.measured[0].records[0];
    kept.add("timers", run).expect("the temporary folder is writable");
    kept.add("timers", run).expect("the temporary folder is writable");
    let lines = fs::read_to_string(unfinished.join("timers.jsonl")).expect("written");
    assert_eq!(lines.lines().count(), 2);
    assert_eq!(fs::read_dir(&unfinished).expect("there").count(), 1);
    fs::remove_dir_all(folder).expect("the temporary folder is ours");
}

#[test]
fn a_session_that_measures_nothing_leaves_no_folder_of_its_own() {
    let folder = folder("nothing");
    let kept = Kept::begin(&folder).expect("the temporary folder is writable");
    kept.leave();
    assert_eq!(fs::read_dir(&folder).expect("there").count(), 0);
    fs::remove_dir_all(folder).expect("the temporary folder is ours");
}

#[test]
#[cfg(unix)]
fn a_folder_into_which_another_session_writes_is_refused() {
    let folder = folder("both");
    let kept = Kept::begin(&folder).expect("the temporary folder is writable");
    let error = Kept::begin(&folder).err().expect("the other session goes on").to_string();
    assert!(error.starts_with("another session writes into the folder"), "{error}");
    drop(kept);
    Kept::begin(&folder).expect("the other session is over");
    fs::remove_dir_all(folder).expect("the temporary folder is ours");
}

#[test]
fn a_page_of_one_family_has_machine_date_commit_and_notes() {
    let mut session = session();
    session.end(&Err(anyhow::anyhow!("it broke")));
    let page = page::of_one(&session, &session.measured[0]).expect("a page");
    for words in [&session.machine, &session.started, &session.commit] {
        assert!(page.contains(words), "{words} is missing");
    }
    assert!(page.contains("Not all was measured: it broke."));
}

#[test]
fn an_unwritable_folder_is_named_with_a_way_out() {
    let file = folder("file");
    fs::write(&file, "").expect("the temporary folder is writable");
    let folder = file.join("report");
    let error = Kept::begin(&folder).err().expect("a file holds no folders");
    let text = format!("{error:#}");
    assert!(text.contains(&format!("`{}`", folder.display())), "{text}");
    assert!(text.contains("--report DIR") && text.contains("directory"), "{text}");
    fs::remove_file(file).expect("the file is ours");
}
