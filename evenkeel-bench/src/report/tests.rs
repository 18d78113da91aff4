//! The page as a whole, on a made-up session.

use std::fs;
use std::path::PathBuf;

use super::example::{record, session};
use super::{Session, page, write};
use crate::concurrency;
use crate::figures::Figures;
use crate::forking;
use crate::record::Record;
use crate::words;

fn page_of(records: Vec<Record>) -> String {
    page::render(&Session { records, ..session() }).expect("a page can be made of any records")
}

/// A folder of this test's own, which is not there yet.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("evenkeel-{}-{name}", std::process::id()));
    assert!(!folder.exists(), "{} was left behind by another run", folder.display());
    folder
}

#[test]
fn records_are_grouped_by_experiment_load_and_processors() {
    let figures = Figures::of(&session().records);
    assert_eq!(figures.runtimes[figures.subject().expect("measured")], "evenkeel");
    let titles: Vec<String> = figures.experiments.iter().map(words::title).collect();
    assert_eq!(titles[..4], ["Cycle", "Yield", "Churn", "Locality, share (2 words, 2 touched)"]);
    let cycle = &figures.experiments[0];
    let loads: Vec<usize> = cycle.loads.iter().map(|load| load.tasks_per_proc).collect();
    assert_eq!(loads, [100, 1]);
    let procs: Vec<usize> = cycle.loads[0].rows.iter().map(|row| row.procs).collect();
    assert_eq!(procs, [1, 2]);
    let evenkeel = &cycle.loads[0].rows[0].cells[0];
    assert_eq!((evenkeel.value.median, evenkeel.value.runs), (18.2, 3));
}

#[test]
fn a_row_compares_one_regime_only() {
    let run = |runtime, repeat, value, regime: &str| Record {
        regime: regime.to_owned(),
        ..record(runtime, "churn", "-", 2, 100, repeat, value)
    };
    let records = [
        run("evenkeel", 0, 40.0, "near"),
        run("evenkeel", 1, 270.0, "far"),
        run("tokio-hand", 0, 55.0, "near"),
        run("tokio-hand", 1, 60.0, "mixed"),
        run("go-hand", 0, 30.0, "far"),
    ];
    let figures = Figures::of(&records);
    let row = &figures.experiments[0].loads[0].rows[0];
    assert_eq!(row.regime.as_deref(), Some("near"));
    assert_eq!((row.cells[0].value.median, row.cells[1].value.median), (40.0, 55.0));
    assert_eq!((row.left_out, row.best()), (2, Some(0)));
    assert_eq!(row.cells[2].foreign.as_deref(), Some("far"));
}

#[test]
fn the_page_holds_the_median_of_every_cell() {
    let records = session().records;
    let page = page_of(records.clone());
    let experiments = Figures::of(&records).experiments;
    let rows = experiments.iter().flat_map(|e| &e.loads).flat_map(|l| &l.rows);
    for cell in rows.flat_map(|row| &row.cells).filter(|cell| cell.value.completed()) {
        let median = words::figure(cell.value.median);
        let min = words::figure(cell.value.min);
        let range = [format!("[{min} to"), format!("from {min}")];
        let shown = page.contains(&median) && range.iter().any(|range| page.contains(range));
        assert!(shown, "{median} from {min} is missing");
    }
    for words in
        ["<strong>18.2</strong>", "2.0 x faster", "1.17 x slower", "repeat 3 (41 then 183 ns)"]
    {
        assert!(page.contains(words), "{words} is missing");
    }
}

#[test]
fn a_run_that_did_not_complete_appears_as_words() {
    let run = |runtime, value| record(runtime, "transfer", "yield", 2, 100, 0, value);
    let page = page_of(vec![run("evenkeel", 28.4), run("tokio-hand", f64::INFINITY)]);
    assert!(page.contains("did not complete") && page.contains("only one to complete"));
    assert!(!page.contains("inf") && !page.contains("NaN"));
}

#[test]
fn fork_join_programs_have_a_table_and_pictures() {
    let page = page_of(session().records);
    for words in [
        "Product of two n x n matrices",
        "<strong>7.80</strong>",
        "[7.64 to 8.19]",
        "1.92 x",
        "Speed-up over serial, n = 512, 2 workers",
        "Cost of a fork, n = 30, 1 worker",
        "fib of size 30 on openmp with 2 workers: it would take too long",
        "ahead of every peer in 2",
        "behind in 2",
    ] {
        assert!(page.contains(words), "{words} is missing");
    }
    assert!(!page.contains("Cost of a fork, n = 512"));
    let page = page::render(&Session { forking: Vec::new(), ..session() }).expect("a page");
    assert!(!page.contains("Fork-join"));
}

#[test]
fn timers_have_a_table_and_pictures() {
    let page = page_of(session().records);
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
    let page = page::render(&Session { ported: Vec::new(), ..session() }).expect("a page");
    assert!(!page.contains("id=\"timers\""));
}

#[test]
fn tables_of_the_thesis_stand_beside_what_it_published() {
    let page = page_of(session().records);
    for words in [
        "Concurrency in C∀",
        "<td>2 monitors</td>",
        "<strong>8.70</strong>",
        "[8.53 to 9.13]",
        "<strong>19.2</strong>",
        "published µC++",
        "2288.5",
        "AMD Opteron 6380 at 2.5 GHz",
        "tight: longest wait, µs",
        "entries, million/s",
        "behind in 1 and",
    ] {
        assert!(page.contains(words), "{words} is missing");
    }
    let page = page::render(&Session { concurrency: Vec::new(), ..session() }).expect("a page");
    assert!(!page.contains("Opteron"));
}

