//! The registry of the families that run on the [`suite`]. A new family is a line here, its crate
//! in `families/`, and the dependency on it.

use clap::{ArgMatches, Args, Command, FromArgMatches};

use suite::entry::Entry;

/// All families, in the order in which they are measured and shown.
pub(crate) static FAMILIES: [Entry; 10] = [
    scheduling::ENTRY,
    latency::ENTRY,
    mixed::ENTRY,
    forking::ENTRY,
    timers::ENTRY,
    growth::ENTRY,
    concurrency::ENTRY,
    actors::ENTRY,
    objects::ENTRY,
    serving::ENTRY,
];

/// Returns the entry of a family, by its name.
pub(crate) fn named(name: &str) -> Option<&'static Entry> {
    FAMILIES.iter().find(|entry| (entry.describe)().name == name)
}

/// The command line of `run` with the options of all families. Each family reads its own options
/// from it.
#[derive(Clone, Debug)]
pub(crate) struct Options(pub(crate) ArgMatches);

impl FromArgMatches for Options {
    fn from_arg_matches(line: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(line.clone()))
    }

    fn update_from_arg_matches(&mut self, line: &ArgMatches) -> Result<(), clap::Error> {
        self.0 = line.clone();
        Ok(())
    }
}

impl Args for Options {
    fn augment_args(command: Command) -> Command {
        let add = |command: Command, entry: &Entry| {
            (entry.options)(command.next_help_heading((entry.describe)().title))
        };
        // Options that families share come before them.
        FAMILIES.iter().fold(command, add).next_help_heading(None::<&str>)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

#[cfg(test)]
mod tests;
