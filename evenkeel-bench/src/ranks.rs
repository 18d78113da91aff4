//! Thorium's latency_probe on several nodes: the example of `evenkeel-mpi`, on 1, 2 and 4 ranks of
//! this machine with the same workers in all.
//!
//! It needs MPI, and the sources of the workspace: the example is built by `cargo` when it is asked
//! for. Each round starts one job after the other.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, anyhow, bail, ensure};

use crate::analysis::tables::Table;
use crate::publications::statement::{CHANCE, all, are_above, are_at_most, ratios};
use suite::affinity;
use suite::interrupt;
use suite::kit::patience::PATIENCE;
use suite::kit::served;
use suite::output::note;
use suite::summary::Summary;
use suite::words;

/// Ranks of each job. Each has as many workers as gives [`WORKERS`] in all.
const RANKS: [usize; 3] = [1, 2, 4];

/// Workers of each job.
const WORKERS: usize = 4;

/// Actors for each worker, and pings of each: Thorium's.
const ACTORS: usize = 100;
const PINGS: usize = 40_000;

/// Jobs of each number of ranks, whose median counts: as many as a row's runs to be compared.
const JOBS: usize = 3;

/// By how much several nodes may be slower than one to have kept its latency.
const KEPT: f64 = 1.5;

/// Why several ranks have not kept it, as far as it was looked into.
const WHY: &str = " On a machine of two cores, looked into with `perf`: four ranks changed places 40,000 times a second, and a message \
    to another rank took some 90 ns more than one within: it is written, packed, sent and found by its slot. With two workers a rank has a third \
    thread, which looks for messages of MPI: of two ranks the two took two fifths of both cores.";

/// The counter that Thorium's aim is about.
const LATENCY: &str = "worker-latency";

/// The counter of what it holds to be within reach, and how much that is.
const THROUGHPUT: &str = "computation-throughput";
const WITHIN_REACH: f64 = 2e6;

/// Where MPI is installed from, where it is missing.
const INSTALL: &str = "apt-get install libopenmpi-dev openmpi-bin libclang-dev";

/// What jobs have printed.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    /// By counter: its unit, and what each job of each number of ranks says.
    counters: BTreeMap<String, (String, [Vec<f64>; RANKS.len()])>,
}

/// Returns why the jobs cannot run here; `None` if they can.
pub(crate) fn missing() -> Option<String> {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let lacks: Vec<&str> =
        ["mpiexec", "mpicc", "cargo"].into_iter().filter(|one| !has(one)).collect();
    if !lacks.is_empty() {
        let (is, lacks) = (if lacks.len() == 1 { "is" } else { "are" }, words::and(&lacks));
        return Some(format!("{lacks} {is} missing: {INSTALL}"));
    }
    let manifest = workspace().join("evenkeel-mpi/Cargo.toml");
    (!manifest.exists()).then(|| "the sources of evenkeel-mpi are not where this was built".into())
}

fn workspace() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}

/// Builds the example, and runs all jobs.
pub(crate) fn run() -> anyhow::Result<Jobs> {
    note!("building latency_probe on MPI");
    // Beside the package of this program: what both depend on has the same features then, and is
    // built already.
    let built = Command::new("cargo")
        .args([
            "build",
            "--release",
            "--locked",
            "-p",
            env!("CARGO_PKG_NAME"),
            "-p",
            "evenkeel-mpi",
            "--example",
            "latency_probe",
        ])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(workspace())
        .output()
        .context("cannot start cargo")?;
    if !built.status.success() {
        bail!("latency_probe on MPI is not built: {}", last_lines(&built.stderr));
    }
    let program = executable(&String::from_utf8_lossy(&built.stdout))
        .context("cargo has not said where latency_probe is")?;
    let mut jobs = Jobs::default();
    for _ in 0..JOBS {
        for (place, ranks) in RANKS.into_iter().enumerate() {
            interrupt::check()?;
            note!("latency_probe, {}", words::count(ranks, "rank"));
            jobs.add(place, &job(&program, ranks)?)?;
        }
    }
    Ok(jobs)
}

/// Returns the path of the program that cargo has built, by its messages.
fn executable(messages: &str) -> Option<String> {
    let path = |line: &str| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_probe = message["target"]["name"] == "latency_probe";
        message["executable"].as_str().filter(|_| is_probe).map(str::to_owned)
    };
    messages.lines().rev().find_map(path)
}

