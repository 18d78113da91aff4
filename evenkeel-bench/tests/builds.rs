//! The suite beside another build of itself.

use std::process::{Command, Output};

fn builds(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_evenkeel-bench")).arg("builds").args(args).output().unwrap()
}

#[test]
fn rows_of_two_builds_stand_side_by_side() {
    let other = env!("CARGO_BIN_EXE_evenkeel-bench");
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().to_str().unwrap();
    let short = ["--bench", "yield", "--repeats", "1", "--seconds", "0.01"];
    let output = builds(&[&short[..], &["--other", other, "--report", report]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let printed = String::from_utf8_lossy(&output.stdout);
    let rows = |build: &str| printed.lines().filter(|line| line.contains(build)).count();
    assert!(printed.lines().next().is_some_and(|heading| heading.contains(" build ")), "{printed}");
    assert!(rows(" default ") > 0 && rows("tokio-hand") > 0, "{printed}");
    let page = std::fs::read_to_string(folder.path().join("index.html")).unwrap();
    assert!(page.contains("build default"), "{page}");
}

#[test]
fn another_build_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().to_str().unwrap();
    let output = builds(&["--other", "/no/such/program", "--repeats", "1", "--report", report]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("/no/such/program"), "{said}");
}
