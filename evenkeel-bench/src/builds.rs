//! Measures the same rows with two builds of this suite. One is this build, mostly the tuned one of
//! the release profile. The other is by default the build that Cargo makes without a profile, which
//! most users have.
//!
//! Each build is a process of its own. Both run in each round and alternate in going first: the
//! second run finds a warmer machine. A row is a case in one build, so each has its own verdict.
//! Only peers in this program take part: programs from other compilers are the same in both.

pub(crate) mod build;

use std::io::{BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use clap::Args;

use self::build::Build;
use crate::families;
use crate::report::kept::Kept;
use crate::report::{self, Session};
use suite::asked::Usage;
use suite::case::Case;
use suite::description::Description;
use suite::entry::Measured;
use suite::interrupt;
use suite::output::{last, note};
use suite::read;
use suite::record::Record;
use suite::runner;
use suite::table;

/// The setting of a case that names its build.
const SETTING: &str = "build";

/// The profile of Cargo's defaults, in the manifest of the workspace.
const PROFILE: &str = "default-build";

/// The family with hot paths that are compiled into the program that uses them.
pub(crate) const FAMILY: &str = "scheduling";

/// The peers that are compiled with this program.
const PEERS: &str = "evenkeel,tokio-hand,tokio-native";

/// Alternate this build and that of Cargo's defaults over the experiments of the scheduler
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

/// Measures both builds, writes the page and prints the table.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut kept = Kept::begin(&options.report)?;
    let mut session = Session::begun();
    let builds = both(options.other.as_deref())?;
    let entry = families::named(FAMILY).context("the scheduler's experiments are not there")?;
    let mut measured = Measured::nothing(entry);
    for experiment in &mut measured.of.experiments {
        experiment.settings = [experiment.settings, &[SETTING]].concat().leak();
    }
    session.notes = builds.each_ref().map(|(build, _)| says(*build)).to_vec();
    session.notes.push("Both run in each round, and which of them is first alternates.".to_owned());
    let mut keep = |record: Record| {
        let saved = kept.add(FAMILY, &record);
        measured.records.push(record);
        saved.and_then(|()| interrupt::check())
    };
    interrupt::begin();
    let failure = rounds(&builds, options, &mut keep).map_err(interrupt::why);
    if measured.records.is_empty() {
        kept.leave();
        return failure;
    }
    // Runs measured before a failure are shown and kept as well.
    session.end(&failure);
    let Measured { of, records, absent } = &measured;
    let table = table::render(of, records, absent, table::width());
    session.measured = vec![measured];
    // The page is kept even if the table has no reader.
    let written = kept.write(&session, failure.is_ok());
    let failure = failure.context("not all was measured; table and page cover what was");
    last(&(table + &report::lines(&written)), failure.and(written.map(drop)))
}

/// Returns this build and the other one, with their programs.
fn both(other: Option<&Path>) -> anyhow::Result<[(Build, PathBuf); 2]> {
    let this = Build::this()?;
    let own = std::env::current_exe().context("cannot find this program's own file")?;
    let same = |program: &str| {
        Usage(format!(
            "{program} is a build of the same kind as this program, `{this}`: run `builds` by one \
             of --release, or name a build of another kind with --other FILE"
        ))
    };
    let other = match other {
        Some(other) => other.to_owned(),
        None if this == Build::Default => bail!(same("what Cargo builds by default")),
        None => built()?,
    };
    let that = Build::of(&other)?;
    if that == this {
        bail!(same(&other.display().to_string()));
    }
    Ok([(this, own), (that, other)])
}

/// Describes a build in a sentence.
fn says(build: Build) -> String {
    format!("`{build}` is {}.", build.describe())
}

/// Runs all rounds. Passes each run to `keep` as it ends.
fn rounds(
    builds: &[(Build, PathBuf); 2],
    options: &Options,
    keep: &mut dyn FnMut(Record) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let of = (families::named(FAMILY).context("no scheduling")?.describe)();
    for round in 0..options.repeats {
        note!("round {} of {}", round + 1, options.repeats);
        let mut order = builds.each_ref();
        if round % 2 == 1 {
            order.reverse();
        }
        for (build, program) in order {
            let mut own = |record: Record| {
                let settings = record.case.settings.with(SETTING, build.name());
                let case = Case { settings, ..record.case };
                keep(Record { case, repeat: round as usize, ..record })
            };
            measure(program, options, round, &of, &mut own)?;
        }
    }
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

/// Returns the words behind `run` with which a build measures a round.
pub(crate) fn line(options: &Options, round: u32) -> Vec<String> {
    let peers: Vec<&str> = PEERS.split(',').collect();
    let turns = runner::turns(peers.len(), round as usize);
    let peers: Vec<&str> = turns.into_iter().map(|place| peers[place]).collect();
    let (peers, seed) = (peers.join(","), (round + 1).to_string());
    let words = ["--json", "--repeats", "1", "--runtime", &peers, "--bench", &options.bench];
    let more = ["--seconds", &options.seconds, "--seed", &seed];
    words.into_iter().chain(more).map(str::to_owned).collect()
}

/// Runs one round of one build. Passes each run to `each` as it ends.
fn measure(
    program: &Path,
    options: &Options,
    round: u32,
    of: &Description,
    each: &mut dyn FnMut(Record) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    // A file, since nothing reads a second pipe meanwhile.
    let mut remarks = tempfile::tempfile().context("cannot make a file for remarks")?;
    let mut child = Command::new(program)
        .arg("run")
        .args(line(options, round))
        .stdout(Stdio::piped())
        .stderr(remarks.try_clone()?)
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let lines = BufReader::new(child.stdout.take().context("it has no output")?).lines();
    let read = lines
        .map(|line| {
            let line = line?;
            records(&line, of).with_context(|| format!("{} printed `{line}`", program.display()))
        })
        .try_for_each(|of_line| of_line?.into_iter().try_for_each(&mut *each));
    if read.is_err() {
        // Its other runs are not needed.
        child.kill()?;
    }
    let status = child.wait()?;
    let mut said = Vec::new();
    remarks.rewind()?;
    remarks.read_to_end(&mut said)?;
    let said = format!("{}: {}", program.display(), String::from_utf8_lossy(&said).trim());
    read.with_context(|| said.clone())?;
    ensure!(status.success(), said);
    Ok(())
}

/// Parses the runs in a line of one build.
fn records(line: &str, of: &Description) -> anyhow::Result<Vec<Record>> {
    let fields: serde_json::Value = serde_json::from_str(line)?;
    let experiment = fields["bench"].as_str().and_then(|bench| of.experiment(bench));
    read::records(line, experiment.map_or(&[][..], |experiment| experiment.settings))
}