/// Runs a job, and returns what its first rank has printed.
fn job(program: &str, ranks: usize) -> anyhow::Result<String> {
    let [workers, actors, pings] = [WORKERS / ranks, ACTORS, PINGS].map(|one| one.to_string());
    // A rank with one worker offers its core itself, and stays on one, as the page of evenkeel-mpi
    // says; of one with several the thread for MPI does better if it yields. A single rank has no
    // messages.
    let (yields, binding) = match WORKERS / ranks {
        1 => ("0", "core:overload-allowed,if-supported"),
        _ => ("1", "none"),
    };
    let mut job = Command::new("mpiexec");
    job.args(["-n", &ranks.to_string(), program, "--workers", &workers])
        .args(["--actors-per-worker", &actors, "--pings", &pings])
        // A machine may have fewer cores than ranks, and a container runs as root.
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("OMPI_MCA_rmaps_base_mapping_policy", "core:oversubscribe")
        .env("OMPI_MCA_hwloc_base_binding_policy", binding)
        .env("OMPI_MCA_mpi_yield_when_idle", yields);
    let failed = |error: anyhow::Error| {
        anyhow!("a job of {ranks} ranks failed: {}", last_lines(format!("{error:#}").as_bytes()))
    };
    served::output(&mut job, PATIENCE).map_err(failed)
}

