//! Runs `measure` on Evenkeel and on the real rayon-core, turn by turn, and prints medians, minima
//! and maxima side by side.
//!
//! `cargo run --release --bin compare -- [ROUNDS] [NAME]`: ROUNDS processes of each (default 5),
//! and only the measurements whose names contain NAME.
//!
//! Both are compiled in the same way, as one unit and, where the compiler can, with the beginnings
//! of loops aligned to lines of the instruction cache. A short loop across two lines takes up to
//! twice as long (Zen 4), so the linker's placement would decide some of the comparisons.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Aligns the beginnings of inner loops to lines of 64 bytes.
#[cfg(target_arch = "x86_64")]
const ALIGNED: &str = "-C llvm-args=-x86-experimental-pref-innermost-loop-alignment=6";
#[cfg(not(target_arch = "x86_64"))]
const ALIGNED: &str = "";

fn main() -> ExitCode {
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn compare() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let rounds = match arguments.next() {
        None => 5,
        Some(text) => text.parse().map_err(|_| format!("ROUNDS is a number, not {text:?}"))?,
    };
    if rounds == 0 {
        return Err("ROUNDS is at least 1".to_owned());
    }
    let name = arguments.next();
    let sides = [("evenkeel", HERE.to_owned()), ("rayon_core", format!("{HERE}/peer"))];
    build_both(&sides)?;
    let mut order = Vec::new();
    let mut times: HashMap<String, [Vec<f64>; 2]> = HashMap::new();
    for round in 0..rounds {
        // The order of the two changes from round to round.
        for turn in 0..2 {
            let side = (round + turn) % 2;
            let (expected, folder) = &sides[side];
            for (measurement, time) in run(folder, expected, name.as_deref())? {
                if !times.contains_key(&measurement) {
                    order.push(measurement.clone());
                }
                times.entry(measurement).or_default()[side].push(time);
            }
        }
    }
    // Both sides determine it in the same way.
    let asked = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let asked = asked("RAYON_NUM_THREADS").or_else(|| asked("RAYON_RS_NUM_CPUS"));
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = asked.filter(|&threads| threads > 0).unwrap_or_else(cores);
    println!(
        "{rounds} processes of each, in turn, with {threads} threads; milliseconds: median (minimum to maximum); \
         ratio: evenkeel over rayon-core, below 1 evenkeel is faster"
    );
    println!("{:38} {:>28} {:>28}   ratio", "", "evenkeel", "rayon-core");
    for measurement in order {
        let [ours, theirs] = times
            .get_mut(&measurement)
            .expect("it was measured")
            .each_mut()
            .map(|times| summary(times));
        let ratio = ours.0 / theirs.0;
        println!("{measurement:38} {:>28} {:>28}   {ratio:.2}", show(ours), show(theirs));
    }
    Ok(())
}

fn build(folder: &str, flags: &str) -> Result<bool, String> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--bin", "measure"])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target(folder))
        .env("RUSTFLAGS", flags)
        .status();
    Ok(status.map_err(|error| format!("cannot run cargo: {error}"))?.success())
}

/// Builds both, with aligned loops if the compiler can align them.
fn build_both(sides: &[(&str, String); 2]) -> Result<(), String> {
    for flags in [ALIGNED, ""] {
        if sides
            .iter()
            .try_fold(true, |built, (_, folder)| Ok::<_, String>(built && build(folder, flags)?))?
        {
            return Ok(());
        }
        eprintln!("`measure` cannot be built with flags {flags:?}");
    }
    Err(format!("cannot build `measure` in {HERE} and {HERE}/peer"))
}

fn target(folder: &str) -> String {
    format!("{folder}/target/compared")
}

/// Returns the measurements of one process.
fn run(folder: &str, expected: &str, name: Option<&str>) -> Result<Vec<(String, f64)>, String> {
    let program = Path::new(&target(folder)).join("release/measure");
    let output = Command::new(&program)
        .args(name)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    if !output.status.success() {
        return Err(format!("{} has failed: {}", program.display(), output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = text.lines();
    if lines.next() != Some(&format!("# {expected}")) {
        return Err(format!("{} does not run on {expected}", program.display()));
    }
    lines
        .map(|line| {
            let (name, time) = line.split_once('\t')?;
            Some((name.to_owned(), time.parse::<f64>().ok()? / 1e6))
        })
        .collect::<Option<_>>()
        .ok_or_else(|| format!("{} has printed something else than times", program.display()))
}

fn summary(times: &mut [f64]) -> (f64, f64, f64) {
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[0], times[times.len() - 1])
}

fn show((median, minimum, maximum): (f64, f64, f64)) -> String {
    format!("{median:.3} ({minimum:.3} to {maximum:.3})")
}
