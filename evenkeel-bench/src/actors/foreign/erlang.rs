//! Erlang, whose processes are actors.

use std::process::Command;

use anyhow::{Context, ensure};

use crate::toolchain::Workshop;

/// The program's files, as they lie under `peers/erlang`.
const SOURCES: [(&str, &str); 8] = [
    ("actor_memory.erl", include_str!("../../../peers/erlang/actor_memory.erl")),
    ("actor_spawn.erl", include_str!("../../../peers/erlang/actor_spawn.erl")),
    ("bench_main.erl", include_str!("../../../peers/erlang/bench_main.erl")),
    ("bench_outcome.erl", include_str!("../../../peers/erlang/bench_outcome.erl")),
    ("bench_settings.erl", include_str!("../../../peers/erlang/bench_settings.erl")),
    ("fanin.erl", include_str!("../../../peers/erlang/fanin.erl")),
    ("latency_probe.erl", include_str!("../../../peers/erlang/latency_probe.erl")),
    ("pingpong.erl", include_str!("../../../peers/erlang/pingpong.erl")),
];

/// What would bring compiler and virtual machine.
const INSTALL: &str = "install Erlang/OTP 25 or later (Debian: erlang-base; Fedora: erlang-erts and erlang-compiler) and put it on PATH";

/// The most processes: those of the largest run, and the virtual machine's own.
const MOST_PROCESSES: &str = "16777216";

/// Prints the release, and whether it compiles to machine code.
const TELL: &str = "io:format(\"Erlang/OTP ~s (~s)~n\", [erlang:system_info(otp_release), erlang:system_info(emu_flavor)]), halt().";

/// The release, if there is one.
pub(super) fn version() -> Option<String> {
    let output = Command::new("erl").args(["-noshell", "-eval", TELL]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Why there is no toolchain, and what would help.
pub(super) fn missing() -> Option<String> {
    if version().is_none() {
        return Some(format!("`erl` was not found; {INSTALL}"));
    }
    let compiles = Command::new("erlc").arg("-help").output().is_ok();
    (!compiles).then(|| format!("`erlc` was not found; {INSTALL}"))
}

/// Builds the program.
pub(super) fn build() -> anyhow::Result<Workshop> {
    let workshop = Workshop::with("Erlang", &SOURCES)?;
    let flags = ["+inline_list_funcs"].into_iter().chain(SOURCES.map(|(name, _)| name));
    let output =
        workshop.run("erlc", flags).with_context(|| format!("cannot start `erlc`; {INSTALL}"))?;
    ensure!(
        output.status.success(),
        "cannot build the Erlang peer:\n{}{}",
        // Where it says what is wrong depends on the release.
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(workshop)
}

/// What starts it with so many schedulers.
pub(super) fn command(workshop: &Workshop, workers: usize) -> Command {
    let mut command = Command::new("erl");
    command
        .args(["+S", &format!("{workers}:{workers}"), "+P", MOST_PROCESSES])
        .args(["-noshell", "-s", "bench_main", "main", "-pa"])
        .arg(workshop.folder())
        .arg("-extra")
        // A failure is told in words; a dump would stay behind in the user's folder.
        .env("ERL_CRASH_DUMP_SECONDS", "0");
    command
}
