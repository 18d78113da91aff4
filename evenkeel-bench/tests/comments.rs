//! Checks the form of comments in all crates, for which Rust has no tool.

use std::fs;
use std::path::{Path, PathBuf};

/// The most columns of a line of a comment.
const COLUMNS: usize = 100;

/// Finds all Rust files below a folder, except build output.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            files(&path, found);
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}

/// Returns the numbers of comment lines that are too long, except tables, code and single words.
fn too_long(text: &str) -> Vec<usize> {
    let mut is_code = false;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let comment = line.trim_start();
        if !comment.starts_with("//") {
            is_code = false;
            continue;
        }
        let said = comment.trim_start_matches(['/', '!']).trim_start();
        is_code ^= said.starts_with("```");
        let is_bound = is_code || said.starts_with('|') || !said.trim_end().contains(' ');
        if line.chars().count() > COLUMNS && !is_bound {
            found.push(number + 1);
        }
    }
    found
}

#[test]
fn lines_of_comments_have_at_most_a_hundred_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut all = Vec::new();
    files(root, &mut all);
    assert!(all.len() > 500, "{}", all.len());
    let of = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("it is text");
        let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
        too_long(&text).into_iter().map(move |line| format!("{shown}:{line}")).collect::<Vec<_>>()
    };
    let found: Vec<_> = all.iter().flat_map(of).collect();
    assert!(found.is_empty(), "{} lines:\n{}", found.len(), found.join("\n"));
}

#[test]
fn tables_and_code_may_be_longer() {
    let long = "word ".repeat(30);
    let text = format!("//! {long}\n//! | {long} |\n/// ```\n/// {long}\n/// ```\n/// {long}\n");
    assert_eq!(too_long(&text), [1, 6]);
}
