//! Pekko, by a program in Java.
//!
//! Its jars are the user's: named in a variable, or found where build tools keep what they have fetched.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, anyhow, ensure};

use super::Purpose;
use crate::toolchain::{self, Workshop};

/// The program's files, as they lie under `peers/pekko`.
const SOURCES: [(&str, &str); 9] = [
    ("ActorMemory.java", include_str!("../../../peers/pekko/ActorMemory.java")),
    ("ActorSpawn.java", include_str!("../../../peers/pekko/ActorSpawn.java")),
    ("FanIn.java", include_str!("../../../peers/pekko/FanIn.java")),
    ("Fleet.java", include_str!("../../../peers/pekko/Fleet.java")),
    ("LatencyProbe.java", include_str!("../../../peers/pekko/LatencyProbe.java")),
    ("Main.java", include_str!("../../../peers/pekko/Main.java")),
    ("Outcome.java", include_str!("../../../peers/pekko/Outcome.java")),
    ("PingPong.java", include_str!("../../../peers/pekko/PingPong.java")),
    ("Settings.java", include_str!("../../../peers/pekko/Settings.java")),
];

/// Names one class of each jar: what the program needs, this needs too.
const TRIAL: [(&str, &str); 1] = [(
    "Trial.java",
    "class Trial { org.apache.pekko.actor.ActorSystem a; com.typesafe.config.Config c; scala.Option<String> s; }",
)];

/// What would bring a compiler and a virtual machine.
const INSTALL: &str = "install a JDK, 17 or later (Debian: openjdk-17-jdk-headless; Fedora: java-latest-openjdk-devel), and set JAVA_HOME or PATH to it";

/// The first Java that has all that the program is written in.
const OLDEST: u32 = 17;

/// The first Java that warns of what Scala's library does with memory unless that is allowed, and knows how to allow it.
const WARNS: u32 = 24;

/// Names the jars.
const CLASSPATH: &str = "EVENKEEL_PEKKO_CLASSPATH";

/// Folder and name of each jar in a repository in the way of Maven, and how its version begins.
const JARS: [(&str, &str, &str); 3] = [
    ("org/apache/pekko", "pekko-actor_2.13", "1."),
    ("com/typesafe", "config", "1."),
    ("org/scala-lang", "scala-library", "2.13."),
];

/// A tool of the JDK.
fn tool(name: &str) -> OsString {
    match env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        Some(home) => Path::new(&home).join("bin").join(toolchain::program(name)).into(),
        None => name.into(),
    }
}

/// The compiler's version, such as 17 of `javac 17.0.15`.
fn major(version: &str) -> Option<u32> {
    let number = version.trim_start_matches("javac ");
    number.split(|symbol: char| !symbol.is_ascii_digit()).next()?.parse().ok()
}

fn javac() -> Option<String> {
    toolchain::version(&tool("javac").to_string_lossy(), "--version")
}

/// The versions of Pekko and of the JDK, if both are there.
pub(super) fn version() -> Option<String> {
    let jdk = javac()?;
    let name = jars().ok()?.first()?.file_stem()?.to_string_lossy().into_owned();
    let pekko = name.strip_prefix("pekko-actor_2.13-").unwrap_or("as given").to_owned();
    Some(format!("Pekko {pekko}, {jdk}"))
}

/// Why it cannot be built here, and what would help.
pub(super) fn missing() -> anyhow::Result<Option<String>> {
    let Some(version) = javac() else {
        return Ok(Some(format!("`{}` was not found; {INSTALL}", tool("javac").to_string_lossy())));
    };
    if major(&version).is_none_or(|major| major < OLDEST) {
        return Ok(Some(format!("{version} is too old; {INSTALL}")));
    }
    if let Err(error) = jars() {
        return Ok(Some(error.to_string()));
    }
    let workshop = Workshop::with("Pekko", &TRIAL)?;
    let refusal = compile(&workshop, &["Trial.java"])?;
    Ok(refusal.map(|errors| {
        let first = errors.lines().next().unwrap_or("its trial does not compile, without a word");
        format!("{first}; {}", FETCH.replace("{}", CLASSPATH))
    }))
}

