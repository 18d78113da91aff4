//! Invented runs and installations, for the tests of the suite and of its families.

use std::fs;
#[cfg(unix)]
use std::path::{Path, PathBuf};

use crate::case::{Case, Fields};
use crate::record::{Quiet, Record};

/// Returns a quiet run of `cycle` with near cores that took `ns` nanoseconds.
pub fn run(runtime: &'static str, workers: usize, ns: f64) -> Record {
    Record {
        runtime: runtime.into(),
        case: Case::new("cycle", "-", workers).with("tasks", 100),
        repeat: 0,
        figures: Fields::new().with("ns", ns).with("ops", 7),
        dnc: false,
        quiet: quiet("near"),
    }
}

/// Cores that no other process used, and how near they were.
pub fn quiet(regime: &'static str) -> Quiet {
    Quiet { line_ns_before: 40.0, line_ns_after: 50.0, regime: regime.into(), cpu_share: 1.0 }
}

/// Makes a folder with these files.
pub fn tree(files: &[&str]) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder of its own can be written");
    for file in files {
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().expect("a folder of its own can be written"))
            .expect("a folder of its own can be written");
        fs::write(path, "").expect("a folder of its own can be written");
    }
    root
}

/// Makes a program out of a line of shell, and returns its path.
///
/// A shell writes it. If this process wrote it, a child that another thread starts meanwhile
/// would inherit the file, open for writing, and until the child's own program runs, the system
/// would refuse to run this one ("text file busy").
#[cfg(unix)]
pub fn script(root: &Path, file: &str, line: &str) -> PathBuf {
    let path = root.join(file);
    fs::create_dir_all(path.parent().expect("a folder of its own can be written"))
        .expect("a folder of its own can be written");
    let status = std::process::Command::new("/bin/sh")
        .args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && /bin/chmod 755 \"$0\""])
        .args([path.as_os_str(), line.as_ref()])
        .status()
        .expect("a shell can be started");
    assert!(status.success(), "a folder of its own can be written");
    path
}
