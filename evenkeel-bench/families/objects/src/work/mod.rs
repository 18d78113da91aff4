//! What is inside an object, and what an operation does to it.

mod directory;
mod heap;
mod map;
mod scan;

pub(super) use self::directory::{DIRECTORY_BYTES, Directories};
pub(super) use self::heap::{HEAP_BYTES, Heaps};
pub(super) use self::map::{Maps, map_bytes};
pub(super) use self::scan::Scans;

use suite::kit::random::Random;

/// What an operation has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Done {
    /// How much it has added to what [`Work::total`] sums.
    pub(super) added: u64,
    /// Whether it found what there must be.
    pub(super) right: bool,
}

/// An operation that only looks.
pub(super) type Look<W> = fn(W, &<W as Work>::Value, &mut Random) -> Done;

/// Objects of one kind, and the operation on them.
pub(super) trait Work: Copy + Send + Sync + 'static {
    /// What is inside of one.
    type Value: Send + Sync + 'static;

    /// A new one.
    fn make(self) -> Self::Value;

    /// One operation, by the task that is inside. One that loops is called, and the same in all
    /// modes: where its loop lies in the code can be worth a third of its speed, and would be
    /// elsewhere in each of them.
    fn operate(self, value: &mut Self::Value, random: &mut Random) -> Done;

    /// The same operation for many who are inside at once, if it only looks.
    fn look(self) -> Option<Look<Self>> {
        None
    }

    /// What all operations together have added; nothing else tells whether one was lost.
    fn total(self, value: &Self::Value) -> u64;
}

/// Counters, which are incremented.
#[derive(Clone, Copy)]
pub(super) struct Counters;

impl Work for Counters {
    type Value = u64;

    fn make(self) -> u64 {
        0
    }

    #[inline]
    fn operate(self, value: &mut u64, _: &mut Random) -> Done {
        *value += 1;
        Done { added: 1, right: true }
    }

    fn total(self, value: &u64) -> u64 {
        *value
    }
}

/// A number that looks like any other, and is another for each input: names of files, and keys.
fn scrambled(number: usize) -> u64 {
    // An odd factor: no two products are the same.
    (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