/// What would bring the jars.
const FETCH: &str = "let Maven or coursier fetch org.apache.pekko:pekko-actor_2.13, or set {} to its jar and those that it needs";

/// The jars, that of Pekko first if they were found and not named.
fn jars() -> anyhow::Result<Vec<PathBuf>> {
    if let Some(named) = env::var_os(CLASSPATH).filter(|named| !named.is_empty()) {
        return named_jars(&named);
    }
    let repositories = repositories();
    JARS.into_iter()
        .map(|(folder, name, version)| {
            newest(&repositories, folder, name, version).ok_or_else(|| {
                let fetch = FETCH.replace("{}", CLASSPATH);
                anyhow!("{name} was not found where Maven and coursier keep jars; {fetch}")
            })
        })
        .collect()
}

fn named_jars(named: &OsString) -> anyhow::Result<Vec<PathBuf>> {
    let jars: Vec<_> = env::split_paths(named).collect();
    for jar in &jars {
        // `folder/*` stands for all jars of a folder.
        let all = jar.file_name().is_some_and(|name| name == "*");
        let there = if all { jar.parent().is_some_and(Path::is_dir) } else { jar.exists() };
        ensure!(there, "`{}`, named in {CLASSPATH}, is not there", jar.display());
    }
    Ok(jars)
}

/// The folders of jars that there are.
fn repositories() -> Vec<PathBuf> {
    let home = env::home_dir().unwrap_or_default();
    let mut found = vec![home.join(".m2/repository")];
    let caches = match env::var_os("COURSIER_CACHE") {
        Some(cache) => vec![PathBuf::from(cache)],
        None => vec![home.join(".cache/coursier/v1"), home.join("Library/Caches/Coursier/v1")],
    };
    // Below the cache are a scheme, a host and a path on it: what lies there depends on where it was fetched.
    caches.iter().for_each(|cache| below(cache, DEPTH, &mut found));
    found
}

/// How deep a repository lies in coursier's cache: scheme, host and a path of at most two. An estimate.
const DEPTH: usize = 4;

fn below(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if folder.join("org").is_dir() || folder.join("com").is_dir() {
        found.push(folder.to_owned());
    } else if depth > 0 {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.for_each(|entry| below(&entry.path(), depth - 1, found));
    }
}

/// The newest release of a jar.
fn newest(repositories: &[PathBuf], folder: &str, name: &str, version: &str) -> Option<PathBuf> {
    let versions = repositories.iter().flat_map(|repository| {
        fs::read_dir(repository.join(folder).join(name)).into_iter().flatten().flatten()
    });
    let jars = versions.filter_map(|entry| {
        let release = entry.file_name().into_string().ok()?;
        let jar = entry.path().join(format!("{name}-{release}.jar"));
        let right = release.starts_with(version) && jar.is_file();
        // What is no number, as in 2.0-M1, comes before a release.
        let numbers = release.split('.').map(str::parse::<u32>).collect::<Result<Vec<_>, _>>();
        right.then_some((numbers.ok()?, jar))
    });
    jars.max().map(|(_, jar)| jar)
}

fn classpath(workshop: &Workshop) -> anyhow::Result<OsString> {
    let jars = jars()?.into_iter().chain([workshop.folder().to_owned()]);
    env::join_paths(jars).context("a jar's path cannot be part of a list")
}

/// Compiles these files. Gives what there is against it.
fn compile(workshop: &Workshop, files: &[&str]) -> anyhow::Result<Option<String>> {
    let mut arguments: Vec<OsString> = vec!["-cp".into(), classpath(workshop)?];
    arguments.extend(["-d", ".", "-proc:none"].map(OsString::from));
    arguments.extend(files.iter().map(OsString::from));
    let output = workshop
        .run(&tool("javac").to_string_lossy(), arguments)
        .with_context(|| format!("cannot start `javac`; {INSTALL}"))?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok((!output.status.success()).then_some(errors))
}

