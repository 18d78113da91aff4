//! Checks all papers: each link leads to a file, and to a heading in it. What one of them quotes
//! from programs stands there.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this folder lies in the workspace")
}

/// Finds all papers below a folder, except in build output.
fn papers(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && name != "target" && name != "report" && !name.starts_with('.') {
            papers(&path, found);
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// Returns the lines of a paper outside of its blocks of code.
fn prose(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if !is_code && !is_fence {
            lines.push(line);
        }
    }
    lines
}

/// Returns the targets of the links in a paper that lead to other places in the repository. A link
/// may begin on one line and end on the next.
fn links(text: &str) -> Vec<String> {
    let text = prose(text).join("\n");
    // What stands between backticks is code, and no link.
    let parts =
        text.split('`').enumerate().map(|(place, part)| if place % 2 == 0 { part } else { "" });
    let text: String = parts.collect();
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).map(str::to_owned).collect()
}

/// Returns the name by which a link refers to a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).into_iter().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).collect()
}

/// Returns what is wrong with a link in `paper`; `None` if it leads somewhere.
fn fault(paper: &Path, link: &str) -> Option<String> {
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => paper.to_owned(),
        file => paper.parent().expect("a paper lies in a folder").join(file),
    };
    if !target.exists() {
        return Some(format!("no file {file}"));
    }
    let is_there = heading.is_empty()
        || fs::read_to_string(&target)
            .is_ok_and(|text| anchors(&text).contains(&heading.to_owned()));
    (!is_there).then(|| format!("no heading {heading} in {}", target.display()))
}

#[test]
fn each_link_leads_to_a_file_and_to_a_heading_in_it() {
    let mut all = Vec::new();
    papers(root(), &mut all);
    assert!(all.len() > 20, "{} papers", all.len());
    let mut count = 0;
    let mut faults = Vec::new();
    for paper in &all {
        for link in links(&fs::read_to_string(paper).expect("papers are UTF-8")) {
            count += 1;
            faults.extend(fault(paper, &link).map(|why| format!("{}: {why}", paper.display())));
        }
    }
    assert!(count > 100, "{count} links were found");
    assert!(faults.is_empty(), "these links lead nowhere:\n{}", faults.join("\n"));
}

/// Returns the blocks of code of a paper in a language, without indentation.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1).filter_map(|rest| rest.split("```").next());
    blocks.map(without_indentation).collect()
}

fn without_indentation(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim())).collect()
}

/// Joins all files of a folder that end with `end`, without indentation.
fn sources(folder: &Path, end: &str) -> String {
    let mut joined = String::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.to_string_lossy().ends_with(end) {
            joined += &without_indentation(&fs::read_to_string(path).expect("sources are UTF-8"));
        }
    }
    joined
}

/// The guide to crates of others is not compiled: it quotes programs that are.
#[test]
fn what_is_quoted_stands_in_the_examples() {
    let paper = root().join("docs/bring-your-crates.md");
    let paper = fs::read_to_string(paper).expect("papers are UTF-8");
    let examples = root().join("examples");
    let programs =
        sources(&examples.join("src"), ".rs") + &sources(&examples.join("src/bin"), ".rs");
    let quoted = blocks(&paper, "rust");
    assert!(quoted.len() > 10, "{} blocks", quoted.len());
    for block in quoted {
        assert!(programs.contains(&block), "no example has these lines:\n{block}");
    }
    let manifest = sources(&examples, ".toml");
    for block in blocks(&paper, "toml") {
        for line in block.lines() {
            assert!(manifest.contains(&format!("{line}\n")), "no example depends on:\n{line}");
        }
    }
}

/// Returns the names of a struct's fields.
fn fields(source: &str, name: &str) -> Vec<String> {
    let body = source.split(&format!("struct {name} {{")).nth(1).expect("the struct is there");
    let lines = body.lines().skip(1).take_while(|line| *line != "}");
    let lines = lines.filter(|line| !line.contains("//") && !line.contains("PhantomData"));
    let field = |line: &str| Some(line.split_once(": ")?.0.rsplit(' ').next()?.to_owned());
    lines.filter_map(field).collect()
}

/// A field that other threads change while its thread is stuck needs an argument, and one that they
/// leave alone a place in the list.
#[test]
fn each_field_of_a_worker_stands_in_the_tables_of_stuck_ones() {
    let room = root().join("evenkeel/src");
    let read = |file: &str| fs::read_to_string(room.join(file)).expect("sources are UTF-8");
    let page = read("scheduler/README.md");
    let part = page.split("## What a stuck worker keeps").nth(1).expect("the part is there");
    let part = part.split("\n## ").next().expect("it has an end");
    let cells: Vec<&str> = part.lines().filter_map(|line| line.split('|').nth(1)).collect();
    // One table names a struct before its fields, as in "`Seat`: `me`; `Worker`: `turn`".
    let named = |name: &str| -> String {
        let marked = cells.iter().flat_map(|cell| cell.split("; "));
        let own = marked.filter_map(|part| part.trim().strip_prefix(&format!("`{name}`: ")));
        own.flat_map(|fields| [fields, ", "]).collect()
    };
    for (file, name, before) in [
        ("processor/mod.rs", "Local", "local."),
        ("processor/mod.rs", "Published", "published."),
        ("processor/mod.rs", "Processor", ""),
        ("processor/context.rs", "Context", ""),
        ("processor/context/present.rs", "Present", ""),
        ("processor/forks.rs", "Forks", ""),
        ("processor/seat.rs", "Seat", ""),
        ("scheduler/worker.rs", "Worker<'a>", ""),
        ("scheduler/pace.rs", "Pace", ""),
        ("scheduler/catches.rs", "Catches", ""),
    ] {
        let own = named(name.trim_end_matches("<'a>"));
        let place = if own.is_empty() { cells.join(",") } else { own };
        let fields = fields(&read(file), name);
        let least = if name == "Present" { 3 } else { 4 };
        assert!(fields.len() >= least, "{name}: {fields:?}");
        for field in fields {
            let is_there = [format!("`{before}{field}`"), format!("`{field}.")];
            let is_there = is_there.iter().any(|name| place.contains(name));
            assert!(is_there, "`{field}` of {name} has no place in the tables");
        }
    }
}

#[test]
fn the_checks_find_what_they_look_for() {
    assert_eq!(links("[a](b.md) `[c](d)` [e](f.md#g)\n[h](scheme://i)"), ["b.md", "f.md#g"]);
    assert_eq!(
        anchors("# What is here, and why?\n```\n# no heading\n```\n"),
        ["what-is-here-and-why"]
    );
    let paper = root().join("README.md");
    assert!(fault(&paper, "no-such-file.md").is_some());
    assert!(fault(&paper, "README.md#no-such-heading").is_some());
    assert_eq!(fault(&paper, "ARCHITECTURE.md#architecture"), None);
}
