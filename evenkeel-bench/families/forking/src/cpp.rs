//! The peers in C++: programs of their own, built if a compiler and their library are found.
//!
//! A program runs for as long as its cell of the table is measured. It waits for a line, runs once,
//! and answers with the seconds of its recursion and its checksum; so it takes turns with the
//! runtimes of this process like any other.

use std::panic::resume_unwind;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Deserialize;

use super::forker::Name;
use super::onetbb;
use super::program::Program;
use suite::kit::cpp::{compiler, refusal, version};
use suite::kit::installer::Package;
use suite::kit::served::Served;
use suite::kit::toolchain::{self, Workshop};

/// The program's files, as they lie under `peers/cpp`.
const SOURCES: [(&str, &str); 15] = [
    ("array.hpp", include_str!("../../../peers/cpp/array.hpp")),
    ("cilksort.hpp", include_str!("../../../peers/cpp/cilksort.hpp")),
    ("fib.hpp", include_str!("../../../peers/cpp/fib.hpp")),
    ("heat.hpp", include_str!("../../../peers/cpp/heat.hpp")),
    ("main.cpp", include_str!("../../../peers/cpp/main.cpp")),
    ("matmul.hpp", include_str!("../../../peers/cpp/matmul.hpp")),
    ("nqueens.hpp", include_str!("../../../peers/cpp/nqueens.hpp")),
    ("onetbb.hpp", include_str!("../../../peers/cpp/onetbb.hpp")),
    ("openmp.hpp", include_str!("../../../peers/cpp/openmp.hpp")),
    ("serial.hpp", include_str!("../../../peers/cpp/serial.hpp")),
    ("sha1.hpp", include_str!("../../../peers/cpp/sha1.hpp")),
    ("skynet.hpp", include_str!("../../../peers/cpp/skynet.hpp")),
    ("transpose.hpp", include_str!("../../../peers/cpp/transpose.hpp")),
    ("trial.cpp", include_str!("../../../peers/cpp/trial.cpp")),
    ("uts.hpp", include_str!("../../../peers/cpp/uts.hpp")),
];

/// The flags of all programs: fast code for any processor of this kind, with the same rounding as
/// Rust's.
const FLAGS: [&str; 3] = ["-std=c++17", "-O3", "-ffp-contract=off"];

/// The flag for the processor's instructions for SHA-1, if it has those that the crate `sha1` looks
/// for when it runs.
fn sha() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    let has = is_x86_feature_detected!("sha") && is_x86_feature_detected!("sse4.1");
    #[cfg(not(target_arch = "x86_64"))]
    let has = false;
    has.then_some("-DSHA")
}

/// How to install a compiler, if no package manager is known.
pub(crate) const INSTALL: &str =
    "install g++ (Debian: g++; Fedora: gcc-c++) or set CXX to a C++17 compiler";

/// How long a program rests after its answer: the threads of libgomp look for work for some
/// milliseconds before they sleep, and would take that time from the next run.
const QUIET: Duration = Duration::from_millis(20);

/// A compiler. Homebrew's has the number of its release in its name.
const COMPILER: Package = Package {
    apt: "g++",
    dnf: "gcc-c++",
    brew: "gcc && export CXX=$(ls $(brew --prefix gcc)/bin/g++-* | head -1)",
    otherwise: INSTALL,
};

/// How to build a runtime.
struct Recipe {
    /// The header of its class, and also its name.
    header: &'static str,
    /// The flags of compiler and linker for its library, in each place where the library may lie.
    flags: Vec<Vec<String>>,
    /// The packages of the library.
    package: Package,
}

fn recipe(name: Name) -> Recipe {
    match name {
        Name::Onetbb => Recipe {
            header: "onetbb.hpp",
            flags: onetbb::flags(),
            package: Package {
                apt: "libtbb-dev",
                dnf: "tbb-devel",
                brew: "tbb",
                otherwise: "install oneTBB 2021 or later with its headers, and set TBBROOT to its folder",
            },
        },
        Name::Openmp => Recipe {
            header: "openmp.hpp",
            flags: vec![vec!["-fopenmp".to_owned()]],
            package: Package {
                otherwise: "install the compiler's OpenMP, which is part of g++",
                ..COMPILER
            },
        },
        _ => Recipe { header: "serial.hpp", flags: vec![Vec::new()], package: COMPILER },
    }
}

/// Why a runtime cannot be built or run here, and the line that would help; `None` if it can.
pub(crate) fn missing(name: Name) -> anyhow::Result<Option<String>> {
    if version().is_none() {
        return Ok(Some(format!("`{}` was not found; {}", compiler(), COMPILER.line())));
    }
    let tried = tried(&Workshop::with("C++", &SOURCES)?, name)?;
    Ok(tried.err().map(|why| format!("{why}; {}", recipe(name).package.line())))
}

/// Returns the flags of the first place for which a trial of the runtime builds and runs, or what
/// the first place failed with.
fn tried(workshop: &Workshop, name: Name) -> anyhow::Result<Result<Vec<String>, String>> {
    let Recipe { header, flags, .. } = recipe(name);
    let mut against = None;
    for flags in flags {
        let errors = compile(workshop, header, &flags, "trial", &["-O0"])?;
        match refusal(workshop, errors) {
            None => return Ok(Ok(flags)),
            Some(why) => against = against.or(Some(why)),
        }
    }
    Ok(Err(against.unwrap_or_default()))
}