/// Builds the program.
pub(super) fn build() -> anyhow::Result<Workshop> {
    let workshop = Workshop::with("Pekko", &SOURCES)?;
    let refusal = compile(&workshop, &SOURCES.map(|(name, _)| name))?;
    ensure!(refusal.is_none(), "cannot build the peer on Pekko:\n{}", refusal.unwrap_or_default());
    Ok(workshop)
}

/// The heap of a process that is to be fast: young objects have half a gigabyte, touched beforehand, or the pages' first
/// use would be measured.
const FAST: [&str; 5] =
    ["-XX:+UseParallelGC", "-Xms1g", "-Xmx4g", "-Xmn512m", "-XX:+AlwaysPreTouch"];

/// What starts it. The collector has as many threads as there are workers; where memory is measured, the heap grows as it
/// is needed.
pub(super) fn command(
    workshop: &Workshop,
    workers: usize,
    purpose: Purpose,
) -> anyhow::Result<Command> {
    let mut command = Command::new(tool("java"));
    match purpose {
        Purpose::Speed => {
            command.args(FAST).arg(format!("-XX:ParallelGCThreads={workers}"));
        }
        Purpose::Memory => {
            command.arg("-XX:+UseSerialGC");
        }
    }
    if javac().as_deref().and_then(major).is_some_and(|major| major >= WARNS) {
        command.arg("--sun-misc-unsafe-memory-access=allow");
    }
    command.arg("-cp").arg(classpath(workshop)?).arg("Main");
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_tells_its_version() {
        assert_eq!(major("javac 17.0.15"), Some(17));
        assert_eq!(major("javac 25"), Some(25));
        assert_eq!(major("javac 26-ea"), Some(26));
        assert_eq!(major("a compiler"), None);
    }

    #[test]
    fn the_newest_release_is_taken_wherever_it_lies() {
        let cache = tempfile::tempdir().unwrap();
        let versions = [
            "https/a.host/maven2/org/apache/pekko/pekko-actor_2.13/1.1.9",
            "https/a.host/maven2/org/apache/pekko/pekko-actor_2.13/1.1.10",
            "https/a.host/maven2/org/apache/pekko/pekko-actor_2.13/1.2.0-M1",
            "https/b.host/org/apache/pekko/pekko-actor_2.13/1.0.3",
        ];
        for version in versions {
            let folder = cache.path().join(version);
            fs::create_dir_all(&folder).unwrap();
            let release = folder.file_name().unwrap().to_str().unwrap();
            fs::write(folder.join(format!("pekko-actor_2.13-{release}.jar")), "").unwrap();
        }
        // Fetched in part only.
        let part = "https/b.host/org/apache/pekko/pekko-actor_2.13/1.3.0";
        fs::create_dir_all(cache.path().join(part)).unwrap();
        let mut found = Vec::new();
        below(cache.path(), DEPTH, &mut found);
        assert_eq!(found.len(), 2);
        let (folder, name, version) = JARS[0];
        let jar = newest(&found, folder, name, version).unwrap();
        assert!(jar.ends_with("1.1.10/pekko-actor_2.13-1.1.10.jar"), "{}", jar.display());
        assert_eq!(newest(&found, folder, name, "2."), None);
        assert_eq!(newest(&[], folder, name, version), None);
    }

    #[test]
    fn a_jar_that_is_named_but_not_there_is_told() {
        let there = tempfile::tempdir().unwrap();
        let all = there.path().join("*");
        assert_eq!(named_jars(&all.clone().into_os_string()).unwrap(), [all]);
        let none = there.path().join("pekko.jar").into_os_string();
        let error = named_jars(&none).unwrap_err().to_string();
        assert!(error.ends_with("named in EVENKEEL_PEKKO_CLASSPATH, is not there"), "{error}");
    }
}
