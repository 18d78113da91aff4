//! A runtime without sockets: nothing is ever ready, and no code is left of the looks.

use std::time::Duration;

/// Where a processor's set would be.
#[derive(Debug, Default)]
pub(crate) struct Place(());

/// A set that is never there.
#[derive(Debug)]
pub(crate) enum Set {}

/// Operations that would be woken.
#[derive(Debug, Default)]
pub(crate) struct Woken(());

impl Woken {
    pub(crate) fn is_empty(&self) -> bool {
        true
    }

    pub(crate) fn wake(self) -> bool {
        false
    }
}

impl Place {
    #[inline(always)]
    pub(crate) fn get(&self) -> Option<&Set> {
        None
    }
}

impl Set {
    pub(crate) fn looked(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn look(&self, _now: u64) -> bool {
        match *self {}
    }

    pub(crate) fn tended(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn tend(&self, _now: u64) -> bool {
        match *self {}
    }

    pub(crate) fn sleep(
        &self,
        _limit: Option<Duration>,
        _stands: bool,
        _is_called: impl FnOnce() -> bool,
    ) -> Woken {
        match *self {}
    }

    pub(crate) fn come_in(&self) {
        match *self {}
    }

    pub(crate) fn has_untold(&self) -> bool {
        match *self {}
    }

    pub(crate) fn has_notes(&self) -> bool {
        match *self {}
    }

    pub(crate) fn interrupt(&self) {
        match *self {}
    }

    pub(crate) fn is_used(&self) -> bool {
        match *self {}
    }

    pub(crate) fn notes(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn counts(&self) -> super::Counts {
        match *self {}
    }

    pub(crate) fn close(&self) {
        match *self {}
    }
}
