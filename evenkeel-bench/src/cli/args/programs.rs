//! Sizes of fork-join programs by name.

use clap::ValueEnum;

use crate::forking::program::Program;

/// One of the three sizes that each fork-join program has, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Size {
    Small,
    Usual,
    Large,
    All,
}

impl Size {
    /// The sizes of a program.
    pub(in crate::cli) fn of(self, program: Program) -> Vec<usize> {
        let [small, usual, large] = program.sizes();
        match self {
            Size::Small => vec![small],
            Size::Usual => vec![usual],
            Size::Large => vec![large],
            Size::All => vec![small, usual, large],
        }
    }
}
