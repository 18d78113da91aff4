//! Checks that text is wrapped at [`COLUMNS`]: papers, the comments of Rust files, of manifests and
//! of the scripts in `.ci`, and the scripts' documentation. No tool has one rule for all of these.

use std::fs;
use std::path::{Path, PathBuf};

/// The most columns of a line of text.
const COLUMNS: usize = 100;

/// A file in which text stands among other things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// All is text.
    Paper,
    /// Comments begin with `//`.
    Rust,
    /// Comments begin with `#`, in a manifest or a script. Those in Python have docstrings too.
    Script,
}

impl Kind {
    /// Returns the kind of a file by its path; `None` if it is not checked.
    fn of(path: &Path) -> Option<Self> {
        match path.extension().and_then(|end| end.to_str()) {
            Some("md") => Some(Self::Paper),
            Some("rs") => Some(Self::Rust),
            Some("toml" | "py") => Some(Self::Script),
            None if path.parent().and_then(Path::file_name) == Some(".ci".as_ref()) => {
                Some(Self::Script)
            }
            _ => None,
        }
    }

    /// Returns the text in a line, or `None` if the line has code. `is_doc`: it is within a
    /// docstring.
    fn text(self, line: &str, is_doc: bool) -> Option<&str> {
        let begun = line.trim_start();
        match self {
            Self::Paper => Some(line),
            Self::Rust => begun.starts_with("//").then(|| begun.trim_start_matches(['/', '!'])),
            Self::Script if is_doc || begun.starts_with(QUOTES) => Some(line),
            Self::Script => begun.starts_with('#').then(|| begun.trim_start_matches('#')),
        }
    }
}

/// The mark at which a docstring begins and ends.
const QUOTES: &str = "\"\"\"";

/// Finds all files that are checked below a folder, except build output and the suite's reports.
fn files(folder: &Path, found: &mut Vec<(PathBuf, Kind)>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_output = name == "target" || (name == "report" && !folder.ends_with("src"));
        let is_read = !is_output && (name == ".ci" || !name.starts_with('.'));
        if path.is_dir() && is_read {
            files(&path, found);
        } else if let Some(kind) = Kind::of(&path).filter(|_| path.is_file()) {
            found.push((path, kind));
        }
    }
}

/// Returns the numbers of the lines of text that are too long, except those that cannot be wrapped:
/// tables, pictures, code and single words.
fn too_long(text: &str, kind: Kind) -> Vec<usize> {
    let (mut is_code, mut is_doc) = (false, false);
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let said = kind.text(line, is_doc);
        is_doc ^= line.matches(QUOTES).count() % 2 == 1;
        let Some(said) = said.map(str::trim) else {
            is_code = false;
            continue;
        };
        is_code ^= said.starts_with("```");
        let is_bound = is_code || said.starts_with(['|', '!']) || !said.contains(' ');
        if line.chars().count() > COLUMNS && !is_bound {
            found.push(number + 1);
        }
    }
    found
}

#[test]
fn lines_of_text_have_at_most_100_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut all = Vec::new();
    files(root, &mut all);
    for (kind, least) in [(Kind::Paper, 20), (Kind::Rust, 500), (Kind::Script, 25)] {
        let count = all.iter().filter(|(_, found)| *found == kind).count();
        assert!(count > least, "{kind:?}: {count} files");
    }
    let long = |(path, kind): &(PathBuf, Kind)| {
        let text = fs::read_to_string(path).expect("it is text");
        let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let lines = too_long(&text, *kind).into_iter();
        lines.map(move |line| format!("{shown}:{line}")).collect::<Vec<_>>()
    };
    let long: Vec<_> = all.iter().flat_map(long).collect();
    assert!(long.is_empty(), "wrap these lines at {COLUMNS} columns:\n{}", long.join("\n"));
}

#[test]
fn files_are_checked_by_what_they_are() {
    let kind = |path| Kind::of(Path::new(path));
    assert_eq!(kind("docs/design.md"), Some(Kind::Paper));
    assert_eq!(kind("evenkeel/src/lib.rs"), Some(Kind::Rust));
    assert_eq!(kind("evenkeel/Cargo.toml"), Some(Kind::Script));
    assert_eq!([kind(".ci/run"), kind(".ci/house/source.py")], [Some(Kind::Script); 2]);
    assert_eq!([kind("Cargo.lock"), kind("LICENSE-MIT"), kind("docs/latency.svg")], [None; 3]);
}

#[test]
fn tables_and_code_may_be_longer() {
    let long = "word ".repeat(30);
    let paper = format!("{long}\n| {long}|\n![{long}](a.svg)\n```text\n{long}\n```\n{long}\n");
    assert_eq!(too_long(&paper, Kind::Paper), [1, 7]);
    let rust = format!("//! {long}\n//! | {long} |\n/// ```\n/// {long}\n/// ```\n/// {long}\n");
    assert_eq!(too_long(&rust, Kind::Rust), [1, 6]);
    let word = "word".repeat(30);
    assert_eq!(too_long(&format!("// {word}\nlet a = \"{long}\";\n"), Kind::Rust), []);
    let script =
        format!("# {long}\na = \"{long}\"\n\"\"\"Short.\n\n{long}\n\"\"\"\nb = \"{long}\"\n");
    assert_eq!(too_long(&script, Kind::Script), [1, 5]);
    assert_eq!(too_long(&format!("\"\"\"{long}\"\"\"\nc = \"{long}\"\n"), Kind::Script), [1]);
}
