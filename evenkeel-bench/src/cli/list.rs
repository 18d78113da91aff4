//! `list`: the experiments, who runs them, and what is missing.

use crate::families::FAMILIES;
use suite::description::{Description, Experiment};
use suite::entry::{Entry, Listed};
use suite::misses;
use suite::output::say;

/// Prints the experiments, and the runtimes found and missing.
pub(super) fn list() -> anyhow::Result<()> {
    say!("experiments (variants):");
    FAMILIES.iter().for_each(|entry| experiments(&(entry.describe)()));
    FAMILIES.iter().try_for_each(runtimes)?;
    say!("evidence of cache misses: {}", misses::source());
    Ok(())
}

fn experiments(of: &Description) {
    for experiment in &of.experiments {
        let Experiment { name, what, variants, .. } = experiment;
        let title = match variants.as_slice() {
            [] => (*name).to_owned(),
            variants => format!("{name} ({})", variants.join(", ")),
        };
        let more = (of.listed)(name).map(|more| format!("; {more}")).unwrap_or_default();
        say!("  {title:<26} {what}{more}");
    }
    of.aliases.iter().for_each(|alias| say!("  {:<26} {}", alias.name, alias.what));
}

fn runtimes(entry: &Entry) -> anyhow::Result<()> {
    let title = format!("runtimes of {}", (entry.describe)().name);
    let Listed { there, missing } = (entry.found)()?;
    say!("{title} found:");
    for (peer, version) in there {
        let version = version.map(|version| format!(" ({version})")).unwrap_or_default();
        say!("  {:<26} {}{version}", peer.name, peer.what);
    }
    if !missing.is_empty() {
        say!("{title} missing:");
    }
    for (peer, why) in missing {
        say!("  {:<26} {}: {why}", peer.name, peer.what);
    }
    Ok(())
}
