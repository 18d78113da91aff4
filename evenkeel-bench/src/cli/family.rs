//! What the command line knows of a family of experiments.

use super::args::{RunArgs, Usage};

/// Experiments that share their columns, their runtimes and their options.
pub(super) trait Family: Sync {
    /// Their names, in the order of the tables, as `--bench` takes them.
    fn names(&self) -> Vec<&'static str>;

    /// What stands before the names in a list of all of them.
    fn title(&self) -> Option<&'static str> {
        None
    }

    /// Why `own`, of this family, and `other`, of another one, are not run by one command. `None` leaves the word to the other
    /// family.
    fn apart(&self, own: &str, other: &str) -> Option<String> {
        Some(format!(
            "{own} has columns of its own, not those of {other}: run them in two commands"
        ))
    }

    /// An error if an option is given that these experiments do not have.
    fn meant(&self, _args: &RunArgs) -> Result<(), Usage> {
        Ok(())
    }

    /// An error if an option is given that only these experiments have. It is asked for when others are run.
    fn alone(&self, _args: &RunArgs) -> Result<(), Usage> {
        Ok(())
    }

    /// Runs the experiments named, which are all of this family.
    fn run(&self, args: &RunArgs) -> anyhow::Result<()>;

    /// Prints the experiments, with their variants and sizes.
    fn list(&self);

    /// Prints who runs them, and what is missing.
    fn list_runtimes(&self) -> anyhow::Result<()> {
        Ok(())
    }
}
