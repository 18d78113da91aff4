//! `list`: the experiments, the runtimes that run them, and the missing ones.

use crate::families::FAMILIES;
use suite::description::{Description, Experiment};
use suite::entry::{Entry, Listed};
use suite::misses;
use suite::output::print;
use suite::table::{self, wrapped};

/// The width of a name, in columns.
const NAME: usize = 26;

/// The least width of the text beside the names, in columns.
const BESIDE: usize = 30;

/// Prints the experiments, and the runtimes found and missing.
pub(super) fn list() -> anyhow::Result<()> {
    let width = table::width();
    print("experiments (variants):\n");
    FAMILIES.iter().for_each(|entry| experiments(&(entry.describe)(), width));
    FAMILIES.iter().try_for_each(|entry| runtimes(entry, width))?;
    print(&wrapped(&format!("evidence of cache misses: {}", misses::source()), width));
    Ok(())
}

fn experiments(of: &Description, width: Option<u16>) {
    for experiment in &of.experiments {
        let Experiment { name, what, variants, .. } = experiment;
        let title = match variants.as_slice() {
            [] => (*name).to_owned(),
            variants => format!("{name} ({})", variants.join(", ")),
        };
        let more = (of.listed)(name).map(|more| format!("; {more}")).unwrap_or_default();
        print(&item(&title, &format!("{what}{more}"), width));
    }
    of.aliases.iter().for_each(|alias| print(&item(alias.name, alias.what, width)));
}

fn runtimes(entry: &Entry, width: Option<u16>) -> anyhow::Result<()> {
    let title = format!("runtimes of {}", (entry.describe)().name);
    let Listed { there, missing } = (entry.found)()?;
    print(&format!("{title} found:\n"));
    for (peer, version) in there {
        let version = version.map(|version| format!(" ({version})")).unwrap_or_default();
        print(&item(peer.name, &format!("{}{version}", peer.what), width));
    }
    if !missing.is_empty() {
        print(&format!("{title} missing:\n"));
    }
    for (peer, why) in missing {
        print(&item(peer.name, &format!("{}: {why}", peer.what), width));
    }
    Ok(())
}

/// Formats a name with its meaning beside it, or below it if one of them needs the space.
fn item(name: &str, what: &str, width: Option<u16>) -> String {
    let Some(columns) = width.map(usize::from) else {
        return format!("  {name:<NAME$} {what}\n");
    };
    let indent = 2 + NAME + 1;
    if name.chars().count() > NAME || columns < indent + BESIDE {
        return wrapped(&format!("  {name}"), width) + &wrapped(&format!("      {what}"), width);
    }
    let beside = wrapped(&format!("{:indent$}{what}", ""), width);
    format!("  {name:<NAME$} {}", beside.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_name_stands_for_is_beside_it_or_below_it() {
        let of = |name, width| item(name, "passes balls on and on and on and", width);
        assert_eq!(of("cycle", None).lines().count(), 1);
        let wide = format!("  {:<NAME$} passes balls on and on and on\n{:29}and\n", "cycle", "");
        assert_eq!(of("cycle", Some(59)), wide);
        assert_eq!(of("cycle", Some(40)), "  cycle\n      passes balls on and on and on and\n");
        let long = "cycle (of many, many variants)";
        assert_eq!(
            of(long, Some(100)),
            format!("  {long}\n      passes balls on and on and on and\n")
        );
    }
}
