//! Erlang; its processes are the actors.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::Program;
use suite::kit::installer::Package;
use suite::kit::places::{PATH, Places};
use suite::kit::toolchain::{Workshop, program};

/// The program's files, as they lie under `peers/erlang`.
const SOURCES: [(&str, &str); 8] = [
    ("actor_memory.erl", include_str!("../../../../peers/erlang/actor_memory.erl")),
    ("actor_spawn.erl", include_str!("../../../../peers/erlang/actor_spawn.erl")),
    ("bench_main.erl", include_str!("../../../../peers/erlang/bench_main.erl")),
    ("bench_outcome.erl", include_str!("../../../../peers/erlang/bench_outcome.erl")),
    ("bench_settings.erl", include_str!("../../../../peers/erlang/bench_settings.erl")),
    ("fanin.erl", include_str!("../../../../peers/erlang/fanin.erl")),
    ("latency_probe.erl", include_str!("../../../../peers/erlang/latency_probe.erl")),
    ("pingpong.erl", include_str!("../../../../peers/erlang/pingpong.erl")),
];

/// Folders of installations: those of the system, asdf, mise, kerl and Homebrew.
const FOLDERS: [&str; 9] = [
    PATH,
    "/usr/lib/erlang/bin",
    "/usr/lib64/erlang/bin",
    "/usr/local/lib/erlang/bin",
    "~/.asdf/shims",
    "~/.local/share/mise/shims",
    "~/kerl/*/bin",
    "/opt/homebrew/bin",
    "/home/linuxbrew/.linuxbrew/bin",
];

/// The packages of compiler and virtual machine.
const ERLANG: Package = Package {
    apt: "erlang-base",
    dnf: "erlang-erts erlang-compiler",
    brew: "erlang",
    otherwise: "install Erlang/OTP, 25 or later",
};

/// The most processes: the largest run's, and the virtual machine's own.
const MOST_PROCESSES: &str = "16777216";

/// Prints the release, and whether it compiles to machine code.
const TELL: &str = "io:format(\"Erlang/OTP ~s (~s)~n\", [erlang:system_info(otp_release), erlang:system_info(emu_flavor)]), halt().";

/// Returns the virtual machine that has a compiler beside it, and its release. A version manager's
/// shim without an installation behind it does not answer.
fn find(places: &Places) -> Option<(PathBuf, String)> {
    let mut tools = places.tools("erl", &FOLDERS).into_iter();
    tools.find_map(|erl| {
        let output = Command::new(&erl).args(["-noshell", "-eval", TELL]).output().ok()?;
        let release = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && compiler(&erl).is_file()).then_some((erl, release))
    })
}

fn compiler(erl: &Path) -> PathBuf {
    erl.with_file_name(program("erlc"))
}

/// The installed release, if any.
pub(super) fn version(places: &Places) -> Option<String> {
    find(places).map(|(_, release)| release)
}

/// Returns the line that installs Erlang, if it is missing.
pub(super) fn missing(places: &Places) -> Option<String> {
    find(places).is_none().then(|| ERLANG.line_on(places))
}

/// Builds the program.
pub(super) fn build(places: &Places) -> anyhow::Result<Program> {
    let (tool, _) = find(places).context("Erlang was not found")?;
    let workshop = Workshop::with("Erlang", &SOURCES)?;
    let flags = ["+inline_list_funcs"].into_iter().chain(SOURCES.map(|(name, _)| name));
    workshop.build("Erlang", &compiler(&tool).to_string_lossy(), flags)?;
    Ok(Program { workshop, tool, major: 0 })
}

/// The command that starts the program with `workers` schedulers.
pub(super) fn command(program: &Program, workers: usize) -> Command {
    let mut command = Command::new(&program.tool);
    command
        .args(["+S", &format!("{workers}:{workers}"), "+P", MOST_PROCESSES])
        .args(["-noshell", "-s", "bench_main", "main", "-pa"])
        .arg(program.workshop.folder())
        .arg("-extra")
        // A failure is reported in words; a dump would stay in the user's folder.
        .env("ERL_CRASH_DUMP_SECONDS", "0");
    command
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use suite::kit::fake::{script, tree};

    #[test]
    fn it_is_found_beside_the_search_path_and_needs_its_compiler() {
        let root = tree(&["home/.asdf/shims/erlc", "usr/lib/erlang/bin/erlc", "bin/apt-get"]);
        let places = Places::below(root.path(), &[("PATH", "bin")]);
        assert_eq!(missing(&places).as_deref(), Some("apt-get install erlang-base"));
        // The compiler is not on the search path, and a version manager may have no version.
        script(root.path(), "bin/erl", "echo Erlang/OTP 24");
        script(root.path(), "home/.asdf/shims/erl", "exit 126");
        assert!(missing(&places).is_some());
        script(root.path(), "usr/lib/erlang/bin/erl", "echo Erlang/OTP 27");
        assert_eq!((missing(&places), version(&places)), (None, Some("Erlang/OTP 27".to_owned())));
        std::fs::remove_file(root.path().join("usr/lib/erlang/bin/erlc")).unwrap();
        assert!(missing(&places).is_some());
    }
}
