//! The same rows by two builds of this suite: the tuned one of its release profile, and the one
//! that Cargo makes without a profile, which most users have.
//!
//! Each build is a process of its own, and they alternate within each round. A row is a case in
//! one build, so each has its own verdict. Only peers in this program take part: what is built by
//! other compilers is the same in both.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use clap::Args;

use crate::families;
use crate::report::{self, Session};
use suite::case::Case;
use suite::entry::Measured;
use suite::machine;
use suite::output::{note, print, say};
use suite::read;
use suite::record::Record;
use suite::table;

/// How this program was built: `tuned`, `default`, `debug`, or `other` where the environment
/// overrides the profile.
pub(crate) const THIS: &str = env!("EVENKEEL_BENCH_BUILD");

/// The setting of a case that names its build.
const SETTING: &str = "build";

/// The profile of Cargo's defaults, in the manifest of the workspace.
const PROFILE: &str = "default-build";

/// The family whose hot paths are compiled into the program that uses them.
const FAMILY: &str = "scheduling";

/// The peers that are compiled with this program.
const PEERS: &str = "evenkeel,tokio-hand,tokio-native";

/// Alternate the tuned build and that of Cargo's defaults over the experiments of the scheduler
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Experiments, separated by commas
    #[arg(long, value_name = "LIST", default_value = "cycle,yield,churn")]
    bench: String,
    /// Rounds, in each of which each build runs everything once
    #[arg(long, value_name = "R", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    repeats: u32,
    /// Measured time of each run
    #[arg(long, value_name = "S", default_value = "0.2")]
    seconds: String,
    /// The other build of this program [default: Cargo builds it, where it built this one]
    #[arg(long, value_name = "FILE")]
    other: Option<PathBuf>,
    /// Folder for the HTML report
    #[arg(long, value_name = "DIR", default_value = "report/builds")]
    report: PathBuf,
}

/// Measures both builds, prints the table and writes the page.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    report::prepare(&options.report)?;
    let started = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S %Z").to_string();
    let own = std::env::current_exe().context("cannot find this program's own file")?;
    let other = match &options.other {
        Some(other) => other.clone(),
        None => built()?,
    };
    let builds = [(THIS, own), ("default", other)];
    ensure!(THIS != "default", "this is the build of Cargo's defaults: run the one of --release");
    let entry = families::named(FAMILY).context("the scheduler's experiments are not there")?;
    let mut measured = Measured::nothing(entry);
    for experiment in &mut measured.of.experiments {
        experiment.settings = [experiment.settings, &[SETTING]].concat().leak();
    }
    for round in 0..options.repeats {
        note!("round {} of {}", round + 1, options.repeats);
        for (name, program) in &builds {
            for record in measure(program, options, round)? {
                let case =
                    Case { settings: record.case.settings.with(SETTING, *name), ..record.case };
                measured.records.push(Record { case, repeat: round as usize, ..record });
            }
        }
    }
    let Measured { of, records, absent } = &measured;
    print(&table::render(of, records, absent, table::width()));
    let session = Session {
        measured: vec![measured],
        topology: machine::topology(),
        started,
        machine: machine::describe(),
        notes: vec![format!(
            "`tuned` is the release profile of this workspace: one unit of code generation, and \
             optimisation across crates. `default` is `cargo build --profile {PROFILE}`, as Cargo \
             builds without a profile. They took turns, {} times.",
            options.repeats
        )],
    };
    let page = report::write(&options.report, &session)?;
    say!("report: {}", page.canonicalize().unwrap_or(page).display());
    Ok(())
}

/// Builds this program as Cargo does by default, and returns its file.
fn built() -> anyhow::Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let line = format!("cargo build --profile {PROFILE} -p {}", env!("CARGO_PKG_NAME"));
    ensure!(
        folder.join("Cargo.toml").is_file(),
        "the folder that this program was built from is gone: {}; build it there by `{line}`, and \
         name the program with --other FILE",
        folder.display(),
    );
    note!("{line}");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut words = line.split(' ').skip(1).map(str::to_owned).collect::<Vec<_>>();
    words.extend(["--locked", "--message-format", "json-render-diagnostics"].map(str::to_owned));
    let output = Command::new(cargo)
        .args(&words)
        .current_dir(folder)
        .stderr(std::process::Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run `{line}`"))?;
    ensure!(output.status.success(), "`{line}` failed");
    let executable = |line: &str| {
        let said: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(PathBuf::from(said.get("executable")?.as_str()?))
    };
    let lines = String::from_utf8_lossy(&output.stdout);
    lines.lines().filter_map(executable).next_back().context("cargo names no program")
}

/// One round of one build.
fn measure(program: &Path, options: &Options, round: u32) -> anyhow::Result<Vec<Record>> {
    let output = Command::new(program)
        .args(["run", "--json", "--repeats", "1", "--runtime", PEERS])
        .args(["--bench", &options.bench, "--seconds", &options.seconds])
        .args(["--seed", &(round + 1).to_string()])
        .output()
        .with_context(|| format!("cannot run {}", program.display()))?;
    if !output.status.success() {
        bail!("{}: {}", program.display(), String::from_utf8_lossy(&output.stderr).trim());
    }
    let of = (families::named(FAMILY).context("no scheduling")?.describe)();
    let lines = String::from_utf8(output.stdout)?;
    let records = |line: &str| {
        let bench: String = serde_json::from_str::<serde_json::Value>(line)?["bench"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let settings = of.experiment(&bench).map_or(&[][..], |experiment| experiment.settings);
        read::records(line, settings)
    };
    let all: anyhow::Result<Vec<Vec<Record>>> = lines.lines().map(records).collect();
    Ok(all?.concat())
}
