//! Named entries for tests.

use evenkeel::sync::monitor::Entry;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Op(pub(crate) u32);

pub(crate) const F: Op = Op(0);
pub(crate) const G: Op = Op(1);

impl Entry for Op {
    fn number(self) -> u32 {
        self.0
    }
}
