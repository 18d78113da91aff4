//! Pekko, by a program in Java.
//!
//! Its jars are the user's: a variable names them, or the caches of build tools hold them.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, anyhow, ensure};

use super::{Program, Purpose};
use suite::kit::installer::Package;
use suite::kit::java::{Javac, javac};
use suite::kit::places::Places;
use suite::kit::toolchain::{Workshop, program};

/// The program's files, as they lie under `peers/pekko`.
const SOURCES: [(&str, &str); 9] = [
    ("ActorMemory.java", include_str!("../../../../peers/pekko/ActorMemory.java")),
    ("ActorSpawn.java", include_str!("../../../../peers/pekko/ActorSpawn.java")),
    ("FanIn.java", include_str!("../../../../peers/pekko/FanIn.java")),
    ("Fleet.java", include_str!("../../../../peers/pekko/Fleet.java")),
    ("LatencyProbe.java", include_str!("../../../../peers/pekko/LatencyProbe.java")),
    ("Main.java", include_str!("../../../../peers/pekko/Main.java")),
    ("Outcome.java", include_str!("../../../../peers/pekko/Outcome.java")),
    ("PingPong.java", include_str!("../../../../peers/pekko/PingPong.java")),
    ("Settings.java", include_str!("../../../../peers/pekko/Settings.java")),
];

/// Names one class of each jar that the program needs.
const TRIAL: [(&str, &str); 1] = [(
    "Trial.java",
    "class Trial { org.apache.pekko.actor.ActorSystem a; com.typesafe.config.Config c; scala.Option<String> s; }",
)];

/// The packages of a JDK.
const JDK: Package = Package {
    apt: "openjdk-17-jdk-headless",
    dnf: "java-latest-openjdk-devel",
    brew: "openjdk",
    otherwise: "install a JDK, 17 or later, and set JAVA_HOME to it",
};

/// The oldest Java that the program's source needs.
const OLDEST: u32 = 17;

/// The first Java that warns of the memory access of Scala's library unless a flag allows it, and
/// that knows the flag.
const WARNS: u32 = 24;

/// The variable that names the jars.
const CLASSPATH: &str = "EVENKEEL_PEKKO_CLASSPATH";

/// Group and name of each jar, and the start of its version.
const JARS: [(&str, &str, &str); 3] = [
    ("org.apache.pekko", "pekko-actor_2.13", "1."),
    ("com.typesafe", "config", "1."),
    ("org.scala-lang", "scala-library", "2.13."),
];

/// Repositories in Maven's layout.
const MAVEN: [&str; 3] = ["$MAVEN_REPO_LOCAL", "~/.m2/repository", "/usr/share/maven-repo"];

/// Caches of coursier, which sbt uses. A cache contains schemes, hosts, paths of at most two
/// folders, and there a repository in Maven's layout.
const COURSIER: [&str; 4] = [
    "$COURSIER_CACHE",
    "~/.cache/coursier/v1",
    "~/.coursier/cache/v1",
    "~/Library/Caches/Coursier/v1",
];

/// Caches of Gradle.
const GRADLE: [&str; 2] = ["$GRADLE_USER_HOME", "~/.gradle"];

/// The jars of Pekko that Maven and coursier fetch, with their dependencies.
const PEKKO: &str = "org.apache.pekko:pekko-actor_2.13:1.1.3";

/// The versions of Pekko and of the JDK, if both are installed.
pub(super) fn version(places: &Places) -> Option<String> {
    let jdk = javac(places, OLDEST).ok()?.version;
    let name = jars(places).ok()?.first()?.file_stem()?.to_string_lossy().into_owned();
    let pekko = name.strip_prefix("pekko-actor_2.13-").unwrap_or("as given").to_owned();
    Some(format!("Pekko {pekko}, {jdk}"))
}

/// Returns the line that installs what is missing, and why what is installed cannot build the
/// program.
pub(super) fn missing(places: &Places) -> anyhow::Result<Option<String>> {
    let jdk = JDK.line_on(places);
    let javac = match javac(places, OLDEST) {
        Ok(found) => found.javac,
        Err(None) => return Ok(Some(jdk)),
        Err(Some(old)) => return Ok(Some(format!("{old} is too old; {jdk}"))),
    };
    let jars = match jars(places) {
        Ok(jars) => jars,
        Err(why) => return Ok(Some(why.to_string())),
    };
    let workshop = Workshop::with("Pekko", &TRIAL)?;
    let refusal = compile(&workshop, &javac, &jars, &["Trial.java"])?;
    Ok(refusal.map(|errors| {
        let first = errors.lines().next().unwrap_or("its trial does not compile, without a word");
        format!("{first}; {}", fetch(places))
    }))
}