fn last_lines(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

impl Jobs {
    /// Adds what a job has printed.
    fn add(&mut self, place: usize, printed: &str) -> anyhow::Result<()> {
        let mut any = false;
        for (name, value, unit) in printed.lines().filter_map(counter) {
            let (_, values) = self
                .counters
                .entry(name.to_owned())
                .or_insert_with(|| (unit.to_owned(), Default::default()));
            values[place].push(value);
            any |= name == LATENCY;
        }
        ensure!(any, "a job has printed no {LATENCY}: {}", last_lines(printed.as_bytes()));
        Ok(())
    }

    fn summary(&self, name: &str, place: usize) -> Option<Summary> {
        Summary::of(self.counters.get(name)?.1[place].clone())
    }

    /// The counters of all jobs, and what becomes of Thorium's aim.
    pub(crate) fn table(&self) -> Table {
        let heading = |ranks| {
            let workers = words::count(WORKERS / ranks, "worker");
            format!("{} x {workers}", words::count(ranks, "rank"))
        };
        let cell = |name: &str, place| self.summary(name, place).map_or("-".into(), words::spread);
        let line = |(name, (unit, _)): (&String, &(String, _))| {
            let cells = (0..RANKS.len()).map(|place| cell(name, place));
            [format!("{name}, {unit}").trim_end_matches(", ").to_owned()]
                .into_iter()
                .chain(cells)
                .collect()
        };
        Table {
            title: "Measured here: latency_probe on ranks of this machine".to_owned(),
            heading: ["counter".to_owned()].into_iter().chain(RANKS.map(heading)).collect(),
            lines: self.counters.iter().map(line).collect(),
            note: format!(
                "{ACTORS} actors a worker, {PINGS} pings an actor; a rank with one worker is bound to a core. Medians of {JOBS} jobs in turns [minimum-maximum]. (Published jobs are nodes x threads, one of which is not a worker.) {} {}",
                self.aim(),
                self.reach(),
            ),
        }
    }

    /// Returns by how many times the worker latency of each number of ranks is that of one, and
    /// whether it is kept; `None` if it is in some jobs.
    fn kept(&self) -> impl Iterator<Item = (usize, f64, Option<bool>)> {
        let latency = |place| self.summary(LATENCY, place);
        let kept = move |place: usize| {
            let (many, one) = (latency(place)?, latency(0)?);
            let is_kept = are_at_most(KEPT, ratios(&many, &one));
            Some((RANKS[place], many.median / one.median, is_kept))
        };
        (1..RANKS.len()).filter_map(kept)
    }

    /// Returns whether every number of ranks keeps one rank's worker latency.
    fn keep_latency(&self) -> Option<bool> {
        all(self.kept().map(|(.., is_kept)| is_kept))
    }

    /// Returns the throughput of the most ranks.
    fn throughput(&self) -> Option<Summary> {
        self.summary(THROUGHPUT, RANKS.len() - 1)
    }

    /// Returns whether that is what Thorium holds to be within reach.
    fn reaches(&self) -> Option<bool> {
        let of = self.throughput()?;
        are_above(WITHIN_REACH, [of.min, of.max])
    }

    /// Returns whether each of the two statements agrees.
    pub(crate) fn verdicts(&self) -> [Option<bool>; 2] {
        [self.keep_latency(), self.reaches()]
    }

    /// Says whether the messages that Thorium holds to be within reach are.
    fn reach(&self) -> String {
        let Some(pings) = self.throughput() else { return String::new() };
        let ranks = RANKS[RANKS.len() - 1];
        let agrees = match self.reaches() {
            Some(true) => "agrees".to_owned(),
            Some(false) => {
                let cores = words::count(affinity::cores().len(), "core");
                format!("differs: this machine has {cores} for them, and Thorium's had 32")
            }
            None => format!("not judged: {CHANCE}"),
        };
        format!(
            "Two million messages a second are within reach, it says: {} pings a second on {}, {agrees}.",
            words::figure(pings.median),
            words::count(ranks, "rank")
        )
    }

    /// Says whether several nodes keep one node's worker latency.
    fn aim(&self) -> String {
        let told = self.kept().map(|(ranks, ratio, is_kept)| {
            let agrees = match is_kept {
                Some(true) => "kept",
                Some(false) => "not kept",
                None => "which may be chance",
            };
            format!("{ranks} ranks {ratio:.2} times that of one, {agrees}")
        });
        let told: Vec<String> = told.collect();
        let why = if self.keep_latency() == Some(false) { WHY } else { "" };
        format!(
            "Thorium's aim, that several nodes have the worker latency of one (theirs 22 µs to 12): {}.{why}",
            told.join("; ")
        )
    }
}

/// Reads a line `PERFORMANCE_COUNTER name = value unit`.
fn counter(line: &str) -> Option<(&str, f64, &str)> {
    let (name, rest) = line.trim().strip_prefix("PERFORMANCE_COUNTER ")?.split_once(" = ")?;
    let (value, unit) = rest.split_once(' ').unwrap_or((rest, ""));
    Some((name.trim(), value.parse().ok()?, unit.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_with_their_units_and_the_aim_is_judged() {
        let mut jobs = Jobs::default();
        let printed = |latency| {
            format!(
                "nonsense\nPERFORMANCE_COUNTER node-count = 2\n PERFORMANCE_COUNTER {LATENCY} = {latency} ns\n\
                 PERFORMANCE_COUNTER {THROUGHPUT} = 1900000 messages / s\n"
            )
        };
        for (place, latency) in [100, 140, 160].into_iter().enumerate() {
            jobs.add(place, &printed(latency)).unwrap();
        }
        let table = jobs.table();
        let ranks = ["1 rank x 4 workers", "2 ranks x 2 workers", "4 ranks x 1 worker"];
        assert_eq!(table.heading[1..], ranks);
        assert_eq!(table.lines[1], ["node-count", "2.00", "2.00", "2.00"]);
        assert_eq!(table.lines[2], ["worker-latency, ns", "100", "140", "160"]);
        let kept = "2 ranks 1.40 times that of one, kept; 4 ranks 1.60 times that of one, not kept";
        assert!(table.note.contains(kept), "{}", table.note);
        let reach = "1,900,000 pings a second on 4 ranks, differs";
        assert!(table.note.contains(reach), "{}", table.note);
        assert!(table.note.contains("On a machine of two cores, looked into"), "{}", table.note);
        let cores = words::count(affinity::cores().len(), "core");
        assert!(table.note.contains(&format!("this machine has {cores}")), "{}", table.note);
        assert_eq!(jobs.verdicts(), [Some(false), Some(false)]);
    }

    #[test]
    fn jobs_on_both_sides_of_a_limit_are_not_judged() {
        let mut jobs = Jobs::default();
        let printed = |latency, throughput| {
            format!(
                "PERFORMANCE_COUNTER {LATENCY} = {latency} ns\n\
                 PERFORMANCE_COUNTER {THROUGHPUT} = {throughput} messages / s\n"
            )
        };
        for (place, latency, throughput) in
            [(0, 100, 3e6), (1, 140, 3e6), (2, 140, 1.9e6), (2, 140, 2.1e6), (2, 160, 2.2e6)]
        {
            jobs.add(place, &printed(latency, throughput)).unwrap();
        }
        assert_eq!(jobs.verdicts(), [None, None]);
        let note = jobs.table().note;
        for told in
            ["4 ranks 1.40 times that of one, which may be chance", "not judged: the runs overlap"]
        {
            assert!(note.contains(told), "{note}");
        }
        assert!(!note.contains("looked into"), "{note}");
    }

    #[test]
    fn a_job_without_the_counter_is_an_error() {
        let why = Jobs::default().add(0, "one\ntwo\n").unwrap_err().to_string();
        assert_eq!(why, format!("a job has printed no {LATENCY}: one\ntwo"));
    }

    #[test]
    fn the_last_program_of_that_name_is_taken() {
        let messages = r#"{"target":{"name":"probe"},"executable":null}
{"target":{"name":"latency_probe"},"executable":"/tmp/latency_probe"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executable(messages).as_deref(), Some("/tmp/latency_probe"));
        assert_eq!(executable("nothing"), None);
    }
}
