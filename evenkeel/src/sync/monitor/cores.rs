//! The cores of a set, by address.

#![allow(unsafe_code, reason = "a held monitor's core is reached by its address")]

use super::core::Core;
use std::ptr::NonNull;

/// A reference to a core. Its user keeps the monitor borrowed beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoreRef(NonNull<Core>);

// SAFETY: it is a shared reference to something that is `Sync`.
unsafe impl Send for CoreRef {}
// SAFETY: as above.
unsafe impl Sync for CoreRef {}

impl CoreRef {
    #[inline(always)]
    pub(super) fn of(core: &Core) -> Self {
        Self(NonNull::from(core))
    }

    /// The core.
    ///
    /// # Safety
    /// The monitor is borrowed for as long as the result is used.
    #[inline(always)]
    pub(super) unsafe fn get<'a>(self) -> &'a Core {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ref() }
    }
}

/// The cores of a set, with the leader by itself, since most sets have no other core.
#[derive(Clone, Copy, Debug)]
pub struct Cores<'a> {
    pub(super) leader: CoreRef,
    pub(super) rest: &'a [CoreRef],
}

impl<'a> Cores<'a> {
    /// The core of a set of one.
    #[inline(always)]
    pub(super) fn one(core: &Core) -> Self {
        Self { leader: CoreRef::of(core), rest: &[] }
    }

    /// The leader alone, of a set of any size.
    #[inline(always)]
    pub(super) fn led_by(leader: CoreRef) -> Self {
        Self { leader, rest: &[] }
    }

    /// The cores of a set from `all`, which is sorted by address and not empty.
    #[inline(always)]
    pub(super) fn sorted(all: &'a [CoreRef]) -> Self {
        Self { leader: all[0], rest: &all[1..] }
    }

    /// The number of cores.
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.rest.len() + 1
    }

    /// The core at this index, in the order of addresses.
    #[inline(always)]
    pub(super) fn get(self, index: usize) -> CoreRef {
        if index == 0 { self.leader } else { self.rest[index - 1] }
    }
}

/// Sorts cores by address.
#[inline(always)]
pub(super) fn sort<const N: usize>(mut cores: [CoreRef; N]) -> [CoreRef; N] {
    if N > FEW {
        cores.sort_unstable();
        return cores;
    }
    // A few cores are sorted fastest without branches, in a loop that the compiler unrolls.
    for end in (1..N).rev() {
        for here in 0..end {
            let (one, other) = (cores[here], cores[here + 1]);
            (cores[here], cores[here + 1]) = (one.min(other), one.max(other));
        }
    }
    cores
}

/// Up to this number of cores, code compares pair by pair. An estimate; no benchmark sets it.
const FEW: usize = 8;

/// Checks that no core is there twice.
///
/// # Panics
/// If one is.
#[inline(always)]
#[track_caller]
pub(super) fn check<const N: usize>(cores: [CoreRef; N]) {
    let twins = if N > FEW {
        sort(cores).windows(2).any(|two| two[0] == two[1])
    } else {
        let mut twins = false;
        for end in 1..N {
            for here in 0..end {
                twins |= cores[here] == cores[end];
            }
        }
        twins
    };
    if twins {
        has_twins();
    }
}

#[cold]
#[track_caller]
pub(super) fn has_twins() -> ! {
    panic!(
        "a set has the same monitor twice: two exclusive accesses to one value; name each monitor once"
    );
}