#[test]
fn actors_have_tables_and_pictures() {
    let page = page_of(session().records);
    for words in [
        "<h2 class=\"pictures\">Actors",
        "<h3>latency_probe</h3>",
        "<strong>73.0</strong>",
        "[89.2 to 95.5]",
        "round trip p99.9, µs",
        "waves: ns per actor",
        "1, 1,000,000",
        "actor_spawn, waves, 1 worker",
        "pingpong, 2 workers, cores far",
        "<h2 class=\"pictures\">Actors: programs of the Savina suite",
        "<h3>savina_fjcreate</h3>",
        "<strong>171</strong>",
    ] {
        assert!(page.contains(words), "{words} is missing");
    }
    assert!(!page.contains("<figcaption>latency_probe: round trip"));
    let page = page::render(&Session { actors: Vec::new(), ..session() }).expect("a page");
    assert!(!page.contains("<h2 class=\"pictures\">Actors"));
}

#[test]
fn objects_have_a_picture_of_each_regime() {
    let page = page_of(session().records);
    for words in [
        "<h2 class=\"pictures\">Objects",
        "Directory, read, uniform, 16 tasks per core, cores near",
        "Travel, 2 workers, cores near",
        "x threads+spin",
    ] {
        assert!(page.contains(words), "{words} is missing");
    }
    let page = page::render(&Session { objects: Vec::new(), ..session() }).expect("a page");
    assert!(!page.contains("<h2 class=\"pictures\">Objects"));
}

#[test]
fn names_are_escaped() {
    let mut session = session();
    session.machine = "<b>machine</b>".to_owned();
    session.notes = vec!["a < b & c, `x --y`".to_owned()];
    for record in &mut session.records {
        record.runtime = record.runtime.replace("go-", "<script>");
    }
    let page = page::render(&session).expect("a page can be made of any names");
    assert!(
        page.contains("&lt;script&gt;hand")
            && page.contains("a &lt; b &amp; c, <code>x --y</code>")
    );
    assert!(!page.contains("<script") && !page.contains("<b>"));
}

#[test]
fn pictures_follow_the_page_and_need_nothing_else() {
    let page = page_of(session().records);
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
    let page = page_of(vec![record("may", "cycle", "-", 1, 100, 0, 93.8)]);
    assert!(page.contains("93.8") && page.contains("evenkeel not measured"));
    let page = page_of(vec![record("evenkeel", "yield", "-", 256, 100, 0, 9.0)]);
    assert!(page.contains("no peer to compare") && page.contains("256 processors"));
}

#[test]
fn the_folder_holds_the_page_and_the_runs() {
    let folder = folder("report");
    let session = session();
    let page = write(&folder, &session).expect("the temporary folder is writable");
    assert_eq!(page, folder.join("index.html"));
    assert!(fs::read_to_string(page).expect("written").starts_with("<!DOCTYPE html>"));
    let lines = fs::read_to_string(folder.join("records.jsonl")).expect("written");
    let records: Result<Vec<Record>, _> = lines.lines().map(serde_json::from_str).collect();
    assert_eq!(records.expect("each line is a record").len(), session.records.len());
    let lines = fs::read_to_string(folder.join("fork-join.jsonl")).expect("written");
    let records: Result<Vec<forking::record::Record>, _> =
        lines.lines().map(serde_json::from_str).collect();
    assert_eq!(records.expect("each line is a record").len(), 4 * 9 - 1);
    let lines = fs::read_to_string(folder.join("timers.jsonl")).expect("written");
    let records: Result<Vec<serde_json::Value>, _> =
        lines.lines().map(serde_json::from_str).collect();
    let written = records.expect("each line is a record").len();
    assert_eq!(written, session.ported[0].records.len());
    let lines = fs::read_to_string(folder.join("concurrency.jsonl")).expect("written");
    let records: Result<Vec<concurrency::record::Record>, _> =
        lines.lines().map(serde_json::from_str).collect();
    assert_eq!(records.expect("each line is a record").len(), session.concurrency.len());
    let lines = fs::read_to_string(folder.join("actors.jsonl")).expect("written");
    let records: Result<Vec<crate::actors::record::Record>, _> =
        lines.lines().map(serde_json::from_str).collect();
    assert_eq!(records.expect("each line is a record").len(), session.actors.len());
    let lines = fs::read_to_string(folder.join("objects.jsonl")).expect("written");
    let records: Result<Vec<crate::objects::record::Record>, _> =
        lines.lines().map(serde_json::from_str).collect();
    assert_eq!(records.expect("each line is a record").len(), session.objects.len());
    assert_eq!(fs::read_dir(&folder).expect("there").count(), 7);
    fs::remove_dir_all(folder).expect("the temporary folder is ours");
}

#[test]
fn an_unwritable_folder_is_named_with_a_way_out() {
    let file = folder("file");
    fs::write(&file, "").expect("the temporary folder is writable");
    let folder = file.join("report");
    let error = write(&folder, &session()).expect_err("a file holds no folders");
    let text = format!("{error:#}");
    assert!(text.contains(&format!("`{}`", folder.display())), "{text}");
    assert!(text.contains("--report DIR") && text.contains("directory"), "{text}");
    fs::remove_file(file).expect("the file is ours");
}
