//! The C++ Actor Framework.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::Program;
pub(super) use suite::kit::cpp::version;
use suite::kit::cpp::{compiler, refusal};
use suite::kit::installer::Package;
use suite::kit::places::Places;
use suite::kit::toolchain::{Workshop, program};

/// The program's files, as they lie under `peers/caf`.
const SOURCES: [(&str, &str); 9] = [
    ("actor_memory.hpp", include_str!("../../../../peers/caf/actor_memory.hpp")),
    ("actor_spawn.hpp", include_str!("../../../../peers/caf/actor_spawn.hpp")),
    ("fanin.hpp", include_str!("../../../../peers/caf/fanin.hpp")),
    ("latency_probe.hpp", include_str!("../../../../peers/caf/latency_probe.hpp")),
    ("main.cpp", include_str!("../../../../peers/caf/main.cpp")),
    ("outcome.hpp", include_str!("../../../../peers/caf/outcome.hpp")),
    ("pingpong.hpp", include_str!("../../../../peers/caf/pingpong.hpp")),
    ("settings.hpp", include_str!("../../../../peers/caf/settings.hpp")),
    ("trial.cpp", include_str!("../../../../peers/caf/trial.cpp")),
];

/// Prefixes of installations: those of the system, Homebrew, conda, vcpkg and conan.
const PREFIXES: [&str; 11] = [
    "$CAF_ROOT",
    "/usr",
    "/usr/local",
    "/opt/homebrew",
    "/home/linuxbrew/.linuxbrew",
    "$CONDA_PREFIX",
    "$VCPKG_ROOT/installed/*",
    "~/vcpkg/installed/*",
    "~/.conan/data/caf/*/*/*/package/*",
    "~/.conan2/p/*/p",
    "~/.conan2/p/b/*/p",
];

/// The header with the version, below a prefix.
const HEADER: &str = "include/caf/config.hpp";

/// The releases for which the program is written: later ones have other names of atoms and
/// settings.
const RELEASES: std::ops::Range<u32> = 1700..1800;

/// The packages of a compiler.
const COMPILER: Package = Package {
    apt: "g++",
    dnf: "gcc-c++",
    brew: "gcc",
    otherwise: "install a compiler of C++17, or set CXX to one",
};

/// Installs the library where the packages have that release.
const DEBIAN: &str = "apt-get install libcaf-dev";

/// Installs it where the packages have a later release, or none.
const BUILD: &str = "git clone --branch 0.17.6 \
    https://github.com/actor-framework/actor-framework caf && cmake -S caf -B caf/build \
    -DCAF_NO_EXAMPLES=ON -DCAF_NO_UNIT_TESTS=ON -DCAF_NO_TOOLS=ON && \
    cmake --build caf/build --target install";

/// The prefixes that have the library, each with its version.
fn installed(places: &Places) -> Vec<(PathBuf, u32)> {
    let tell = |prefix: PathBuf| {
        let header = fs::read_to_string(prefix.join(HEADER)).ok()?;
        let defined = header.lines().find_map(|line| line.strip_prefix("#define CAF_VERSION "))?;
        Some((prefix, defined.trim().parse().ok()?))
    };
    places.all(&PREFIXES).into_iter().filter_map(tell).collect()
}

/// The prefix of a suitable release.
fn prefix(places: &Places) -> Option<PathBuf> {
    let mut all = installed(places).into_iter();
    all.find(|(_, version)| RELEASES.contains(version)).map(|(prefix, _)| prefix)
}

/// Returns the line that installs the library, and why an installed one cannot be built or run
/// here.
pub(super) fn missing(places: &Places) -> anyhow::Result<Option<String>> {
    if version().is_none() {
        return Ok(Some(COMPILER.line_on(places)));
    }
    let library = if places.has("apt-get") { DEBIAN } else { BUILD };
    let prefix = prefix(places);
    if let (None, Some((_, other))) = (&prefix, installed(places).first()) {
        let (major, minor, patch) = (other / 10_000, other / 100 % 100, other % 100);
        let other = format!("CAF {major}.{minor}.{patch} is there, the program is for 0.17");
        return Ok(Some(format!("{other}; {library}")));
    }
    let workshop = Workshop::with("CAF", &SOURCES)?;
    let errors = compile(&workshop, "trial", "-O0", prefix.as_deref())?;
    Ok(refusal(&workshop, errors).map(|why| match prefix {
        Some(_) => format!("{why}; {library}"),
        None => library.to_owned(),
    }))
}

/// Compiles `<source>.cpp` into the program `<source>`. Returns the compiler's errors, if any.
fn compile(
    workshop: &Workshop,
    source: &str,
    level: &str,
    prefix: Option<&Path>,
) -> anyhow::Result<Option<String>> {
    let (from, to) = (format!("{source}.cpp"), program(source));
    let flags = ["-std=c++17", level, &from, "-o", &to];
    let mut flags = flags.map(OsString::from).to_vec();
    // The compiler finds the system's prefixes itself.
    if let Some(prefix) = prefix.filter(|prefix| *prefix != Path::new("/usr")) {
        let lib = prefix.join("lib");
        for (flag, folder) in [("-I", &prefix.join("include")), ("-L", &lib), ("-Wl,-rpath,", &lib)]
        {
            let mut flag = OsString::from(flag);
            flag.push(folder);
            flags.push(flag);
        }
    }
    flags.extend(["-lcaf_core", "-pthread"].map(OsString::from));
    workshop.errors(&compiler(), flags)
}

/// Builds the program, which sets its threads itself.
pub(super) fn build(places: &Places) -> anyhow::Result<Program> {
    let workshop = Workshop::with("CAF", &SOURCES)?;
    if let Some(errors) = compile(&workshop, "main", "-O3", prefix(places).as_deref())? {
        bail!("cannot build the peer on CAF:\n{errors}");
    }
    let tool = workshop.path("main");
    Ok(Program { workshop, tool, major: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use suite::kit::fake::tree;

    #[test]
    fn a_release_that_will_do_is_taken_wherever_it_lies() {
        let headers =
            ["usr", "usr/local", "home/vcpkg/installed/x64-linux", "home/.conan2/p/b/caf1/p"];
        let files = headers.map(|prefix| format!("{prefix}/{HEADER}"));
        let root = tree(&files.each_ref().map(String::as_str));
        let places = Places::below(root.path(), &[]);
        let set = |place: usize, version: u32| {
            let text = format!("// CAF\n#define CAF_VERSION {version}\n");
            fs::write(root.path().join(&files[place]), text).unwrap();
        };
        assert_eq!(installed(&places), []);
        set(0, 1805);
        set(3, 10_000);
        assert_eq!((installed(&places).len(), prefix(&places)), (2, None));
        set(2, 1706);
        assert_eq!(prefix(&places), Some(root.path().join(headers[2])));
        set(1, 1700);
        assert_eq!(prefix(&places), Some(root.path().join(headers[1])));
    }

    #[test]
    fn another_release_is_named_beside_the_line_that_installs_the_right_one() {
        let root = tree(&["usr/include/caf/config.hpp"]);
        fs::write(root.path().join("usr/include/caf/config.hpp"), "#define CAF_VERSION 10001")
            .unwrap();
        let why = missing(&Places::below(root.path(), &[])).unwrap().unwrap();
        let told = why.starts_with("CAF 1.0.1 is there") && why.ends_with(BUILD);
        assert!(told || version().is_none(), "{why}");
        assert!(!why.contains('\n'), "{why}");
    }
}
