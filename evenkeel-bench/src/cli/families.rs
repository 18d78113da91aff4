//! The families of experiments, and the commands that go through all of them: `run` and `list`.

use anyhow::bail;

use super::args::{RunArgs, Usage};
use super::family::Family;
use super::ported::Ported;
use crate::misses;
use crate::suite::output::say;

/// All of them, in the order of `list`. A family that is here is known to `run`, to `list` and to their errors.
const FAMILIES: [&dyn Family; 7] = [
    &Ported("scheduling"),
    &Ported("mixed"),
    &Ported("timers"),
    &Ported("concurrency"),
    &Ported("actors"),
    &Ported("objects"),
    &Ported("fork-join"),
];

/// Runs the experiments named, which must be of one family.
pub(super) fn run(args: &RunArgs) -> anyhow::Result<()> {
    known(&args.bench)?;
    args.each_once()?;
    let chosen = chosen(&args.bench)?;
    FAMILIES[chosen].meant(args)?;
    for (place, family) in FAMILIES.iter().enumerate() {
        if place != chosen {
            family.alone(args)?;
        }
    }
    FAMILIES[chosen].run(args)
}

/// Prints the experiments, and the runtimes found and missing.
pub(super) fn list() -> anyhow::Result<()> {
    say!("experiments (variants):");
    FAMILIES.iter().for_each(|family| family.list());
    FAMILIES.iter().try_for_each(|family| family.list_runtimes())?;
    say!("evidence of cache misses: {}", misses::source());
    Ok(())
}

/// An error with all names that there are, unless each of these is one of them.
fn known(names: &[String]) -> Result<(), Usage> {
    let is_known = |name: &&String| FAMILIES.iter().any(|family| is_of(*family, name));
    let Some(name) = names.iter().find(|name| !is_known(name)) else {
        return Ok(());
    };
    let known = FAMILIES.map(|family| {
        let names = family.names().join(", ");
        family.title().map_or(names.clone(), |title| format!("{title} {names}"))
    });
    Err(Usage(format!("unknown experiment `{name}`: known are {}", known.join(", "))))
}

/// The place of the family that all these are of, or why they are not run by one command.
fn chosen(names: &[String]) -> anyhow::Result<usize> {
    let first = |family: &dyn Family| names.iter().find(|name| is_of(family, name));
    let mut of = (0..FAMILIES.len()).filter(|&place| first(FAMILIES[place]).is_some());
    let Some(chosen) = of.next() else { bail!(Usage("no experiment is named".to_owned())) };
    if of.next().is_none() {
        return Ok(chosen);
    }
    let apart = |family: &&dyn Family| {
        let own = first(*family)?;
        let other = names.iter().find(|name| !is_of(*family, name))?;
        family.apart(own, other)
    };
    let why = FAMILIES.iter().find_map(apart);
    bail!(Usage(why.unwrap_or_else(|| "these are not run by one command".to_owned())))
}

fn is_of(family: &dyn Family, name: &str) -> bool {
    family.names().contains(&name)
}
