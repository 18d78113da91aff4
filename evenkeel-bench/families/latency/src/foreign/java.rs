//! Java's virtual threads.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;

use super::{Program, Tool};
use suite::kit::installer::Package;
use suite::kit::java;
use suite::kit::places::Places;
use suite::kit::toolchain::{Workshop, program};

/// The program's file, as it lies under `peers/java`.
const SOURCES: [(&str, &str); 1] =
    [("Latency.java", include_str!("../../../../peers/java/Latency.java"))];

/// The first Java with virtual threads.
const OLDEST: u32 = 21;

/// The first Java in which calls of C functions, which the program blocks its threads with, are no
/// preview.
const CALLS: u32 = 22;

/// The packages of a JDK.
const JDK: Package = Package {
    apt: "openjdk-21-jdk-headless",
    dnf: "java-latest-openjdk-devel",
    brew: "openjdk",
    otherwise: "install a JDK, 21 or later, and set JAVA_HOME to it",
};

/// A virtual machine.
pub(super) struct Machine {
    java: PathBuf,
    major: u32,
}

/// Returns the version of the JDK, or what installs one.
pub(super) fn version() -> Result<String, String> {
    let places = Places::here();
    match java::javac(&places, OLDEST) {
        Ok(found) => Ok(found.version),
        Err(None) => Err(JDK.line_on(&places)),
        Err(Some(old)) => Err(format!("{old} is too old; {}", JDK.line_on(&places))),
    }
}

/// Builds the program.
pub(super) fn build() -> anyhow::Result<Program> {
    let found = java::javac(&Places::here(), OLDEST).ok().context("no JDK of 21 or later")?;
    let workshop = Workshop::with("Java", &SOURCES)?;
    let major = found.major;
    let mut arguments = vec!["-d".to_owned(), ".".to_owned()];
    if major < CALLS {
        arguments.extend([
            "--enable-preview".to_owned(),
            "--release".to_owned(),
            major.to_string(),
        ]);
    }
    arguments.push(SOURCES[0].0.to_owned());
    workshop.build("Java", &found.javac.to_string_lossy(), &arguments)?;
    let java = found.javac.with_file_name(program("java"));
    Ok(Program { workshop, tool: Tool::Java(Machine { java, major }) })
}

impl Machine {
    /// The command that starts the program with a carrier for each worker. The heap is touched
    /// beforehand and holds all that a run allocates.
    pub(super) fn command(&self, workshop: &Workshop, workers: usize) -> Command {
        let mut command = Command::new(&self.java);
        command.args(["-XX:+UseSerialGC", "-Xms256m", "-Xmn192m", "-XX:+AlwaysPreTouch"]);
        command.arg("--enable-native-access=ALL-UNNAMED");
        if self.major < CALLS {
            command.arg("--enable-preview");
        }
        command.arg(format!("-Djdk.virtualThreadScheduler.parallelism={workers}"));
        command.arg("-cp").arg(workshop.folder()).arg("Latency");
        command
    }
}