/// Compiles `<source>.cpp` with the runtime of a header into the program `<source>`, with the flags
/// of its library. Returns the compiler's errors, if any.
fn compile(
    workshop: &Workshop,
    header: &str,
    library: &[String],
    source: &str,
    flags: &[&str],
) -> anyhow::Result<Option<String>> {
    let header = format!("-DPEER=\"{header}\"");
    let (from, to) = (format!("{source}.cpp"), toolchain::program(source));
    // Libraries come last: a linker searches them for symbols that are missing so far.
    let flags = FLAGS.iter().chain(flags).copied().chain(sha());
    let arguments = flags.chain([&*header, &from, "-o", &to]);
    workshop.errors(&compiler(), arguments.chain(library.iter().map(String::as_str)))
}

/// A built program.
pub(crate) struct Built {
    name: Name,
    workshop: Workshop,
}

impl Built {
    /// Builds the programs of these runtimes in parallel.
    pub(crate) fn all(names: &[Name]) -> anyhow::Result<Vec<Built>> {
        thread::scope(|scope| {
            let building: Vec<_> =
                names.iter().map(|&name| scope.spawn(move || Built::new(name))).collect();
            let built = building.into_iter().map(|thread| thread.join());
            built.map(|built| built.unwrap_or_else(|panic| resume_unwind(panic))).collect()
        })
    }

    fn new(name: Name) -> anyhow::Result<Built> {
        let workshop = Workshop::with("C++", &SOURCES)?;
        let Recipe { header, flags, .. } = recipe(name);
        let flags = match flags.as_slice() {
            [only] => only.clone(),
            _ => match tried(&workshop, name)? {
                Ok(flags) => flags,
                Err(why) => bail!("cannot build the C++ peer {name}: {why}"),
            },
        };
        if let Some(errors) = compile(&workshop, header, &flags, "main", &[])? {
            bail!("cannot build the C++ peer {name}:\n{errors}");
        }
        Ok(Built { name, workshop })
    }

    /// The runtime.
    pub(crate) fn name(&self) -> Name {
        self.name
    }

    /// Starts the program. It runs on the cores of the calling thread.
    pub(crate) fn start(&self, program: Program, n: usize, workers: usize) -> anyhow::Result<Peer> {
        let arguments = [program.name(), &n.to_string(), &workers.to_string()];
        // Without a second thread none looks for work.
        let quiet = if workers > 1 && !self.name.is_serial() { QUIET } else { Duration::ZERO };
        Peer::start(&self.workshop.path("main"), arguments, quiet)
            .with_context(|| format!("cannot start {}", self.name))
    }
}

/// A running program. It ends when this value is dropped.
pub(crate) struct Peer {
    served: Served,
}

/// The answer of a program.
#[derive(Deserialize)]
struct Answer {
    seconds: f64,
    checksum: u64,
}

impl Peer {
    fn start(program: &Path, arguments: [&str; 3], quiet: Duration) -> anyhow::Result<Peer> {
        let served = Served::start(Command::new(program).args(arguments), quiet)?;
        Ok(Peer { served })
    }

    /// The process identifier, so that its time counts for this peer.
    pub(crate) fn id(&self) -> u32 {
        self.served.id()
    }

    /// Runs once: returns seconds and checksum. `None` if the run takes longer than `patience`; the
    /// program is useless from then on.
    pub(crate) fn once(&mut self, patience: Duration) -> anyhow::Result<Option<(f64, u64)>> {
        let Some(line) = self.served.ask("", patience)? else { return Ok(None) };
        let answer: Answer =
            serde_json::from_str(&line).with_context(|| format!("it answered `{line}`"))?;
        Ok(Some((answer.seconds, answer.checksum)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::tests::little;

    const NAMES: [Name; 3] = [Name::SerialCpp, Name::Onetbb, Name::Openmp];

    /// The programs that can be built here. A test of the binary covers machines without any.
    fn built() -> Vec<Built> {
        let is_there = |name: &Name| match missing(*name).unwrap() {
            None => true,
            Some(why) => {
                eprintln!("skipped {name}: {why}");
                false
            }
        };
        Built::all(&NAMES.into_iter().filter(is_there).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn every_runtime_computes_what_the_serial_one_in_rust_does() {
        let patience = Duration::from_secs(120);
        for built in built() {
            for (program, n, right) in little() {
                let mut peer = built.start(program, n, 2).unwrap();
                for _ in 0..2 {
                    let (seconds, checksum) = peer.once(patience).unwrap().unwrap();
                    assert_eq!(checksum, right, "{program} on {}", built.name());
                    assert!(seconds > 0.0 && seconds < patience.as_secs_f64());
                }
            }
        }
    }

    #[test]
    fn a_run_that_takes_too_long_is_given_up() {
        for built in built() {
            let mut peer = built.start(Program::Nqueens, 20, 2).unwrap();
            assert_eq!(peer.once(Duration::from_millis(20)).unwrap(), None);
        }
    }

    #[test]
    fn what_a_program_refuses_is_said() {
        for built in built() {
            let error = |n, workers| {
                let mut peer = built.start(Program::Fib, n, workers).unwrap();
                peer.once(Duration::from_secs(120)).unwrap_err().to_string()
            };
            assert!(error(61, 1).ends_with("size `61` is not a number from 1 to 60"));
            assert!(error(5, 1025).ends_with("workers `1025` is not a number from 1 to 1024"));
        }
    }

    #[test]
    fn what_is_missing_is_one_line() {
        for name in NAMES {
            let package = recipe(name).package;
            for text in [package.line(), package.otherwise.to_owned()] {
                assert!(!text.is_empty() && !text.contains('\n'), "{name}: {text}");
            }
        }
    }
}