/// The line that fetches the jars.
fn fetch(places: &Places) -> String {
    let maven = format!("mvn dependency:get -Dartifact={PEKKO}");
    match (places.has("mvn"), ["cs", "coursier"].into_iter().find(|tool| places.has(tool))) {
        (false, Some(coursier)) => format!("{coursier} fetch {PEKKO}"),
        (false, None) => format!("{} && {maven}", MVN.line_on(places)),
        (true, _) => maven,
    }
}

/// The packages of Maven.
const MVN: Package =
    Package { apt: "maven", dnf: "maven", brew: "maven", otherwise: "install Maven" };

/// Returns the jars, Pekko's first if they were found and not named; or the line that fetches them.
fn jars(places: &Places) -> anyhow::Result<Vec<PathBuf>> {
    if let Some(named) = env::var_os(CLASSPATH).filter(|named| !named.is_empty()) {
        return named_jars(&named);
    }
    JARS.into_iter()
        .map(|(group, name, version)| {
            newest(&places.all(&patterns(group, name)), name, version)
                .ok_or_else(|| anyhow!(fetch(places)))
        })
        .collect()
}

/// The paths where build tools keep a jar.
fn patterns(group: &str, name: &str) -> Vec<String> {
    let maven = format!("{}/{name}/*/{name}-*.jar", group.replace('.', "/"));
    let mut patterns: Vec<String> = MAVEN.map(|root| format!("{root}/{maven}")).to_vec();
    for cache in COURSIER {
        let depths = ["*/*", "*/*/*", "*/*/*/*"];
        patterns.extend(depths.map(|depth| format!("{cache}/{depth}/{maven}")));
    }
    let gradle = format!("caches/modules-2/files-2.1/{group}/{name}/*/*/{name}-*.jar");
    patterns.extend(GRADLE.map(|home| format!("{home}/{gradle}")));
    patterns.push(format!("~/.ivy2/cache/{group}/{name}/*/{name}-*.jar"));
    patterns.push(format!("~/.ivy2/local/{group}/{name}/*/*/{name}-*.jar"));
    patterns.push(format!("/usr/share/java/{name}-*.jar"));
    patterns
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

/// The newest release of a jar among these.
fn newest(jars: &[PathBuf], name: &str, version: &str) -> Option<PathBuf> {
    let release = |jar: &PathBuf| {
        let stem = jar.file_stem()?.to_str()?;
        let release = stem.strip_prefix(name)?.strip_prefix('-')?;
        // A version with a part that is no number, as in 2.0-M1, is a milestone or no program.
        let numbers = release.split('.').map(str::parse::<u32>).collect::<Result<Vec<_>, _>>();
        release.starts_with(version).then_some((numbers.ok()?, jar.clone()))
    };
    jars.iter().filter_map(release).max().map(|(_, jar)| jar)
}

fn classpath(workshop: &Workshop, jars: &[PathBuf]) -> anyhow::Result<OsString> {
    let folder = workshop.folder().to_owned();
    env::join_paths(jars.iter().chain([&folder])).context("a jar's path cannot be part of a list")
}

/// Compiles these files. Returns the compiler's errors, if any.
fn compile(
    workshop: &Workshop,
    javac: &Path,
    jars: &[PathBuf],
    files: &[&str],
) -> anyhow::Result<Option<String>> {
    let mut arguments: Vec<OsString> = vec!["-cp".into(), classpath(workshop, jars)?];
    arguments.extend(["-d", ".", "-proc:none"].map(OsString::from));
    arguments.extend(files.iter().map(OsString::from));
    workshop.errors(&javac.to_string_lossy(), arguments)
}

/// Builds the program.
pub(super) fn build(places: &Places) -> anyhow::Result<Program> {
    let Javac { javac, major, .. } = javac(places, OLDEST).ok().context("no JDK was found")?;
    let workshop = Workshop::with("Pekko", &SOURCES)?;
    let refusal = compile(&workshop, &javac, &jars(places)?, &SOURCES.map(|(name, _)| name))?;
    ensure!(refusal.is_none(), "cannot build the peer on Pekko:\n{}", refusal.unwrap_or_default());
    let tool = javac.with_file_name(program("java"));
    Ok(Program { workshop, tool, major })
}

/// The heap of a process for speed: young objects have half a gigabyte, touched beforehand, because
/// the first use of its pages would be measured otherwise.
const FAST: [&str; 5] =
    ["-XX:+UseParallelGC", "-Xms1g", "-Xmx4g", "-Xmn512m", "-XX:+AlwaysPreTouch"];

/// The command that starts the program. The collector has as many threads as there are workers;
/// where memory is measured, the heap grows on demand.
pub(super) fn command(
    program: &Program,
    workers: usize,
    purpose: Purpose,
) -> anyhow::Result<Command> {
    let mut command = Command::new(&program.tool);
    match purpose {
        Purpose::Speed => {
            command.args(FAST).arg(format!("-XX:ParallelGCThreads={workers}"));
        }
        Purpose::Memory => {
            command.arg("-XX:+UseSerialGC");
        }
    }
    if program.major >= WARNS {
        command.arg("--sun-misc-unsafe-memory-access=allow");
    }
    let classpath = classpath(&program.workshop, &jars(&Places::here())?)?;
    command.arg("-cp").arg(classpath).arg("Main");
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(unix)]
    use suite::kit::fake::script;
    use suite::kit::fake::tree;

    #[test]
    fn the_newest_release_is_taken_wherever_it_lies() {
        let (group, name, version) = JARS[0];
        let path = "org/apache/pekko/pekko-actor_2.13";
        let jar = |folder: &str, release: &str| format!("{folder}/{name}-{release}.jar");
        let mut files = vec![
            jar(&format!("home/.cache/coursier/v1/https/b.host/{path}/1.0.3"), "1.0.3"),
            // A milestone, and a jar of sources.
            jar(&format!("home/.m2/repository/{path}/1.2.0-M1"), "1.2.0-M1"),
            jar(&format!("home/.m2/repository/{path}/1.9.0"), "1.9.0-sources"),
            // Fetched only in part.
            format!("home/.m2/repository/{path}/1.3.0/{name}-1.3.0.pom"),
        ];
        let newest_of = |files: &[String]| {
            let root = tree(&files.iter().map(String::as_str).collect::<Vec<_>>());
            let variables = [("MAVEN_REPO_LOCAL", "m2"), ("GRADLE_USER_HOME", "gradle")];
            let all = Places::below(root.path(), &variables).all(&patterns(group, name));
            assert_eq!(newest(&all, name, "2."), None);
            newest(&all, name, version)
                .map(|jar| jar.strip_prefix(root.path()).unwrap().display().to_string())
        };
        assert_eq!(newest_of(&files[1..]), None);
        assert_eq!(newest_of(&files).as_ref(), Some(&files[0]));
        let places = [
            "m2/{path}/1.1.1",
            "usr/share/maven-repo/{path}/1.1.2",
            "usr/share/java",
            "home/.cache/coursier/v1/https/a.host/maven2/{path}/1.1.9",
            "home/.coursier/cache/v1/https/a.host/some/releases/{path}/1.1.10",
            "home/.gradle/caches/modules-2/files-2.1/org.apache.pekko/pekko-actor_2.13/1.1.11/0a1b",
            "gradle/caches/modules-2/files-2.1/org.apache.pekko/pekko-actor_2.13/1.1.12/0a1b",
            "home/.ivy2/cache/org.apache.pekko/pekko-actor_2.13/jars",
            "home/.ivy2/local/org.apache.pekko/pekko-actor_2.13/1.1.14/jars",
        ];
        // Each is newer than all before it.
        for (place, release) in places.into_iter().zip(6..) {
            files.push(jar(&place.replace("{path}", path), &format!("1.1.{release}")));
            assert_eq!(newest_of(&files).as_ref(), files.last());
        }
    }

    #[test]
    fn the_line_that_fetches_the_jars_is_one_for_the_tool_that_is_there() {
        let root = tree(&["a/mvn", "b/cs", "c/dnf"]);
        let line = |path| fetch(&Places::below(root.path(), &[("PATH", path)]));
        assert_eq!(line("a"), format!("mvn dependency:get -Dartifact={PEKKO}"));
        assert_eq!(line("b"), format!("cs fetch {PEKKO}"));
        assert!(line("c").starts_with("dnf install maven && mvn dependency:get "));
    }

    #[cfg(unix)]
    #[test]
    fn a_jdk_is_new_enough_wherever_it_lies() {
        let root = tree(&["bin/apt-get"]);
        let places = Places::below(root.path(), &[("JAVA_HOME", "jdk"), ("PATH", "bin")]);
        let jdk = |folder: &str, version: &str| {
            script(root.path(), &format!("{folder}/bin/javac"), &format!("echo javac {version}"));
        };
        let line = "apt-get install openjdk-17-jdk-headless";
        assert_eq!(missing(&places).unwrap().as_deref(), Some(line));
        jdk("jdk", "11.0.2");
        let old = format!("javac 11.0.2 is too old; {line}");
        assert_eq!(missing(&places).unwrap(), Some(old));
        let found = || javac(&places, OLDEST).unwrap().version;
        jdk("home/.sdkman/candidates/java/17.0.9-tem", "17.0.9");
        assert_eq!(found(), "javac 17.0.9");
        jdk("home/.sdkman/candidates/java/21.0.1-tem", "21.0.1");
        assert_eq!(found(), "javac 21.0.1");
        jdk("usr/lib/jvm/java-17-openjdk", "17.0.15");
        assert_eq!(found(), "javac 17.0.15");
        jdk("jdk", "25");
        assert_eq!(found(), "javac 25");
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
